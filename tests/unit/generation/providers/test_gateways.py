"""The entries of studies/gateways.yaml, each on a stand-in of its gateway: calls, replies and errors.

llama.cpp's entry is asked on the real server (test_local_servers.py).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from gateway_entries import gateway_entries
from provider_cases import CONTEXTS, KEY, item, make_openai, models_of, wire_of
from provider_cases import send as send_wire

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.providers.base import (
    Exchange,
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

WINDOW = 2048


@pytest.fixture(params=GATEWAYS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(name: str) -> Iterator[GatewayServer]:
    model = gateway_entries()[name]["model"]
    with serve_gateway(GATEWAYS[name], window=WINDOW, model=model) as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for entry in gateway_entries().values():
        if entry["api_key_env"]:
            monkeypatch.setenv(entry["api_key_env"], KEY)


def provider_of(name: str, server: GatewayServer, **changes: Any) -> Provider:
    return make_provider(gateway_entries()[name] | {"base_url": server.base_url, **changes}, Path())


def send(provider: Provider, **arguments: Any) -> Exchange:
    wire = wire_of(provider, arguments.pop("context", CONTEXTS["history"]), **arguments)
    return send_wire(provider, wire)


def ask(provider: Provider, **arguments: Any) -> Reply:
    return provider.read(send(provider, **arguments).raw)


def test_every_gateway_of_the_file_is_asked_here_or_runs_itself() -> None:
    assert {*gateway_entries()} == {*GATEWAYS, "llama_cpp"}


# --- calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_call_is_what_the_published_schema_takes(
    name: str, server: GatewayServer, context: str
) -> None:
    ask(provider_of(name, server), context=CONTEXTS[context], context_id="c" * 64)
    (call,) = server.calls
    assert server.ignored == set(), "what is sent has an effect"
    entry = gateway_entries()[name]
    assert call["model"] == entry["model"]
    assert server.headers[0].get("authorization") == (
        f"Bearer {KEY}" if entry["api_key_env"] else None
    )
    for field, value in entry["extra_body"].items():
        assert call[field] == value


# --- replies ------------------------------------------------------------------------------------------


def test_an_answer_is_read_without_thoughts(name: str, server: GatewayServer) -> None:
    provider = provider_of(name, server)
    reply = ask(provider)
    assert (reply.outcome, reply.defects) == ("ok", ())
    assert provider.is_asked_for(reply.returned_model or "")
    assert parse_choice(reply.text).letter == "B"
    assert reply.usage.input is not None
    assert reply.usage.output == 7


def test_openrouter_names_the_provider_that_answered() -> None:
    with serve_gateway(GATEWAYS["openrouter"]) as server:
        provider = provider_of("openrouter", server)
        assert ask(provider).fingerprint == "DeepInfra"
        assert server.headers[0]["x-openrouter-metadata"] == "enabled"
    beside = (
        b'{"provider":"Novita","system_fingerprint":"fp_1","choices":[{"message":{"content":"A"}}]}'
    )
    assert provider.read(beside).fingerprint == "Novita fp_1"
    event = (
        b'data: {"provider":"Novita","choices":[{"delta":{"content":"A"},"finish_reason":"stop"}]}'
    )
    assert _join_events(event)["provider"] == "Novita"


def completion(**choice: Any) -> Refusal:
    message = {"content": "The answer is"}
    return Refusal(200, {"choices": [{"message": message, **choice}], "model": "m"})


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
    body = completion(finish_reason=reason).body
    reply = make_openai().read(json.dumps(body).encode())
    assert (reply.outcome, reply.finish_reason) == (outcome, reason)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 502, "message": "overloaded"}},
        {"object": "error", "message": "overloaded"},
    ],
)
def test_an_error_under_status_200_is_no_answer(body: dict[str, Any]) -> None:
    with pytest.raises(TransientError, match="overloaded") as caught:
        make_openai().read(json.dumps(body).encode())
    assert caught.value.maybe_billed


def test_an_answer_that_broke_off_is_asked_for_again(tmp_path: Path) -> None:
    error = {"code": 502, "message": "upstream\ndied"}
    broken = [completion(finish_reason="error", error=error), completion(finish_reason="error")]
    entry = gateway_entries()["openrouter"]
    with serve_gateway(GATEWAYS["openrouter"], model=entry["model"]) as server:
        reply = provider_of("openrouter", server).read(json.dumps(broken[0].body).encode())
        assert (reply.outcome, reply.text) == ("failed", "The answer is")
        server.refusals = [*broken]
        tally = settled("openrouter", server, tmp_path, {"none": []}, attempts=3)
        assert (tally.n_asked, len(server.calls)) == (1, 3)
        server.refusals = [*broken]
        tally = settled("openrouter", server, tmp_path, {"more": TURNS}, attempts=1)
    assert [*tally.failures] == ["the answer broke off: error: upstream died"]


# --- errors -------------------------------------------------------------------------------------------

FLAGGED = {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}}
BLOCKED = {"error": {"code": 403, "message": "blocked", "metadata": {"patterns": ["ignore all"]}}}
IN_FLIGHT = {"error": {"code": 402, "message": "in flight"}}
NO_ROOM = {"error": {"message": "no room", "code": "capacity_exceeded"}}
TOO_LARGE = {"error": {"message": "Request too large", "code": "rate_limit_exceeded"}}
TOO_WARM = {"detail": [{"loc": ["body", "temperature"], "msg": "should be at most 1.5"}]}
TOO_LONG = {"error": "loaded with context length of only 4096 tokens"}
ERRORS: list[tuple[str, Refusal, type[Exception], str]] = [
    ("openrouter", Refusal(402, IN_FLIGHT, {"Retry-After": "3"}), TransientError, "in flight"),
    ("openrouter", Refusal(403, BLOCKED), RejectedError, "blocked"),
    ("groq", Refusal(498, NO_ROOM), TransientError, "no room"),
    (
        "groq",
        Refusal(413, TOO_LARGE),
        RejectedError,
        r"too long for the model or the account.*_budget",
    ),
    ("mistral", Refusal(401, {"detail": "Unauthorized"}), StudyError, r"Unauthorized.*api_key_env"),
    (
        "mistral",
        Refusal(422, TOO_WARM),
        RejectedError,
        r"body\.temperature: should be at most 1\.5$",
    ),
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
        send(provider_of(name, server))
    if isinstance(caught.value, TransientError):
        assert caught.value.is_throttled == (refusal.status in (429, 498, 503))
        assert caught.value.retry_after_s == (3.0 if refusal.headers else None)


def test_a_flagged_prompt_is_an_outcome() -> None:
    with serve_gateway(GATEWAYS["openrouter"]) as server:
        server.refusals = [Refusal(403, FLAGGED)]
        assert ask(provider_of("openrouter", server)).outcome == "filtered"


# --- long prompts -------------------------------------------------------------------------------------

TURNS = [Message("user", "Tell me a story. " * 40), Message("assistant", "Once there was. " * 60)]
CUTTING = [name for name, gateway in GATEWAYS.items() if gateway.too_long is None]


def settled(
    name: str,
    server: GatewayServer,
    folder: Path,
    contexts: Mapping[str, list[Message]],
    *,
    attempts: int = 1,
) -> AnswerTally:
    """Ask a question after each context, as a job of a study does."""
    entry = gateway_entries()[name] | {"base_url": server.base_url, "concurrency": 1}
    generation = {"budget_usd": None, "attempts": attempts}
    stores = {"folder": folder, "vector_store": folder / "vectors"}
    with open_sender(name, entry, generation, {}, max_tokens=8, **stores) as sender:
        groups = [
            ContextGroup(name, context, [Ask(item(f"{name}?"), Sampling(1.0, 8, 1), 0)])
            for name, context in contexts.items()
        ]
        tally = settle(groups, sender, total=len(groups))
        assert sum(1 for _ in sender.ledger.entries(tally.keys)) == tally.n_asked
        return tally


def test_a_prompt_beyond_the_window_never_becomes_an_answer(
    name: str, server: GatewayServer, tmp_path: Path
) -> None:
    contexts = {"short": TURNS, "fits": TURNS * 4, "long": TURNS * 12}
    tally = settled(name, server, tmp_path, contexts)
    assert (tally.n_asked, sum(tally.failures.values())) == (2, 1)
    (failure,) = tally.failures
    assert "conditions.*.token_budget" in failure
    assert ("read only a part of the prompt" in failure) == (name in CUTTING)


# --- models -------------------------------------------------------------------------------------------


def test_the_list_of_models_is_read(name: str, server: GatewayServer) -> None:
    expected = None if server.gateway.models is None else [ModelInfo(server.model)]
    assert models_of(provider_of(name, server)) == expected
