"""Send some calls of an arm once more as streams, to learn when their first text comes.

In: requests, items, contexts. Out: <results>/first_tokens/{model}/{task}/{condition}.parquet; every
answer goes to resources/ledger/{model}.sqlite first.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.first_tokens import first_tokens, sample_requests, stream_settings
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import open_sender
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.service import FirstToken
from fieldwork.records.tasks import Item


def main(
    requests: str,
    questions: str,
    contexts: list[str],
    first_token_table: str,
    size: int,
    arm: dict[str, Any],
    settings: dict[str, Any],
    generation: dict[str, Any],
    prices: dict[str, Any],
) -> None:
    """Ask what the ledger has no stream of yet, then write."""
    stores = {"folder": LEDGERS, "vector_store": ANSWER_VECTORS}
    name, max_tokens, model = arm["model"], arm["max_tokens"], stream_settings(settings)
    sample = sample_requests(tables.read_rows(requests, Request), size, GenerationArm(**arm))
    with open_sender(name, model, generation, prices, max_tokens=max_tokens, **stores) as sender:
        rows = first_tokens(
            sample,
            {item.item_id: item for item in tables.read_rows(questions, Item)},
            {c.context_id: c for path in contexts for c in tables.read_rows(path, Context)},
            sender=sender,
            arm=GenerationArm(**arm),
        )
        tables.write_table(first_token_table, rows, FirstToken)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
