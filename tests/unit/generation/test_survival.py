"""Whatever goes wrong with a call in the middle of a job, the final table is the undisturbed run's."""

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from survival_study import KEY, MODELS, PRICES, SPECS, Answers, N, Study, Table, lasting, prepare

from fieldwork.errors import StudyError
from servers.faults import google_error, openai_error
from servers.provider import FOREVER, Chat, Fault, no_credit, rerouted, serve_provider

SKIP, TIMES = 11, 3


class Bench(NamedTuple):
    """The server, its count of answers, and the undisturbed table of each interface."""

    chat: Chat
    answers: Answers
    tables: Mapping[str, Table]

    def study(self, folder: Path, api: str, **settings: Any) -> Study:
        return Study(folder, api, self.chat.gemini_url, **{"attempts": 6, **settings})

    def posts(self) -> int:
        return sum(request.method == "POST" for request in self.chat.requests)


@pytest.fixture(scope="module")
def _serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    answers = Answers()
    with (
        pytest.MonkeyPatch.context() as patched,
        serve_provider(specs=SPECS, prices=PRICES, answer=answers, api_key=KEY) as chat,
    ):
        prepare(patched, KEY)
        whole = tmp_path_factory.mktemp("whole")
        tables = {api: lasting(Study(whole / api, api, chat.gemini_url).run()) for api in MODELS}
        yield Bench(chat, answers, tables)


@pytest.fixture
def bench(_serving: Bench) -> Bench:
    for noted in (_serving.chat.faults, _serving.chat.requests, _serving.answers.made):
        noted.clear()
    return _serving


def error(status: int, **more: Any) -> dict[str, Any]:
    return {"status": status, "body": openai_error("try again"), **more}


# what changes a reply, yet leaves an answer, is in providers/test_defects.py and beside it
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("openai", error(429, headers={"Retry-After": "0.01"})),
    ("openai", error(500)),
    ("openai", error(504, late=True)),
    ("openai", {"wait_s": 0.5}),
    ("openai", {"reset": True}),
    ("openai", {"cut": True}),
    ("openai", {"wrong_length": 50}),
    ("openai", {"drip_s": 0.1}),
    ("openai", {"keep": 40}),
    ("openai", {"body": b""}),
    ("openai", {"body": b"<html><body>Bad gateway</body></html>"}),
    ("openai", {"body": b"[" * 200_000}),
    ("openai", {"body": b'{"usage":{"prompt_tokens":1e999}}'}),
    ("openai", {"reply": {"choices": []}}),
    ("openai", {"headers": {"x-request-id": "r\udcff"}}),
    ("gemini", {"status": 429, "body": google_error(429, "slow down", retry_s=0.01)}),
    ("gemini", {"status": 504, "body": google_error(504, "try again"), "late": True}),
    ("gemini", {"drop": ["candidates"]}),
    ("gemini", {"body": b'{"usageMetadata":{"promptTokenCount":1e999}}'}),
]


@pytest.mark.parametrize(("api", "fault"), FAULTS)
def test_a_fault_leaves_the_table_as_it_would_have_been(
    api: str, fault: dict[str, Any], bench: Bench, tmp_path: Path
) -> None:
    bench.chat.faults.append(Fault(**fault, skip=SKIP, times=TIMES))
    # a machine with other work may keep an answer for a while that is in time
    limit = {"timeout_s": 0.3} if {"wait_s", "drip_s"} & set(fault) else {}
    table = bench.study(tmp_path, api, **limit).run()
    assert bench.chat.faults[0].times == 0, "the fault was not met"
    assert lasting(table) == bench.tables[api]
    sent = bench.posts()
    again = sent - N
    assert again == (0 if "headers" in fault and "status" not in fault else TIMES) or limit
    assert bench.study(tmp_path, api).run() == table
    assert bench.posts() == sent, "a second run asks nothing"


STOPS: list[tuple[str, Fault, str]] = [
    ("openai", no_credit(), "add credit"),
    ("openai", Fault(**error(401)), "api_key_env"),
    ("gemini", Fault(status=503, body=google_error(503, "try again")), "have no answer"),
]


@pytest.mark.parametrize(("api", "fault", "said"), STOPS)
def test_what_stops_the_job_keeps_what_arrived_and_a_rerun_asks_the_rest(
    api: str, fault: Fault, said: str, bench: Bench, tmp_path: Path
) -> None:
    fault.skip, fault.times = SKIP, FOREVER
    bench.chat.faults.append(fault)
    with pytest.raises(StudyError, match=said) as caught:
        bench.study(tmp_path, api, attempts=2).run()
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    bench.chat.faults.clear()
    n_before, n_billed = bench.posts(), bench.answers.made.total()
    assert lasting(bench.study(tmp_path, api).run()) == bench.tables[api]
    assert bench.posts() - n_before == N - SKIP
    paid_for_nothing = 0 if fault.replaces else n_billed - SKIP
    assert bench.answers.made.total() == N + paid_for_nothing


def test_an_answer_of_another_model_is_paid_for_once(bench: Bench, tmp_path: Path) -> None:
    bench.chat.faults.append(rerouted("cheaper", skip=SKIP, times=2))
    for sentence in ("cheaper", "in quarantine"):
        with pytest.raises(StudyError, match=sentence):
            bench.study(tmp_path, "openai").run()
        bench.chat.faults.clear()
    table = bench.study(tmp_path, "openai", accept_models=["cheaper"]).run()
    assert 1 <= sum(row["returned_model"] == "cheaper" for row in table) <= 2
    assert [row["text"] for row in table] == [row["text"] for row in bench.tables["openai"]]
    assert set(bench.answers.made.values()) == {1}
    assert bench.answers.made.total() == N


def test_a_server_that_takes_no_connection_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full backlog drops what comes: nobody answers, nobody refuses."""
    prepare(monkeypatch)
    monkeypatch.setattr("fieldwork.generation.providers.http.CONNECT_S", 0.1)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        held = [socket.socket() for _ in range(3)]
        for caller in held:
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(StudyError, match=r"no request is answered.*no connection within 0\.1"):
            Study(tmp_path, "openai", url, attempts=1).run()
        for caller in held:
            caller.close()
