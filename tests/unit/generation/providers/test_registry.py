"""From the config to a provider: the right one, with the config's settings and the environment's key."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from provider_cases import wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers import embedded
from fieldwork.generation.providers.anthropic import Anthropic
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.registry import make_batch_client, make_provider
from fieldwork.records.puppets import Message

PACKAGE = Path(embedded.__file__).parents[2]
EMBEDDED = {
    "provider": "embedded",
    "label": "Embedded",
    "encoder": "all-MiniLM-L6-v2",
    "sharpness": 40,
    "context_weight": 0.3,
}
REMOTE = {
    "provider": "openai",
    "label": "GPT",
    "model": "gpt-test",
    "base_url": "http://127.0.0.1:9/v1/",
    "api_key_env": "TEST_MODEL_KEY",
    "token_limit_field": "max_completion_tokens",
    "send_temperature": False,
    "send_seed": True,
    "timeout_s": 7.5,
    "concurrency": 3,
}


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
    before = make_provider(EMBEDDED, tmp_path).endpoint
    copy = tmp_path / "fieldwork"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / edited).open("a") as file:
        file.write("\nSOMETHING_ELSE = 1\n")
    place = copy / Path(embedded.__file__).relative_to(PACKAGE)
    monkeypatch.setattr(embedded, "__file__", str(place))
    assert (make_provider(EMBEDDED, tmp_path).endpoint != before) is changes


def test_the_flex_tier_is_waited_for(tmp_path: Path) -> None:
    entry = {**REMOTE, "api_key_env": None, "dispatch": "flex"}
    provider = make_provider(entry, tmp_path)
    assert isinstance(provider, OpenAI)
    assert (provider.settings.is_flex, provider.timeout_s) == (True, 900.0)


@pytest.mark.parametrize("path", ["", "/openai/"])
def test_azure_is_called_at_the_address_its_pages_show_in_every_form(
    tmp_path: Path, path: str
) -> None:
    address = {"base_url": f"https://x.openai.azure.com{path}", "api_key_env": None}
    azure = {**REMOTE, **address, "model": "dep", "api": {"kind": "azure", "version": "v"}}
    called = make_provider(azure, tmp_path).endpoint
    shown = "https://x.openai.azure.com/openai/deployments/dep/chat/completions?api-version=v"
    assert called == shown


GEMINI: dict[str, Any] = {
    "provider": "gemini",
    "label": "Gemini",
    "model": "gemini-x",
    "base_url": "https://generativelanguage.googleapis.com",
    "api_version": "v1beta",
    "api_key_env": "TEST_MODEL_KEY",
    "vertex": None,
    "token_env": None,
    "send_temperature": False,
    "send_seed": True,
    "top_logprobs": 5,
    "thinking_budget": 0,
    "safety": {"HARM_CATEGORY_HARASSMENT": "OFF"},
    "explicit_cache": True,
    "cache_ttl_s": 60,
    "prefix_cache": {"min_tokens": 2048},
    "dispatch": "live",
    "timeout_s": 7.5,
    "concurrency": 3,
    "accept_models": ["gemini-y"],
    "proxy": None,
    "ca_file": None,
}


def test_vertex_needs_no_key_and_has_its_own_address(tmp_path: Path) -> None:
    vertex = {"project": "p", "location": "us-central1"}
    provider = make_provider({**GEMINI, "vertex": vertex}, tmp_path)
    assert provider.endpoint == (
        "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/"
        "publishers/google/models/gemini-x:generateContent"
    )
    elsewhere = {**GEMINI, "vertex": vertex, "base_url": "http://host:1", "api_version": "v1"}
    assert make_provider(elsewhere, tmp_path).endpoint.startswith("http://host:1/v1/projects/p/")


ANTHROPIC: dict[str, Any] = {
    "provider": "anthropic",
    "label": "Claude",
    "model": "claude-x",
    "base_url": "https://api.anthropic.com",
    "api_version": "2026-10-21",
    "api_key_env": "TEST_MODEL_KEY",
    "send_temperature": False,
    "thinking": "disabled",
    "effort": "low",
    "prefix_cache": {"min_tokens": 512},
    "dispatch": "live",
    "timeout_s": 7.5,
    "concurrency": 3,
    "accept_models": ["claude-y"],
    "proxy": None,
    "ca_file": None,
}


@pytest.mark.parametrize(
    "model", [REMOTE, GEMINI, ANTHROPIC], ids=["openai", "gemini", "anthropic"]
)
def test_a_model_is_asked_with_its_entry_and_its_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: dict[str, Any]
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", " k\r\n")
    provider = make_provider(model, tmp_path)
    assert isinstance(provider, OpenAI | Gemini | Anthropic)
    assert provider.settings.api_key == "k"
    assert provider.settings.entry.model_dump(exclude_unset=True) == model
    assert (provider.concurrency, provider.sends_temperature) == (3, False)
    assert provider.timeout_s == 7.5


def test_anthropic_without_a_cache_and_with_batches(tmp_path: Path) -> None:
    entry = {**ANTHROPIC, "prefix_cache": None, "api_key_env": None}
    uncached = make_provider(entry, tmp_path)
    assert isinstance(uncached, Anthropic)
    body = wire_of(uncached, [Message("user", "Hi")]).body()
    assert uncached.wire(body) == body
    client = make_batch_client(uncached, tmp_path)
    assert isinstance(client, AnthropicBatches)
    client.close()


@pytest.mark.parametrize("key", [None, " \n"])
def test_a_missing_key_is_named_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str | None
) -> None:
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("TEST_MODEL_KEY", key)
    for model in (REMOTE, GEMINI, ANTHROPIC):
        with pytest.raises(StudyError, match=r"TEST_MODEL_KEY.*models\.\*\.api_key_env.*null"):
            make_provider(model, tmp_path)


def test_numbers_of_a_body_do_not_depend_on_how_the_config_writes_them(tmp_path: Path) -> None:
    def question(**fields: Any) -> bytes:
        changes = {"api_key_env": None, "extra_body": fields}
        return wire_of(make_provider(REMOTE | changes, tmp_path)).question

    written = question(top_p=1.0, top_k=40.0, min_p=0.05, x=[{"y": 2.0, "on": True}])
    assert written == question(top_p=1, top_k=40, min_p=0.05, x=[{"y": 2, "on": True}])
    assert b'"top_k":40,' in written
