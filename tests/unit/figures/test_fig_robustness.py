"""The figure of tasks put otherwise: which rows of the table it draws, and how it turns them."""

from typing import Any

import figure_frames as frames
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.marks import marks_of
from fieldwork.figures.robustness import draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.robustness import Robustness

VARIANTS = {"typos": "clean", "casual": "clean", "lists_typos": "lists"}


def row(task: str, metric: str, estimate: float, **changes: Any) -> dict[str, Any]:
    keys = {"model": "m", "origin": VARIANTS[task], "task": task, "condition": "offline"}
    values = {"metric": metric, "estimate": estimate, "n_items": 90, "n_left_out": 0}
    return keys | values | changes


def drawn(*rows: dict[str, Any], conditions: tuple[str, ...] = ("offline", "history")) -> Figure:
    settings = FigureSettings(conditions=conditions, variants=VARIANTS)
    return draw(frames.table_of(Robustness, rows), settings)


def test_scores_stand_beside_the_clean_score_of_the_fullest_variant() -> None:
    marks = marks_of(
        drawn(
            row("typos", "accuracy", 0.4),
            row("typos", "accuracy_origin", 0.6, n_items=80, n_left_out=10),
            row("casual", "accuracy", 0.5, ci_low=0.45, ci_high=0.55),
            row("casual", "accuracy_origin", 0.61),
        )
    )
    values = [(mark.task, mark.value) for mark in marks]
    assert values == [("clean", 0.61), ("typos", 0.4), ("casual", 0.5)]
    assert marks[2].text == "Score, Offline, casual: 50.0\u00a0% [45.0, 55.0]"
    # lower in the figure, and to the left where the score is lower
    assert marks[0].top < marks[1].top < marks[2].top
    assert marks[1].left < marks[0].left


def test_a_change_begins_at_the_clean_score_of_the_same_questions() -> None:
    """Seven questions that were easy before stay as easy: their line has no length."""
    figure = drawn(
        row("typos", "accuracy", 0.4, n_items=7),
        row("typos", "accuracy_origin", 0.4, n_items=7, n_left_out=3),
        row("casual", "accuracy", 0.2, n_items=10),
        row("casual", "accuracy_origin", 0.3, n_items=10),
        conditions=("offline",),
    )
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    ends = [line.get_xydata().tolist() for line in lines]
    assert ends == [[[40, 1], [40, 1]], [[30, 2], [20, 2]]]


def test_options_in_common_become_options_that_are_not_in_both() -> None:
    overlap = row("lists_typos", "overlap", 0.7, ci_low=0.6, ci_high=0.8)
    [mark] = marks_of(drawn(overlap, row("lists_typos", "overlap_rerun", 0.75)))
    assert (mark.value, mark.ci_low, mark.ci_high) == pytest.approx((0.3, 0.2, 0.4))
    assert mark.task == "lists_typos"
