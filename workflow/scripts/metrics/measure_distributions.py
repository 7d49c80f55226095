"""Measure which letters are given, and which were never given offline.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/distributions and novelty.
"""

from fieldwork import stage, tables
from fieldwork.metrics.distributions import measure_distributions
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.records.metrics import AnswerShare, Novelty
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    questions: list[str],
    distributions: str,
    novelty: str,
    baseline: str,
    control: str | None,
    permutations: int,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    shares = measure_distributions(frame, tables.read_items(questions))
    tables.write_table(distributions, shares, AnswerShare)
    new_answers = measure_novelty(
        frame,
        baseline=baseline,
        control=control,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    tables.write_table(novelty, new_answers, Novelty)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
