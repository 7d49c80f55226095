"""Each figure finds its task, a leaderboard its places, and settings that do not suit are told."""

import copy
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
from fieldwork.config.settings import check_config
from fieldwork.errors import StudyError
from unit.shipped_config import shipped_config

BOARD = "resources/helm_lite_mmlu.csv"


def source(kind: str | None = None, **more: Any) -> dict[str, Any]:
    """A source of own questions, or of a benchmark."""
    if kind in ("mmlu", "ethics"):
        return {"format": kind, "dataset": "sample_mmlu", **more}
    return {
        "format": "items",
        "dataset": "sample_ethics",
        **({"kind": kind} if kind else {}),
        **more,
    }


TASKS: dict[str, list[dict[str, Any]]] = {
    "trivia": [source()],
    "opinions": [source("choice")],
    "wishes": [source("list")],
    "both": [source("mixed")],
    "parts": [source("list"), source("mmlu", item_ids=["a-001"])],
    "mmlu": [source("mmlu", subjects=["a"])],
    "ethics": [source("ethics", item_ids=["e-1"])],
    # what the source says of its kind means nothing for a benchmark
    "odd": [source("mmlu") | {"kind": "list"}],
}


def study(
    tasks: list[str], figures: dict[str, str | None] | None = None, **settings: dict[str, Any]
) -> dict[str, Any]:
    """The shipped config with these tasks selected; `settings` are those of single tasks."""
    config: dict[str, Any] = shipped_config()
    for name, sources in TASKS.items():
        entry = {"sources": copy.deepcopy(sources), "runs": 2, "max_tokens": 5}
        config["tasks"][name] = entry | settings.get(name, {})
    config["study"]["tasks"] = tasks
    config["figures"] = figures or {}
    return config


def checked(*args: Any, **settings: Any) -> dict[str, Any]:
    config = study(*args, **settings)
    check_config(config, "my.yaml")
    return config


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        # the quickstart's and the other shipped studies' tasks
        (
            ["recommendations_lite", "choices_lite"],
            ["recommendations_lite", "choices_lite", "choices_lite"] + ["recommendations_lite"] * 2,
        ),
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
    figures = checked(tasks)["figures"]
    assert [figures[f"fig{k}"] for k in range(1, 6)] == expected
    assert figures["categories"] is None


def test_a_named_task_and_null_hold() -> None:
    names: dict[str, str | None] = {"fig2": "mmlu", "fig3": None, "categories": "mmlu"}
    config = checked(["trivia", "mmlu"], names)
    assert config["figures"]["fig2"] == config["figures"]["categories"] == "mmlu"
    assert config["figures"]["fig3"] is None
    # the power of a study does not hang on whether a figure is drawn
    assert task_of(config, "fig3") == "trivia"
    assert figure_tasks(config) == config["figures"]


@pytest.mark.parametrize(
    ("tasks", "figures", "message"),
    [
        (
            ["trivia", "wishes"],
            {"fig1": "recommendations"},
            "figures.fig1: 'recommendations' is not in study.tasks (there are trivia, wishes); select "
            "it there, or correct the name",
        ),
        (
            ["trivia"],
            {"fig1": "trivia"},
            "figures.fig1: the figure draws questions of kind list, and those of 'trivia' are of kind "
            "choice (kind in tasks.trivia.sources); name another task, or write null",
        ),
        (["wishes"], {"fig3": "wishes"}, "draws questions of kind choice, and those of 'wishes'"),
        (
            ["wishes"],
            {"categories": "wishes"},
            "of kind list (kind in tasks.wishes.sources); name another task, or write null",
        ),
        (["trivia"], {"categories": "auto"}, "figures.categories: 'auto' is not in study.tasks"),
    ],
)
def test_a_task_that_does_not_suit_is_told(
    tasks: list[str], figures: dict[str, str | None], message: str
) -> None:
    with pytest.raises(StudyError) as caught:
        check_config(study(tasks, figures), "my.yaml")
    assert str(caught.value).startswith("my.yaml: figures.")
    assert message in str(caught.value)


def test_a_leaderboard_with_a_note_has_no_places() -> None:
    note = {"leaderboard": BOARD, "leaderboard_note": "Other questions"}
    tasks = ["trivia", "opinions", "mmlu"]
    config = checked(tasks, mmlu={"leaderboard": BOARD}, opinions=note)
    config["study"]["models"] = ["gpt-4o-mini"]
    assert ranked_tasks(config) == {"mmlu": BOARD}
    assert leaderboard_note(config, "opinions") == "Other questions"
    assert leaderboard_note(config, "mmlu") is None
    assert config["figures"]["fig3"] == "opinions"
    assert ranked_tasks(checked(["trivia"], mmlu={"leaderboard": BOARD})) == {}


def test_a_model_that_gives_no_letters_has_no_places_among_models_that_did() -> None:
    config = checked(["trivia", "mmlu"], mmlu={"leaderboard": BOARD})
    config["study"]["models"] = ["gpt-4o-mini", "smollm2"]
    assert ranked_tasks(config) == {}
    note = leaderboard_note(config, "mmlu") or ""
    assert note.startswith("SmolLM2 135M: ")
    assert leaderboard_note(config, "trivia") is None
    config["models"]["smollm2"]["choices"] = "letter"
    assert ranked_tasks(config) == {"mmlu": BOARD}


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (["recommendations_lite", "choices_lite"], ["recommendations_lite", "choices_lite"]),
        (["recommendations", "probe", "mmlu_lite"], ["recommendations", "probe"]),
        (["recommendations", "mmlu_lite"], ["recommendations"]),
        (["mmlu"], ["mmlu"]),
        (["both"], ["both"]),
        (["trivia", "wishes"], ["wishes", "trivia"]),
    ],
)
def test_participants_are_not_asked_a_whole_benchmark(
    tasks: list[str], expected: list[str]
) -> None:
    assert survey_tasks(checked(tasks)) == expected
    assert survey_tasks(checked(tasks, {"fig1": None, "fig2": None})) == expected


def recorded(**settings: Any) -> dict[str, Any]:
    """A recording, with an entry of `models` that it answers for."""
    return {"format": "table", "columns": {}, **settings}


@pytest.mark.parametrize(
    ("model", "kind", "is_drawn"),
    [
        ({"provider": "openai"}, "choice", True),
        ({"provider": "openai"}, "list", False),
        ({"provider": "embedded"}, "choice", False),
        ({"provider": "recorded", "recording": "plain"}, "choice", False),
        ({"provider": "recorded", "recording": "timed"}, "choice", True),
        ({"provider": "recorded", "recording": "log"}, "choice", True),
        ({"provider": "recorded", "recording": "log_without"}, "choice", False),
    ],
)
def test_scores_are_set_against_time_where_times_or_prices_are_known(
    model: dict[str, Any], kind: str, is_drawn: bool
) -> None:
    config = {
        "study": {"tasks": ["t"], "models": ["m"]},
        "models": {"m": model, "other": {"provider": "openai"}},
        "tasks": {"t": {"sources": [{"format": "items", "dataset": "d", "kind": kind}]}},
        "recordings": {
            "plain": recorded(),
            "timed": recorded(columns={"latency_s": "seconds"}),
            "log": recorded(format="helm"),
            "log_without": recorded(format="helm", columns={"latency_s": None}),
        },
    }
    assert has_trade_offs(config) is is_drawn
