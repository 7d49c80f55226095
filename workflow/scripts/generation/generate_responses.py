"""Ask a model every question of a task under one condition.

In: requests, items, contexts. Out: <results>/responses/{model}/{task}/{condition}.parquet; every answer
goes to resources/ledger/{model}.sqlite first.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.legibility import LegibilityRules
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import open_sender
from fieldwork.parsing.answers import unread_reason
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    requests: str,
    questions: str,
    contexts: list[str],
    responses: str,
    arm: dict[str, Any],
    settings: dict[str, Any],
    generation: dict[str, Any],
    prices: dict[str, Any],
) -> None:
    """Ask what the ledger has no answer to yet, then write all responses."""
    stores = {"folder": LEDGERS, "vector_store": ANSWER_VECTORS}
    name, max_tokens = arm["model"], arm["max_tokens"]
    with open_sender(name, settings, generation, prices, max_tokens=max_tokens, **stores) as sender:
        rows = generate(
            tables.read_rows(requests, Request),
            {item.item_id: item for item in tables.read_rows(questions, Item)},
            {c.context_id: c for path in contexts for c in tables.read_rows(path, Context)},
            sender=sender,
            arm=GenerationArm(**arm),
            rules=LegibilityRules(unread_reason, generation["max_unreadable"]),
        )
        tables.write_table(responses, rows, Response)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
