"""The figure of trade-offs: a mark for each model and condition, rings, and what is left out by name."""

from dataclasses import asdict

import pandas as pd
from matplotlib.figure import Figure

from fieldwork.figures import pareto
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.service import TradeOff

SETTINGS = FigureSettings(
    conditions=["offline", "history"],
    model_labels={"large": "Large", "small": "Small", "local": "Local"},
    condition_labels={"offline": "Offline", "history": "SP-History"},
    note="An invented study",
)


def row(
    model: str, condition: str, score: float, seconds: float | None, usd: float | None, **changes
) -> TradeOff:
    plain = {
        **{"task": "quiz", "model": model, "condition": condition, "score": score},
        **{"score_low": score - 0.02, "score_high": score + 0.02, "latency_s": seconds},
        **{"latency_low": seconds and 0.9 * seconds, "latency_high": seconds and 1.2 * seconds},
        **{"usd": usd, "usd_low": usd and 0.95 * usd, "usd_high": usd and 1.05 * usd},
        **{"is_best": False, "weighed": "latency_s, usd", "reason": None},
    }
    return TradeOff(**plain | changes)


def table(*rows: TradeOff) -> pd.DataFrame:
    return pd.DataFrame([asdict(one) for one in rows])


STUDY = (
    row("large", "offline", 0.8, 2.0, 0.003, is_best=True),
    row("large", "history", 0.78, 3.5, 0.009),
    row("small", "offline", 0.7, 1.0, 0.0002, is_best=True),
    row("small", "history", 0.66, 1.6, 0.0007),
    row("local", "offline", 0.4, None, None, is_best=None, reason="it has no time and no price"),
    row("local", "history", 0.4, None, None, is_best=None, reason="it has no time and no price"),
)


def labels(figure: Figure) -> list[list[str]]:
    """Labels of the marks in each panel."""
    return [
        [str(line.get_label()) for line in axes.lines if ", " in str(line.get_label())]
        for axes in figure.axes
    ]


def rings(figure: Figure) -> list[int]:
    return [
        sum(line.get_markeredgecolor() == "black" for line in axes.lines) for axes in figure.axes
    ]


def notes(figure: Figure) -> str:
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


def test_every_model_and_condition_has_a_mark_against_price_and_against_time() -> None:
    figure = pareto.draw(table(*STUDY), SETTINGS)
    expected = ["Large, Offline", "Large, SP-History", "Small, Offline", "Small, SP-History"]
    assert [sorted(panel) for panel in labels(figure)] == [expected, expected]
    assert rings(figure) == [2, 2]
    price, time = figure.axes
    assert price.get_xlabel() == "US dollars for 1,000 calls"
    # prices differ by a factor of 45, times by 3.5
    assert (price.get_xscale(), time.get_xscale()) == ("log", "linear")


def test_what_lacks_a_price_or_a_time_is_left_out_by_name() -> None:
    text = notes(pareto.draw(table(*STUDY), SETTINGS))
    assert "An invented study" in text
    assert "Left out, as it has no time and no price: Local." in text
    part = row("small", "history", 0.6, 1.0, None, is_best=None, reason="it has no price")
    text = notes(pareto.draw(table(*STUDY[:3], part), SETTINGS))
    assert "Left out, as it has no price: Small, SP-History (quiz)." in text
