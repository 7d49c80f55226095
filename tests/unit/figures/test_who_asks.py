"""The figure of users: what is drawn of shares and new letters, and what is said of what is not."""

from dataclasses import asdict
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import who_asks
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.metrics import Novelty, VarianceShare

USERS = ("history", "rag")
FEW = "no interval: 40 users answer; fewer than 72 may miss the kind of one user in 20"
TASKS = (("wishes", "list"), ("mmlu", "choice"))


def shares(tasks: tuple[tuple[str, Any], ...] = TASKS, **changes: Any) -> pd.DataFrame:
    """A share of 10 % with a history, not shown, and of 30 % with retrieval; none offline."""
    rows = []
    for task, kind in tasks:
        for condition, share in (("offline", None), ("history", 0.1), ("rag", 0.3)):
            row = VarianceShare(
                "m", task, condition, kind, share, None if share is None else share - 0.05,
                None if share is None else share + 0.05, None, None, None, None, None, None, None,
                7, 40, 40, 80, 0, "puppet", "no users" if share is None else None,
            )  # fmt: skip
            rows.append(asdict(row) | {"p_corrected": 0.001 if condition == "rag" else 0.5})
    return pd.DataFrame(rows).assign(**changes)


def new_letters(**changes: Any) -> pd.DataFrame:
    """The same of new letters, of which as many reruns alone give 5 %."""
    rows = []
    for condition, share in (("offline_again", 0.05), ("history", 0.1), ("rag", 0.3)):
        row = Novelty(
            "m", "mmlu", condition, "offline", "offline_again", 50, 10, 10, share, None, None, 0.5,
            0.05, share - 0.05, None, None, 0.5, 99, FEW,
        )  # fmt: skip
        rows.append(asdict(row) | {"p_corrected": 0.01 if condition == "rag" else 0.5})
    return pd.DataFrame(rows).assign(**changes)


def draw(variance: pd.DataFrame, novelty: pd.DataFrame, **settings: Any) -> Figure:
    defaults = {"conditions": ("offline", "offline_again", *USERS), "users": USERS}
    return who_asks.draw(variance, novelty, FigureSettings(**(defaults | settings)))


def marks(axes: Any) -> dict[float, float | None]:
    """The opacity of each mark, by its height."""
    return {line.get_ydata()[0]: line.get_alpha() for line in axes.lines if line.get_alpha()}


def lines(axes: Any, width: float) -> list[list[float]]:
    """Ends of the upright or level lines of a width: their heights."""
    segments = [c.get_segments()[0] for c in axes.collections if c.get_linewidth()[0] == width]
    return sorted([round(float(y), 6) for _, y in segment] for segment in segments)


def test_shares_stand_beside_new_letters() -> None:
    left, right = draw(shares(), new_letters()).axes
    assert [t.get_text() for t in left.get_xticklabels()] == [
        "lists, 7 prompts\nn = 40",
        "letters, 7 prompts\nn = 40",
    ]
    assert [t.get_text() for t in right.get_xticklabels()] == ["50 questions\nequal n = 10"]
    assert set(marks(left)) == set(marks(right)) == {10.0, 30.0}


def test_only_what_a_test_shows_has_full_colour_and_a_line_from_what_repeats_give() -> None:
    left, right = draw(shares(), new_letters()).axes
    assert (marks(left)[10.0], marks(left)[30.0]) == (pytest.approx(0.45), 1.0)
    assert lines(left, 3.0) == [[0.0, 30.0]] * 2
    assert lines(right, 3.0) == [[5.0, 30.0]]


def test_intervals_are_thin_lines_and_a_mark_without_one_has_its_reason() -> None:
    figure = draw(shares(), new_letters())
    left, right = figure.axes
    assert lines(left, 0.8) == [[5.0, 15.0]] * 2 + [[25.0, 35.0]] * 2
    assert not lines(right, 0.8)
    words = " ".join(frames.words(figure).split())
    assert (
        f"Marks without a thin line have no interval: {FEW.removeprefix('no interval: ')}" in words
    )


def test_without_a_control_new_letters_stand_alone() -> None:
    reason = f"{FEW}; no excess: no selected condition has `after: offline`"
    table = new_letters(control_share=None, excess=None, p_corrected=None, reason=reason)
    figure = draw(shares(), table)
    assert not lines(figure.axes[1], 1.0)
    words = " ".join(frames.words(figure).split())
    assert "as many reruns alone" not in words
    assert "Without what reruns alone give: no selected condition has `after: offline`." in words


def test_a_missing_estimate_is_marked() -> None:
    table = shares()
    table.loc[table["condition"] == "rag", ["share_who", "ci_low", "ci_high"]] = None
    table.loc[table["condition"] == "rag", "reason"] = "all answers are the same"
    words = frames.words(draw(table, new_letters()))
    assert words.count("n/a") == 3
    assert "n/a: all answers are the same." in words
