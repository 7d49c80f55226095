"""What Gemini's reasons for ending an answer, or for giving none, mean in this study.

A test holds both tables equal to the official SDK's enumerations, so that a new reason shows.
"""

from types import MappingProxyType
from typing import Literal

from fieldwork.records.generation import Outcome

Meaning = Literal["ended", "truncated", "filtered"]
"""`ended` is ok or empty, as there is text or not."""

FINISH_REASONS = MappingProxyType[str, Meaning](
    {
        "FINISH_REASON_UNSPECIFIED": "ended",
        "STOP": "ended",
        "MAX_TOKENS": "truncated",
        "CONTINUATION": "truncated",
        "SAFETY": "filtered",
        "RECITATION": "filtered",
        "LANGUAGE": "filtered",
        "OTHER": "filtered",
        "BLOCKLIST": "filtered",
        "PROHIBITED_CONTENT": "filtered",
        "SPII": "filtered",
        "ESCALATION": "filtered",
        "MODEL_ARMOR": "filtered",
        "PUP_LIMITED_DISABLED": "filtered",
        "IMAGE_SAFETY": "filtered",
        "IMAGE_PROHIBITED_CONTENT": "filtered",
        "IMAGE_RECITATION": "filtered",
        "IMAGE_OTHER": "filtered",
        # the model tried what nobody offered it: tools, pictures; what it wrote besides is its answer
        "NO_IMAGE": "ended",
        "MALFORMED_FUNCTION_CALL": "ended",
        "UNEXPECTED_TOOL_CALL": "ended",
        "TOO_MANY_TOOL_CALLS": "ended",
        "MISSING_THOUGHT_SIGNATURE": "ended",
        "MALFORMED_RESPONSE": "ended",
    }
)

BLOCK_REASONS = frozenset(
    {
        "BLOCKED_REASON_UNSPECIFIED",
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "JAILBREAK",
    }
)
"""Reasons to refuse a prompt: each, and any new one, makes the outcome `filtered`."""

ACCOUNT_STOPPED = frozenset({"PUP_LIMITED_DISABLED"})
"""Reasons that are about the account and not about the question."""


def outcome_of(finish_reason: str | None, text: str | None) -> Outcome:
    """The outcome of a candidate; one that ended for an unknown reason counts by its text."""
    meaning = FINISH_REASONS.get(finish_reason or "STOP", "ended")
    if meaning == "ended":
        return "ok" if text and text.strip() else "empty"
    return meaning
