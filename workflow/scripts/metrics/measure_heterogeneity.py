"""Measure how varied the answers to list items are.

In: <results>/answers/answers.parquet. Out: <results>/metrics/heterogeneity, item_shares and list_lengths.
"""

from fieldwork import stage, tables
from fieldwork.metrics.heterogeneity import measure_heterogeneity, measure_item_shares
from fieldwork.metrics.list_lengths import measure_list_lengths
from fieldwork.records.metrics import Heterogeneity, ItemShare, ListLength
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    heterogeneity: str,
    item_shares: str,
    list_lengths: str,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    rows = measure_heterogeneity(frame, seed=seed, rarest_users=rarest_users)
    tables.write_table(heterogeneity, rows, Heterogeneity)
    tables.write_table(item_shares, measure_item_shares(frame), ItemShare)
    tables.write_table(list_lengths, measure_list_lengths(frame), ListLength)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
