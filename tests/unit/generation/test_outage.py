"""A server that is wrong for everybody is met by a few calls; one that fails now and then by all."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest
from scripted_provider import Fate, ScriptedProvider
from senders import numbered, sender_of, settle_asks
from test_engine import ask

from fieldwork.errors import StudyError
from fieldwork.generation import outage
from fieldwork.generation.ledger import Ledger
from fieldwork.generation.limits import Limits
from fieldwork.generation.outage import FIRST_REQUESTS, THROTTLED_S, Outage
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.retries import LONGEST_WAIT_S

MANY = 400


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def timed_out() -> TransientError:
    error = TransientError("no reply within 3 s", maybe_billed=True)
    error.__cause__ = TimeoutError()
    return error


WRONG: dict[str, tuple[Fate, int, str]] = {
    "rejected": (lambda *_: RejectedError("HTTP 400: no"), 5, r"5 calls: HTTP 400: no.*objects to"),
    "failed": (
        lambda *_: TransientError("HTTP 500: oops"),
        5 * 3,
        r"15 calls: HTTP 500: oops.*base_url",
    ),
    "timed out": (
        lambda *_: timed_out(),
        5 + 3,
        r"[5-8] calls: no reply.*may be billed; .*timeout_s",
    ),
}


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize("name", WRONG)
def test_a_server_that_is_wrong_for_everybody_is_left_after_a_few_calls(
    name: str, ledger: Ledger
) -> None:
    fate, most, sentence = WRONG[name]
    provider = ScriptedProvider(fate, concurrency=16)
    with pytest.raises(StudyError, match=f"scripted: no request is answered.*{sentence}"):
        ask(numbered(MANY), provider, ledger)
    assert 5 <= len(provider.sends) <= most
    assert provider.n_closed == 1


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize("attempts", [1, 5])
def test_replies_that_cannot_be_read_are_paid_for_a_few_times(
    attempts: int, ledger: Ledger
) -> None:
    provider = ScriptedProvider(concurrency=16)
    provider.make_reply = lambda *_: b"<html>"
    with pytest.raises(StudyError, match=r"<html>.\), so .* may be billed; .*models\.\*\.provider"):
        ask(numbered(MANY), provider, ledger, attempts)
    assert len(provider.sends) == FIRST_REQUESTS * attempts


@pytest.mark.parametrize("retry_after_s", [None, 0.0, 1.0, 20.0, 400.0])
def test_a_server_that_throttles_everybody_is_waited_for_and_then_left(
    retry_after_s: float | None, ledger: Ledger, naps: list[float]
) -> None:
    provider = ScriptedProvider(
        lambda *_: TransientError("HTTP 429: slow", retry_after_s, is_throttled=True),
        concurrency=16,
    )
    clock = Clock()

    async def pass_by(seconds: float) -> None:
        clock.now += seconds
        await asyncio.sleep(0)

    limits = Limits(
        ceiling=16, requests_per_minute=None, tokens_per_minute=None, clock=clock, sleep=pass_by
    )
    sender = sender_of(provider, ledger, attempts=3)._replace(limits=limits)
    with pytest.raises(StudyError, match=r"HTTP 429: slow.*requests_per_minute"):
        settle_asks(numbered(MANY), sender)
    # every request waits by itself, and the first that has waited enough ends them all
    longest = THROTTLED_S + max(retry_after_s or 0.0, LONGEST_WAIT_S)
    assert THROTTLED_S <= sum(naps) <= FIRST_REQUESTS * longest
    assert len(provider.sends) <= FIRST_REQUESTS * 16


@pytest.mark.usefixtures("naps")
def test_before_the_first_answer_only_a_few_requests_are_out(ledger: Ledger) -> None:
    provider = ScriptedProvider(lambda body, _: 0.2 if body in first else 0.0, concurrency=16)
    first = {f"q{i}" for i in range(FIRST_REQUESTS)}
    assert ask(numbered(60), provider, ledger).n_asked == 60
    assert set(provider.sends[:FIRST_REQUESTS]) == first
    assert len(provider.sends) == 60


@pytest.mark.usefixtures("naps")
def test_one_answer_and_failures_are_the_requests_own(ledger: Ledger) -> None:
    """A burst among answers is asked through, and what fails is counted, as the next run asks it."""
    provider = ScriptedProvider(
        lambda body, _: 0.0 if body in ("q0", "q300") else TransientError("HTTP 500"), concurrency=4
    )
    settled = ask(numbered(MANY), provider, ledger)
    assert settled.failures == {"HTTP 500": MANY - 2}
    assert Counter(provider.sends) == {f"q{i}": 1 if i in (0, 300) else 3 for i in range(MANY)}


# --- after answers ---------------------------------------------------------------------------------


def failing(state: Outage, n: int, error: Callable[[], TransientError]) -> None:
    for _ in range(n):
        state.note_failure(error(), is_unreadable=False)


def test_a_server_that_falls_silent_is_left_after_half_an_hour() -> None:
    clock = Clock()
    state = Outage("there", clock)
    state.note_answer()
    clock.now = outage.LONGEST_SILENCE_S - 1
    failing(state, 1000, timed_out)
    clock.now += 2
    with pytest.raises(StudyError, match=r"no answer arrived for 30 minutes.*1001 calls"):
        failing(state, 1, timed_out)
