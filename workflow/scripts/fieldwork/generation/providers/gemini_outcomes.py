"""What Gemini's reasons for ending an answer mean in this study.

A test knows every reason of the official SDK, so that a new one shows.
"""

from fieldwork.records.generation import Outcome

LIMIT_REASONS = frozenset({"MAX_TOKENS", "CONTINUATION"})
FILTER_REASONS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "MODEL_ARMOR",
        "PUP_LIMITED_DISABLED",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
    }
)

ACCOUNT_STOPPED = frozenset({"PUP_LIMITED_DISABLED"})
"""Reasons that are about the account and not about the question."""


def outcome_of(finish_reason: str | None, text: str | None) -> Outcome:
    """The outcome of a candidate; one that ended for another reason counts by its text."""
    if finish_reason in LIMIT_REASONS:
        return "truncated"
    if finish_reason in FILTER_REASONS:
        return "filtered"
    return "ok" if text and text.strip() else "empty"
