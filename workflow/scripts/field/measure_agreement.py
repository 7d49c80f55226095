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
    questions: list[str],
    rank_agreement: str,
    item_agreement: str,
    rarest_users: float,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    frame, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    ranks = measure_rank_agreement(frame, items, n_permutations=permutations, seed=seed)
    tables.write_table(rank_agreement, ranks, RankAgreement)
    rows = measure_item_agreement(
        frame, items, n_permutations=permutations, seed=seed, rarest_users=rarest_users
    )
    tables.write_table(item_agreement, rows, ItemAgreement)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
