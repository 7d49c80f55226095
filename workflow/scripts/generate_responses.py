"""Ask a model every question of a task under one condition.

In: requests, items, contexts. Out: <results>/responses/{model}/{task}/{condition}.parquet; every answer
goes to resources/ledger/{model}.sqlite first.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.legibility import Rules
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import Arm
from fieldwork.generation.sending import open_sender
from fieldwork.parsing.answers import parse_response
from fieldwork.records.generation import Request, Response
from fieldwork.records.parsing import REFUSALS
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    requests: str,
    items: str,
    contexts: str,
    responses: str,
    ledgers: str,
    store: str,
    arm: Arm,
    model: dict[str, Any],
    generation: dict[str, Any],
    prices: dict[str, Any],
) -> None:
    """Ask what the ledger does not know yet, then write all responses."""
    with open_sender(
        arm.model,
        model,
        generation,
        prices,
        max_tokens=arm.max_tokens,
        folder=Path(ledgers),
        vector_store=Path(store),
    ) as sender:
        rows = generate(
            tables.read_rows(requests, Request),
            {item.item_id: item for item in tables.read_rows(items, Item)},
            {c.context_id: c for c in tables.read_rows(contexts, Context)} if contexts else {},
            sender=sender,
            arm=arm,
            rules=Rules(unread, generation["max_unreadable"]),
        )
        order = "item_id, puppet_id NULLS FIRST, context_id NULLS FIRST, replicate"
        tables.write_rows(responses, rows, Response, order_by=order)


def unread(response: Response, item: Item) -> str | None:
    """Why an answer cannot be read; None where it can, and where it is a refusal."""
    reason = parse_response(response, item).reason
    return None if reason in REFUSALS else reason


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        requests=snakemake.input.requests,
        items=snakemake.input.task,
        contexts=str(snakemake.input.contexts or ""),
        responses=snakemake.output.responses,
        ledgers="resources/ledger",
        store="results/vectors/answers.sqlite",
        arm=Arm(
            model=snakemake.wildcards.model,
            task=snakemake.wildcards.task,
            condition=snakemake.wildcards.condition,
            temperature=snakemake.params.temperature,
            max_tokens=snakemake.params.max_tokens,
            seed=snakemake.params.seed,
        ),
        model=snakemake.params.model,
        generation=snakemake.params.generation,
        prices=snakemake.params.prices,
    )
