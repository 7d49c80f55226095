"""What the errors of Chat Completions say: each becomes an exception of the contract, with a way out.

Compatible servers word their errors in four forms: OpenAI's own, `error` as a text (LM Studio), a flat
body (Mistral, Bedrock), and a list of the fields that a server's schema refuses (Mistral, FastAPI).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError
from fieldwork.generation.providers.http import HttpReply
from fieldwork.generation.providers.jsontext import as_list, as_map, error_line, loads_or_none
from fieldwork.retries import TRANSIENT_STATUSES

_EMPTY_ACCOUNT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TOO_LONG_WORDS = re.compile(
    rb"context[ _-](?:length|window|size)|(?:prompt|input) is too long|max_new_tokens",
    re.IGNORECASE,
)
_ABOVE_LIMIT_WORDS = re.compile(
    rb"request too large|must be reduced in order to run", re.IGNORECASE
)
"""Of a call that is larger than a minute's tokens: it has status and code of throttled calls, but no
wait helps."""
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
)
_MODERATION = frozenset({"flagged_input", "reasons"})
"""What OpenRouter adds to an error about a prompt that a moderator flagged."""


class OpenAIErrorBody(NamedTuple):
    """What the body of an error says.

    Attributes:
        codes: its codes and types.
        message: empty where it has none.
        is_filtered: a filter before the model refused the prompt.
        is_about_the_prompt: it says more about this prompt, so that other prompts may pass.
        is_there: the body has an error.
    """

    codes: frozenset[str]
    message: str
    is_filtered: bool
    is_about_the_prompt: bool
    is_there: bool


def openai_error_in(body: object, raw: bytes) -> OpenAIErrorBody:
    """The error in a body, parsed and as it came."""
    error = as_map(body).get("error")
    if isinstance(error, str):
        error = {"message": error}
    elif not isinstance(error, dict):
        # a completion has neither of these beside its choices
        error = {} if "choices" in as_map(body) else as_map(body)
    values = (error.get("code"), error.get("type"), as_map(error.get("innererror")).get("code"))
    codes = frozenset(value for value in values if isinstance(value, str))
    # OpenAI gives this code to malformed prompts too, and only the sentence tells them apart
    is_flagged = "invalid_prompt" in codes and b"flagged" in raw
    metadata, message = as_map(error.get("metadata")), _message(error)
    return OpenAIErrorBody(
        codes,
        message=message,
        is_filtered=bool(codes & _FILTER_CODES or metadata.keys() & _MODERATION) or is_flagged,
        is_about_the_prompt=bool(metadata),
        is_there=bool(message or codes or as_map(as_map(body).get("error"))),
    )


def _message(error: Mapping[str, Any]) -> str:
    """A message, or the fields that a schema refuses and why."""
    message = error.get("message")
    details = error.get("detail") if message is None else as_map(message).get("detail")
    if isinstance(details, str):
        return details
    reasons = [_refused_field(as_map(detail)) for detail in as_list(details)]
    return "; ".join(filter(None, reasons)) or str(message or "")


def _refused_field(detail: Mapping[str, Any]) -> str:
    place = ".".join(map(str, as_list(detail.get("loc"))))
    return ": ".join(filter(None, (place, str(detail.get("msg") or ""))))


def status_line(reply: HttpReply, mask: Callable[[str], str]) -> str:
    """The status of a reply and its error, as one short line without secrets."""
    message = openai_error_in(loads_or_none(reply.raw), reply.raw).message
    return f"HTTP {reply.status}: {error_line(message, reply.raw, mask)}"


def openai_error(reply: HttpReply, server: str, mask: Callable[[str], str]) -> Exception:
    """The error for a reply whose status is not 200.

    Args:
        server: its name in messages.
        mask: removes secrets from a message.
    """
    status, error = reply.status, openai_error_in(loads_or_none(reply.raw), reply.raw)
    message = status_line(reply, mask)
    is_out_of_quota = status == 429 and b"insufficient_q" in reply.raw
    if status == 402 and "retry-after" in reply.headers:
        # OpenRouter: the money is set aside for calls under way
        return reply.transient_error(message)
    if status == 402 or error.codes & _EMPTY_ACCOUNT or is_out_of_quota:
        return StudyError(f"{server}: {message}; add credit to the account, then run again")
    if status == 403 and error.is_about_the_prompt:
        return RejectedError(message)
    if status in (401, 403):
        return StudyError(
            f"{server}: {message}; check the key in the environment variable that models.*.api_key_env "
            f"names"
        )
    if status == 404:
        return StudyError(f"{server}: {message}; check models.*.model and models.*.base_url")
    if status == 429 and _ABOVE_LIMIT_WORDS.search(reply.raw):
        return RejectedError(
            f"{message}; the call is larger than the account's tokens of a minute: lower "
            f"conditions.*.token_budget or tasks.*.max_tokens"
        )
    if status in TRANSIENT_STATUSES:
        return reply.transient_error(message)
    if status == 413 or error.codes & _TOO_LONG or _TOO_LONG_WORDS.search(reply.raw):
        message += (
            "; the prompt is too long for the model or the account: lower conditions.*.token_budget"
        )
    return RejectedError(message)
