"""Which settings hold a path: by their names, and never by what lies on this machine."""

import re
from typing import Any

import pytest
import yaml

from fieldwork.config.path_settings import PATH_SETTINGS, is_outside, paths_in, with_paths
from unit.config.test_study import HOME

SCHEMA = HOME / "workflow/schemas/config.schema.yaml"


def move(_: str, path: str) -> str:
    return f"moved:{path}"


def test_a_text_that_looks_like_a_path_stays() -> None:
    config = {
        "tasks": {"quiz": {"label": "/", "leaderboard": "/no/such/board.csv"}},
        "study": {"question": ".."},
        "conditions": {"with.dot": {"label": "~", "template": "~/memory.txt"}},
        "parsing": {"overrides": ["/a/one.csv", "b.csv"], "aliases": None},
        "archive": {"texts": {"path": True}},
        "figures": {"categories": "quiz"},
    }
    moved = with_paths(config, move)
    assert moved["tasks"]["quiz"] == {"label": "/", "leaderboard": "moved:/no/such/board.csv"}
    assert moved["study"] == config["study"]
    assert moved["conditions"]["with.dot"] == {"label": "~", "template": "moved:~/memory.txt"}
    assert moved["parsing"] == {"overrides": ["moved:/a/one.csv", "moved:b.csv"], "aliases": None}
    assert moved["figures"] == config["figures"]
    assert [setting for setting, _ in paths_in(config)] == [
        "tasks.quiz.leaderboard",
        "conditions.with.dot.template",
        "parsing.overrides.0",
        "parsing.overrides.1",
    ]
    assert [*paths_in(config, [("tasks", "*", "leaderboard")])] == [
        ("tasks.quiz.leaderboard", "/no/such/board.csv")
    ]


@pytest.mark.parametrize("path", ["/a/b.csv", "../b.csv", "a/../../b.csv", "~/b.csv", "/", ".."])
def test_paths_that_lead_out_of_the_folder(path: str) -> None:
    assert is_outside(path)
    assert not is_outside("a/b.csv")


def test_every_setting_that_the_schema_calls_a_file_is_known() -> None:
    """A new setting with a path is listed, or its description names no file."""
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    keys = {setting[-1] for setting in PATH_SETTINGS} - {"*"} | {"prompts"}
    for key, entry in _properties(schema):
        words = str(entry.get("description", ""))
        is_text = "string" in (entry.get("type") or ())
        if is_text and re.match(
            r"(A |An |Null.* )?((CSV|GGUF|PEM|YAML|Text) )*[Ff]ile\b|CSV\b", words
        ):
            assert key in keys, f"{key}: {words}"


def _properties(node: Any) -> Any:
    if isinstance(node, dict):
        yield from (node.get("properties") or {}).items()
        for inner in node.values():
            yield from _properties(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _properties(inner)


def test_every_listed_setting_is_in_the_schema() -> None:
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    names = {name for name, _ in _properties(schema)} | {"*", "put", "translated"}
    assert {key for setting in PATH_SETTINGS for key in setting} <= names
