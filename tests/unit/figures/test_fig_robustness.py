"""The figure of tasks put otherwise: which rows of the table it draws, and how it turns them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from fieldwork.figures.marks import marks_of
from fieldwork.figures.robustness import draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.figures import FigureMark

VARIANTS = {"typos": "clean", "casual": "clean", "lists_typos": "lists"}


def settings(**changes: Any) -> FigureSettings:
    defaults = {"conditions": ["offline", "history"], "variants": VARIANTS}
    return FigureSettings(**{**defaults, **changes})


def row(task: str, metric: str, estimate: float | None, **changes: Any) -> dict[str, Any]:
    values = {
        "model": "m", "origin": VARIANTS.get(task, task), "task": task, "condition": "offline",
        "metric": metric, "estimate": estimate, "ci_low": None, "ci_high": None, "n_items": 90,
        "n_left_out": 0, "reason": None,
    }  # fmt: skip
    return values | changes


def marks(rows: Sequence[dict[str, Any]], **changes: Any) -> list[FigureMark]:
    return marks_of(draw(pd.DataFrame(rows), settings(**changes)))


def test_scores_stand_beside_the_clean_score_of_the_fullest_variant() -> None:
    drawn = marks(
        [
            row("typos", "accuracy", 0.4),
            row("typos", "accuracy_origin", 0.6, n_items=80, n_left_out=10),
            row("casual", "accuracy", 0.5, ci_low=0.45, ci_high=0.55),
            row("casual", "accuracy_origin", 0.61),
        ]
    )
    assert [(mark.task, mark.value) for mark in drawn] == [
        ("clean", 0.61),
        ("typos", 0.4),
        ("casual", 0.5),
    ]
    assert drawn[2].text == "Score, Offline, casual: 50.0\u00a0% [45.0, 55.0]"
    # lower in the figure, and to the left where the score is lower
    assert drawn[0].top < drawn[1].top < drawn[2].top
    assert drawn[1].left < drawn[0].left


def test_a_change_begins_at_the_clean_score_of_the_same_questions() -> None:
    """Seven questions that were easy before stay as easy: their line has no length."""
    rows = [
        row("typos", "accuracy", 0.4, n_items=7),
        row("typos", "accuracy_origin", 0.4, n_items=7, n_left_out=3),
        row("casual", "accuracy", 0.2, n_items=10),
        row("casual", "accuracy_origin", 0.3, n_items=10),
    ]
    scores = draw(pd.DataFrame(rows), settings(conditions=["offline"])).axes[0]
    changes = [line.get_xydata().tolist() for line in scores.lines if len(line.get_xdata()) == 2]
    assert changes == [
        [[40, 1], [40, 1]],
        [[30, 2], [20, 2]],
    ]


def test_options_in_common_become_options_that_are_not_in_both() -> None:
    rows = [
        row("lists_typos", "overlap", 0.7, ci_low=0.6, ci_high=0.8),
        row("lists_typos", "overlap_rerun", 0.75),
    ]
    [mark] = marks(rows)
    assert mark.value == pytest.approx(0.3)
    assert (mark.ci_low, mark.ci_high) == pytest.approx((0.2, 0.4))
    assert mark.task == "lists_typos"
