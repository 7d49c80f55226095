"""Test users against asking the baseline again.

In: <results>/answers/answers.parquet, the items, <results>/metrics/accuracy_runs and estimates.
Out: <results>/metrics/control_tests.
"""

from fieldwork import stage, tables
from fieldwork.metrics.claims.control_tests import ControlTestSettings, measure_control_tests
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import ControlTest, RunAccuracy
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    questions: list[str],
    accuracy_runs: str,
    estimates: list[str],
    control_tests: str,
    conditions: dict[str, list[str]],
    permutations: int,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    settings = ControlTestSettings(
        **conditions,
        permutations=permutations,
        rarest_users=rarest_users,
        seed=seed,
    )
    rows = measure_control_tests(
        tables.read_frame(answers, Answer),
        tables.read_items(questions),
        tables.read_rows(accuracy_runs, RunAccuracy),
        [row for path in estimates for row in tables.read_rows(path, Estimate)],
        settings,
    )
    tables.write_table(control_tests, rows, ControlTest)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
