"""The entries of studies/gateways.yaml, each on a stand-in of its gateway: calls, replies and errors.

llama.cpp's entry is asked on the real server (test_local_servers.py).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_entries import gateway_entries
from provider_cases import CONTEXTS, KEY, item, make_openai, models_of, send, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.providers.base import (
    ModelInfo,
    Provider,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
)
from fieldwork.generation.providers.openai_stream import _join_events
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.sending import open_sender
from fieldwork.parsing.choices import parse_choice
from fieldwork.records.puppets import Message
from servers.gateways import GATEWAYS, GatewayServer, Refusal, serve_gateway


@pytest.fixture(params=GATEWAYS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[GatewayServer]:
    entry = gateway_entries()[name]
    if entry["api_key_env"]:
        monkeypatch.setenv(entry["api_key_env"], KEY)
    with serve_gateway(GATEWAYS[name], window=2048, model=entry["model"]) as running:
        yield running


OPENROUTER = pytest.mark.parametrize("name", ["openrouter"])


def provider_of(name: str, server: GatewayServer) -> Provider:
    return make_provider(gateway_entries()[name] | {"base_url": server.base_url}, Path())


def ask(provider: Provider, context: list[Message] = CONTEXTS["history"]) -> Reply:
    wire = wire_of(provider, context, context_id="c" * 64)
    return provider.read(send(provider, wire).raw)


def test_every_gateway_of_the_file_is_asked_here_or_runs_itself() -> None:
    assert {*gateway_entries()} == {*GATEWAYS, "llama_cpp"}


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_call_is_what_the_published_schema_takes(
    name: str, server: GatewayServer, context: str
) -> None:
    ask(provider_of(name, server), CONTEXTS[context])
    (call,) = server.calls
    assert server.ignored == set(), "what is sent has an effect"
    entry = gateway_entries()[name]
    key = f"Bearer {KEY}" if entry["api_key_env"] else None
    assert server.headers[0].get("authorization") == key
    sent = {"model": entry["model"], **entry["extra_body"]}
    assert {field: call[field] for field in sent} == sent


def test_an_answer_is_read_without_thoughts(name: str, server: GatewayServer) -> None:
    provider = provider_of(name, server)
    reply = ask(provider)
    assert (reply.outcome, reply.defects, reply.usage.output) == ("ok", (), 7)
    assert provider.is_asked_for(reply.returned_model or "")
    assert parse_choice(reply.text).letter == "B"
    assert reply.usage.input is not None
    models = None if server.gateway.models is None else [ModelInfo(server.model)]
    assert models_of(provider_of(name, server)) == models


@OPENROUTER
def test_openrouter_names_the_provider_that_answered(name: str, server: GatewayServer) -> None:
    provider = provider_of(name, server)
    assert ask(provider).fingerprint == "DeepInfra"
    assert server.headers[0]["x-openrouter-metadata"] == "enabled"
    head: dict[str, Any] = {"provider": "Novita", "system_fingerprint": "fp_1"}
    beside = head | {"choices": [{"message": {"content": "A"}}]}
    assert provider.read(json.dumps(beside).encode()).fingerprint == "Novita fp_1"
    event = head | {"choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]}
    assert _join_events(f"data: {json.dumps(event)}".encode())["provider"] == "Novita"


def completion(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "The answer is"}, **choice}], "model": "m"}


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("model_length", "truncated"),
        ("MAX_TOKENS", "truncated"),
        ("max_output_tokens", "truncated"),
        ("a_new_reason", "ok"),
        ("CONTENT_FILTER", "filtered"),
        ("guardrail_intervened", "filtered"),
        # vLLM's and SGLang's of a call that was stopped, and DeepSeek's of a machine that is full
        ("abort", "failed"),
        ("insufficient_system_resource", "failed"),
    ],
)
def test_finish_reasons_beyond_openais(reason: str, outcome: str) -> None:
    reply = make_openai().read(json.dumps(completion(finish_reason=reason)).encode())
    assert (reply.outcome, reply.finish_reason) == (outcome, reason)


NESTED, FLAT = {"error": {"code": 502, "message": "busy"}}, {"object": "error", "message": "busy"}


@pytest.mark.parametrize("body", [NESTED, FLAT])
def test_an_error_under_status_200_is_no_answer(body: dict[str, Any]) -> None:
    with pytest.raises(TransientError, match="busy") as caught:
        make_openai().read(json.dumps(body).encode())
    assert caught.value.maybe_billed


def settled(
    server: GatewayServer, name: str, folder: Path, *contexts: list[Message], attempts: int = 1
) -> AnswerTally:
    """Ask a question after each context, as a job of a study does."""
    entry = gateway_entries()[name] | {"base_url": server.base_url, "concurrency": 1}
    generation = {"budget_usd": None, "attempts": attempts}
    stores = {"folder": folder, "vector_store": folder / "vectors"}
    asks = [Ask(item("Which?"), Sampling(1.0, 8, 1), 0)]
    groups = [ContextGroup(str(n), context, asks) for n, context in enumerate(contexts)]
    with open_sender(name, entry, generation, {}, max_tokens=8, **stores) as sender:
        tally = settle(groups, sender, total=len(groups))
        assert sum(1 for _ in sender.ledger.entries(tally.keys)) == tally.n_asked
        return tally


TURNS = [Message("user", "Tell me a story. " * 40), Message("assistant", "Once there was. " * 60)]


@OPENROUTER
def test_an_answer_that_broke_off_is_asked_for_again(
    name: str, server: GatewayServer, tmp_path: Path
) -> None:
    error = {"code": 502, "message": "upstream\ndied"}
    broken = completion(finish_reason="error", error=error)
    reply = provider_of(name, server).read(json.dumps(broken).encode())
    assert (reply.outcome, reply.text) == ("failed", "The answer is")
    refusals = [Refusal(200, broken), Refusal(200, completion(finish_reason="error"))]
    server.refusals = [*refusals]
    tally = settled(server, name, tmp_path, [], attempts=3)
    assert (tally.n_asked, len(server.calls)) == (1, 3)
    server.refusals = [*refusals]
    tally = settled(server, name, tmp_path, TURNS)
    assert [*tally.failures] == ["the answer broke off: error: upstream died"]


def test_a_prompt_beyond_the_window_never_becomes_an_answer(
    name: str, server: GatewayServer, tmp_path: Path
) -> None:
    tally = settled(server, name, tmp_path, TURNS, TURNS * 4, TURNS * 12)
    assert (tally.n_asked, sum(tally.failures.values())) == (2, 1)
    (failure,) = tally.failures
    assert "conditions.*.token_budget" in failure
    is_cut = GATEWAYS[name].too_long is None
    assert ("read only a part of the prompt" in failure) == is_cut


# --- errors

BLOCKED = {"error": {"code": 403, "message": "blocked", "metadata": {"patterns": ["ignore all"]}}}
BUSY = Refusal(402, {"error": {"code": 402, "message": "in flight"}}, {"Retry-After": "3"})
NO_ROOM = {"error": {"message": "no room", "code": "capacity_exceeded"}}
TOO_LARGE = {"error": {"message": "Request too large", "code": "rate_limit_exceeded"}}
TOO_WARM = {"detail": [{"loc": ["body", "temperature"], "msg": "should be at most 1.5"}]}
TOO_LONG = {"error": "loaded with context length of only 4096 tokens"}
BUDGET = r"too long for the model or the account.*_budget"
ERRORS: list[tuple[str, Refusal, type[Exception], str]] = [
    ("openrouter", BUSY, TransientError, "in flight"),
    ("openrouter", Refusal(403, BLOCKED), RejectedError, "blocked"),
    ("groq", Refusal(498, NO_ROOM), TransientError, "no room"),
    ("groq", Refusal(413, TOO_LARGE), RejectedError, BUDGET),
    ("mistral", Refusal(401, {"detail": "Unauthorized"}), StudyError, r"Unauthorized.*api_key_env"),
    ("mistral", Refusal(422, TOO_WARM), RejectedError, r"body\.temperature: should be at most 1"),
    ("bedrock", Refusal(429, {"message": "Too many tokens"}), TransientError, "Too many tokens"),
    ("bedrock", Refusal(403, {"message": "not authorized"}), StudyError, "not authorized"),
    ("ollama", Refusal(404, {"error": {"message": "not found"}}), StudyError, r"models\.\*\.model"),
    ("lm_studio", Refusal(400, TOO_LONG), RejectedError, r"^HTTP 400: loaded with.*token_budget"),
]


@pytest.mark.parametrize(("name", "refusal", "kind", "said"), ERRORS)
def test_an_error_of_a_gateway_says_what_to_do(
    name: str, server: GatewayServer, refusal: Refusal, kind: type[Exception], said: str
) -> None:
    server.refusals = [refusal]
    with pytest.raises(kind, match=said) as caught:
        ask(provider_of(name, server))
    if isinstance(caught.value, TransientError):
        assert caught.value.is_throttled == (refusal.status in (429, 498, 503))
        assert caught.value.retry_after_s == (3.0 if refusal.headers else None)


@OPENROUTER
def test_a_flagged_prompt_is_an_outcome(name: str, server: GatewayServer) -> None:
    flagged = {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}
    server.refusals = [Refusal(403, {"error": flagged})]
    assert ask(provider_of(name, server)).outcome == "filtered"
