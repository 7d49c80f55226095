"""No secret gets into a config, and no message repeats what may be one."""

import copy
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import shipped_config

from fieldwork.config.settings import check_config
from fieldwork.errors import StudyError

SHIPPED = shipped_config()
OPENAI = {"provider": "openai", "label": "O", "model": "m", "base_url": "https://host/v1"}
GEMINI = {"provider": "gemini", "label": "G", "model": "m"}
# the forms of keys, none of them one
KEYS = (
    "sk-proj-0123456789abcdefABCDEF",
    "sk-ant-api03-0123456789abcdefABCDEF",
    "AIzaSy0123456789abcdefABCDEF0123456789",
    "ya29.a0123456789abcdefABCDEF",
    "gsk_0123456789abcdefABCDEF",
    "hf_0123456789abcdefABCDEF",
    "ghp_0123456789abcdefABCDEF",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
)


def complaint(model: dict[str, Any] | None = None, **sections: Any) -> str:
    config = copy.deepcopy(SHIPPED) | copy.deepcopy(sections)
    if model is not None:
        config["models"] |= {"m": copy.deepcopy(model)}
    with pytest.raises(StudyError) as caught:
        check_config(config, "mine.yaml")
    return str(caught.value)


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
    written = yaml.safe_load(yaml.safe_dump(value).replace("KEY", key))
    said = complaint(OPENAI | {setting: written})
    assert said.startswith(f"mine.yaml: models.m.{setting}")
    assert "a key or a password stands here" in said
    assert key not in said


def test_a_secret_of_the_environment_is_refused_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_LAB_TOKEN", "0f1e2d3c4b5a69788796")
    said = complaint(study=SHIPPED["study"] | {"name": "x-0f1e2d3c4b5a69788796"})
    assert said.startswith("mine.yaml: study.name: a key or a password stands here")
    assert "0f1e2d3c" not in said


@pytest.mark.parametrize(
    "name", ["my_key", "OPENAI-KEY", "MY KEY", "1KEY", "", 7, "KEY\n", "a" * 40]
)
@pytest.mark.parametrize("setting", ["api_key_env", "token_env"])
def test_what_is_no_variable_is_not_repeated(setting: str, name: Any) -> None:
    said = complaint(GEMINI | {setting: name})
    assert said.startswith(
        f"mine.yaml: models.m.{setting}: the value does not fit (Environment var"
    )
    assert repr(name) not in said


@pytest.mark.parametrize(
    "address",
    [
        "https://me:word@host/v1",
        "https://word@host/v1",
        "https://host/v1?api-key=word",
        "https://host/v1#word",
        "https:///word",
        "word://host",
        "https://host/word word",
        "https://host/word\n",
    ],
)
@pytest.mark.parametrize("setting", ["base_url", "proxy"])
@pytest.mark.parametrize("model", [OPENAI, GEMINI])
def test_an_address_with_a_password_or_a_query_is_not_repeated(
    model: dict[str, Any], setting: str, address: str
) -> None:
    said = complaint(model | {setting: address})
    assert said.startswith(
        f"mine.yaml: models.m.{setting}: the value does not fit (Address of"[:60]
    )
    assert "word" not in said.replace("password", "")


@pytest.mark.parametrize(
    "header", ["Authorization", "api-key", "X-Gateway-Token", "cf-access-client-secret", "Cookie"]
)
def test_a_header_that_holds_a_secret_goes_through_the_environment(header: str) -> None:
    said = complaint(OPENAI | {"headers": {header: "abc"}})
    assert f"models.m.headers.{header}: a header of this name holds a secret" in said
    assert f"models.m.headers_env: {{{header}: NAME_OF_THE_VARIABLE}}" in said
    assert "abc" not in said


@pytest.mark.parametrize(
    "more",
    [
        {"headers": {"X-Author": "me", "OpenAI-Organization": "org", "X-Keyboard": "y"}},
        {"headers_env": {"Authorization": "MY_GATEWAY", "X-Team": "_T1"}},
        {"api_key_env": None, "proxy": "http://proxy.example:3128"},
        {"base_url": "http://[::1]:8000/v1"},
        {"base_url": "http://localhost"},
        {"label": "sk-learn and hf_tiny"},
    ],
)
def test_what_holds_no_secret_is_taken(more: dict[str, Any]) -> None:
    config = copy.deepcopy(SHIPPED)
    config["models"] = config["models"] | {"m": OPENAI | copy.deepcopy(more)}
    check_config(config, "mine.yaml")


# ---- what a browser would run ------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["</script>", "a <SCRIPT src=x>", "</ScRiPt >", "x <!-- y"])
@pytest.mark.parametrize("setting", ["models.smollm2.label", "field_kit.groups.g.question"])
def test_a_text_that_would_run_in_the_report_is_refused(setting: str, text: str) -> None:
    config = copy.deepcopy(SHIPPED)
    config["field_kit"] = {"groups": {"g": {"question": "Which?", "options": ["a", "b"]}}}
    *way, last = setting.split(".")
    place: Any = config
    for step in way:
        place = place[step]
    place[last] = text
    with pytest.raises(StudyError, match="a browser would run a part of this text") as caught:
        check_config(config, "mine.yaml")
    assert str(caught.value).startswith(f"mine.yaml: {setting}: ")
