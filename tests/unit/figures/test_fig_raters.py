"""The figure of raters: which lines stand in a panel, and what is said below it."""

from typing import Any

import pandas as pd

from fieldwork.figures.raters import draw
from fieldwork.figures.settings import FigureSettings, ScaleAxis

SETTINGS = FigureSettings(
    conditions=[],
    model_labels={"gpt": "GPT"},
    scales={
        "right": ScaleAxis(["It is right"]),
        "better": ScaleAxis(
            points={1: "The first is better", 2: "Equal", 3: "The second is better"}
        ),
    },
)


def row(
    scale: str, measure: str, raters: str, estimate: float | None, **changes: Any
) -> dict[str, Any]:
    values = {
        "scale": scale, "measure": measure, "raters": raters, "versus": None, "unit_group": None,
        "option": None, "estimate": estimate, "ci_low": None, "ci_high": None, "n_units": 60,
    }  # fmt: skip
    return values | changes


def panels(*rows: dict[str, Any]) -> list[tuple[list[str], str]]:
    """Of each panel the names of its lines, and its axis with what stands beside it."""
    figure = draw(pd.DataFrame(rows), SETTINGS)
    return [
        (
            [label.get_text().removesuffix(", n = 60") for label in axes.get_yticklabels()],
            " ".join([axes.get_xlabel(), *(text.get_text() for text in beside.texts)]).strip(),
        )
        for axes, beside in zip(figure.axes[::2], figure.axes[1::2], strict=True)
    ]


def test_people_come_first_and_models_by_name_where_there_are_several() -> None:
    shares = [row("right", "accepted", name, 0.5) for name in ("models", "gpt", "other", "people")]
    ((lines, beside),) = panels(*shares)
    assert lines == ["People", "GPT", "other"]
    assert beside == "accepted, %: It is right"
    ((lines, _),) = panels(*(s for s in shares if s["raters"] in ("models", "people")))
    assert lines == ["People", "Models"]


def test_beside_a_panel_stands_what_sets_raters_beside_each_other() -> None:
    ((_, beside),) = panels(
        row("better", "mean", "people", 3.2, ci_low=3.0, ci_high=3.4),
        row("better", "mean", "models", 3.9),
        row("better", "kappa", "people", 0.43, versus="people"),
        row("better", "kappa", "models", 0.3, versus="people"),
        row("better", "inflation", "gpt", 0.7, versus="people"),
        row("better", "b_no_better", "people", 0.55),
        row("better", "share", "people", 0.2, option="1"),
    )
    beside = " ".join(beside.split())
    for words in (
        "mean rating",
        "κ: people 0.43, across 0.30",
        "GPT: rates 0.70 higher than people",
    ):
        assert words in beside
    assert "no better, people: 55" in beside


def test_an_axis_of_ratings_is_the_whole_scale_in_the_words_of_raters() -> None:
    axes, _ = draw(pd.DataFrame([row("better", "mean", "people", 2.1)]), SETTINGS).axes
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert texts == ["1\nThe first is\nbetter", "2\nEqual", "3\nThe second is\nbetter"]
    low, high = axes.get_xlim()
    assert (low < 1, high > 3) == (True, True)
