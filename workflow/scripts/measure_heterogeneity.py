"""Measure how varied the answers to list items are.

In: <results>/answers/answers.parquet. Out: <results>/metrics/heterogeneity and item_shares.
"""

from fieldwork import stage, tables
from fieldwork.metrics.heterogeneity import measure_heterogeneity, measure_item_shares
from fieldwork.records.metrics import Heterogeneity, ItemShare
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    heterogeneity: str,
    heterogeneity_csv: str,
    item_shares: str,
    item_shares_csv: str,
    seed: int,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    by_cell = "model, task, condition, item_id"
    measured = measure_heterogeneity(frame, seed=seed)
    tables.write_rows(heterogeneity, measured, Heterogeneity, order_by=f"{by_cell}, metric")
    tables.write_csv(heterogeneity_csv, heterogeneity)
    shares = measure_item_shares(frame)
    tables.write_rows(item_shares, shares, ItemShare, order_by=f"{by_cell}, n_named DESC, answer")
    tables.write_csv(item_shares_csv, item_shares)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        heterogeneity=snakemake.output.heterogeneity,
        heterogeneity_csv=snakemake.output.heterogeneity_csv,
        item_shares=snakemake.output.item_shares,
        item_shares_csv=snakemake.output.item_shares_csv,
        seed=snakemake.params.seed,
    )
