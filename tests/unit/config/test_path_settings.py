"""Which settings hold a path: by their names, and never by what lies on this machine."""

import re
from typing import Any

import pytest

from fieldwork.config.path_settings import PATH_SETTINGS, is_outside, paths_in, with_paths
from fieldwork.sections.whole import StudyConfig

SCHEMA = StudyConfig.model_json_schema()
PROPERTIES = [
    pair
    for section in (SCHEMA, *SCHEMA["$defs"].values())
    for pair in section["properties"].items()
]
CONFIG: dict[str, Any] = {
    "tasks": {"quiz": {"label": "/", "leaderboard": "/no/such/board.csv"}},
    "study": {"question": ".."},
    "conditions": {"with.dot": {"label": "~", "template": "~/memory.txt"}},
    "parsing": {"overrides": ["/a/one.csv", "b.csv"], "aliases": None},
    "archive": {"texts": {"path": True}},
    "figures": {"categories": "quiz"},
}


def test_a_text_that_looks_like_a_path_stays() -> None:
    assert dict(paths_in(CONFIG)) == {
        "tasks.quiz.leaderboard": "/no/such/board.csv",
        "conditions.with.dot.template": "~/memory.txt",
        "parsing.overrides.0": "/a/one.csv",
        "parsing.overrides.1": "b.csv",
    }
    boards = [*paths_in(CONFIG, [("tasks", "*", "leaderboard")])]
    assert boards == [("tasks.quiz.leaderboard", "/no/such/board.csv")]
    assert with_paths(CONFIG, lambda _, path: f"moved:{path}") == CONFIG | {
        "tasks": {"quiz": {"label": "/", "leaderboard": "moved:/no/such/board.csv"}},
        "conditions": {"with.dot": {"label": "~", "template": "moved:~/memory.txt"}},
        "parsing": {"overrides": ["moved:/a/one.csv", "moved:b.csv"], "aliases": None},
    }


@pytest.mark.parametrize("path", ["/a/b.csv", "../b.csv", "a/../../b.csv", "~/b.csv", "/", ".."])
def test_paths_that_lead_out_of_the_folder(path: str) -> None:
    assert is_outside(path)
    assert not is_outside("a/b.csv")


def test_every_setting_that_is_described_as_a_file_is_known() -> None:
    """A new setting with a path is listed, or its description names no file."""
    keys = {setting[-1] for setting in PATH_SETTINGS} - {"*"} | {"prompts"}
    for key, rule in PROPERTIES:
        words = str(rule.get("description", ""))
        kinds = [rule.get("type"), *(one.get("type") for one in rule.get("anyOf", ()))]
        if "string" in kinds and re.match(
            r"(A |An |Null.* )?((CSV|GGUF|PEM|YAML|Text) )*[Ff]ile\b|CSV\b", words
        ):
            assert key in keys, f"{key}: {words}"
    names = {name for name, _ in PROPERTIES} | {"*"}
    assert {key for setting in PATH_SETTINGS for key in setting} <= names
