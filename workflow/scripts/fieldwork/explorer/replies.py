"""What a page knows of a single reply: its text, how it was read, and how it was asked for.

Owns the keys of these details. A detail without a value is left out, and so is whatever says where a
file lies on a machine.
"""

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fieldwork.records.field import FieldAnswer
from fieldwork.records.generation import OptionProbability, Response
from fieldwork.records.parsing import Answer, MergedItem

SEEDS_OF_A_STUDY = 1_000_003
"""Seeds of calls that belong to one seed of a study: that of a call is one of these."""

_AS_RECEIVED = (
    "finish_reason",
    "returned_model",
    "fingerprint",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "latency_s",
    "attempts",
    "dispatch",
    "service_tier",
    "request_id",
    "temperature_sent",
    "ledger_key",
)
_ABSOLUTE_FOLDER = re.compile(r"^(?:/|[A-Za-z]:[\\/])(?:[^,]*[\\/])?")

Merges = Mapping[tuple[str, str, str], MergedItem]
"""How options were merged, by task, item and spelling."""


class CallSettings(NamedTuple):
    """What a call was asked with: settings of its condition, its task and the study."""

    temperature: float | None
    max_tokens: int | None
    seed: int


def merges_by_spelling(merges: list[MergedItem]) -> dict[tuple[str, str, str], MergedItem]:
    return {(merge.task, merge.item_id, merge.raw): merge for merge in merges}


def spellings(answer: Answer) -> list[str]:
    """The options of a list as written; none of any other answer."""
    if answer.kind != "list":
        return []
    return (answer.raw_items if answer.raw_items is not None else answer.items) or []


def text_hash(text: str | None) -> str | None:
    """The key under which a person corrects the reading of a text."""
    return None if text is None else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def reply_details(
    answer: Answer, response: Response, draw: int, merges: Merges, call: CallSettings
) -> dict[str, Any]:
    """Everything of an answer that a model gave.

    Args:
        draw: number of the draw among equal calls.
    """
    details = _reading(answer, response.text, merges)
    details |= {name: getattr(response, name) for name in _AS_RECEIVED}
    details |= {
        "started_at": _time_text(response.started_at),
        "source": response.source and _ABSOLUTE_FOLDER.sub("", response.source),
        "defects": response.defects,
    }
    # nobody knows how an answer was asked for that was collected elsewhere
    if response.ledger_key is not None:
        details |= {
            "temperature": call.temperature,
            "max_tokens": call.max_tokens,
            "seed": call.seed * SEEDS_OF_A_STUDY + draw,
        }
    return _without_gaps(details)


def field_details(answer: Answer, field_answer: FieldAnswer, merges: Merges) -> dict[str, Any]:
    """Of an answer of a participant the masked text and its reading, and nothing else."""
    return _without_gaps(_reading(answer, field_answer.text, merges))


def _reading(answer: Answer, text: str | None, merges: Merges) -> dict[str, Any]:
    shares = answer.option_probabilities
    return {
        "text": text,
        "sha256": text_hash(text),
        "read_by": answer.read_by,
        "written": [_option(answer, raw, merges) for raw in spellings(answer)] or None,
        "probabilities": shares and [_share(share) for share in shares],
    }


def _option(answer: Answer, raw: str, merges: Merges) -> dict[str, str]:
    merge = merges.get((answer.task, answer.item_id, raw))
    if merge is None:
        return {"raw": raw, "name": raw, "rule": "exact"}
    return {"raw": raw, "name": merge.canonical, "rule": merge.rule}


def _share(share: OptionProbability) -> list[Any]:
    return [share.option, round(share.probability, 6)]


def _time_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _without_gaps(details: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if value is not None and value != []}
