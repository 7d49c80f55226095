"""Whatever goes wrong with a batch, run after run ends with the table of an undisturbed one."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from survival_study import KEY, MODELS, Answers, N, Study, Table, lasting, n_billed, n_submitted
from test_survival import prepare

from fieldwork.errors import StudyError
from servers.faults import google_error, openai_error
from servers.provider import BatchRules, Chat, Fault, ModelSpec, rerouted, serve_provider

SPEED = 5_000.0
MOST_RUNS = 5


class Bench(NamedTuple):
    """The server, its count of answers, and the undisturbed table of each interface."""

    chat: Chat
    answers: Answers
    tables: Mapping[str, Table]


@pytest.fixture(scope="module")
def _serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    answers = Answers()
    specs = [ModelSpec("gpt-x"), ModelSpec("gemini-x", family="gemini")]
    with (
        pytest.MonkeyPatch.context() as patched,
        serve_provider(specs=specs, answer=answers, speed=SPEED) as chat,
    ):
        prepare(patched)
        patched.setattr("fieldwork.generation.batches.settling.SECONDS_BETWEEN_LISTINGS", 0.02)
        patched.setattr("fieldwork.generation.batches.patience.FIRST_WAIT_S", 0.001)
        tables = {
            api: lasting(study(tmp_path_factory.mktemp(api), api, chat).run()) for api in MODELS
        }
        yield Bench(chat, answers, tables)


@pytest.fixture
def bench(_serving: Bench) -> Iterator[Bench]:
    _serving.answers.made.clear()
    _serving.chat.bill.lines.clear()
    _serving.chat.jobs.clear()
    yield _serving
    _serving.chat.faults.clear()
    _serving.chat.batch = BatchRules()


def study(folder: Path, api: str, chat: Chat, **settings: Any) -> Study:
    return Study(folder, api, chat.gemini_url, dispatch="batch", timeout_s=2.0, **settings)


def run_until_whole(job: Study) -> tuple[Table, list[str]]:
    """As a user runs again what failed; the table, and what was said on the way."""
    said: list[str] = []
    while True:
        try:
            return job.run(), said
        except StudyError as error:
            said.append(str(error))
            assert len(said) < MOST_RUNS, said
            assert "\n" not in said[-1]


# -- rows

ODD = [
    {"duplicate": 2, "unknown": 2},
    {"duplicate": 2, "unknown": 1, "missing": 1},
]


@pytest.mark.parametrize(
    ("api", "odd"), [*(("openai", odd) for odd in ODD), ("gemini", ODD[-1])], ids=str
)
def test_odd_rows_are_passed_over_and_missing_ones_asked_again(
    api: str, odd: dict[str, int], bench: Bench, tmp_path: Path
) -> None:
    bench.chat.batch = BatchRules(**odd)
    job = study(tmp_path, api, bench.chat)
    if odd.get("missing"):
        with pytest.raises(StudyError, match="hold no row for it"):
            job.run()
        bench.chat.batch = BatchRules()
    table, said = run_until_whole(job)
    assert said == []
    assert lasting(table) == bench.tables[api]
    # three batches, and every row that was lost was answered once more
    assert bench.answers.made.total() == n_billed(bench.chat) == N + 3 * odd.get("missing", 0)


def row_error(api: str, status: int, message: str) -> Fault:
    raw = openai_error(message) if api == "openai" else google_error(status, message)
    return Fault(status=status, body=raw, step="row", skip=11, times=3)


@pytest.mark.parametrize(
    ("api", "status", "message"),
    [
        ("openai", 429, "slow down"),
        ("openai", 401, f"bad key {KEY}"),
        ("gemini", 400, "half \ud83d"),
        ("gemini", 401, f"bad key {KEY}"),
    ],
)
def test_rows_with_an_error_are_asked_again_by_the_next_run(
    api: str, status: int, message: str, bench: Bench, tmp_path: Path
) -> None:
    bench.chat.faults.append(row_error(api, status, message))
    table, said = run_until_whole(study(tmp_path, api, bench.chat))
    assert len(said) == 1
    assert "3 of 36 requests" in said[0]
    assert lasting(table) == bench.tables[api]
    assert bench.answers.made.total() == N
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in written + said[0].encode()


def wire(api: str, choice: str) -> Mapping[str, Any]:
    if choice == "no answer":
        return {"reply": {"choices": []}} if api == "openai" else {"drop": ["candidates"]}
    if choice == "length":
        return {"choice": {"finish_reason": "length", "finishReason": "MAX_TOKENS"}}
    return {"reply": {"system_fingerprint": 7, "responseId": 7, "service_tier": ["odd"]}}


@pytest.mark.parametrize(
    ("choice", "outcome"), [("no answer", None), ("length", "truncated"), ("odd fields", "ok")]
)
@pytest.mark.parametrize("api", MODELS)
def test_rows_without_a_plain_answer(
    api: str, choice: str, outcome: str | None, bench: Bench, tmp_path: Path
) -> None:
    bench.chat.faults.append(Fault(**wire(api, choice), step="row", skip=11, times=3))
    table, said = run_until_whole(study(tmp_path, api, bench.chat))
    assert len(said) == (outcome is None)
    outcomes = [row["outcome"] for row in table]
    assert outcomes.count("ok") == (N if outcome in (None, "ok") else N - 3)
    assert bench.answers.made.total() == (N + 3 if outcome is None else N)


@pytest.mark.parametrize("api", MODELS)
def test_an_answer_of_another_model_is_paid_for_once(
    api: str, bench: Bench, tmp_path: Path
) -> None:
    bench.chat.faults.append(rerouted("cheaper", step="row", skip=11, times=2))
    with pytest.raises(StudyError, match="cheaper"):
        study(tmp_path, api, bench.chat).run()
    table, said = run_until_whole(study(tmp_path, api, bench.chat, accept_models=["cheaper"]))
    assert said == []
    assert [row["text"] for row in table] == [row["text"] for row in bench.tables[api]]
    assert bench.answers.made.total() == N


# -- steps

Make = Callable[[], Fault]
HTML = b"<html><body>Bad gateway</body></html>"
FAULTS: dict[str, Make] = {
    "503": lambda: Fault(status=503, body=b"{}"),
    "html": lambda: Fault(body=HTML),
    "reset": lambda: Fault(reset=True),
    "cut": lambda: Fault(cut=True),
    "lost after it took effect": lambda: Fault(status=504, body=b"{}", late=True),
    "list": lambda: Fault(body=b"[]"),
    "deep": lambda: Fault(body=b"[" * 100_000),
}
STEPS = ("files.upload", "batches.create", "batches.list", "batches.get", "files.content")


@pytest.mark.parametrize(
    ("api", "name"),
    [*(("openai", name) for name in FAULTS), ("gemini", "cut"), ("gemini", "list")],
)
def test_steps_that_fail_once_each_submit_nothing_twice(
    api: str, name: str, bench: Bench, tmp_path: Path
) -> None:
    for step in STEPS:
        fault = FAULTS[name]()
        fault.step = step
        bench.chat.faults.append(fault)
    table, _ = run_until_whole(study(tmp_path, api, bench.chat))
    assert lasting(table) == bench.tables[api]
    assert set(bench.answers.made.values()) == {1}
    assert bench.answers.made.total() == n_billed(bench.chat) == n_submitted(bench.chat) == N


@pytest.mark.parametrize("api", MODELS)
def test_a_full_account_stops_and_the_next_run_goes_on(
    api: str, bench: Bench, tmp_path: Path
) -> None:
    said = json.dumps({"error": {"message": "no credit", "code": "insufficient_quota"}}).encode()
    status = 429 if api == "openai" else 402
    raw = said if api == "openai" else google_error(402, "no credit")
    bench.chat.faults.append(Fault(status=status, body=raw, step="batches.create", skip=1, times=1))
    with pytest.raises(StudyError, match="add credit"):
        study(tmp_path, api, bench.chat).run()
    table, later = run_until_whole(study(tmp_path, api, bench.chat))
    assert later == []
    assert lasting(table) == bench.tables[api]
    assert bench.answers.made.total() == N
