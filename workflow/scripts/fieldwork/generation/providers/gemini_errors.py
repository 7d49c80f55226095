"""Google's error bodies (google.rpc.Status): what they say, and what follows for the call and the run."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import as_map, error_line, loads_or_none
from fieldwork.retries import TRANSIENT_STATUSES

_BAD_KEY = frozenset({"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_EXPIRED"})


class GoogleError(NamedTuple):
    """What an error body says.

    Attributes:
        message: its message, else the beginning of the body; one short line.
        status: Google's name for the error, such as RESOURCE_EXHAUSTED.
        reasons: those of the ErrorInfo details.
        quota_ids: those of the QuotaFailure details.
        retry_after_s: the wait in the RetryInfo detail; None without one.
    """

    message: str
    status: str
    reasons: frozenset[str]
    quota_ids: tuple[str, ...]
    retry_after_s: float | None


def parse_google_error(raw: bytes, mask: Callable[[str], str]) -> GoogleError:
    """Read an error body; of anything else the message is its beginning.

    Args:
        mask: removes secrets from a message.
    """
    return google_error_in(loads_or_none(raw), raw, mask)


def google_error_in(body: object, raw: bytes, mask: Callable[[str], str]) -> GoogleError:
    """The error in a body, parsed and as it came."""
    # some errors come as the only entry of a list
    first = body[0] if isinstance(body, list) and body else body
    error = as_map(as_map(first).get("error"))
    details = list(_maps(error.get("details")))
    waits = [_seconds(detail.get("retryDelay")) for detail in details]
    return GoogleError(
        message=error_line(str(error.get("message") or ""), raw, mask),
        status=str(error.get("status", "")),
        reasons=frozenset(str(detail["reason"]) for detail in details if "reason" in detail),
        quota_ids=tuple(
            str(violation.get("quotaId", ""))
            for detail in details
            for violation in _maps(detail.get("violations"))
        ),
        retry_after_s=next((wait for wait in waits if wait is not None), None),
    )


def gemini_error(reply: HttpReply, error: GoogleError, endpoint: str) -> Exception:
    """The exception for a reply with an error.

    Args:
        endpoint: names the service in messages.
    """
    status = reply.status
    message = f"HTTP {status}: {error.message}"
    way_out = _way_out(error, status)
    if way_out is not None:
        return StudyError(f"{endpoint}: {message}; {way_out}")
    if status in TRANSIENT_STATUSES:
        return reply.transient_error(message, error.retry_after_s)
    if "token count" in error.message and "exceeds" in error.message:
        message += "; the prompt is too long for the model: lower conditions.*.token_budget"
    return RejectedError(message)


def _way_out(error: GoogleError, status: int) -> str | None:
    """What the user can do about an error that every other call would meet too; None for others."""
    if error.reasons & _BAD_KEY or status in (401, 403):
        return (
            "check the key in the environment variable that models.*.api_key_env names; on Vertex AI "
            "check models.*.token_env and models.*.vertex"
        )
    if status == 404:
        return (
            "check models.*.model: the model may be retired, or missing from models.*.api_version"
        )
    if status == 402:
        return "add credit to the account, then run again"
    if status == 400 and error.status == "FAILED_PRECONDITION":
        return "the account may not use this model from this place; enable billing for its project"
    daily_quotas = [quota for quota in error.quota_ids if "PerDay" in quota]
    if status == 429 and daily_quotas:
        return (
            f"the daily quota {daily_quotas[0]} is used up; run again tomorrow, or ask Google for a "
            f"larger quota"
        )
    return None


def _maps(entries: object) -> Iterator[dict[str, Any]]:
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            yield entry


def _seconds(duration: object) -> float | None:
    """Seconds of a protobuf duration such as `7s` or `0.5s`."""
    try:
        seconds = float(str(duration).removesuffix("s"))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
