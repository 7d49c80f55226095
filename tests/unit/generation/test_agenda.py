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

LONG = "word " * 2_000
CACHE = PrefixCache(min_tokens=1024, requests_per_minute=None)


def group(context: str | None, *names: str, text: str = LONG) -> ContextGroup:
    messages = [Message("user", f"{context} {text}")] if context else []
    return ContextGroup(context, messages, [ask_of(name) for name in names])


def name_of(call: Call) -> str:
    body = json.loads(call.wire.body())
    return f"{body['cache_key']}:{body['question']}"


async def drain(agenda: Agenda, n_workers: int = 4, seconds: float = 0.01) -> list[tuple[str, str]]:
    """What started and ended, in order, with workers that each take `seconds` a call."""
    log: list[tuple[str, str]] = []

    async def work() -> None:
        while (call := await agenda.next()) is not None:
            log.append(("start", name_of(call)))
            agenda.note_sent(call)
            await asyncio.sleep(seconds)
            log.append(("end", name_of(call)))
            agenda.note_end(call)

    await asyncio.wait_for(asyncio.gather(*(work() for _ in range(n_workers))), timeout=60)
    return log


def run(
    groups: list[ContextGroup], ledger: Ledger, cache: PrefixCache | None = CACHE
) -> list[tuple[str, str]]:
    return asyncio.run(drain(Agenda(iter(groups), ScriptedProvider(), ledger, cache)))


def test_the_first_question_after_a_context_is_answered_before_the_rest_begin(
    ledger: Ledger,
) -> None:
    log = run([group(c, *"12345") for c in "abcdef"], ledger)
    for context in "abcdef":
        warm = log.index(("end", f"{context}:1"))
        assert all(warm < log.index(("start", f"{context}:{question}")) for question in "2345")


@pytest.mark.parametrize(
    ("cache", "made"),
    [
        (None, group("a", *"1234")),
        (CACHE, group(None, *"1234")),
        (CACHE, group("a", *"1234", text="short")),
    ],
)
def test_without_a_cache_to_warm_all_go_at_once(
    ledger: Ledger, cache: PrefixCache | None, made: ContextGroup
) -> None:
    log = run([made], ledger, cache)
    assert [what for what, _ in log] == ["start"] * 4 + ["end"] * 4


def test_a_prefix_is_asked_no_faster_than_its_cache_bears(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MINUTE_S", 0.3)
    times: dict[str, list[float]] = {"a": [], "b": []}

    async def scenario() -> None:
        agenda = Agenda(
            iter([group(c, *"1234567") for c in "ab"]),
            ScriptedProvider(),
            ledger,
            PrefixCache(1024, 3),
        )
        loop = asyncio.get_running_loop()

        async def work() -> None:
            while (call := await agenda.next()) is not None:
                times[name_of(call)[0]].append(loop.time())
                agenda.note_sent(call)
                await asyncio.sleep(0.01)
                agenda.note_end(call)

        await asyncio.wait_for(asyncio.gather(*(work() for _ in range(4))), timeout=60)

    asyncio.run(scenario())
    for started in times.values():
        assert len(started) == 7
        # three in the first minute, three in the second, one in the third
        assert started[2] - started[0] < 0.15
        assert started[3] - started[1] >= 0.29
        assert started[6] - started[3] >= 0.29


def test_an_answer_of_another_model_stops_until_it_is_accepted(ledger: Ledger) -> None:
    provider = ScriptedProvider()
    probe = Agenda(iter([group("a", "1")]), provider, ledger, CACHE)
    asyncio.run(drain(probe, seconds=0.0))
    ledger.quarantine(
        [Entry(probe.keys[0], "scripted", 0, reply_bytes("x", "cheaper"), None, None, 1)]
    )
    with pytest.raises(StudyError, match=r"cheaper.*accept_models"):
        asyncio.run(drain(Agenda(iter([group("a", "1")]), provider, ledger, CACHE)))
    provider.accepted_models.add("cheaper")
    accepted = Agenda(iter([group("a", "1")]), provider, ledger, CACHE)
    assert asyncio.run(drain(accepted)) == []
    assert [entry.raw for entry in ledger.entries(accepted.keys)] == [reply_bytes("x", "cheaper")]


def test_a_worker_that_is_cancelled_while_idle_takes_no_call_with_it(ledger: Ledger) -> None:
    async def scenario() -> list[str]:
        agenda = Agenda(iter([group("a", *"123")]), ScriptedProvider(), ledger, CACHE)
        first = await agenda.next()
        assert first is not None
        idle = [asyncio.create_task(agenda.next()) for _ in range(2)]
        await asyncio.sleep(0)
        idle[0].cancel()
        agenda.note_end(first)
        second = await idle[1]
        third = await agenda.next()
        assert second is not None
        assert third is not None
        return [name_of(call) for call in (first, second, third)]

    assert asyncio.run(scenario()) == ["a:1", "a:2", "a:3"]
