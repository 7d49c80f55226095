"""Measure whether the conditions rank prompts as the field does, and how near their answers are to it.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/rank_agreement and item_agreement.
"""

from fieldwork import stage, tables
from fieldwork.metrics.agreement.items import measure_item_agreement
from fieldwork.metrics.agreement.ranks import measure_rank_agreement
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    items: list[str],
    tasks: list[str],
    outputs: dict[str, str],
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    given, questions = tables.read_frame(answers, Answer), tables.read_items(items, tasks)
    ranks = measure_rank_agreement(given, questions, n_permutations=permutations, seed=seed)
    order = 'model, task, kind, "over", measure, predictor'
    tables.write_rows(outputs["ranks"], ranks, RankAgreement, order_by=order)
    tables.write_csv(outputs["ranks_csv"], outputs["ranks"])
    rows = measure_item_agreement(given, questions, n_permutations=permutations, seed=seed)
    order = "model, task, kind, predictor, item_id"
    tables.write_rows(outputs["near"], rows, ItemAgreement, order_by=order)
    tables.write_csv(outputs["near_csv"], outputs["near"])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        items=list(snakemake.input.task),
        tasks=snakemake.params.tasks,
        outputs=dict(snakemake.output.items()),
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )
