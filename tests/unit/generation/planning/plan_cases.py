"""What the plans of these tests assume, and tables as jobs write them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

FOLDER = "results/s"
ITEMS_TABLE = f"{FOLDER}/tasks/t.parquet"
ASSUMED: dict[str, Any] = {"latency_s": 2, "conversation_tokens": 2000, "profile_tokens": 120}
ASSUMED |= {"items": 7, "question_tokens": 50, "list_tokens": 150, "choice_tokens": 2}
ASSUMED |= {"tasks": {"known": {"items": 3, "question_tokens": 40}}}
SOURCE = {"kind": "choice", "item_ids": []}
CACHE = {"min_tokens": 1024, "requests_per_minute": 15, "ttl_s": 300, "breakpoint": False}
PRICE = {"as_of": "2026-11-01", "source": "test", "input": 100.0, "output": 400.0}
LIVE = {"requests_per_minute": None, "tokens_per_minute": None, "concurrency": 4}
OPENAI: dict[str, Any] = {"provider": "openai", "model": "m", **LIVE, "prefix_cache": CACHE}
GEMINI = OPENAI | {"provider": "gemini", "explicit_cache": True, "cache_ttl_s": 3600}


def item_of(name: str, length: int) -> Item:
    """A question of `length` times its name."""
    return Item(name, "choice", name, name * length, ["x", "y"], None, None, "t")


def write_arm(
    condition: str,
    items: Sequence[Item],
    contexts: Sequence[Context],
    requests: Sequence[Request],
    folder: Path = Path(),
) -> set[str]:
    """Write an arm of the task t; the paths of its tables."""
    paths = {ITEMS_TABLE, f"{FOLDER}/requests/t/{condition}.parquet"}
    tables.write_rows(folder / ITEMS_TABLE, items, Item)
    tables.write_rows(folder / f"{FOLDER}/requests/t/{condition}.parquet", requests, Request)
    if contexts:
        path = f"{FOLDER}/contexts/t/{condition}.parquet"
        tables.write_rows(folder / path, contexts, Context)
        paths.add(path)
    return paths
