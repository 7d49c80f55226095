"""Ask a model on this machine every question of the study, under all conditions.

In: requests, items, contexts. Out: <results>/responses/{model}/{task}/{condition}.parquet for every task
and condition; every answer goes to resources/ledger/{model}.sqlite first. The model is loaded once.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.arm_tables import read_arms
from fieldwork.generation.ledger import LEDGERS
from fieldwork.generation.legibility import LegibilityRules
from fieldwork.generation.responses import ask_together, generate
from fieldwork.generation.sending import open_sender
from fieldwork.parsing.answers import unread_reason
from fieldwork.records.generation import Response


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
    parts = read_arms(arms, requests, questions, contexts)
    stores = {"folder": LEDGERS, "vector_store": ANSWER_VECTORS}
    name, max_tokens = arms[0]["model"], max(arm["max_tokens"] for arm in arms)
    rules = LegibilityRules(unread_reason, generation["max_unreadable"])
    with open_sender(name, settings, generation, prices, max_tokens=max_tokens, **stores) as sender:
        ask_together(parts, sender, rules)
        for part, path in zip(parts, responses, strict=True):
            arm, asks = part.arm, (part.requests, part.items, part.contexts)
            tables.write_table(path, generate(*asks, sender=sender, arm=arm, rules=rules), Response)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
