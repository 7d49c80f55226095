"""What the plans of these tests assume, and answers as a job writes them."""

from typing import Any

from fieldwork import tables
from fieldwork.records.generation import Response

FOLDER = "results/s"
ASSUMED: dict[str, Any] = {
    "latency_s": 2,
    "conversation_tokens": 2000,
    "profile_tokens": 120,
    "items": 7,
    "question_tokens": 50,
    "tasks": {"known": {"items": 3, "question_tokens": 40}},
    "list_tokens": 150,
    "choice_tokens": 2,
}
SOURCE = {"kind": "choice", "item_ids": []}
CACHE = {"min_tokens": 1024, "requests_per_minute": 15, "ttl_s": 300, "breakpoint": False}
PRICE = {"as_of": "2026-11-01", "source": "test", "input": 100.0, "output": 400.0}


def response(**known: Any) -> Response:
    """An answer of m to the question a of t."""
    values: dict[str, Any] = dict.fromkeys(tables.schema_of(Response).names)
    values |= {"model": "m", "task": "t", "item_id": "a", "replicate": 0, "ledger_key": "k"}
    values |= {"outcome": "ok", "attempts": 1, "dispatch": "live", "temperature_sent": True}
    return Response(**values | {"defects": []} | known)
