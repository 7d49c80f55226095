"""The order of calls: one ahead of its group, the rest at the cache's pace, within a bound of memory."""

import asyncio
import json

import pytest
from scripted_provider import ScriptedProvider, reply_bytes
from senders import ask_of

from fieldwork.errors import StudyError
from fieldwork.generation import agenda as module
from fieldwork.generation.agenda import Agenda, Call, ContextGroup, PrefixCache
from fieldwork.generation.ledger import Entry, Ledger
from fieldwork.records.puppets import Message

CACHE = PrefixCache(min_tokens=1024, requests_per_minute=None)


def group(context: str | None, names: str, text: str = "word " * 2_000) -> ContextGroup:
    messages = [Message("user", f"{context} {text}")] if context else []
    return ContextGroup(context, messages, [ask_of(name) for name in names])


def agenda_of(ledger: Ledger, *groups: ContextGroup, cache: PrefixCache | None = CACHE) -> Agenda:
    return Agenda(iter(groups), ScriptedProvider(), ledger, cache)


def name_of(call: Call) -> str:
    body = json.loads(call.wire.body())
    return f"{body['cache_key']}:{body['question']}"


def drain(agenda: Agenda, seconds: float = 0.01) -> dict[tuple[str, str], float]:
    """When each call started and ended, in order, with four workers that take `seconds` a call."""
    log: dict[tuple[str, str], float] = {}

    async def work() -> None:
        clock = asyncio.get_running_loop().time
        while (call := await agenda.next()) is not None:
            log["start", name_of(call)] = clock()
            agenda.note_sent(call)
            await asyncio.sleep(seconds)
            log["end", name_of(call)] = clock()
            agenda.note_end(call)

    async def four() -> None:
        await asyncio.wait_for(asyncio.gather(*(work() for _ in range(4))), timeout=60)

    asyncio.run(four())
    return log


def test_the_first_question_after_a_context_is_answered_before_the_rest_begin(
    ledger: Ledger,
) -> None:
    log = list(drain(agenda_of(ledger, *(group(c, "12345") for c in "abcdef"))))
    for context in "abcdef":
        warm = log.index(("end", f"{context}:1"))
        assert all(warm < log.index(("start", f"{context}:{question}")) for question in "2345")


@pytest.mark.parametrize(
    ("cache", "made"),
    [(None, group("a", "1234")), (CACHE, group(None, "1234")), (CACHE, group("a", "1234", "s"))],
)
def test_without_a_cache_to_warm_all_go_at_once(
    ledger: Ledger, cache: PrefixCache | None, made: ContextGroup
) -> None:
    log = drain(agenda_of(ledger, made, cache=cache))
    assert [what for what, _ in log] == ["start"] * 4 + ["end"] * 4


def test_a_prefix_is_asked_no_faster_than_its_cache_bears(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MINUTE_S", 0.3)
    groups = [group(c, "1234567") for c in "ab"]
    log = drain(agenda_of(ledger, *groups, cache=PrefixCache(1024, 3)))
    for context in "ab":
        started = [log["start", f"{context}:{n}"] for n in range(1, 8)]
        # three in the first minute, three in the second, one in the third
        assert started[2] - started[0] < 0.15
        assert started[3] - started[1] >= 0.29
        assert started[6] - started[3] >= 0.29


def test_an_answer_of_another_model_stops_until_it_is_accepted(ledger: Ledger) -> None:
    probe = agenda_of(ledger, group("a", "1"))
    drain(probe, seconds=0.0)
    other = reply_bytes("x", "cheaper")
    ledger.quarantine([Entry(probe.keys[0], "scripted", 0, other, None, None, 1)])
    with pytest.raises(StudyError, match=r"cheaper.*accept_models"):
        drain(agenda_of(ledger, group("a", "1")))
    provider = ScriptedProvider()
    provider.accepted_models.add("cheaper")
    accepted = Agenda(iter([group("a", "1")]), provider, ledger, CACHE)
    assert drain(accepted) == {}
    assert [entry.raw for entry in ledger.entries(accepted.keys)] == [other]


def test_a_worker_that_is_cancelled_while_idle_takes_no_call_with_it(ledger: Ledger) -> None:
    async def scenario() -> list[Call | None]:
        agenda = agenda_of(ledger, group("a", "123"))
        first = await agenda.next()
        assert first is not None
        idle = [asyncio.create_task(agenda.next()) for _ in range(2)]
        await asyncio.sleep(0)
        idle[0].cancel()
        agenda.note_end(first)
        return [first, await idle[1], await agenda.next()]

    calls = asyncio.run(scenario())
    assert [call and name_of(call) for call in calls] == ["a:1", "a:2", "a:3"]
