"""Chat Completions under the engine: each fault costs one more send, and no other question its answer."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from provider_cases import item, make_openai

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.ledger import Ledger, open_ledger
from fieldwork.generation.limits import Limits
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.sending import Sender
from fieldwork.records.puppets import Message
from servers.provider import Fault, http_error, no_credit, serve_chat


def ask(
    provider: OpenAI,
    ledger: Ledger,
    n: int,
    *,
    attempts: int = 2,
    context: Sequence[Message] = (),
) -> AnswerTally:
    sender = Sender(
        provider=provider,
        ledger=ledger,
        limits=Limits(ceiling=4, requests_per_minute=None, tokens_per_minute=None),
        account=Account(None, "live", 16),
        attempts=attempts,
    )
    asks = [Ask(item(f"q{i}"), Sampling(1.0, 16, 0), 0) for i in range(n)]
    return settle([ContextGroup("c" if context else None, context, asks)], sender, total=n)


FAULTS = {
    "429": http_error(429),
    "429, retry after": http_error(429, retry_after="0.01"),
    "500": http_error(500),
    "502": http_error(502),
    "503": http_error(503),
    "reset": Fault(cut=True),
    "slow": Fault(wait_s=4.0),
    "html": Fault(body=b"<html>"),
    "cut": Fault(body=b'{"choices": [{"mess'),
    "no choices": Fault(reply={"choices": []}),
    "null message": Fault(choice={"message": None}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_one_fault_costs_one_more_send_and_no_other_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr("fieldwork.generation.calling.FIRST_WAIT_S", 0.01)
    fault.text, fault.times = "q2", 1
    with serve_chat(faults=[fault]) as chat, open_ledger(tmp_path / "l.sqlite") as ledger:
        # a machine with other work may keep an answer for a second
        provider = make_openai(chat.base_url, timeout_s=2.0 if fault.wait_s else 60.0)
        settled = ask(provider, ledger, 5)
        assert not settled.failures
        assert sorted(chat.questions()) == ["q0", "q1", "q2", "q2", "q3", "q4"]
        sends = {provider.read(e.raw).text: e.attempts for e in ledger.entries(settled.keys)}
        assert len(sends) == 5
        assert sorted(sends.values()) == [1, 1, 1, 1, 2]


def test_an_empty_account_stops_the_run_at_once(tmp_path: Path) -> None:
    with (
        serve_chat(faults=[Fault(times=8), no_credit(times=1000)]) as chat,
        open_ledger(tmp_path / "l.sqlite") as ledger,
    ):
        provider = make_openai(chat.base_url)
        with pytest.raises(StudyError, match="add credit"):
            ask(provider, ledger, 100, attempts=5)
        assert len(chat.requests) <= 8 + 4
        chat.faults.clear()
        assert 92 <= ask(provider, ledger, 100, attempts=5).n_asked <= 92 + 4


DELIVERIES: list[dict[str, Any]] = [
    {},
    {"flex": True},
    {"cache_key": True, "cache_breakpoint": True},
    {"timeout_s": 9.0},
]


@pytest.mark.parametrize(
    ("before", "after"),
    list(itertools.permutations(DELIVERIES, 2)),
)
def test_a_change_of_delivery_asks_nothing_again(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    context = [Message("user", "Hi"), Message("assistant", "Hello")]
    with serve_chat() as chat, open_ledger(tmp_path / "l.sqlite") as ledger:
        assert ask(make_openai(chat.base_url, **before), ledger, 2, context=context).n_asked == 2
        assert ask(make_openai(chat.base_url, **after), ledger, 2, context=context).n_asked == 0
        assert len(chat.requests) == 2
