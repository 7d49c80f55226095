"""Another way of dispatch while batches are under way: their answers are taken, and never paid twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
from survival_study import ALL_MODELS, Answers, N, Study, n_submitted
from test_survival import prepare

from fieldwork.errors import StudyError
from fieldwork.generation.batches.patience import Clock
from servers.faults import openai_error
from servers.provider import BatchRules, Chat, Fault, ModelSpec, rerouted, serve_provider

NEVER = BatchRules(running_s=1e8, window_s=2e8)
EMPTY_ACCOUNT = Fault(
    status=429, body=openai_error("no credit", "insufficient_quota"), step="batches.create", times=1
)


class Bench(NamedTuple):
    chat: Chat
    answers: Answers


@pytest.fixture(scope="module")
def _serving() -> Iterator[Bench]:
    answers = Answers()
    specs = [
        ModelSpec("gpt-x"),
        ModelSpec("gemini-x", family="gemini"),
        ModelSpec("claude-x", family="claude"),
    ]
    with (
        pytest.MonkeyPatch.context() as patched,
        serve_provider(specs=specs, answer=answers, speed=5_000.0) as chat,
    ):
        prepare(patched)
        patched.setattr("fieldwork.generation.batches.settling.SECONDS_BETWEEN_LISTINGS", 0.02)
        patched.setattr("fieldwork.generation.batches.patience.FIRST_WAIT_S", 0.001)
        yield Bench(chat, answers)


@pytest.fixture
def bench(_serving: Bench) -> Iterator[Bench]:
    _serving.answers.made.clear()
    _serving.chat.jobs.clear()
    yield _serving
    _serving.chat.faults.clear()
    _serving.chat.batch = BatchRules()


class Stopped(BaseException):
    """The user stops a job that waits for its batches."""


def stop(seconds: float) -> NoReturn:  # noqa: ARG001
    raise Stopped


def study(folder: Path, api: str, chat: Chat, dispatch: str) -> Study:
    url = chat.anthropic_url if api == "anthropic" else chat.gemini_url
    return Study(folder, api, url, dispatch=dispatch, timeout_s=2.0)


def submit(folder: Path, api: str, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a job of batches up to its first wait."""
    with monkeypatch.context() as patched:
        patched.setattr("fieldwork.generation.responses.shown_clock", lambda _: Clock(sleep=stop))
        with pytest.raises(Stopped):
            study(folder, api, chat, "batch").run()


def cancel(chat: Chat) -> None:
    """As the user does on the provider's page."""
    for batch in chat.jobs.values():
        batch.cancelled_at = chat.clock.now()


@pytest.mark.parametrize("api", ALL_MODELS)
def test_what_is_in_a_batch_is_not_sent_live(
    api: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.chat.batch = NEVER
    submit(tmp_path, api, bench.chat, monkeypatch)
    live = study(tmp_path, api, bench.chat, "live")
    assert n_submitted(bench.chat) == N
    with pytest.raises(StudyError) as stopped:
        live.run()
    assert bench.answers.made.total() == 0
    sentence = str(stopped.value)
    assert f"{N} of {N} requests" in sentence
    assert all(name in sentence for name in bench.chat.jobs)
    assert "dispatch back to batch" in sentence
    assert "cancel" in sentence
    # the way that needs no patience: what is cancelled is asked live, and nothing twice
    cancel(bench.chat)
    assert {row["dispatch"] for row in live.run()} == {"live"}
    assert bench.answers.made.total() == N
    assert live.run()
    assert bench.answers.made.total() == N


@pytest.mark.parametrize("api", ALL_MODELS)
def test_answers_of_batches_that_ended_are_taken(
    api: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(tmp_path, api, bench.chat, monkeypatch)
    live = study(tmp_path, api, bench.chat, "live")
    bench.chat.clock.skip(7200.0)
    assert {row["dispatch"] for row in live.run()} == {"batch"}
    assert bench.answers.made.total() == N


def test_files_whose_batch_was_never_made_are_sent_live(bench: Bench, tmp_path: Path) -> None:
    bench.chat.faults.append(EMPTY_ACCOUNT)
    with pytest.raises(StudyError, match="add credit"):
        study(tmp_path, "openai", bench.chat, "batch").run()
    bench.chat.faults.clear()
    assert {row["dispatch"] for row in study(tmp_path, "openai", bench.chat, "live").run()} == {
        "live"
    }
    assert n_submitted(bench.chat) == 0
    assert bench.answers.made.total() == N
    # and going back to batches submits nothing
    study(tmp_path, "openai", bench.chat, "batch").run()
    assert n_submitted(bench.chat) == 0


def test_an_answer_of_another_model_in_a_batch_stops_live_calls(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.chat.faults.append(rerouted("cheaper", step="row", skip=11, times=2))
    submit(tmp_path, "openai", bench.chat, monkeypatch)
    bench.chat.clock.skip(7200.0)
    with pytest.raises(StudyError, match="cheaper"):
        study(tmp_path, "openai", bench.chat, "live").run()
    assert bench.answers.made.total() == N
