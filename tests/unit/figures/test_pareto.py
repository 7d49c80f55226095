"""The figure of trade-offs: a mark for each model and condition, rings, and what is left out by name."""

from typing import Any

import figure_frames as frames
from matplotlib.figure import Figure

from fieldwork.figures import pareto
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.service import TradeOff

LABELS = {"large": "Large", "small": "Small", "local": "Local"}
SETTINGS = FigureSettings(
    conditions=["offline", "history"], model_labels=LABELS, note="An invented study"
)
Row = dict[str, Any]


def row(model: str, condition: str, score: float, seconds: Any, usd: Any, **changes: Any) -> Row:
    keys = {"task": "quiz", "model": model, "condition": condition, "weighed": "latency_s, usd"}
    scores = {"score": score, "score_low": score - 0.02, "score_high": score + 0.02}
    time = {"latency_low": seconds and 0.9 * seconds, "latency_high": seconds and 1.2 * seconds}
    price = {"usd": usd, "usd_low": usd and 0.95 * usd, "usd_high": usd and 1.05 * usd}
    return keys | scores | time | price | {"latency_s": seconds, "is_best": False} | changes


NOTHING = {"is_best": None, "reason": "it has no time and no price"}
STUDY = (
    row("large", "offline", 0.8, 2.0, 0.003, is_best=True),
    row("large", "history", 0.78, 3.5, 0.009),
    row("small", "offline", 0.7, 1.0, 0.0002, is_best=True),
    row("small", "history", 0.66, 1.6, 0.0007),
    row("local", "offline", 0.4, None, None, **NOTHING),
    row("local", "history", 0.4, None, None, **NOTHING),
)


def draw(*rows: Row) -> Figure:
    return pareto.draw(frames.table_of(TradeOff, rows), SETTINGS)


def test_every_model_and_condition_has_a_mark_against_price_and_against_time() -> None:
    price, time = draw(*STUDY).axes
    for axes in (price, time):
        labels = sorted(str(line.get_label()) for line in axes.lines)
        expected = ["Large, Offline", "Large, SP-History", "Small, Offline", "Small, SP-History"]
        assert [label for label in labels if ", " in label] == expected
        assert sum(line.get_markeredgecolor() == "black" for line in axes.lines) == 2
    assert price.get_xlabel() == "US dollars for 1,000 calls"
    # prices differ by a factor of 45, times by 3.5
    assert (price.get_xscale(), time.get_xscale()) == ("log", "linear")


def test_what_lacks_a_price_or_a_time_is_left_out_by_name() -> None:
    part = row("small", "history", 0.6, 1.0, None, is_best=None, reason="it has no price")
    for rows, sentence in (
        (STUDY, "Left out, as it has no time and no price: Local."),
        ((*STUDY[:3], part), "Left out, as it has no price: Small, SP-History (quiz)."),
    ):
        words = " ".join(frames.words(draw(*rows)).split())
        assert sentence in words
        assert "An invented study" in words
