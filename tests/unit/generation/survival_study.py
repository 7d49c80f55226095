"""A job as `generate_responses` runs it, against the loopback server, and what came of it.

Texts are computed from the request, so that the tables of two runs can be compared whole.
"""

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from senders import context_of, item_of, make_quick

from fieldwork import tables
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import Sender, open_sender
from fieldwork.records.generation import Request, Response
from servers.provider import Chat, ModelSpec

KEY = "sk-survival-0123456789abcdef"
KEY_ENV = "SURVIVAL_API_KEY"
MODELS = {"openai": "gpt-x", "gemini": "gemini-x"}
# its interface has no seeds, so the calls of a question's replicates are equal
ALL_MODELS = {**MODELS, "anthropic": "claude-x"}
SPECS = [
    ModelSpec("gpt-x"),
    ModelSpec("gemini-x", family="gemini"),
    ModelSpec("claude-x", family="claude"),
]
N_REPLICATES = 3
ITEMS = {f"q{n}": item_of(f"q{n}") for n in range(4)}
CONTEXTS = {f"c-{name}": context_of(name) for name in ("anna", "bert")}
REQUESTS = [
    Request(item_id, context_id, context_id and context_id[2:], replicate)
    for context_id in (None, *CONTEXTS)
    for item_id, replicate in itertools.product(ITEMS, range(N_REPLICATES))
]
N = len(REQUESTS)
ARM = GenerationArm("m", "probe", "history", temperature=1.0, max_tokens=16, seed=3)
# what may differ between two runs that both went well; the key has the server's address in it
VOLATILE = ("attempts", "started_at", "latency_s", "request_id", "ledger_key")
PRICE = {"input": 1.0, "cached": 0.5, "output": 4.0, "as_of": "2026-11-01", "source": "the test"}
PRICES = dict.fromkeys(MODELS.values(), PRICE)

Table = list[dict[str, Any]]


def prepare(patched: pytest.MonkeyPatch, key: str = "any") -> None:
    """A key, and no waits."""
    make_quick(patched)
    patched.setenv(KEY_ENV, key)
    patched.setattr("fieldwork.generation.batches.settling.SECONDS_BETWEEN_LISTINGS", 0.02)
    patched.setattr("fieldwork.generation.batches.patience.FIRST_WAIT_S", 0.001)


class Answers:
    """Computes answers, and counts those that were made: each of them is billed."""

    def __init__(self, n_bytes: int = 0) -> None:
        self.made = Counter[str]()
        self._n_bytes = n_bytes

    def __call__(self, body: Mapping[str, Any]) -> str:
        asked = json.dumps(body, sort_keys=True)
        self.made[asked] += 1
        digest = hashlib.shake_128(asked.encode())
        return f"answer {digest.hexdigest(8)} {digest.hexdigest(self._n_bytes)}"


class Study:
    """One arm of one model, in a folder of its own; `entry` holds further settings of the model."""

    def __init__(
        self,
        folder: Path,
        api: str,
        url: str,
        *,
        budget_usd: float | None = None,
        attempts: int = 4,
        table: str = "responses.parquet",
        **entry: Any,
    ) -> None:
        self.folder, self.table = folder, folder / table
        self.ledger = folder / "ledger" / "m.sqlite"
        self.generation = {"attempts": attempts, "budget_usd": budget_usd}
        batch = {"poll_s": 0.02, "max_requests": 15, "listing_lag_s": 0.1}
        self.entry: dict[str, Any] = {"provider": api, "label": "M", "model": ALL_MODELS[api]}
        self.entry |= {"batch": batch}
        self.entry |= {"base_url": f"{url}/v1" if api == "openai" else url, "api_key_env": KEY_ENV}
        self.entry |= {"send_temperature": True, "send_seed": True, "timeout_s": 5.0}
        self.entry |= {"token_limit_field": "max_tokens"} if api == "openai" else {}
        self.entry |= {"concurrency": 4, "dispatch": "live", **entry}

    def run(self) -> Table:
        """Ask what is missing and write the table, as the rule's script does."""
        prices = {self.entry["model"]: PRICE}
        stores = {"folder": self.ledger.parent, "vector_store": self.folder / "unused"}
        with open_sender(
            "m", self.entry, self.generation, prices, max_tokens=16, **stores
        ) as sender:
            quick = impatient(sender)
            rows = list(generate(REQUESTS, ITEMS, CONTEXTS, sender=quick, arm=ARM))
        tables.write_rows(self.table, rows, Response)
        return list(tables.read_arrow(self.table, Response).to_pylist())


def impatient(sender: Sender) -> Sender:
    """A sender that gives up sooner what it asks of batches."""
    parts = {
        name: part._replace(limits=part.limits._replace(attempts=4))
        for name in ("batches", "leftovers")
        if (part := getattr(sender, name))
    }
    return sender._replace(**parts)


def lasting(table: Table) -> Table:
    """The columns that do not depend on how a run went; no two rows have one answer."""
    assert len({row["ledger_key"] for row in table}) == N
    return [{k: v for k, v in row.items() if k not in VOLATILE} for row in table]


def n_billed(chat: Chat) -> int:
    """Answers on the server's bill."""
    return sum(line.requests for line in chat.bill.lines.values())


def n_submitted(chat: Chat) -> int:
    """Requests in all batches ever made; a batch that nobody looks at is on no bill yet."""
    return sum(len(job.rows) for job in chat.jobs.values())
