"""Whatever goes wrong with a call in the middle of a job, the final table is the undisturbed run's."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from senders import make_quick
from survival_study import KEY, KEY_ENV, MODELS, PRICE, Answers, N, Study, Table, lasting

from fieldwork.errors import StudyError
from servers.faults import google_error, openai_error
from servers.provider import FOREVER, Chat, Fault, ModelSpec, no_credit, rerouted, serve_provider

SKIP, TIMES, TIMEOUT_S = 11, 3, 0.3
DEEP = b"[" * 200_000


class Case(NamedTuple):
    """A fault that a job gets over.

    Attributes:
        fault: what goes wrong with three calls in the middle of the job.
        made: the answer was made all the same, so that the call is billed twice.
        outcome: of the three rows; `ok` where asking again gives the answer.
        text: of the three rows, where the fault changes it; None leaves it unchecked.
    """

    fault: Mapping[str, Any]
    made: bool = False
    outcome: str = "ok"
    text: str | None = None


def error(api: str, status: int, **more: Any) -> Mapping[str, Any]:
    body = openai_error if api == "openai" else google_error
    said = ("try again",) if api == "openai" else (status, "try again")
    return {"status": status, "body": body(*said), **more}  # type: ignore[arg-type]


def passing(api: str) -> dict[str, Case]:
    """Faults of the way there and back, met by both interfaces."""
    usage = ("usage", "prompt_tokens") if api == "openai" else ("usageMetadata", "promptTokenCount")
    no_answer = {"reply": {"choices": []}} if api == "openai" else {"drop": ["candidates"]}
    statuses = (429, 500, 504)
    wait = {"headers": {"Retry-After": "0.01"}}
    if api == "gemini":
        wait = {"body": google_error(429, "slow down", retry_s=0.01)}
    return {
        **{str(status): Case(error(api, status)) for status in statuses},
        "429 with a wait": Case({**error(api, 429), **wait}),
        "504 after the answer was made": Case(error(api, 504, late=True), made=True),
        "no reply in time": Case({"wait_s": 0.5}, made=True),
        "reset": Case({"reset": True}),
        "end in the body": Case({"cut": True}, made=True),
        "short of its length": Case({"wrong_length": 50}, made=True),
        "slow drip": Case({"drip_s": 0.1}, made=True),
        "truncated": Case({"keep": 40}, made=True),
        "empty": Case({"body": b""}),
        "html": Case({"body": b"<html><body>Bad gateway</body></html>"}),
        "deep JSON": Case({"body": DEEP}),
        "no UTF-8": Case({"raw_text": b"caf\xe9"}, text="caf\ufffd"),
        "raw NUL": Case({"raw_text": b"a\x00b"}, text="a\0b"),
        "infinite tokens": Case({"body": b'{"%s":{"%s":1e999}}' % tuple(map(str.encode, usage))}),
        "no choices": Case(no_answer, made=True),
        "half an emoji": Case({"raw_text": b"half \\ud83d"}, text="half \ufffd"),
        "an odd name of the call": Case({"headers": {"x-request-id": "r\udcff"}}),
        "odd model": Case({"reply": {"model": None, "modelVersion": None}}),
    }


def odd_fields(api: str) -> dict[str, Case]:
    """Replies whose fields are of another type than documented."""
    if api == "gemini":
        return {
            "odd reason": Case({"choice": {"finishReason": 1}}),
            "odd name of the call": Case({"reply": {"responseId": 7}}),
            "odd tier": Case({"reply": {"usageMetadata": {"serviceTier": 7}}}),
        }
    filtered = {"status": 400, "body": openai_error("no", "content_filter")}
    return {
        "null content": Case({"message": {"content": None}}, outcome="empty"),
        "filter before": Case(filtered, outcome="filtered"),
        "odd reason": Case({"choice": {"finish_reason": {"type": "stop"}}}),
        "half a fingerprint": Case({"reply": {"system_fingerprint": "fp \ud83d"}}),
        "odd tier": Case({"reply": {"service_tier": ["default"]}}),
        "odd refusal": Case({"message": {"refusal": {"why": "No."}}}, outcome="refused"),
    }


# the way there and back is the same for both interfaces; what a reply holds is not
READING = ("429 with a wait", "504 after the answer was made", "no choices", "no UTF-8")
READING += ("infinite tokens", "half an emoji", "odd model")
CASES = {
    ("openai", name): case for name, case in (passing("openai") | odd_fields("openai")).items()
}
CASES |= {("gemini", name): passing("gemini")[name] for name in READING}
CASES |= {("gemini", name): case for name, case in odd_fields("gemini").items()}


class Bench(NamedTuple):
    """The server, its count of answers, and the undisturbed table of each interface."""

    chat: Chat
    answers: Answers
    tables: Mapping[str, Table]

    def reset(self) -> None:
        """Forget what the last test left."""
        self.chat.faults.clear()
        self.chat.requests.clear()
        self.answers.made.clear()

    def study(self, folder: Path, api: str, **settings: Any) -> Study:
        settings = {"attempts": 6, **settings}
        return Study(folder, api, self.chat.gemini_url, **settings)

    def posts(self) -> int:
        return sum(request.method == "POST" for request in self.chat.requests)


@pytest.fixture(scope="module")
def _serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    specs = [ModelSpec("gpt-x"), ModelSpec("gemini-x", family="gemini")]
    prices, answers = dict.fromkeys(MODELS.values(), PRICE), Answers()
    with (
        pytest.MonkeyPatch.context() as patched,
        serve_provider(specs=specs, prices=prices, answer=answers, api_key=KEY) as chat,
    ):
        prepare(patched)
        whole = tmp_path_factory.mktemp("whole")
        tables = {api: lasting(Study(whole / api, api, chat.gemini_url).run()) for api in MODELS}
        yield Bench(chat, answers, tables)


def prepare(patched: pytest.MonkeyPatch) -> None:
    make_quick(patched)
    patched.setenv(KEY_ENV, KEY)


@pytest.fixture
def bench(_serving: Bench) -> Bench:
    _serving.reset()
    return _serving


def settled(bench: Bench, n: int) -> bool:
    """Whether the server has made so many answers, once those given up are made as well."""
    deadline = time.monotonic() + 30
    while bench.answers.made.total() < n and time.monotonic() < deadline:
        time.sleep(0.01)
    return bench.answers.made.total() == n


def is_hit(row: Mapping[str, Any], case: Case) -> bool:
    if case.text is not None:
        return bool(row["text"] == case.text)
    return bool(row["outcome"] == case.outcome != "ok")


@pytest.mark.parametrize(("api", "name"), CASES)
def test_a_fault_leaves_the_table_as_it_would_have_been(
    api: str, name: str, bench: Bench, tmp_path: Path
) -> None:
    case = CASES[api, name]
    bench.chat.faults.append(Fault(**case.fault, skip=SKIP, times=TIMES))
    # a machine with other work may keep an answer for a while that is in time
    limit = {"timeout_s": TIMEOUT_S} if {"wait_s", "drip_s"} & set(case.fault) else {}
    table = bench.study(tmp_path, api, **limit).run()
    assert bench.chat.faults[0].times == 0, "the fault was not met"
    assert settled(bench, N + TIMES * case.made - TIMES * (name == "filter before"))
    hit = [row for row in table if is_hit(row, case)]
    if case.outcome != "ok" or case.text is not None:
        assert len(hit) == TIMES
    assert_equal_but_for(case, lasting(table), bench.tables[api])
    sent = bench.posts()
    assert bench.study(tmp_path, api).run() == table
    assert bench.posts() == sent, "a second run asks nothing"


def assert_equal_but_for(case: Case, table: Table, whole: Table) -> None:
    """Rows are equal; those that the fault changed have at least the requests in common."""
    request = ("item_id", "context_id", "puppet_id", "replicate")
    assert [[row[k] for k in request] for row in table] == [
        [row[k] for k in request] for row in whole
    ]
    changed = [n for n, (row, sound) in enumerate(zip(table, whole, strict=True)) if row != sound]
    assert len(changed) <= TIMES
    if case.outcome == "ok" and case.text is None and not changes_the_reply(case):
        assert changed == []
    else:
        assert all(table[n]["outcome"] == case.outcome for n in changed)


def changes_the_reply(case: Case) -> bool:
    return bool({"choice", "reply", "message"} & set(case.fault)) and not case.made


# -- what stops the job

STOPS: dict[str, tuple[str, Callable[[], Fault], str]] = {
    "no credit": ("openai", no_credit, "add credit"),
    "key revoked": ("openai", lambda: Fault(**error("openai", 401)), "api_key_env"),
    "down for good": ("gemini", lambda: Fault(**error("gemini", 503)), "have no answer"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_stops_the_job_keeps_what_arrived_and_a_rerun_asks_the_rest(
    name: str, bench: Bench, tmp_path: Path
) -> None:
    api, make, said = STOPS[name]
    fault = make()
    fault.skip, fault.times = SKIP, FOREVER
    bench.chat.faults.append(fault)
    with pytest.raises(StudyError, match=said) as caught:
        bench.study(tmp_path, api, attempts=2).run()
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    bench.chat.faults.clear()
    n_before = bench.posts()
    billed_before = bench.answers.made.total()
    assert lasting(bench.study(tmp_path, api).run()) == bench.tables[api]
    assert bench.posts() - n_before == N - SKIP
    paid_for_nothing = 0 if fault.replaces else billed_before - SKIP
    assert bench.answers.made.total() == N + paid_for_nothing


def test_an_answer_of_another_model_is_paid_for_once(bench: Bench, tmp_path: Path) -> None:
    bench.chat.faults.append(rerouted("cheaper", skip=SKIP, times=2))
    with pytest.raises(StudyError, match="cheaper"):
        bench.study(tmp_path, "openai").run()
    bench.chat.faults.clear()
    with pytest.raises(StudyError, match="in quarantine"):
        bench.study(tmp_path, "openai").run()
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
        with pytest.raises(
            StudyError, match=r"no request is answered.*no connection within 0\.1 s"
        ):
            Study(tmp_path, "openai", url, timeout_s=5.0, attempts=1, concurrency=64).run()
        for caller in held:
            caller.close()
