"""Set the order of the models offline beside their order any other way of asking.

In: <results>/metrics/accuracy_runs. Out: <results>/metrics/practice, practice_turns, practice_drops.
"""

from fieldwork import stage, tables
from fieldwork.metrics.practice.table import measure_drops, measure_practice
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn


def main(
    accuracy_runs: str,
    practice: str,
    practice_turns: str,
    practice_drops: str,
    variants: dict[str, str],
    steps: dict[str, list[str]],
    controls: list[str],
    baseline: str,
    rarest_users: float,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write; `variants` have their origins, and `steps` how they were derived."""
    runs = tables.read_rows(accuracy_runs, RunAccuracy)
    orders, turns = measure_practice(
        runs,
        variants=variants,
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    drops = measure_drops(
        runs, variants=variants, steps=steps, controls=controls, baseline=baseline
    )
    tables.write_table(practice, orders, PracticeOrder)
    tables.write_table(practice_turns, turns, PracticeTurn)
    tables.write_table(practice_drops, drops, PracticeDrop)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
