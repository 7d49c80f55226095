"""Google's error bodies (google.rpc.Status), read and sorted: wait, give this call up, or stop."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError
from fieldwork.generation.providers.http import Answer
from fieldwork.generation.providers.jsontext import loads, well_formed
from fieldwork.retries import TRANSIENT_STATUSES

_BAD_KEY = frozenset({"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_EXPIRED"})


class Refusal(NamedTuple):
    """An error body.

    Attributes:
        status: Google's name for the error, such as RESOURCE_EXHAUSTED.
        reasons: of the ErrorInfo details.
        quota_ids: of the QuotaFailure details.
        retry_after_s: of the RetryInfo detail.
    """

    message: str
    status: str
    reasons: frozenset[str]
    quota_ids: tuple[str, ...]
    retry_after_s: float | None


def refusal(raw: bytes) -> Refusal:
    """Read an error body; of anything else the message is its beginning."""
    error = _error_of(raw)
    details = list(_details(error))
    message = " ".join(well_formed(str(error.get("message") or "")).split())[:200]
    start = " ".join(raw[:120].decode("utf-8", "replace").split())
    waits = [_seconds(detail.get("retryDelay")) for detail in details]
    return Refusal(
        message=message or start or "an empty body",
        status=str(error.get("status", "")),
        reasons=frozenset(str(detail["reason"]) for detail in details if "reason" in detail),
        quota_ids=tuple(
            str(violation.get("quotaId", ""))
            for detail in details
            for violation in _maps(detail.get("violations"))
        ),
        retry_after_s=next((wait for wait in waits if wait is not None), None),
    )


def gemini_error(answer: Answer, raw: bytes, endpoint: str) -> Exception:
    """The error for a reply that is none.

    Args:
        raw: its body, without secrets.
        endpoint: names the service in what the user reads.
    """
    read, status = refusal(raw), answer.status
    said = f"HTTP {status}: {read.message}"
    way_out = _way_out(read, status)
    if way_out is not None:
        return StudyError(f"{endpoint}: {said}; {way_out}")
    if status in TRANSIENT_STATUSES:
        return answer.transient_error(said, read.retry_after_s)
    if "token count" in read.message and "exceeds" in read.message:
        said += "; the prompt is longer than the model reads: lower conditions.*.token_budget"
    return RejectedError(said)


def _way_out(read: Refusal, status: int) -> str | None:
    """What the user can do about an error that every other call would meet as well."""
    if read.reasons & _BAD_KEY or status in (401, 403):
        return (
            "check the key named in models.*.api_key_env, or for Vertex AI the token named in token_env "
            "and the project in models.*.vertex"
        )
    if status == 404:
        return "check models.*.model: it may be retired, or not offered under models.*.api_version"
    if status == 402:
        return "add credit to the account, then run again"
    if status == 400 and read.status == "FAILED_PRECONDITION":
        return (
            "the account cannot use this model from here as it is; enable billing for its project"
        )
    daily = [quota for quota in read.quota_ids if "PerDay" in quota]
    if status == 429 and daily:
        return f"the day's quota {daily[0]} is used up; run again tomorrow, or ask for a larger one"
    return None


def _error_of(raw: bytes) -> dict[str, Any]:
    try:
        body = loads(raw)
    except ValueError:
        return {}
    # some errors come as the only entry of a list
    first = body[0] if isinstance(body, list) and body else body
    error = first.get("error") if isinstance(first, dict) else None
    return error if isinstance(error, dict) else {}


def _details(error: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return _maps(error.get("details"))


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
