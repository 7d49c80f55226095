"""Read the items or the letter out of each response.

In: responses and items. Out: <results>/answers/parsed/{model}/{task}/{condition}.parquet.
"""

import logging

from fieldwork import stage, tables
from fieldwork.parsing.answers import expected_length, parse_response
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(responses: str, questions: str, answers: str) -> None:
    """Parse and write."""
    by_id = {item.item_id: item for item in tables.read_rows(questions, Item)}
    for item in by_id.values():
        if item.kind == "list":
            length = expected_length(item) or "an unknown number of"
            logging.getLogger("fieldwork").info("%s asks for %s options", item.item_id, length)
    rows = tables.read_rows(responses, Response)
    parsed_answers = [parse_response(row, by_id[row.item_id]) for row in rows]
    tables.write_table(answers, parsed_answers, Answer)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
