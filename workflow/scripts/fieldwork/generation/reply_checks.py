"""Replies that can be read and are no answers: the answer broke off, or the server read half a prompt.

Some servers cut what is longer than their window, and do not say so. An answer after a history that was
cut would count as one after the history. The only trace is the number of tokens that the reply states, so
a cut of less than a quarter or so of a prompt leaves none (docs/gateways.md).
"""

from fieldwork.generation.providers.base import (
    RejectedError,
    Reply,
    TransientError,
    Usage,
    Wire,
)

SHORTEST_CHECKED = 4000
"""Characters; a shorter prompt fits any window."""

_MESSAGE = b'{"role":"'
_FRAME = len(b'{"role":"assistant","content":""},')


def require_end(reply: Reply) -> None:
    """Refuse an answer that broke off by an error of the server, to have it asked for again.

    Raises:
        TransientError: the server stated an error beside a part of an answer.
    """
    if reply.outcome == "failed":
        raise TransientError(broken_off(reply), maybe_billed=True)


def broken_off(reply: Reply) -> str:
    """Why an answer that broke off is none, in one short line."""
    return f"the answer broke off: {' '.join((reply.finish_reason or '').split())[:200]}"


def require_whole_prompt(wire: Wire, usage: Usage, characters_per_token: float | None) -> None:
    """Refuse an answer whose prompt has far fewer tokens than were sent.

    Args:
        characters_per_token: most characters of a prompt that a token can stand for; None for no check.

    Raises:
        RejectedError: the server read a part of the prompt. Equal for all prompts, so that they are
            counted together.
    """
    if characters_per_token is None or usage.input is None:
        return
    most_characters = max(usage.input * characters_per_token, SHORTEST_CHECKED)
    # no text has more characters than bytes, so most calls need no count
    if len(wire.prefix) + len(wire.question) <= most_characters:
        return
    if text_characters(wire.prefix) + text_characters(wire.question) <= most_characters:
        return
    raise RejectedError(
        f"the server read only a part of the prompt: its reply states fewer tokens than one for "
        f"{characters_per_token:g} characters that were sent; make the server's window longer than "
        f"conditions.*.token_budget (Ollama: OLLAMA_CONTEXT_LENGTH), or raise "
        f"models.*.characters_per_token where prompts are not cut (docs/gateways.md)"
    )


def text_characters(part: bytes) -> int:
    """Characters of a part of a call, as JSON writes them, without what stands around each message."""
    # within a text the quotes are escaped
    return len(part.decode("utf-8", "replace")) - _FRAME * part.count(_MESSAGE)
