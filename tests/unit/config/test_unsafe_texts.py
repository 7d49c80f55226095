"""No secret gets into a config, and no message repeats what may be one."""

from typing import Any

import pytest
import yaml

from unit.shipped_config import checked_config, complaint, config_with

OPENAI = {"provider": "openai", "label": "O", "model": "m", "base_url": "https://host/v1"}
GEMINI = {"provider": "gemini", "label": "G", "model": "m"}
# the forms of keys, none of them one
KEYS = (
    *("sk-proj-0123456789abcdefABCDEF", "sk-ant-api03-0123456789abcdefABCDEF"),
    *("AIzaSy0123456789abcdefABCDEF0123456789", "ya29.a0123456789abcdefABCDEF"),
    *("gsk_0123456789abcdefABCDEF", "hf_0123456789abcdefABCDEF", "ghp_0123456789abcdefABCDEF"),
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
)


def complaint_of(model: dict[str, Any]) -> str:
    return complaint(config_with({"models/m": model}))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("api_key_env", "KEY"),
        ("token_env", "KEY"),
        ("api_key", "KEY"),
        ("label", "my KEY"),
        ("headers", {"X-Team": "Bearer KEY"}),
        ("headers", {"KEY": "x"}),
        ("headers_env", {"X-Team": "KEY"}),
        ("base_url", "https://host/v1?key=KEY"),
        ("proxy", "http://me:KEY@host:1"),
        ("accept_models", ["KEY"]),
    ],
)
def test_a_pasted_key_is_refused_wherever_it_stands(setting: str, value: Any, key: str) -> None:
    sentence = complaint_of(
        OPENAI | {setting: yaml.safe_load(yaml.safe_dump(value).replace("KEY", key))}
    )
    assert sentence.startswith(f"mine.yaml: models.m.{setting}")
    assert "a key or a password stands here" in sentence
    assert key not in sentence


def test_a_secret_of_the_environment_is_refused_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_LAB_TOKEN", "0f1e2d3c4b5a69788796")
    sentence = complaint(config_with({"study/name": "x-0f1e2d3c4b5a69788796"}))
    assert sentence.startswith("mine.yaml: study.name: a key or a password stands here")
    assert "0f1e2d3c" not in sentence


@pytest.mark.parametrize(
    "name", ["my_key", "OPENAI-KEY", "MY KEY", "1KEY", "", 7, "KEY\n", "a" * 40]
)
@pytest.mark.parametrize("setting", ["api_key_env", "token_env"])
def test_what_is_no_variable_is_not_repeated(setting: str, name: Any) -> None:
    sentence = complaint_of(GEMINI | {setting: name})
    assert f"models.m.{setting}: the value does not fit (Environment var" in sentence
    assert repr(name) not in sentence


@pytest.mark.parametrize(
    "address",
    [
        *("https://me:word@host/v1", "https://word@host/v1", "https://host/v1?api-key=word"),
        *("https://host/v1#word", "https:///word", "word://host", "https://host/word word"),
        "https://host/word\n",
    ],
)
@pytest.mark.parametrize(
    ("model", "setting"), [(OPENAI, "base_url"), (OPENAI, "proxy"), (GEMINI, "base_url")]
)
def test_an_address_with_a_password_or_a_query_is_not_repeated(
    model: dict[str, Any], setting: str, address: str
) -> None:
    sentence = complaint_of(model | {setting: address})
    assert sentence.startswith(f"mine.yaml: models.m.{setting}: the value does not fit (Addre")
    assert "word" not in sentence.replace("password", "")


@pytest.mark.parametrize(
    "header", ["Authorization", "api-key", "X-Gateway-Token", "cf-access-client-secret", "Cookie"]
)
def test_a_header_that_holds_a_secret_goes_through_the_environment(header: str) -> None:
    sentence = complaint_of(OPENAI | {"headers": {header: "abc"}})
    assert f"models.m.headers.{header}: a header of this name holds a secret" in sentence
    assert f"models.m.headers_env: {{{header}: NAME_OF_THE_VARIABLE}}" in sentence
    assert "abc" not in sentence


def test_what_holds_no_secret_is_taken() -> None:
    harmless: list[dict[str, Any]] = [
        {"headers": {"X-Author": "me", "OpenAI-Organization": "org", "X-Keyboard": "y"}},
        {"headers_env": {"Authorization": "MY_GATEWAY", "X-Team": "_T1"}},
        {"api_key_env": None, "proxy": "http://proxy.example:3128"},
        {"base_url": "http://[::1]:8000/v1"},
        {"base_url": "http://localhost", "label": "sk-learn and hf_tiny"},
    ]
    checked_config(
        {f"models/m{n}": OPENAI | {"label": f"O{n}"} | one for n, one in enumerate(harmless)}
    )


@pytest.mark.parametrize("text", ["</script>", "a <SCRIPT src=x>", "</ScRiPt >", "x <!-- y"])
@pytest.mark.parametrize("setting", ["models/smollm2/label", "field_kit/groups/g/question"])
def test_a_text_that_would_run_in_the_report_is_refused(setting: str, text: str) -> None:
    kit = {"field_kit": {"groups": {"g": {"question": "Which?", "options": ["a", "b"]}}}}
    sentence = complaint(config_with(kit | {setting: text}))
    assert sentence.startswith(
        f"mine.yaml: {setting.replace('/', '.')}: a browser would run a part of"
    )
