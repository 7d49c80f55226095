"""The figure of calibration: how close arms, equal weights and fitted weights come to the field.

Owns the drawing of `records.Calibration` rows: a panel per model and a row per comparator, on prompts
that were held out of the fit. A hollow mark is the distance in sample, so that overfitting is visible; a
band is the field's distance from itself. Weights that may not be used are pale; all have their verdict
beside them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fieldwork.figures.marks import MarkedAnswers, MarkedValue, add_mark
from fieldwork.figures.selection import float_or_none, models_in, rows_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    drawn_styles,
    empty_figure,
    marker_arguments,
    new_figure,
)
from fieldwork.records.field import Calibration

_BAND = "#E69F00"
_STAR_COLOUR = "#000000"
_PALE = 0.45
_ROW = 0.2
"""Inches."""


class _CalibrationPanel(NamedTuple):
    """A model's rows: arms and equal weights once each, then every calibrated mixture."""

    model: str
    plain: list[Any]
    mixtures: list[Any]
    best: dict[Any, Any]
    field_row: Any | None


TABLES = {"calibration": Calibration}
SETTINGS = FigureSettings


def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.Calibration` rows; an empty table, or one without a distance, says so."""
    if table.empty:
        return empty_figure("nothing was calibrated", settings)
    if not table["js_bits"].notna().any():
        reasons = table.loc[table["comparator"] == "calibrated", "reason"].dropna()
        return empty_figure(next(iter(reasons), "no distance can be computed"), settings)
    panels = [
        _panel(rows_of(table[table["model"] == model]), model, settings)
        for model in models_in(table, settings)
    ]
    rows = [len(p.plain) + len(p.mixtures) for p in panels]
    figure = new_figure(height=sum(rows) * _ROW + 0.62 * len(panels) + 0.25)
    grid = figure.subplots(
        len(panels), 1, squeeze=False, sharex=True, height_ratios=[n + 1 for n in rows]
    )
    styles = drawn_styles([c for c in settings.conditions if c != "field"], settings)
    for panel, axes in zip(panels, grid[:, 0], strict=True):
        _draw_panel(axes, panel, styles, settings)
    grid[-1, 0].set_xlabel(
        "divergence from the field (bits) on held-out prompts; smaller is closer"
    )
    notes = [settings.note, *_notes(panels, settings)]
    add_head(figure, handles=_handles(), notes=notes)
    return figure


def _panel(rows: Sequence[Any], model: str, settings: FigureSettings) -> _CalibrationPanel:
    rows_with_distance = [row for row in rows if float_or_none(row.js_bits) is not None]
    # the arms are the same in every scheme of weights
    first = next((_scheme(row) for row in rows_with_distance), None)
    order = {name: place for place, name in enumerate(settings.conditions)}
    arms = [r for r in rows_with_distance if r.comparator == "arm" and _scheme(r) == first]
    arms.sort(key=lambda r: (order.get(r.arm, len(order)), r.arm))
    equal = [r for r in rows_with_distance if r.comparator == "equal"][:1]
    mixtures = [r for r in rows if r.comparator == "calibrated"]
    mixtures.sort(key=lambda r: (r.level, order.get(r.puppets_of, -1)))
    best = {_scheme(row): row for row in rows_with_distance if row.is_best}
    field_row = next((row for row in rows_with_distance if row.comparator == "field"), None)
    return _CalibrationPanel(model, [*arms, *equal], mixtures, best, field_row)


def _scheme(row: Any) -> tuple[str, str | None]:
    return row.level, None if pd.isna(row.puppets_of) else str(row.puppets_of)


def _draw_panel(
    axes: Any, panel: _CalibrationPanel, styles: dict[str, ConditionStyle], settings: FigureSettings
) -> None:
    if panel.field_row is not None:
        axes.axvspan(
            panel.field_row.split_low,
            panel.field_row.split_high,
            color=_BAND,
            alpha=0.22,
            linewidth=0,
        )
        axes.axvline(panel.field_row.js_bits, color=_BAND, linewidth=0.8)
    names = []
    for y, row in enumerate([*panel.plain, *panel.mixtures]):
        if row.comparator == "calibrated":
            _draw_mixture(axes, y, row, panel)
        else:
            style = styles.get(row.arm) or ConditionStyle(GREY, "o", True, "Equal weights")
            _interval(axes, y, row, panel, style.colour)
            axes.plot([row.js_bits], [y], linestyle="none", **marker_arguments(style, size=4.5))
            if row.comparator == "arm":
                _keep_mark(axes, y, row, panel, style)
        names.append(_name(row, styles))
    if panel.plain and panel.mixtures:
        axes.axhline(len(panel.plain) - 0.5, color="#BBBBBB", linewidth=0.5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_title(_title(panel, settings))


def _draw_mixture(axes: Any, y: int, row: Any, panel: _CalibrationPanel) -> None:
    value, in_sample = float_or_none(row.js_bits), float_or_none(row.in_sample_bits)
    is_usable = row.verdict == "calibrated"
    alpha = 1.0 if is_usable else _PALE
    if value is not None:
        _interval(axes, y, row, panel, GREY)
        if in_sample is not None:
            axes.hlines(
                y, in_sample, value, color=_STAR_COLOUR, linewidth=2.2, alpha=alpha, zorder=2
            )
            _mark(axes, in_sample, y, is_filled=False, alpha=alpha)
        _mark(axes, value, y, is_filled=True, alpha=alpha)
    axes.annotate(
        _verdict(row, panel.best.get(_scheme(row))), (1.0, y), (5, 0), va="center", ha="left",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=TEXT_POINTS,
        color=_STAR_COLOUR if is_usable else GREY,
    )  # fmt: skip


def _interval(axes: Any, y: int, row: Any, panel: _CalibrationPanel, colour: str) -> None:
    """The interval of the excess over the field's distance from itself, drawn from that distance."""
    low, high = float_or_none(row.excess_low), float_or_none(row.excess_high)
    if panel.field_row is not None and low is not None and high is not None:
        field_distance = float(panel.field_row.js_bits)
        axes.hlines(
            y, field_distance + low, field_distance + high, color=colour, linewidth=0.8, zorder=1.5
        )


def _mark(axes: Any, x: float, y: float, *, is_filled: bool, alpha: float) -> None:
    axes.plot(
        [x], [y], linestyle="none", marker="*", markersize=7, markeredgecolor=_STAR_COLOUR,
        markeredgewidth=0.7, markerfacecolor=_STAR_COLOUR if is_filled else "white", alpha=alpha,
        zorder=3,
    )  # fmt: skip


def _keep_mark(
    axes: Any, y: int, row: Any, panel: _CalibrationPanel, style: ConditionStyle
) -> None:
    """An arm's distance; mixtures have no answers of their own."""
    distance = float(row.js_bits)
    caption = MarkedValue(
        measure="Divergence from the field (bits)", label=style.label, value=distance, digits=3
    )
    answers = MarkedAnswers(model=panel.model, condition=row.arm, base="first")
    add_mark(axes, distance, y, caption, answers)


def _verdict(row: Any, best: Any | None) -> str:
    """The verdict, and the gain over the best uncalibrated comparator."""
    if best is None:
        return f"{row.verdict}"
    low, high = float_or_none(best.ci_low), float_or_none(best.ci_high)
    if low is None or high is None:
        return f"{row.verdict}: {_bits(best.gain_bits)} bits"
    gain = f"{_bits(best.gain_bits)} bits ({_bits(low)} to {_bits(high)})"
    return f"{row.verdict}: {gain}"


def _bits(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def _name(row: Any, styles: dict[str, ConditionStyle]) -> str:
    if row.comparator == "arm":
        return styles[row.arm].label if row.arm in styles else str(row.arm)
    if row.comparator == "equal":
        return "Conditions, equal weights"
    if row.level == "conditions":
        return "Conditions, fitted weights"
    condition = styles[row.puppets_of].label if row.puppets_of in styles else str(row.puppets_of)
    return f"Puppets of {condition}, fitted"


def _title(panel: _CalibrationPanel, settings: FigureSettings) -> str:
    label = settings.model_name(panel.model)
    row = panel.mixtures[0]
    if panel.field_row is None:
        return f"{label}\n{row.n_prompts} prompts"
    return (
        f"{label}\n{row.n_prompts} prompts with at least {row.n_field} field answers each, compared at "
        f"{row.n_equal} answers or more"
    )


def _notes(panels: Sequence[_CalibrationPanel], settings: FigureSettings) -> list[str | None]:
    notes: list[str | None] = [
        "At the right: the verdict and the gain over the best uncalibrated row. Bars and brackets are "
        "95 % intervals. A bar that meets the orange line: no evidence that the row is further from "
        "the field than the field is from itself.",
    ]
    sets_by_reason: dict[str, list[str]] = {}
    for panel in panels:
        label = settings.model_name(panel.model)
        for row in panel.mixtures:
            if float_or_none(row.js_bits) is None:
                arm_set = (
                    "conditions" if row.level == "conditions" else f"puppets of {row.puppets_of}"
                )
                sets_by_reason.setdefault(f"{row.verdict}, {row.reason}", []).append(
                    f"{label}, {arm_set}"
                )
    notes += [f"{'; '.join(sets)}: {reason}." for reason, sets in sets_by_reason.items()]
    return notes[:4]


def _handles() -> list[Any]:
    star: dict[str, Any] = {
        "linestyle": "none",
        "marker": "*",
        "markersize": 7,
        "color": _STAR_COLOUR,
    }
    return [
        Line2D([], [], label="calibrated, held-out prompts", **star),
        Line2D(
            [], [], markerfacecolor="white", markeredgewidth=0.7, label="in sample (the line: overfit)",
            **star,
        ),
        Patch(color=_BAND, alpha=0.22, linewidth=0, label="halves of the field (95 % of splits)"),
    ]  # fmt: skip
