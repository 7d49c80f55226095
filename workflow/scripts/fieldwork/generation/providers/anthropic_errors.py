"""Anthropic's error bodies: what they say, and what follows for the call and the run."""

from collections.abc import Callable
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import as_map, as_text, error_line, loads_or_none
from fieldwork.retries import TRANSIENT_STATUSES

_EMPTY_ACCOUNT_CODES = frozenset(
    {
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_billing_unavailable",
        "linked_organization_spend_limit_reached",
        "organization_on_hold",
    }
)
# these have no code, and only the sentence tells them from a malformed request
_EMPTY_ACCOUNT_WORDS = ("credit balance is too low", "specified API usage limits")
_FILTER_WORDS = "blocked by content filtering policy"
_TOO_LONG_WORDS = ("prompt is too long", "exceed context limit")

HTTP_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP's status for each type of error, which rows of batches give alone."""


class AnthropicErrorBody(NamedTuple):
    """What an error body says.

    Attributes:
        message: its message, else the beginning of the body; one short line.
        kind: the type of the error, such as overloaded_error; empty where it has none.
        code: names the cause within the type; empty where it has none.
    """

    message: str
    kind: str
    code: str

    @property
    def is_filtered(self) -> bool:
        """Whether the service's filter withheld the answer, as it would do again."""
        return self.kind == "invalid_request_error" and _FILTER_WORDS in self.message


def anthropic_error_in(body: object, raw: bytes, mask: Callable[[str], str]) -> AnthropicErrorBody:
    """The error in a body, parsed and as it came.

    Args:
        mask: removes secrets from a message.
    """
    error = as_map(as_map(body).get("error"))
    return AnthropicErrorBody(
        message=error_line(str(error.get("message") or ""), raw, mask),
        kind=as_text(error.get("type")) or "",
        code=as_text(as_map(error.get("details")).get("error_code")) or "",
    )


def anthropic_error(reply: HttpReply, endpoint: str, mask: Callable[[str], str]) -> Exception:
    """The exception for a reply whose status is not 200.

    Args:
        endpoint: names the service in messages.
        mask: removes secrets from a message.
    """
    status = reply.status
    error = anthropic_error_in(loads_or_none(reply.raw), reply.raw, mask)
    message = f"HTTP {status}: {error.message}"
    way_out = _way_out(error, status)
    if way_out is not None:
        return StudyError(f"{endpoint}: {message}; {way_out}")
    if status in TRANSIENT_STATUSES:
        return reply.transient_error(message)
    if status == 413 or any(words in error.message for words in _TOO_LONG_WORDS):
        message += "; the prompt is too long for the model: lower conditions.*.token_budget"
    return RejectedError(message)


def _way_out(error: AnthropicErrorBody, status: int) -> str | None:
    """What the user can do about an error that every other call would meet too; None for others."""
    is_refused = any(words in error.message for words in _EMPTY_ACCOUNT_WORDS)
    if status == 402 or error.code in _EMPTY_ACCOUNT_CODES or is_refused:
        return "add credit to the account or raise its spending limit, then run again"
    if status in (401, 403):
        return "check the key in the environment variable that models.*.api_key_env names"
    if status == 404:
        return "check models.*.model and models.*.base_url: the model may be retired"
    return None
