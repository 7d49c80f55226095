"""The figure of raters: which lines stand in a panel, and what is said below it."""

from typing import Any

import figure_frames as frames
from matplotlib.figure import Figure

from fieldwork.figures.raters import draw
from fieldwork.figures.settings import FigureSettings, ScaleAxis
from fieldwork.records.judging import JudgementEstimate

POINTS = {1: "The first is better", 2: "Equal", 3: "The second is better"}
SCALES = {"right": ScaleAxis(["It is right"]), "better": ScaleAxis(points=POINTS)}
SETTINGS = FigureSettings(conditions=[], model_labels={"gpt": "GPT"}, scales=SCALES)
Row = dict[str, Any]


def row(scale: str, measure: str, raters: str, estimate: float, **changes: Any) -> Row:
    keys = {"scale": scale, "measure": measure, "raters": raters, "estimate": estimate}
    return keys | {"n_units": 60} | changes


def drawn(*rows: Row) -> Figure:
    return draw(frames.table_of(JudgementEstimate, rows), SETTINGS)


def panel(*rows: Row) -> tuple[list[str], str]:
    """The names of the lines, and the axis with what stands beside it."""
    axes, beside = drawn(*rows).axes
    names = [label.get_text().removesuffix(", n = 60") for label in axes.get_yticklabels()]
    words = " ".join([axes.get_xlabel(), *(text.get_text() for text in beside.texts)])
    return names, " ".join(words.split())


def test_people_come_first_and_models_by_name_where_there_are_several() -> None:
    shares = [row("right", "accepted", name, 0.5) for name in ("models", "gpt", "other", "people")]
    assert panel(*shares) == (["People", "GPT", "other"], "accepted, %: It is right")
    assert panel(shares[0], shares[3])[0] == ["People", "Models"]


def test_beside_a_panel_stands_what_sets_raters_beside_each_other() -> None:
    _, beside = panel(
        row("better", "mean", "people", 3.2, ci_low=3.0, ci_high=3.4),
        row("better", "mean", "models", 3.9),
        row("better", "kappa", "people", 0.43, versus="people"),
        row("better", "kappa", "models", 0.3, versus="people"),
        row("better", "inflation", "gpt", 0.7, versus="people"),
        row("better", "b_no_better", "people", 0.55),
        row("better", "share", "people", 0.2, option="1"),
    )
    assert "mean rating" in beside
    assert "κ: people 0.43, across 0.30" in beside
    assert "GPT: rates 0.70 higher than people" in beside
    assert "no better, people: 55" in beside


def test_an_axis_of_ratings_is_the_whole_scale_in_the_words_of_raters() -> None:
    axes, _ = drawn(row("better", "mean", "people", 2.1)).axes
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert texts == ["1\nThe first is\nbetter", "2\nEqual", "3\nThe second is\nbetter"]
    low, high = axes.get_xlim()
    assert low < 1
    assert high > 3
