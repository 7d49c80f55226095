"""Measure how much of the variance of answers lies between users, and between contexts of one user.

In: <results>/answers/answers.parquet. Out: <results>/metrics/users_and_contexts.
"""

from fieldwork import stage, tables
from fieldwork.metrics.nests import measure_nests
from fieldwork.records.metrics import NestedVariance
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    users_and_contexts: str,
    nests: dict[str, list[str]],
    rarest_users: float,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write; `nests` are conditions with the same users, by the first of them."""
    rows = measure_nests(
        tables.read_frame(answers, Answer),
        nests=nests,
        rarest_users=rarest_users,
        n_permutations=permutations,
        seed=seed,
    )
    tables.write_table(users_and_contexts, rows, NestedVariance)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
