"""Ask a model on this machine every question of the study, under all conditions.

In: requests, items, contexts. Out: <results>/responses/{model}/{task}/{condition}.parquet for every task and
condition; every answer goes to resources/ledger/{model}.sqlite first. The model is loaded once.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.legibility import LegibilityRules
from fieldwork.generation.responses import ArmRequests, ask_together, generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import open_sender
from fieldwork.parsing.answers import unread_reason
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    requests: list[str],
    questions: list[str],
    contexts: list[str],
    responses: list[str],
    arms: list[dict[str, Any]],
    settings: dict[str, Any],
    generation: dict[str, Any],
    prices: dict[str, Any],
) -> None:
    """Ask what the ledger has no answer to yet, then write all responses.

    Args:
        requests, responses: a table for each arm, in the order of `arms`.
    """
    items = {
        Path(path).stem: {item.item_id: item for item in tables.read_rows(path, Item)}
        for path in questions
    }
    parts = [
        ArmRequests(arm, tables.read_rows(path, Request), items[arm.task], _contexts(arm, contexts))
        for arm, path in zip([GenerationArm(**arm) for arm in arms], requests, strict=True)
    ]
    stores = {"folder": LEDGERS, "vector_store": ANSWER_VECTORS}
    name, max_tokens = arms[0]["model"], max(arm["max_tokens"] for arm in arms)
    rules = LegibilityRules(unread_reason, generation["max_unreadable"])
    with open_sender(name, settings, generation, prices, max_tokens=max_tokens, **stores) as sender:
        ask_together(parts, sender, rules)
        for part, path in zip(parts, responses, strict=True):
            rows = generate(
                part.requests,
                part.items,
                part.contexts,
                sender=sender,
                arm=part.arm,
                rules=rules,
            )
            tables.write_table(path, rows, Response)


def _contexts(arm: GenerationArm, paths: list[str]) -> dict[str, Context]:
    place = (arm.task, arm.condition)
    own = [p for p in map(Path, paths) if (p.parent.name, p.stem) == place]
    return {c.context_id: c for path in own for c in tables.read_rows(str(path), Context)}


if __name__ == "__main__":
    stage.run_script(main, snakemake)
