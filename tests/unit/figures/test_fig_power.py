"""The figure of power: a curve an effect, no point where nothing was simulated, prices above."""

from collections.abc import Sequence
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import power
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.power import PowerRow

EFFECTS: dict[str, tuple[int, Sequence[str]]] = {
    # tests of the family, and effects
    "option_share": (40, ("0.9 -> 0.3", "0.1 -> 0.05")),
    "distance": (9, ("0.9 -> 0.3",)),
    "share_who": (4, ("0.05", "0.2")),
    "entropy_bits": (5, ("0.25",)),
    "score": (1, ("0.006",)),
    "value": (6, ("0.5", "0.5 together")),
}


def table(
    *, tasks: Sequence[str] = ("lists", "letters"), measures: Sequence[str] = tuple(EFFECTS),
    usd: float | None = 0.5, more_tests: int = 0, **columns: Any,
) -> pd.DataFrame:  # fmt: skip
    """Powers of 0.3, 0.6 and 0.9 with 5, 20 and 80 users; nothing is simulated with 320."""
    rows = [
        {
            "measure": measure, "effect": effect, "source": "one answer of two", "odd_users": 1.0,
            "likeness": 0.3 if measure in ("share_who", "entropy_bits") else None,
            "task": task, "model": model, "condition": condition, "n_users": n,
            "replicates": replicates, "n_items": 9, "n_settled": 0, "family": measure,
            "correction": "Holm", "n_tests": None if k > 2 else EFFECTS[measure][0] + more_tests * k,
            "power": None if k > 2 else 0.3 * (k + 1), "ci_low": None if k > 2 else 0.3 * k,
            "ci_high": None if k > 2 else 0.35 * (k + 1), "n_simulations": 0 if k > 2 else 1000,
            "n_calls": 9 * n * replicates, "basis": "tables",
            "cost_usd": None if condition == "field" or usd is None
            else n * usd * (1 + (model == "dear")) * (1 + (condition == "rag")),
            "n_calls_baseline": 0 if measure == "share_who" else 9 * n,
            "cost_baseline_usd": None if usd is None else 0.0,
        } | columns
        for measure in measures
        for task in (tasks if measure != "score" else tasks[-1:])
        for effect in EFFECTS[measure][1]
        for replicates in ((2, 5) if measure == "share_who" else (1,))
        for model in ("cheap", "dear")
        for condition in ("history", "rag", "field")
        for k, n in enumerate((5, 20, 80, 320))
    ]  # fmt: skip
    return frames.table_of(PowerRow, rows)


def draw(frame: pd.DataFrame, **further: Any) -> Figure:
    labels = {"condition_labels": {"rag": "SP-RAG"}, "model_labels": {"dear": "Dear"}}
    return power.draw(frame, FigureSettings(conditions=["history", "rag"], **labels, **further))


def panels(figure: Figure) -> dict[str, Any]:
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def curves(axes: Any) -> list[Any]:
    return [line for line in axes.lines if len(line.get_xdata()) > 2]


def test_points_are_the_powers_and_end_where_nothing_was_simulated() -> None:
    axes = panels(draw(table()))["lists, 40 tests"]
    assert len(curves(axes)) == 2
    for line in curves(axes):
        assert list(line.get_xdata()) == [5, 20, 80]
        assert list(line.get_ydata()) == pytest.approx([0.3, 0.6, 0.9])
    (target,) = (line for line in axes.lines if len(line.get_xdata()) == 2)
    assert list(target.get_ydata()) == [0.8, 0.8]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # the most expensive that is called, not the participants
        ({}, ["dollars for Dear, SP-RAG", "$10", "$640", "90 % → 30 %", "0.6 points", "0.25 bits"]),
        ({}, ["1,000 simulated studies", "Supposed: every user carries the effect."]),
        ({}, ["A user's answers to two prompts correlate by 0.3.", "0.5 sd, together"]),
        ({"usd": 0.0005}, ["1 ¢", "64 ¢"]),
        ({"usd": 0.0}, ["calls of a condition", "90", "5.8k"]),
        ({"usd": None}, ["calls of a condition"]),
        ({"measures": ["share_who"]}, ["2 answers each", "5 answers each", "20 %"]),
        ({"odd_users": 0.1, "n_settled": 3}, ["10 % of the users carry the", "3 of 9 prompts of"]),
        ({"more_tests": 10}, ["lists, 40 to 60 tests"]),
    ],
)
def test_the_figure_says(changes: dict[str, Any], expected: list[str]) -> None:
    figure = draw(table(**changes))
    words = " ".join(frames.words(figure).split())
    assert [part for part in expected if part not in words] == []
    assert frames.texts_cut_off(figure) == []


def test_the_least_power_of_the_conditions_is_drawn() -> None:
    frame = table(measures=["entropy_bits"], tasks=["lists"])
    frame.loc[frame["condition"] == "rag", "power"] /= 2
    # the study has no participants
    frame.loc[frame["condition"] == "field", "power"] = 0.0
    (line,) = curves(panels(draw(frame))["lists, 5 tests"])
    assert list(line.get_ydata()) == pytest.approx([0.15, 0.3, 0.45])


def test_tasks_stand_in_the_order_of_the_study_and_too_many_are_named() -> None:
    frame = table(tasks=[f"task_{k}" for k in range(6)], measures=["option_share"])
    figure = draw(frame, tasks=["task_5", "task_1"])
    tasks = [title.split(",")[0] for title in panels(figure)]
    assert tasks == ["task_5", "task_1", "task_0", "task_2"]
    assert "The table has 2 more tasks." in frames.words(figure)
