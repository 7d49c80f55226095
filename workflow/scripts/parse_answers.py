"""Read the items or the letter out of each response.

In: responses and items. Out: <results>/answers/parsed/{model}/{task}/{condition}.parquet.
"""

import logging

from fieldwork import stage, tables
from fieldwork.parsing.answers import expected_length, parse_response
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(responses: str, items: str, answers: str) -> None:
    """Parse and write."""
    by_id = {item.item_id: item for item in tables.read_rows(items, Item)}
    for item in by_id.values():
        if item.kind == "list":
            length = expected_length(item) or "an unknown number of"
            logging.getLogger("fieldwork").info("%s asks for %s options", item.item_id, length)
    parsed = [
        parse_response(response, by_id[response.item_id])
        for response in tables.read_rows(responses, Response)
    ]
    order = "item_id, puppet_id NULLS FIRST, replicate"
    tables.write_rows(answers, parsed, Answer, order_by=order)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        responses=snakemake.input.responses,
        items=snakemake.input.task,
        answers=snakemake.output.answers,
    )
