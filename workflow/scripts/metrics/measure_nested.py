"""Measure how much of the variance of answers lies between users, and between contexts of one user.

In: <results>/answers/answers.parquet. Out: <results>/metrics/nested.
"""

from fieldwork import stage, tables
from fieldwork.metrics.nested import measure_nested
from fieldwork.records.metrics import NestedVariance
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    nested: str,
    nests: dict[str, list[str]],
    rarest_users: float,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write; `nests` are conditions with the same users, by the first of them."""
    rows = measure_nested(
        tables.read_frame(answers, Answer),
        nests=nests,
        rarest_users=rarest_users,
        n_permutations=permutations,
        seed=seed,
    )
    tables.write_table(nested, rows, NestedVariance)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
