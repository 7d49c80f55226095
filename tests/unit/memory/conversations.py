"""Conversations and replies for the tests of memory."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from fieldwork.records.generation import OptionProbability, Outcome, Response
from fieldwork.records.puppets import Conversation, Message


def conversation(
    *texts: str, name: str = "c1", user: str = "u1", day: int | None = 1, n_tokens: int = 10
) -> Conversation:
    """A conversation whose turns alternate, the user's first."""
    roles = ["user", "assistant"] * len(texts)
    return Conversation(
        conversation_id=name,
        user_id=user,
        started_at=None if day is None else datetime(2026, 1, day, tzinfo=UTC),
        language="English",
        model=None,
        n_user_turns=(len(texts) + 1) // 2,
        n_tokens=n_tokens,
        messages=[Message(role, text) for role, text in zip(roles, texts, strict=False)],
    )


def reply(
    text: str,
    item: str = "c1",
    outcome: Outcome = "ok",
    shares: Sequence[tuple[str, float]] | None = None,
) -> Response:
    """A response to the question that asks for attributes."""
    columns: dict[str, Any] = dict.fromkeys(Response.__dataclass_fields__)
    columns |= {"item_id": item, "text": text, "outcome": outcome, "replicate": 0}
    if shares is not None:
        columns["option_probabilities"] = [OptionProbability(*share) for share in shares]
    return Response(**columns)
