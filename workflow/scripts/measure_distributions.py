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
    items: list[str],
    tasks: list[str],
    distributions: str,
    distributions_csv: str,
    novelty: str,
    novelty_csv: str,
    baseline: str,
    control: str | None,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    shares = measure_distributions(frame, tables.read_items(items, tasks))
    order = "model, task, condition, item_id, answer"
    tables.write_rows(distributions, shares, AnswerShare, order_by=order)
    tables.write_csv(distributions_csv, distributions)
    novel = measure_novelty(
        frame, baseline=baseline, control=control, n_permutations=permutations, seed=seed
    )
    tables.write_rows(novelty, novel, Novelty, order_by="model, task, condition")
    tables.write_csv(novelty_csv, novelty)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        items=list(snakemake.input.task),
        tasks=snakemake.params.tasks,
        distributions=snakemake.output.distributions,
        distributions_csv=snakemake.output.distributions_csv,
        novelty=snakemake.output.novelty,
        novelty_csv=snakemake.output.novelty_csv,
        baseline=snakemake.params.baseline,
        control=snakemake.params.control,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )
