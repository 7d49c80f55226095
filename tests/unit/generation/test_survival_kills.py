"""A job that is killed again and again: what is repeated, what is spent, and the table in the end.

A run that is to die is forked before any server starts: a child of a process with threads may hang.
"""

import gzip
import json
import signal
from functools import partial
from pathlib import Path

import pytest
from survival_study import KEY_ENV, MODELS, PRICE, Answers, N, Study, lasting
from test_survival import prepare
from test_survival_crash import Run, at_step, die

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Ledger
from servers.provider import Fault, ModelSpec, serve_provider

CONCURRENCY = 4
SPECS = [ModelSpec("gpt-x"), ModelSpec("gemini-x", family="gemini")]
# the commits after which each run in turn dies
KILLS = (1, 2, 1, 3, 2, 1)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(monkeypatch)
    monkeypatch.setenv(KEY_ENV, "any")


@pytest.mark.parametrize("api", MODELS)
def test_many_kills_repeat_only_the_calls_in_flight(api: str, tmp_path: Path) -> None:
    study = partial(Study, tmp_path / "killed", api, concurrency=CONCURRENCY)
    runs = [
        Run(study, partial(at_step, Ledger, "store", when, nth, die))
        for nth, when in zip(KILLS, ("before", "after") * 3, strict=True)
    ]
    answers = Answers()
    with serve_provider(specs=SPECS, answer=answers) as chat:
        n_made = 0
        for run in runs:
            run.begin(chat)
            assert run.finish() == -signal.SIGKILL
            repeated = answers.made.total() - len(answers.made)
            assert repeated - n_made <= CONCURRENCY, "a kill repeats what was in flight"
            n_made = repeated
        table = lasting(study(chat.gemini_url).run())
        assert len(answers.made) == N
        whole = lasting(Study(tmp_path / "whole", api, chat.gemini_url).run())
        assert table == whole


def test_a_budget_is_never_passed_however_often_a_job_is_killed(tmp_path: Path) -> None:
    """All answers cost 0.0014; what the dead had set aside counts until it is known what they spent."""
    study = partial(Study, tmp_path / "killed", "openai", concurrency=CONCURRENCY)
    budget = 0.0012
    runs = [
        Run(partial(study, budget_usd=budget), partial(at_step, Ledger, "store", "after", nth, die))
        for nth in KILLS
    ]
    prices = dict.fromkeys(MODELS.values(), PRICE)
    with serve_provider(specs=SPECS, prices=prices, answer=Answers()) as chat:
        ends = []
        for run in runs:
            run.begin(chat)
            ends.append(run.finish())
            assert chat.bill.usd <= budget
        assert -signal.SIGKILL in ends
        assert set(ends) <= {-signal.SIGKILL, 1}, "killed, or stopped by the budget"
        for _ in range(2):
            with pytest.raises(StudyError, match="budget_usd"):
                study(chat.gemini_url, budget_usd=budget).run()
            assert 0 < chat.bill.usd <= budget
        assert len(lasting(study(chat.gemini_url, budget_usd=1.0).run())) == N


# --- large and packed replies ----------------------------------------------------------------------


def test_a_reply_of_twenty_megabytes_is_an_answer(tmp_path: Path) -> None:
    big = b"B " * 10_000_000
    with serve_provider(specs=SPECS, answer=Answers()) as chat:
        chat.faults.append(Fault(raw_text=big, skip=3, times=1))
        study = Study(tmp_path, "openai", chat.gemini_url, timeout_s=60.0)
        table = study.run()
        assert sorted(len(row["text"]) for row in table)[-1] == len(big)
        n_asked = len(chat.requests)
        assert study.run() == table
        assert len(chat.requests) == n_asked


@pytest.mark.parametrize("packed", [gzip.compress, lambda raw: gzip.compress(raw)[:-9]])
def test_a_packed_reply_is_read_though_none_was_asked_for(packed, tmp_path: Path) -> None:
    """One that is cut in its packing is no reply, and is asked for again."""
    choice = {"message": {"content": "packed"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    reply = json.dumps({"choices": [choice], "usage": usage, "model": "gpt-x"}).encode()
    headers = {"Content-Encoding": "gzip"}
    with serve_provider(specs=SPECS, answer=Answers()) as chat:
        chat.faults.append(Fault(body=packed(reply), headers=headers, skip=3, times=1))
        table = Study(tmp_path, "openai", chat.gemini_url).run()
        is_whole = packed is gzip.compress
        assert [row["text"] for row in table].count("packed") == is_whole
        assert sum(row["attempts"] - 1 for row in table) == (not is_whole)
