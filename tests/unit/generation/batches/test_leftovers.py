"""Another way of dispatch while batches are under way: their answers are taken, and never paid twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
from survival_study import ALL_MODELS, SPECS, Answers, N, Study, n_submitted, prepare

from fieldwork.errors import StudyError
from fieldwork.generation.batches.patience import Clock
from servers.faults import openai_error
from servers.provider import BatchRules, Chat, Fault, rerouted, serve_provider


class Stopped(BaseException):
    """The user stops a job that waits for its batches."""


def stop(seconds: float) -> NoReturn:  # noqa: ARG001
    raise Stopped


class Bench(NamedTuple):
    chat: Chat
    answers: Answers
    folder: Path
    patched: pytest.MonkeyPatch

    def study(self, dispatch: str, api: str = "openai") -> Study:
        url = self.chat.anthropic_url if api == "anthropic" else self.chat.gemini_url
        return Study(self.folder, api, url, dispatch=dispatch, timeout_s=2.0)

    def submit(self, api: str = "openai") -> None:
        """Run a job of batches up to its first wait."""
        with self.patched.context() as patched:
            clock = Clock(sleep=stop)
            patched.setattr("fieldwork.generation.responses.shown_clock", lambda _: clock)
            with pytest.raises(Stopped):
                self.study("batch", api).run()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    prepare(monkeypatch)
    answers = Answers()
    with serve_provider(specs=SPECS, answer=answers, speed=5_000.0) as chat:
        yield Bench(chat, answers, tmp_path, monkeypatch)


def dispatches(study: Study) -> set[str]:
    return {row["dispatch"] for row in study.run()}


@pytest.mark.parametrize("api", ALL_MODELS)
def test_what_is_in_a_batch_is_not_sent_live(api: str, bench: Bench) -> None:
    bench.chat.batch = BatchRules(running_s=1e8, window_s=2e8)
    bench.submit(api)
    live = bench.study("live", api)
    assert n_submitted(bench.chat) == N
    with pytest.raises(StudyError) as stopped:
        live.run()
    assert bench.answers.made.total() == 0
    sentence = str(stopped.value)
    for words in (f"{N} of {N} requests", "dispatch back to batch", "cancel", *bench.chat.jobs):
        assert words in sentence
    # what the user cancels on the provider's page is asked live, and nothing twice
    for batch in bench.chat.jobs.values():
        batch.cancelled_at = bench.chat.clock.now()
    for _ in range(2):
        assert dispatches(live) == {"live"}
        assert bench.answers.made.total() == N


@pytest.mark.parametrize("api", ALL_MODELS)
def test_answers_of_batches_that_ended_are_taken(api: str, bench: Bench) -> None:
    bench.submit(api)
    bench.chat.clock.skip(7200.0)
    assert dispatches(bench.study("live", api)) == {"batch"}
    assert bench.answers.made.total() == N


def test_files_whose_batch_was_never_made_are_sent_live(bench: Bench) -> None:
    body = openai_error("no credit", "insufficient_quota")
    bench.chat.faults.append(Fault(status=429, body=body, step="batches.create", times=1))
    with pytest.raises(StudyError, match="add credit"):
        bench.study("batch").run()
    # and going back to batches submits nothing
    for dispatch in ("live", "batch"):
        assert dispatches(bench.study(dispatch)) == {"live"}
        assert n_submitted(bench.chat) == 0
        assert bench.answers.made.total() == N


def test_an_answer_of_another_model_in_a_batch_stops_live_calls(bench: Bench) -> None:
    bench.chat.faults.append(rerouted("cheaper", step="row", skip=11, times=2))
    bench.submit()
    bench.chat.clock.skip(7200.0)
    with pytest.raises(StudyError, match="cheaper"):
        bench.study("live").run()
    assert bench.answers.made.total() == N
