"""The figure of calibration: how near to the field arms, equal weights and fitted weights come.

Owns the drawing of `against_field.Calibration` rows: a panel a model, a row a comparator, on prompts that
no weight was fitted on. What was reached in sample is a hollow mark, so that overfitting is seen, and the
field's distance from itself a band. What may not be used is pale, and its verdict stands beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fieldwork.figures.style import (
    TEXT_POINTS,
    FigureOptions,
    Look,
    add_head,
    looks,
    marker_style,
    models_in,
    new_figure,
    no_data,
    number,
    rows_of,
)

_GREY = "#555555"
_BAND = "#E69F00"
_FITTED = "#000000"
_PALE = 0.45
_ROW = 0.2
"""Inches."""
_TOLD_WIDTH = 2.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about the figure of calibration."""


class _Panel(NamedTuple):
    """A model's rows: arms and equal weights once each, then every calibrated mixture."""

    model: str
    plain: list[Any]
    calibrated: list[Any]
    best: dict[Any, Any]
    itself: Any | None


def draw(table: pd.DataFrame, *, options: Options) -> Figure:
    """Draw `against_field.Calibration` rows; an empty table, or one without a distance, says so."""
    if table.empty:
        return no_data("nothing was calibrated", note=options.note)
    if not table["js_bits"].notna().any():
        reasons = table.loc[table["comparator"] == "calibrated", "reason"].dropna()
        return no_data(next(iter(reasons), "no distance is known"), note=options.note)
    panels = [
        _panel(rows_of(table[table["model"] == model]), model, options)
        for model in models_in(table, options)
    ]
    rows = [len(p.plain) + len(p.calibrated) for p in panels]
    figure = new_figure(height=sum(rows) * _ROW + 0.62 * len(panels) + 0.25)
    grid = figure.subplots(
        len(panels), 1, squeeze=False, sharex=True, height_ratios=[n + 1 for n in rows]
    )
    shown = looks([c for c in options.conditions if c != "field"], labels=options.condition_labels)
    for panel, axes in zip(panels, grid[:, 0], strict=True):
        _draw_panel(axes, panel, shown, options)
    grid[-1, 0].set_xlabel("divergence from the field (bits), prompts held out; left is nearer")
    notes = [options.note, *_notes(panels, options)]
    add_head(figure, handles=_handles(), notes=notes)
    return figure


def _panel(rows: Sequence[Any], model: str, options: Options) -> _Panel:
    known = [row for row in rows if number(row.js_bits) is not None]
    # arms are drawn alike whatever is weighted beside them
    first = next((_scheme(row) for row in known), None)
    order = {name: place for place, name in enumerate(options.conditions)}
    arms = [r for r in known if r.comparator == "arm" and _scheme(r) == first]
    arms.sort(key=lambda r: (order.get(r.arm, len(order)), r.arm))
    equal = [r for r in known if r.comparator == "equal"][:1]
    calibrated = [r for r in rows if r.comparator == "calibrated"]
    calibrated.sort(key=lambda r: (r.level, order.get(r.puppets_of, -1)))
    best = {_scheme(row): row for row in known if row.is_best}
    itself = next((row for row in known if row.comparator == "field"), None)
    return _Panel(model, [*arms, *equal], calibrated, best, itself)


def _scheme(row: Any) -> tuple[str, str | None]:
    return row.level, None if pd.isna(row.puppets_of) else str(row.puppets_of)


def _draw_panel(axes: Any, panel: _Panel, shown: dict[str, Look], options: Options) -> None:
    if panel.itself is not None:
        axes.axvspan(
            panel.itself.split_low, panel.itself.split_high, color=_BAND, alpha=0.22, linewidth=0
        )
        axes.axvline(panel.itself.js_bits, color=_BAND, linewidth=0.8)
    names = []
    for y, row in enumerate([*panel.plain, *panel.calibrated]):
        if row.comparator == "calibrated":
            _draw_calibrated(axes, y, row, panel)
        else:
            look = shown.get(row.arm) or Look(_GREY, "o", True, "Equal weights")
            _interval(axes, y, row, panel, look.colour)
            axes.plot([row.js_bits], [y], linestyle="none", **marker_style(look, size=4.5))
        names.append(_name(row, shown))
    if panel.plain and panel.calibrated:
        axes.axhline(len(panel.plain) - 0.5, color="#BBBBBB", linewidth=0.5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_title(_title(panel, options))


def _draw_calibrated(axes: Any, y: int, row: Any, panel: _Panel) -> None:
    value, inside = number(row.js_bits), number(row.in_sample_bits)
    usable = row.verdict == "calibrated"
    alpha = 1.0 if usable else _PALE
    if value is not None:
        _interval(axes, y, row, panel, _GREY)
        if inside is not None:
            axes.hlines(y, inside, value, color=_FITTED, linewidth=2.2, alpha=alpha, zorder=2)
            _mark(axes, inside, y, filled=False, alpha=alpha)
        _mark(axes, value, y, filled=True, alpha=alpha)
    axes.annotate(
        _told(row, panel.best.get(_scheme(row))), (1.0, y), (5, 0), va="center", ha="left",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=TEXT_POINTS,
        color=_FITTED if usable else _GREY,
    )  # fmt: skip


def _interval(axes: Any, y: int, row: Any, panel: _Panel, colour: str) -> None:
    """The interval of the distance beyond the field's own, from where that stands."""
    low, high = number(row.excess_low), number(row.excess_high)
    if panel.itself is not None and low is not None and high is not None:
        own = float(panel.itself.js_bits)
        axes.hlines(y, own + low, own + high, color=colour, linewidth=0.8, zorder=1.5)


def _mark(axes: Any, x: float, y: float, *, filled: bool, alpha: float) -> None:
    axes.plot(
        [x], [y], linestyle="none", marker="*", markersize=7, markeredgecolor=_FITTED,
        markeredgewidth=0.7, markerfacecolor=_FITTED if filled else "white", alpha=alpha, zorder=3,
    )  # fmt: skip


def _told(row: Any, best: Any | None) -> str:
    """The verdict, and the gain over the best uncalibrated comparator."""
    if best is None:
        return f"{row.verdict}"
    low, high = number(best.ci_low), number(best.ci_high)
    if low is None or high is None:
        return f"{row.verdict}: {_bits(best.gain_bits)} bits"
    gain = f"{_bits(best.gain_bits)} bits ({_bits(low)} to {_bits(high)})"
    return f"{row.verdict}: {gain}"


def _bits(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def _name(row: Any, shown: dict[str, Look]) -> str:
    if row.comparator == "arm":
        return shown[row.arm].label if row.arm in shown else str(row.arm)
    if row.comparator == "equal":
        return "Conditions, equal weights"
    if row.level == "conditions":
        return "Conditions, fitted weights"
    of = shown[row.puppets_of].label if row.puppets_of in shown else str(row.puppets_of)
    return f"Puppets of {of}, fitted"


def _title(panel: _Panel, options: Options) -> str:
    label = options.model_labels.get(panel.model, panel.model)
    row = panel.calibrated[0]
    if panel.itself is None:
        return f"{label}\n{row.n_prompts} prompts"
    return (
        f"{label}\n{row.n_prompts} prompts, {row.n_field} answers of the field or more to each, all "
        f"brought to {row.n_equal} or more"
    )


def _notes(panels: Sequence[_Panel], options: Options) -> list[str | None]:
    notes: list[str | None] = [
        "At the right: verdict, and gain over the best uncalibrated row. Bars and brackets are 95 % "
        "intervals; a bar that meets the orange line: not shown to be further off than the field "
        "is from itself.",
    ]
    why: dict[str, list[str]] = {}
    for panel in panels:
        label = options.model_labels.get(panel.model, panel.model)
        for row in panel.calibrated:
            if number(row.js_bits) is None:
                of = "conditions" if row.level == "conditions" else f"puppets of {row.puppets_of}"
                why.setdefault(f"{row.verdict}, {row.reason}", []).append(f"{label}, {of}")
    notes += [f"{'; '.join(whose)}: {reason}." for reason, whose in why.items()]
    return notes[:4]


def _handles() -> list[Any]:
    star: dict[str, Any] = {"linestyle": "none", "marker": "*", "markersize": 7, "color": _FITTED}
    return [
        Line2D([], [], label="calibrated, held-out prompts", **star),
        Line2D(
            [], [], markerfacecolor="white", markeredgewidth=0.7, label="in sample (overfit: the line)",
            **star,
        ),
        Patch(color=_BAND, alpha=0.22, linewidth=0, label="halves of the field (95 % of splits)"),
    ]  # fmt: skip
