"""Turns drafts into rows of WildChat-1M's schema and writes them as Parquet.

Owns the schema; promises equal bytes for equal drafts and one version of pyarrow.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sample_drafts import Draft, Exchange, conversation_hash

CATEGORIES = (
    *("harassment", "harassment/threatening", "harassment_threatening"),
    *("hate", "hate/threatening", "hate_threatening"),
    *("self-harm", "self-harm/instructions", "self-harm/intent"),
    *("self_harm", "self_harm_instructions", "self_harm_intent"),
    *("sexual", "sexual/minors", "sexual_minors"),
    *("violence", "violence/graphic", "violence_graphic"),
)
"""WildChat holds some categories under two spellings."""
DETOXIFY = (
    *("identity_attack", "insult", "obscene", "severe_toxicity"),
    *("sexual_explicit", "threat", "toxicity"),
)


def conversation_schema() -> pa.Schema:
    """Return WildChat-1M's columns and types."""
    header = pa.struct({"accept-language": pa.string(), "user-agent": pa.string()})
    return pa.schema(
        {
            "conversation_hash": pa.string(),
            "model": pa.string(),
            "timestamp": pa.timestamp("us", tz="UTC"),
            "conversation": pa.list_(_message_type(header)),
            "turn": pa.int64(),
            "language": pa.string(),
            "openai_moderation": pa.list_(_moderation_type()),
            "detoxify_moderation": pa.list_(pa.struct(dict.fromkeys(DETOXIFY, pa.float64()))),
            "toxic": pa.bool_(),
            "redacted": pa.bool_(),
            "state": pa.string(),
            "country": pa.string(),
            "hashed_ip": pa.string(),
            "header": header,
        }
    )


def _message_type(header: pa.DataType) -> pa.DataType:
    return pa.struct(
        {
            "content": pa.string(),
            "country": pa.string(),
            "hashed_ip": pa.string(),
            "header": header,
            "language": pa.string(),
            "redacted": pa.bool_(),
            "role": pa.string(),
            "state": pa.string(),
            "timestamp": pa.timestamp("us", tz="UTC"),
            "toxic": pa.bool_(),
            "turn_identifier": pa.int64(),
        }
    )


def _moderation_type() -> pa.DataType:
    return pa.struct(
        {
            "categories": pa.struct(dict.fromkeys(CATEGORIES, pa.bool_())),
            "category_scores": pa.struct(dict.fromkeys(CATEGORIES, pa.float64())),
            "flagged": pa.bool_(),
        }
    )


def conversation_row(draft: Draft, first_turn: int) -> dict[str, Any]:
    """Return a draft as a WildChat row; its exchanges are numbered from `first_turn`."""
    messages: list[dict[str, Any]] = []
    time = draft.started_at
    for turn, exchange in enumerate(draft.exchanges):
        time += timedelta(seconds=40 + len(exchange.user) % 200)
        messages += _messages(draft, exchange, turn, first_turn + turn, time)
    user = draft.user
    return {
        "conversation_hash": conversation_hash(draft),
        "model": draft.model,
        "timestamp": time,
        "conversation": messages,
        "turn": len(draft.exchanges),
        "language": draft.language,
        "openai_moderation": [_moderation(m["toxic"], len(m["content"])) for m in messages],
        "detoxify_moderation": [_detoxify(m["toxic"], len(m["content"])) for m in messages],
        "toxic": draft.toxic_turn is not None,
        "redacted": draft.redacted_turn is not None,
        "state": user.state,
        "country": user.country,
        "hashed_ip": user.hashed_ip,
        "header": user.header,
    }


def _messages(
    draft: Draft, exchange: Exchange, turn: int, identifier: int, time: datetime
) -> list[dict[str, Any]]:
    """The two messages of an exchange; as in WildChat, only the user's has a place of origin."""
    common = {"language": draft.language, "turn_identifier": identifier}
    origin = {
        "country": draft.user.country,
        "hashed_ip": draft.user.hashed_ip,
        "header": draft.user.header,
        "state": draft.user.state,
        "timestamp": None,
    }
    no_origin = dict.fromkeys(origin) | {"timestamp": time}
    user_fields = {"role": "user", "content": exchange.user, "toxic": turn == draft.toxic_turn}
    assistant_fields = {
        "role": "assistant",
        "content": exchange.assistant,
        "toxic": False,
        "redacted": False,
    }
    return [
        common | origin | user_fields | {"redacted": turn == draft.redacted_turn},
        common | no_origin | assistant_fields,
    ]


def _moderation(toxic: bool, length: int) -> dict[str, Any]:
    # few distinct scores: nobody reads them, and the file stays small
    scores = dict.fromkeys(CATEGORIES, 0.0001 * (1 + length % 3))
    if toxic:
        scores["harassment"] = 0.61
    return {
        "categories": {name: score > 0.5 for name, score in scores.items()},
        "category_scores": scores,
        "flagged": toxic,
    }


def _detoxify(toxic: bool, length: int) -> dict[str, float]:
    scores = dict.fromkeys(DETOXIFY, 0.0002 * (1 + length % 3))
    return scores | ({"toxicity": 0.83, "insult": 0.55} if toxic else {})


def write_conversations(path: Path, drafts: Sequence[Draft]) -> None:
    """Write the corpus; turn identifiers count up over the whole file, as in WildChat."""
    rows, first_turn = [], 100_001
    for draft in drafts:
        rows.append(conversation_row(draft, first_turn))
        first_turn += len(draft.exchanges)
    table = pa.Table.from_pylist(rows, schema=conversation_schema())
    pq.write_table(table, path, compression="zstd", compression_level=19)
