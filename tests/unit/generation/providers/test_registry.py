"""From the config to a provider: the right one, with the config's settings and the environment's key."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from provider_cases import wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers import embedded
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.registry import make_batch_client, make_provider

PACKAGE = Path(embedded.__file__).parents[2]
HERE = Path("unused")
EMBEDDED = {"provider": "embedded", "label": "Embedded", "encoder": "all-MiniLM-L6-v2"}
EMBEDDED |= {"sharpness": 40, "context_weight": 0.3}
COMMON: dict[str, Any] = {"api_key_env": "TEST_MODEL_KEY", "send_temperature": False}
COMMON |= {"timeout_s": 7.5, "concurrency": 3}
OPENAI = {**COMMON, "provider": "openai", "label": "GPT", "model": "gpt-test", "send_seed": True}
OPENAI |= {"base_url": "http://127.0.0.1:9/v1/", "token_limit_field": "max_completion_tokens"}
GEMINI = {**COMMON, "provider": "gemini", "model": "gemini-x", "dispatch": "live"}
GEMINI |= {"base_url": "https://generativelanguage.googleapis.com", "api_version": "v1beta"}
GEMINI |= {"vertex": None, "token_env": None, "send_seed": True, "top_logprobs": 5}
GEMINI |= {"thinking_budget": 0, "safety": {"HARM_CATEGORY_HARASSMENT": "OFF"}, "proxy": None}
GEMINI |= {"explicit_cache": True, "cache_ttl_s": 60, "prefix_cache": {"min_tokens": 2048}}
GEMINI |= {"accept_models": ["gemini-y"], "ca_file": None}
ANTHROPIC = {**COMMON, "provider": "anthropic", "model": "claude-x", "dispatch": "live"}
ANTHROPIC |= {"base_url": "https://api.anthropic.com", "api_version": "2026-10-21"}
ANTHROPIC |= {"thinking": "disabled", "effort": "low", "prefix_cache": {"min_tokens": 512}}
ANTHROPIC |= {"accept_models": ["claude-y"], "proxy": None, "ca_file": None}
MADE: dict[str, dict[str, Any]] = {
    "openai": {"base_url": "http://127.0.0.1:9/v1/", "flex": False},
    "gemini": {"accept_models": ("gemini-y",), "cache_min_tokens": 2048, "flex": False},
    "anthropic": {"accept_models": ("claude-y",), "cache_breakpoint": True},
}


def make(model: dict[str, Any], /, **changes: Any) -> Any:
    return make_provider({**model, "api_key_env": None, **changes}, HERE)


def settings_of(provider: Any, expected: dict[str, Any]) -> dict[str, Any]:
    found = asdict(provider.settings)
    return {name: found[name] for name in expected}


@pytest.mark.parametrize("model", [OPENAI, GEMINI, ANTHROPIC], ids=MADE)
def test_a_model_has_the_settings_of_the_config(
    monkeypatch: pytest.MonkeyPatch, model: dict[str, Any]
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", " k\r\n")
    provider: Any = make_provider(model, HERE)
    names = asdict(provider.settings).keys()
    expected = {name: model[name] for name in names if name in model}
    expected |= {"api_key": "k", **MADE[model["provider"]]}
    assert settings_of(provider, expected) == expected
    if model is GEMINI:
        assert set(names) - set(expected) == {"headers", "secrets"}
    assert (provider.concurrency, provider.sends_temperature) == (3, False)


KEYED = {"prefix_cache": {"key": True, "breakpoint": False}}


@pytest.mark.parametrize(
    ("model", "changes", "expected"),
    [
        (OPENAI, KEYED, {"cache_key": True, "cache_breakpoint": False}),
        (OPENAI, {"dispatch": "flex"}, {"flex": True, "timeout_s": 900.0}),
        (OPENAI, {"api": {"kind": "azure", "version": "v"}}, {"azure_version": "v"}),
        (OPENAI, {"accept_models": ["a", "b"]}, {"accept_models": ("a", "b")}),
        (ANTHROPIC, {"prefix_cache": None}, {"cache_breakpoint": False}),
    ],
)
def test_settings_of_delivery_and_transport(
    model: dict[str, Any], changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert settings_of(make(model, **changes), expected) == expected


def test_anthropic_has_batches(tmp_path: Path) -> None:
    client = make_batch_client(make(ANTHROPIC), tmp_path)
    assert isinstance(client, AnthropicBatches)
    client.close()


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("generation/providers/embedded.py", True),
        ("encoder.py", True),
        ("generation/providers/openai.py", False),
        ("generation/engine.py", False),
    ],
)
def test_another_version_of_the_model_is_another_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, changes: bool
) -> None:
    before = make(EMBEDDED).endpoint
    copy = tmp_path / "fieldwork"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / edited).open("a") as file:
        file.write("\nSOMETHING_ELSE = 1\n")
    place = copy / Path(embedded.__file__).relative_to(PACKAGE)
    monkeypatch.setattr(embedded, "__file__", str(place))
    assert (make(EMBEDDED).endpoint != before) is changes


AZURE = {"model": "dep", "api": {"kind": "azure", "version": "v"}}
DEPLOYED = "https://x.openai.azure.com/openai/deployments/dep/chat/completions?api-version=v"
VERTEX = {"vertex": {"project": "p", "location": "us-central1"}}
HOSTED = {**VERTEX, "base_url": "http://host:1", "api_version": "v1"}
MODEL = "projects/p/locations/us-central1/publishers/google/models/gemini-x:generateContent"


@pytest.mark.parametrize(
    ("model", "changes", "endpoint"),
    [
        # in every form that Azure's pages show
        (OPENAI, {**AZURE, "base_url": "https://x.openai.azure.com"}, DEPLOYED),
        (OPENAI, {**AZURE, "base_url": "https://x.openai.azure.com/openai/"}, DEPLOYED),
        (GEMINI, VERTEX, f"https://us-central1-aiplatform.googleapis.com/v1beta1/{MODEL}"),
        (GEMINI, HOSTED, f"http://host:1/v1/{MODEL}"),
    ],
)
def test_addresses_of_azure_and_vertex(
    model: dict[str, Any], changes: dict[str, Any], endpoint: str
) -> None:
    assert make(model, **changes).endpoint == endpoint


@pytest.mark.parametrize("key", ["", " \n"])
def test_a_missing_key_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", key)
    if not key:
        monkeypatch.delenv("TEST_MODEL_KEY")
    for model in (OPENAI, GEMINI, ANTHROPIC):
        with pytest.raises(StudyError, match=r"TEST_MODEL_KEY.*models\.\*\.api_key_env.*null"):
            make_provider(model, HERE)


def test_vertex_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    assert make_provider({**GEMINI, **VERTEX}, HERE)


def test_numbers_of_a_body_do_not_depend_on_how_the_config_writes_them() -> None:
    def question(top_logprobs: float, **fields: Any) -> bytes:
        return wire_of(make(OPENAI, extra_body=fields, top_logprobs=top_logprobs)).question

    written = question(5.0, top_p=1.0, top_k=40.0, min_p=0.05, x=[{"y": 2.0, "on": True}])
    assert written == question(5, top_p=1, top_k=40, min_p=0.05, x=[{"y": 2, "on": True}])
    assert b'"top_k":40,' in written
