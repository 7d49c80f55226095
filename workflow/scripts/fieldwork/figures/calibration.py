"""The figure of calibration: how close arms, equal weights and fitted weights come to the field.

Owns the drawing of `records.Calibration` rows: a panel per model and a row per comparator, on prompts
that were held out of the fit. A hollow mark is the distance in sample, so that overfitting is visible; a
band is the field's distance from itself. Weights that may not be used are pale; all have their verdict
beside them.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fieldwork.figures.marks import PageMark, Point, add_mark
from fieldwork.figures.panel import GRID, LINE, PALE, Panel, draw_page, draw_points
from fieldwork.figures.selection import (
    NothingToDrawError,
    float_or_none,
    models_in,
    rows_by,
    rows_of,
    text_or_none,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    TEXT_POINTS,
    ConditionStyle,
    drawn_styles,
    legend_entry,
    says_what_is_missing,
)
from fieldwork.records.field import Calibration

TABLES = {"calibration": Calibration}

_BAND = "#E69F00"
_EQUAL = ConditionStyle(GREY, "o", True, "Equal weights")
_FULL_STAR = ConditionStyle("#000000", "*", True, "calibrated, held-out prompts")
_HOLLOW_STAR = ConditionStyle("#000000", "*", False, "in sample (the line: overfit)")
_STAR: Mapping[str, Any] = {"markersize": 7, "markeredgewidth": 0.7}
_ROW = 0.2
"""Inches."""
_MOST_NOTES = 4


class CalibrationPanel(NamedTuple):
    """A model's rows: arms and equal weights once each, then every calibrated mixture.

    Attributes:
        best: the best uncalibrated row by scheme of weights.
        field_row: the field's distance from itself.
    """

    model: str
    plain: list[Any]
    mixtures: list[Any]
    best: Mapping[tuple[str, str | None], Any]
    field_row: Any | None


@says_what_is_missing
def draw(table: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.Calibration` rows; an empty table, or one without a distance, says so."""
    if table.empty:
        raise NothingToDrawError("nothing was calibrated")
    if not table["js_bits"].notna().any():
        reasons = table.loc[table["comparator"] == "calibrated", "reason"].dropna()
        raise NothingToDrawError(next(iter(reasons), "no distance can be computed"))
    panels = [
        _panel(table[table["model"] == model], model, settings)
        for model in models_in(table, settings)
    ]
    styles = drawn_styles([c for c in settings.conditions if c != "field"], settings)
    page = [[_page_panel(panel, styles, settings, is_last=panel is panels[-1])] for panel in panels]
    n_rows = [len(panel.plain) + len(panel.mixtures) for panel in panels]
    stars = [legend_entry(_FULL_STAR), legend_entry(_HOLLOW_STAR)]
    for star in stars:
        star.set(**_STAR)
    band = Patch(color=_BAND, alpha=0.22, linewidth=0, label="halves of the field (95 % of splits)")
    return draw_page(
        page,
        settings,
        height=sum(n_rows) * _ROW + 0.62 * len(panels) + 0.25,
        handles=[*stars, band],
        notes=_notes(panels, settings),
        sharex=True,
        height_ratios=[n + 1 for n in n_rows],
    )


def _panel(table: pd.DataFrame, model: str, settings: FigureSettings) -> CalibrationPanel:
    order = {name: place for place, name in enumerate(settings.conditions)}
    rows = rows_by(table[table["js_bits"].notna()], "comparator")
    with_distance = rows_of(table[table["js_bits"].notna()])
    arms = [r for r in rows.get(("arm",), ()) if _scheme(r) == _scheme(with_distance[0])]
    # the arms are the same in every scheme of weights
    arms.sort(key=lambda r: (order.get(r.arm, len(order)), r.arm))
    mixtures = rows_of(table[table["comparator"] == "calibrated"])
    mixtures.sort(key=lambda r: (r.level, order.get(r.puppets_of, -1)))
    return CalibrationPanel(
        model=model,
        plain=[*arms, *rows.get(("equal",), ())[:1]],
        mixtures=mixtures,
        best={_scheme(row): row for row in with_distance if row.is_best},
        field_row=next(iter(rows.get(("field",), ())), None),
    )


def _scheme(row: Any) -> tuple[str, str | None]:
    return row.level, text_or_none(row.puppets_of)


def _page_panel(
    panel: CalibrationPanel,
    styles: Mapping[str, ConditionStyle],
    settings: FigureSettings,
    *,
    is_last: bool,
) -> Panel:
    """What stands in a panel: arms and equal weights as points, then the mixtures."""
    label = "divergence from the field (bits) on held-out prompts; smaller is closer"
    return Panel(
        series=[
            (styles.get(row.arm, _EQUAL), [(y, _distance(row, panel))])
            for y, row in enumerate(panel.plain)
        ],
        look={"size": 4.5},
        names=[_name(row, styles) for row in (*panel.plain, *panel.mixtures)],
        name_look={"margins": (0.6, 0.6)},
        is_upright=False,
        title=_title(panel, settings),
        axes={"xlim": (0, None), "xlabel": label if is_last else ""},
        grid={"color": GRID, "linewidth": 0.5},
        further=partial(_draw_mixtures, panel=panel, styles=styles),
    )


def _draw_mixtures(
    axes: Any, *, panel: CalibrationPanel, styles: Mapping[str, ConditionStyle]
) -> None:
    """The field's distance from itself, every mixture with its verdict, and the marks of arms."""
    if panel.field_row is not None:
        ends = (panel.field_row.split_low, panel.field_row.split_high)
        axes.axvspan(*ends, color=_BAND, alpha=0.22, linewidth=0)
        axes.axvline(panel.field_row.js_bits, color=_BAND, linewidth=0.8, zorder=1.9)
    for y, row in enumerate(panel.plain):
        if row.comparator == "arm":
            add_mark(axes, float(row.js_bits), y, _mark(row, panel, styles.get(row.arm, _EQUAL)))
    for y, row in enumerate(panel.mixtures, start=len(panel.plain)):
        _draw_mixture(axes, y, row, panel)
    if panel.plain and panel.mixtures:
        axes.axhline(len(panel.plain) - 0.5, color=LINE, linewidth=0.5)


def _distance(row: Any, panel: CalibrationPanel) -> Point:
    """A distance; its interval is that of the excess over the field's distance from itself."""
    value = float_or_none(row.js_bits)
    low, high = float_or_none(row.excess_low), float_or_none(row.excess_high)
    if panel.field_row is None or low is None or high is None:
        return Point(value=value)
    start = float(panel.field_row.js_bits)
    return Point(value=value, ci_low=start + low, ci_high=start + high)


def _mark(row: Any, panel: CalibrationPanel, style: ConditionStyle) -> PageMark:
    """An arm's distance; mixtures have no answers of their own."""
    return PageMark(
        measure="Divergence from the field (bits)",
        label=style.label,
        value=float(row.js_bits),
        digits=3,
        model=panel.model,
        condition=row.arm,
        base="first",
    )


def _draw_mixture(axes: Any, y: int, row: Any, panel: CalibrationPanel) -> None:
    is_usable = row.verdict == "calibrated"
    alpha = 1.0 if is_usable else PALE
    whole, in_sample = _distance(row, panel), Point(value=float_or_none(row.in_sample_bits))
    if whole.value is not None and whole.interval is not None:
        axes.hlines(y, *whole.interval, color=GREY, linewidth=0.8, zorder=1.5)
    if whole.value is not None and in_sample.value is not None:
        ends = (in_sample.value, whole.value)
        axes.hlines(y, *ends, color=_FULL_STAR.colour, linewidth=2.2, alpha=alpha, zorder=2)
        _draw_star(axes, y, in_sample.value, _HOLLOW_STAR._replace(alpha=alpha))
    _draw_star(axes, y, whole.value, _FULL_STAR._replace(alpha=alpha))
    axes.annotate(
        _verdict(row, panel.best.get(_scheme(row))), (1.0, y), (5, 0), va="center", ha="left",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=TEXT_POINTS,
        color=_FULL_STAR.colour if is_usable else GREY,
    )  # fmt: skip


def _draw_star(axes: Any, y: int, value: float | None, style: ConditionStyle) -> None:
    draw_points(axes, [(y, Point(value=value))], style, is_upright=False, zorder=3, **_STAR)


def _verdict(row: Any, best: Any | None) -> str:
    """The verdict, and the gain over the best uncalibrated comparator."""
    if best is None:
        return f"{row.verdict}"
    low, high = float_or_none(best.ci_low), float_or_none(best.ci_high)
    interval = "" if low is None or high is None else f" ({_bits(low)} to {_bits(high)})"
    return f"{row.verdict}: {_bits(best.gain_bits)} bits{interval}"


def _bits(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def _name(row: Any, styles: Mapping[str, ConditionStyle]) -> str:
    condition = row.arm if row.comparator == "arm" else row.puppets_of
    label = styles[condition].label if condition in styles else str(condition)
    if row.comparator == "arm":
        return label
    if row.comparator == "equal":
        return "Conditions, equal weights"
    return (
        "Conditions, fitted weights" if row.level == "conditions" else f"Puppets of {label}, fitted"
    )


def _title(panel: CalibrationPanel, settings: FigureSettings) -> str:
    row = panel.mixtures[0]
    title = f"{settings.model_name(panel.model)}\n{row.n_prompts} prompts"
    if panel.field_row is None:
        return title
    return (
        f"{title} with at least {row.n_field} field answers each, compared at {row.n_equal} answers "
        "or more"
    )


def _notes(panels: Sequence[CalibrationPanel], settings: FigureSettings) -> list[str]:
    sets_by_reason: dict[str, list[str]] = {}
    for panel in panels:
        label = settings.model_name(panel.model)
        for row in panel.mixtures:
            if float_or_none(row.js_bits) is None:
                is_of_conditions = row.level == "conditions"
                arms = "conditions" if is_of_conditions else f"puppets of {row.puppets_of}"
                reason = f"{row.verdict}, {row.reason}"
                sets_by_reason.setdefault(reason, []).append(f"{label}, {arms}")
    notes = [
        "At the right: the verdict and the gain over the best uncalibrated row. Bars and brackets are "
        "95 % intervals. A bar that meets the orange line: no evidence that the row is further from "
        "the field than the field is from itself.",
        *(f"{'; '.join(sets)}: {reason}." for reason, sets in sets_by_reason.items()),
    ]
    return notes[:_MOST_NOTES]
