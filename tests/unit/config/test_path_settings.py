"""Which settings hold a path: by their names, and never by what lies on this machine."""

import re

import pytest

from fieldwork.config.path_settings import PATH_SETTINGS, is_outside, paths_in, with_paths
from fieldwork.sections.whole import StudyConfig

SCHEMA = StudyConfig.model_json_schema()
PROPERTIES = [
    pair
    for section in (SCHEMA, *SCHEMA["$defs"].values())
    for pair in section["properties"].items()
]


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


def test_every_listed_setting_is_one() -> None:
    names = {name for name, _ in PROPERTIES} | {"*"}
    assert {key for setting in PATH_SETTINGS for key in setting} <= names
