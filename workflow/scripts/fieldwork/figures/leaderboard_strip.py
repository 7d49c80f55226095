"""The strip at the head of figure 3: a leaderboard, and the range of scores of the study's runs."""

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import PercentFormatter

from fieldwork.figures.labels import inches_of
from fieldwork.figures.score_layout import METRICS, ScoreLayout
from fieldwork.figures.style import GREY, PAGE_WIDTH, TEXT_POINTS
from fieldwork.records.shared import LeaderboardPlace

TEXT_COLUMN_SHARE = 0.62
"""Width of the columns of text as a share of the panels'."""
_NAMES_INCHES = 1.1
"""Roughly the width that names of conditions and margins take beside a panel."""
_SHARED_LABEL_DISTANCE = 0.02
"""Named places closer to the first than this share one label."""


def draw_strip(strip: Any, axes: Any, layout: ScoreLayout) -> None:
    """All of the leaderboard, the named places, and the range of each model's runs."""
    for entry in layout.leaderboard.places:
        is_named = entry in layout.named_models
        strip.plot(
            [entry.score] * 2, [0, 1.0 if is_named else 0.6],
            color="black" if is_named else GREY, linewidth=0.9 if is_named else 0.5,
        )  # fmt: skip
    spans = _spans(layout)
    for low, high, y in spans.values():
        strip.barh(y, high - low, left=low, height=0.5, color="black", linewidth=0)
    strip.set_ylim(-0.9 * len(layout.models) - 0.5, 1.7)
    strip.set_yticks([])
    for model, span in spans.items():
        _name_span(strip, f"runs of {layout.settings.model_name(model)}", *span)
    strip.spines["left"].set_visible(False)
    strip.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    scale = "" if layout.has_places else ", for scale"
    head = f"All {len(layout.leaderboard.places)} models of {layout.leaderboard.name}{scale}"
    strip.set_title(head, loc="left")
    _name_entries(strip, axes, layout.named_models)


def _spans(layout: ScoreLayout) -> dict[str, tuple[float, float, float]]:
    """By model the lowest and the highest run by the strict reading, and its height in the strip."""
    spans = {}
    for row, model in enumerate(layout.models):
        bars = [bar for key, bar in layout.bars.items() if key[::2] == (model, METRICS[0])]
        runs = [score for bar in bars for score in bar.runs]
        if runs:
            spans[model] = (min(runs), max(runs), -0.9 * (row + 1))
    return spans


def _name_span(strip: Any, name: str, low: float, high: float, y: float) -> None:
    """Beside the bar where there is room, else at the left of the strip."""
    left, right = strip.get_xlim()
    inch = (right - left) / (PAGE_WIDTH / (1 + TEXT_COLUMN_SHARE) - _NAMES_INCHES)
    room = inch * (inches_of(name) + 0.08)
    if room > max(right - high, low - left):
        strip.set_yticks([*strip.get_yticks(), y])
        labels = [label.get_text() for label in strip.get_yticklabels()]
        strip.set_yticklabels([*labels[:-1], name.removeprefix("runs of ")])
        strip.tick_params(axis="y", length=0)
        return
    on_right = right - high >= low - left
    strip.annotate(
        name, (high if on_right else low, y),
        xytext=(4 if on_right else -4, 0), textcoords="offset points",
        ha="left" if on_right else "right", va="center",
    )  # fmt: skip


def _name_entries(strip: Any, axes: Any, entries: Sequence[LeaderboardPlace]) -> None:
    """Names, scores and distances from the first beside the strip, and places above it."""
    axes.set_axis_off()
    axes.set_ylim(0, 1)
    top = entries[0].score if entries else 0.0
    for is_near, words in ((True, "left"), (False, "right")):
        group = [
            entry for entry in entries if (top - entry.score < _SHARED_LABEL_DISTANCE) == is_near
        ]
        if group:
            strip.annotate(
                ", ".join(f"#{entry.rank}" for entry in group), (group[0].score, 1.0),
                xytext=(-2 if is_near else 2, 1), textcoords="offset points", ha=words, va="bottom",
            )  # fmt: skip
    lines_of_text = [
        f"#{entry.rank} {entry.model}\n    {_distance(entry, entries[0])}" for entry in entries
    ]
    axes.text(0.02, 1.0, "\n".join(lines_of_text), va="top", fontsize=TEXT_POINTS, linespacing=1.2)


def _distance(entry: LeaderboardPlace, top: LeaderboardPlace) -> str:
    score = f"{100 * entry.score:.1f} %"
    if entry == top:
        return score
    return f"{score}: {100 * (top.score - entry.score):.1f} points below #{top.rank}"
