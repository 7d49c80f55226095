"""What docs/stops.md promises of servers that answer nobody, held against every provider."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from batch_desk import make_calls
from batch_desk import settle as settle_at_desk
from provider_cases import make_anthropic, make_gemini, make_openai, make_vertex
from senders import numbered, sender_of, settle_asks

from fieldwork.errors import StudyError
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.ledger import Ledger
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import OpenAIBatches
from servers.faults import anthropic_error, google_error, openai_error
from servers.provider import (
    FOREVER,
    Chat,
    Fault,
    ModelSpec,
    gemini_error,
    http_error,
    rerouted,
    serve_chat,
    serve_provider,
)

N = 110
ATTEMPTS = 5
PAGE = b"<html><body>Please log in</body></html>"


PROVIDERS: dict[str, Callable[..., Provider]] = {
    "openai": lambda chat, **more: make_openai(chat.base_url, concurrency=16, **more),
    "azure": lambda chat, **more: make_openai(
        chat.azure_url, concurrency=16, azure_version="2024-10-21", **more
    ),
    "gemini": lambda chat, **more: make_gemini(chat.gemini_url, **more),
    "vertex": lambda chat, **more: make_vertex(chat.gemini_url, **more),
    "anthropic": lambda chat, **more: make_anthropic(chat.anthropic_url, **more),
}


def each(names: Sequence[str]) -> Any:
    """Each fault for each wire, and the first for the services that share another's."""
    cases = [(api, name) for api in ("openai", "gemini", "anthropic") for name in names]
    cases += [(api, next(iter(names))) for api in ("azure", "vertex")]
    return pytest.mark.parametrize(("api", "name"), cases)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERTEX_TOKEN", "a-token")
    monkeypatch.setattr("fieldwork.generation.calling.FIRST_WAIT_S", 0.001)


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serve_chat() as server:
        yield server


def ask(provider: Provider, ledger: Ledger, n: int = N) -> int:
    """Ask so many questions; how many have no answer in the end."""
    sender = sender_of(provider, ledger, attempts=ATTEMPTS, ceiling=16)
    return settle_asks(numbered(n), sender).failures.total()


def broken(api: str, status: int) -> Fault:
    bodies = {"openai": openai_error("broken"), "anthropic": anthropic_error("broken")}
    body = bodies.get(api, google_error(status, "broken"))
    return Fault(status=status, body=body, times=FOREVER)


# --- what stops a job at once, though answers come ----------------------------------------------------


def tomorrow(api: str) -> Fault:
    """A limit of a day, as a header or, from Google, in the body."""
    if api == "gemini":
        return gemini_error(429, retry_s=86_400.0, times=FOREVER)
    return http_error(429, retry_after="86400", times=FOREVER)


STOPPING: dict[str, tuple[Callable[[str], Fault], str]] = {
    "a wait of a day": (tomorrow, r"asks to wait for 24\.0 hours"),
    "a redirect": (
        lambda _: Fault(status=307, headers={"Location": "/elsewhere"}, body=b"", times=FOREVER),
        r"redirects calls to /elsewhere; redirects are not followed, because",
    ),
    "another model": (
        lambda _: rerouted("cheaper-1", times=1),
        r"an answer came from cheaper-1, which is not the model in the config",
    ),
}


@each([*STOPPING])
def test_what_stops_a_job_keeps_its_answers_and_is_met_by_calls_under_way(
    api: str, name: str, chat: Chat, ledger: Ledger
) -> None:
    make, sentence = STOPPING[name]
    fault = make(api)
    fault.skip = 20
    chat.faults.append(fault)
    with pytest.raises(StudyError, match=sentence):
        ask(PROVIDERS[api](chat), ledger)
    assert len(ledger.keys()) >= 20
    assert len(chat.requests) <= 20 + 2 * 16
    assert "/elsewhere" not in [request.path for request in chat.requests]
    n_asked, missing = len(chat.requests), N - len(ledger.keys())
    chat.faults.clear()
    if name == "another model":
        with pytest.raises(StudyError, match=sentence):
            ask(PROVIDERS[api](chat), ledger)
        missing = 0
    else:
        assert ask(PROVIDERS[api](chat), ledger) == 0
    assert len(chat.requests) - n_asked == missing, "nothing is asked twice"


# --- batches -----------------------------------------------------------------------------------------

SPEED = 20_000.0
HASTE = 200.0
N_BATCHED = 60
A_BATCH = 20


def desk_of(api: str, chat: Chat) -> tuple[Provider, BatchClient]:
    if api == "openai":
        openai = make_openai(chat.base_url)
        return openai, OpenAIBatches(openai.settings)
    gemini = make_gemini(chat.gemini_url)
    return gemini, GeminiBatches(gemini.settings)


DESKS = ("openai", "gemini")


@pytest.fixture
def service() -> Iterator[Chat]:
    specs = [ModelSpec("gpt-test"), ModelSpec("gemini-x", family="gemini")]
    with serve_provider(specs=specs, speed=SPEED) as server:
        yield server


def ask_by_batch(api: str, service: Chat, folder: Path, n: int = N_BATCHED) -> int:
    """Ask by one batch after the other; how many requests have no answer in the end."""
    provider, client = desk_of(api, service)
    calls = make_calls(provider, n)
    n_tokens = sum(call.tokens for call in calls[:A_BATCH])
    limits = BatchLimits(A_BATCH, max_tokens=n_tokens, attempts=5, listing_lag_s=5)
    with closing(client):
        return settle_at_desk(calls, client, provider, folder, limits, HASTE).total()


def n_batched(service: Chat) -> int:
    return sum(len(job.rows) for job in service.jobs.values())


@pytest.mark.parametrize("step", ["files.upload", "batches.create", "batches.get", "files.content"])
@pytest.mark.parametrize("api", DESKS)
def test_a_batch_service_that_sends_pages_is_met_by_a_few_calls(
    api: str, step: str, service: Chat, tmp_path: Path
) -> None:
    service.faults.append(Fault(body=PAGE, step=step, times=FOREVER))
    words = ""
    try:
        assert ask_by_batch(api, service, tmp_path) == N_BATCHED
    except StudyError as error:
        words = str(error)
    assert n_batched(service) <= A_BATCH
    assert FOREVER - service.faults[0].times <= 25
    if step == "files.upload":
        assert "the reply is not of the batch interface, but perhaps a page of HTML" in words
        assert "Check that the server is up and that models.*.base_url names it" in words
        assert "attribute" not in words
        assert "KeyError" not in words


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("api", DESKS)
def test_a_batch_without_an_answer_is_the_last(
    api: str, status: int, service: Chat, tmp_path: Path
) -> None:
    fault = broken(api, status)
    fault.step = "row"
    service.faults.append(fault)
    with pytest.raises(StudyError, match=r"none of the 20 requests of batch .*broken.*No further"):
        ask_by_batch(api, service, tmp_path)
    assert n_batched(service) == A_BATCH
    service.faults.clear()
    assert ask_by_batch(api, service, tmp_path) == 0
