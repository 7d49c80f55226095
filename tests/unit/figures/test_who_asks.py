"""The figure of users: what is drawn of shares and new letters, and what is said of what is not."""

from itertools import product
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


SHARES = (("offline", None, 0.5), ("history", 0.1, 0.5), ("rag", 0.3, 0.001))


def shares() -> pd.DataFrame:
    """A share of 10 % with a history, not shown, and of 30 % with retrieval; none offline."""
    rows = []
    for (task, kind), (condition, share, p) in product(
        (("wishes", "list"), ("mmlu", "choice")), SHARES
    ):
        keys = {"model": "m", "task": task, "condition": condition, "kind": kind, "unit": "puppet"}
        ends = share and {"share_who": share, "ci_low": share - 0.05, "ci_high": share + 0.05}
        sizes = {"n_items": 7, "n_puppets": 40, "n_responses": 80, "p_corrected": p}
        rows.append(keys | sizes | (ends or {"reason": "no users"}))
    return frames.table_of(VarianceShare, rows)


def new_letters(**changes: Any) -> pd.DataFrame:
    """The same of new letters, of which as many reruns alone give 5 %."""
    keys = {"model": "m", "task": "mmlu", "baseline": "offline", "control": "offline_again"}
    keys |= {"n_items": 50, "n_equal": 10, "control_share": 0.05, "reason": FEW}
    rows = [
        keys | {"condition": name, "share": share, "excess": share - 0.05, "p_corrected": p}
        for name, share, p in (
            ("offline_again", 0.05, 0.5),
            ("history", 0.1, 0.5),
            ("rag", 0.3, 0.01),
        )
    ]
    return frames.table_of(Novelty, rows).assign(**changes)


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


def test_shares_stand_beside_new_letters_and_what_a_test_shows_has_colour_and_a_line() -> None:
    figure = draw(shares(), new_letters())
    left, right = figure.axes
    ticks = [[t.get_text() for t in axes.get_xticklabels()] for axes in (left, right)]
    assert ticks[0] == ["lists, 7 prompts\nn = 40", "letters, 7 prompts\nn = 40"]
    assert ticks[1] == ["50 questions\nequal n = 10"]
    assert marks(left) == marks(right) == {10.0: pytest.approx(0.45), 30.0: 1.0}
    assert lines(left, 3.0) == [[0.0, 30.0]] * 2
    assert lines(right, 3.0) == [[5.0, 30.0]]
    # intervals are thin lines, and a mark without one has its reason
    assert lines(left, 0.8) == [[5.0, 15.0]] * 2 + [[25.0, 35.0]] * 2
    assert not lines(right, 0.8)
    words = " ".join(frames.words(figure).split())
    why = FEW.removeprefix("no interval: ")
    assert f"Marks without a thin line have no interval: {why}" in words


def test_without_a_control_new_letters_stand_alone_and_a_missing_estimate_is_marked() -> None:
    reason = f"{FEW}; no excess: no selected condition has `after: offline`"
    without = {"control_share": None, "excess": None, "p_corrected": None, "reason": reason}
    table = shares()
    names = ["share_who", "ci_low", "ci_high", "reason"]
    table.loc[table["condition"] == "rag", names] = [None] * 3 + ["all answers are the same"]
    figure = draw(table, new_letters(**without))
    assert not lines(figure.axes[1], 1.0)
    words = " ".join(frames.words(figure).split())
    assert "as many reruns alone" not in words
    assert "Without what reruns alone give: no selected condition has `after: offline`." in words
    assert words.count("n/a") == 3
    assert "n/a: all answers are the same." in words
