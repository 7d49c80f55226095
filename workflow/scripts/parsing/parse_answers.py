"""Read the items or the letter out of each response.

In: responses and items. Out: <results>/answers/parsed/{model}/{task}/{condition}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.parsing.answers import parse_responses
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(responses: str, questions: str, answers: str) -> None:
    """Parse and write."""
    rows, items = tables.read_rows(responses, Response), tables.read_rows(questions, Item)
    tables.write_table(answers, parse_responses(rows, items), Answer)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
