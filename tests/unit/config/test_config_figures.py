"""Each figure finds its task, a leaderboard its places, and settings that do not suit are told."""

from typing import Any

import pytest

from fieldwork.config.figures import (
    figure_tasks,
    has_trade_offs,
    leaderboard_note,
    ranked_tasks,
    survey_tasks,
    task_of,
)
from unit.shipped_config import checked_config, complaint, config_with

BOARD = {"leaderboard": "resources/helm_lite_mmlu.csv"}
OWN, MMLU = (
    {"format": "items", "dataset": "sample_ethics"},
    {"format": "mmlu", "dataset": "sample_mmlu"},
)
SOURCES: dict[str, list[dict[str, Any]]] = {
    "trivia": [OWN],
    "opinions": [OWN | {"kind": "choice"}],
    "wishes": [OWN | {"kind": "list"}],
    "both": [OWN | {"kind": "mixed"}],
    "parts": [OWN | {"kind": "list"}, MMLU | {"item_ids": ["a-001"]}],
    "mmlu": [MMLU | {"subjects": ["a"]}],
    "ethics": [MMLU | {"format": "ethics", "item_ids": ["e-1"]}],
}
LITE = ["recommendations_lite", "choices_lite"]


def selecting(tasks: list[str], figures: Any = None, **settings: dict[str, Any]) -> dict[str, Any]:
    """Tasks that are selected, the settings of figures, and more settings of single tasks."""
    entries: dict[str, Any] = {
        f"tasks/{name}": {"sources": sources, "runs": 2, "max_tokens": 5, **settings.get(name, {})}
        for name, sources in SOURCES.items()
    }
    return entries | {"study/tasks": tasks, "figures": figures or {}}


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        # the quickstart's and the other shipped studies' tasks
        (LITE, [LITE[0], LITE[1], LITE[1], LITE[0], LITE[0]]),
        (["trivia"], [None, "trivia", "trivia", "trivia", None]),
        (["wishes"], ["wishes", None, None, "wishes", "wishes"]),
        (["trivia", "wishes"], ["wishes", "trivia", "trivia", "wishes", "wishes"]),
        # the first of the study's order, whatever the order of the registry
        (["opinions", "trivia"], [None, "opinions", "opinions", "opinions", None]),
        # chosen questions before a whole benchmark, a leaderboard before none
        (["mmlu", "trivia"], [None, "trivia", "mmlu", "mmlu", None]),
        (["mmlu", "ethics"], [None, "ethics", "mmlu", "mmlu", None]),
        (["trivia", "mmlu_lite"], [None, "trivia", "mmlu_lite", "trivia", None]),
        (["parts"], ["parts"] * 5),
    ],
)
def test_a_figure_takes_the_first_task_that_suits(
    tasks: list[str], expected: list[str | None]
) -> None:
    figures = checked_config(selecting(tasks))["figures"]
    assert [figures[f"fig{k}"] for k in range(1, 6)] == expected
    assert figures["categories"] is None


def test_a_named_task_and_null_hold() -> None:
    names = {"fig2": "mmlu", "fig3": None, "categories": "mmlu"}
    config = checked_config(selecting(["trivia", "mmlu"], names))
    assert names.items() <= config["figures"].items()
    # the power of a study does not hang on whether a figure is drawn
    assert task_of(config, "fig3") == "trivia"
    assert figure_tasks(config) == config["figures"]


@pytest.mark.parametrize(
    ("tasks", "figure", "task", "message"),
    [
        (["trivia", "wishes"], "fig1", "recommendations", "'recommendations' is not in study.tasks (the"),
        (["trivia"], "fig1", "trivia", "the figure draws questions of kind list, and those of 'trivia' "),
        (["wishes"], "fig3", "wishes", "the figure draws questions of kind choice, and those of 'wishes"),
        (["wishes"], "categories", "wishes", "the figure draws questions of kind choice, and those of '"),
        (["trivia"], "categories", "auto", "'auto' is not in study.tasks"),
    ],
)  # fmt: skip
def test_a_task_that_does_not_suit_is_told(
    tasks: list[str], figure: str, task: str, message: str
) -> None:
    sentence = complaint(config_with(selecting(tasks, {figure: task})))
    assert sentence.startswith(f"mine.yaml: figures.{figure}: {message}")


def test_a_leaderboard_with_a_note_has_no_places() -> None:
    note = {**BOARD, "leaderboard_note": "Other questions"}
    tasks = selecting(["trivia", "opinions", "mmlu"], mmlu=BOARD, opinions=note)
    config = checked_config(tasks | {"study/models": ["gpt-4o-mini"]})
    assert ranked_tasks(config) == {"mmlu": BOARD["leaderboard"]}
    assert leaderboard_note(config, "opinions") == "Other questions"
    assert leaderboard_note(config, "mmlu") is None
    assert config["figures"]["fig3"] == "opinions"
    assert ranked_tasks(checked_config(selecting(["trivia"], mmlu=BOARD))) == {}


def test_a_model_that_gives_no_letters_has_no_places_among_models_that_did() -> None:
    tasks = selecting(["trivia", "mmlu"], mmlu=BOARD)
    config = checked_config(tasks | {"study/models": ["gpt-4o-mini", "smollm2"]})
    assert ranked_tasks(config) == {}
    assert (leaderboard_note(config, "mmlu") or "").startswith("SmolLM2 135M: ")
    assert leaderboard_note(config, "trivia") is None
    config["models"]["smollm2"]["choices"] = "letter"
    assert ranked_tasks(config) == {"mmlu": BOARD["leaderboard"]}


@pytest.mark.parametrize("figures", [{}, {"fig1": None, "fig2": None}])
@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (LITE, LITE),
        (["recommendations", "probe", "mmlu_lite"], ["recommendations", "probe"]),
        (["recommendations", "mmlu_lite"], ["recommendations"]),
        (["mmlu"], ["mmlu"]),
        (["both"], ["both"]),
        (["trivia", "wishes"], ["wishes", "trivia"]),
    ],
)
def test_participants_are_not_asked_a_whole_benchmark(
    tasks: list[str], expected: list[str], figures: Any
) -> None:
    assert survey_tasks(checked_config(selecting(tasks, figures))) == expected


RECORDINGS: dict[str, dict[str, Any]] = {
    "plain": {"format": "table", "columns": {}},
    "timed": {"format": "table", "columns": {"latency_s": "seconds"}},
    "log": {"format": "helm", "columns": {}},
    "log_without": {"format": "helm", "columns": {"latency_s": None}},
}


@pytest.mark.parametrize(
    ("provider", "recording", "kind", "is_drawn"),
    [
        ("openai", None, "choice", True),
        ("openai", None, "list", False),
        ("embedded", None, "choice", False),
        ("recorded", "plain", "choice", False),
        ("recorded", "timed", "choice", True),
        ("recorded", "log", "choice", True),
        ("recorded", "log_without", "choice", False),
    ],
)
def test_scores_are_set_against_time_where_times_or_prices_are_known(
    provider: str, recording: str | None, kind: str, is_drawn: bool
) -> None:
    config = {
        "study": {"tasks": ["t"], "models": ["m"]},
        "models": {
            "m": {"provider": provider, "recording": recording},
            "o": {"provider": "openai"},
        },
        "tasks": {"t": {"sources": [{"format": "items", "dataset": "d", "kind": kind}]}},
        "recordings": RECORDINGS,
    }
    assert has_trade_offs(config) is is_drawn
