"""Conversations and replies for the tests of memory."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from fieldwork.records.generation import OptionProbability, Response
from fieldwork.records.memory import Attribute, Evidence
from fieldwork.records.puppets import Conversation, Message
from unit.table_rows import response_of, row_of


def conversation(
    *texts: str, name: str = "c1", user: str = "u1", day: int | None = 1, n_tokens: int = 10
) -> Conversation:
    """A conversation whose turns alternate, the user's first."""
    started_at = None if day is None else datetime(2026, 1, day, tzinfo=UTC)
    pairs = zip(["user", "assistant"] * len(texts), texts, strict=False)
    messages, n_turns = [Message(role, text) for role, text in pairs], (len(texts) + 1) // 2
    return Conversation(name, user, started_at, "English", None, n_turns, n_tokens, messages)


def reply(
    text: str, item: str = "c1", shares: Sequence[tuple[str, float]] | None = None
) -> Response:
    """A response to the question that asks for attributes."""
    options = None if shares is None else [OptionProbability(*share) for share in shares]
    return response_of(text, item_id=item, option_probabilities=options)


def attribute(name: str, text: str = "", user: str = "u1", **columns: Any) -> Attribute:
    """An attribute with one statement as its evidence."""
    values = {"place": 0, "kind": "fact", "confidence": 0.9, "n_statements": 1}
    values |= {"evidence": [Evidence("c1", 1)]} | columns
    return row_of(Attribute, attribute_id=name, user_id=user, text=text, **values)
