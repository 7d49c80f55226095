"""Measure which options lists name, and how many.

In: <results>/answers/answers.parquet. Out: <results>/metrics/item_shares and list_lengths.
"""

from fieldwork import stage, tables
from fieldwork.metrics.item_shares import measure_item_shares
from fieldwork.metrics.list_lengths import measure_list_lengths
from fieldwork.records.metrics import ItemShare, ListLength
from fieldwork.records.parsing import Answer


def main(answers: str, item_shares: str, list_lengths: str) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    tables.write_table(item_shares, measure_item_shares(frame), ItemShare)
    tables.write_table(list_lengths, measure_list_lengths(frame), ListLength)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
