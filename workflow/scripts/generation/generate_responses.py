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
from fieldwork.parsing.answers import parse_response
from fieldwork.records.generation import Request, Response
from fieldwork.records.parsing import REFUSALS
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    requests: str,
    questions: str,
    contexts: list[str],
    responses: str,
    model: str,
    task: str,
    condition: str,
    settings: dict[str, Any],
    temperature: float,
    max_tokens: int,
    generation: dict[str, Any],
    prices: dict[str, Any],
    seed: int,
) -> None:
    """Ask what the ledger has no answer to yet, then write all responses."""
    with open_sender(
        model,
        settings,
        generation,
        prices,
        max_tokens=max_tokens,
        folder=LEDGERS,
        vector_store=ANSWER_VECTORS,
    ) as sender:
        rows = generate(
            tables.read_rows(requests, Request),
            {item.item_id: item for item in tables.read_rows(questions, Item)},
            {c.context_id: c for path in contexts for c in tables.read_rows(path, Context)},
            sender=sender,
            arm=GenerationArm(model, task, condition, temperature, max_tokens, seed),
            rules=LegibilityRules(reason_unread, generation["max_unreadable"]),
        )
        tables.write_table(responses, rows, Response)


def reason_unread(response: Response, item: Item) -> str | None:
    """Why an answer cannot be read; None where it can, and where it is a refusal."""
    reason = parse_response(response, item).reason
    return None if reason in REFUSALS else reason


if __name__ == "__main__":
    stage.run_script(main, snakemake)
