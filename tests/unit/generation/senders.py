"""What asks in these tests: models on the loopback interface, their senders, and questions."""

import os
from collections.abc import Sequence
from typing import Any

import pytest

from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.ledger import Ledger, Tier
from fieldwork.generation.limits import Limits
from fieldwork.generation.providers.base import Provider, Sampling
from fieldwork.generation.sending import Sender
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item, ItemKind


def loopback_entry(base_url: str = "http://127.0.0.1:9/v1", **changes: Any) -> dict[str, Any]:
    """An entry of `models`, by default for an address at which nobody is."""
    entry: dict[str, Any] = {"provider": "openai", "label": "Loopback", "model": "loopback"}
    entry |= {"base_url": base_url, "prefix_cache": None}
    entry |= {"api_key_env": None, "token_limit_field": "max_tokens", "send_temperature": True}
    entry |= {"send_seed": True, "timeout_s": 5.0, "concurrency": 4, "dispatch": "live"}
    return entry | changes


def make_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without waits, and no proxy between a test and the loopback interface."""
    monkeypatch.setattr("fieldwork.generation.calling.FIRST_WAIT_S", 0.001)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


def sender_of(
    provider: Provider,
    ledger: Ledger,
    *,
    attempts: int = 1,
    ceiling: int = 64,
    tier: Tier = "live",
    max_tokens: int = 16,
    account: Account | None = None,
) -> Sender:
    """A sender without limits a minute, and without a price if no account is given."""
    limits = Limits(ceiling=ceiling, requests_per_minute=None, tokens_per_minute=None)
    account = account or Account(None, tier, max_tokens)
    return Sender(provider, ledger, limits, account, attempts=attempts)


def item_of(name: str, kind: ItemKind = "list", choices: Sequence[str] = ()) -> Item:
    return Item(name, kind, name, name, list(choices), None, None, "test")


def ask_of(name: str, draw: int = 0, *, temperature: float = 1.0, max_tokens: int = 5) -> Ask:
    return Ask(item_of(name), Sampling(temperature, max_tokens, 0), draw)


def numbered(n: int) -> list[Ask]:
    return [ask_of(f"q{i}") for i in range(n)]


def settle_asks(
    asks: Sequence[Ask], sender: Sender, context: Sequence[Message] = ()
) -> AnswerTally:
    """Ask questions after one context, or after none."""
    group = ContextGroup("c" if context else None, context, asks)
    return settle([group], sender, total=len(asks))


def context_of(name: str) -> Context:
    """What a user called `name` brings."""
    return Context(f"c-{name}", name, None, [], [Message("user", f"I am {name}")], 1, 0)
