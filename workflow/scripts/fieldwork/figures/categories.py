"""The figure of categories: for which subjects contexts, or real users, matter more.

Owns the drawing of `records.SubjectVariance` and `records.CategoryVariance`: a panel per model, a dot per
subject, and a marker with its interval at the mean of a category. The test that the categories are equal
stands under the model's name; a mean that is NULL is marked `n/a` above the axis.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import p_value_text
from fieldwork.figures.selection import (
    absence_reason,
    conditions_in,
    float_or_none,
    models_in,
    range_of,
    rows_of,
    rows_of_task,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    TEXT_POINTS,
    ConditionStyle,
    add_head,
    draw_interval,
    drawn_styles,
    empty_figure,
    legend_entry,
    marker_arguments,
    new_figure,
)
from fieldwork.records.field import between
from fieldwork.records.metrics import CategoryVariance, SubjectVariance

_PANEL_HEIGHT = 2.6
_DODGE = 0.7


class _CategoryKey(NamedTuple):
    model: str
    condition: str
    category: str


class _CategoryLayout(NamedTuple):
    models: list[str]
    categories: list[str]
    styles: dict[str, ConditionStyle]
    subjects: Mapping[_CategoryKey, Sequence[float]]
    means: Mapping[_CategoryKey, Any]


TABLES = {"subjects": SubjectVariance, "categories": CategoryVariance}
CLAIMS = {"categories": "categories"}
SETTINGS = FigureSettings


def draw(subjects: pd.DataFrame, categories: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.SubjectVariance` rows as dots, `records.CategoryVariance` rows as means.

    A table without rows of the task gives a figure that says so.
    """
    subjects = rows_of_task(subjects, settings)
    categories = rows_of_task(categories, settings)
    reason = absence_reason(categories, settings)
    if reason:
        return empty_figure(f"categories of task {settings.task}: {reason}", settings)
    layout = _lay_out(subjects, categories, settings)
    height = min(PAGE_HEIGHT - 0.6, _PANEL_HEIGHT * len(layout.models))
    figure = new_figure(height=height)
    panels = figure.subplots(len(layout.models), 1, squeeze=False, sharex=True, sharey=True)
    for panel, model in zip(panels[:, 0], layout.models, strict=True):
        _draw_model(panel, layout, model)
        name = settings.model_name(model)
        panel.set_title("\n".join([name, *_tests(layout, model)]))
    _name_categories(panels[-1, 0], layout)
    units = between(layout.styles.keys())
    figure.supylabel(
        f"Chance of a different answer between {units},\nbeyond that of asking again (var_who)"
    )
    n_without = int(subjects["category"].isna().sum())
    left_out = (
        f"{n_without} rows of subjects that have no category are not drawn." if n_without else None
    )
    add_head(figure, handles=_handles(layout), notes=[settings.note, left_out])
    return figure


def _lay_out(
    subjects: pd.DataFrame, categories: pd.DataFrame, settings: FigureSettings
) -> _CategoryLayout:
    conditions = conditions_in(categories, settings)
    dots: dict[_CategoryKey, list[float]] = {}
    for row in rows_of(subjects):
        value = float_or_none(row.var_who)
        if value is not None and isinstance(row.category, str):
            dots.setdefault(_CategoryKey(row.model, row.condition, row.category), []).append(value)
    return _CategoryLayout(
        models=models_in(categories[categories["condition"].isin(conditions)], settings),
        categories=sorted(set(categories["category"])),
        styles=drawn_styles(conditions, settings),
        subjects=dots,
        means={_CategoryKey(r.model, r.condition, r.category): r for r in rows_of(categories)},
    )


def _draw_model(panel: Any, layout: _CategoryLayout, model: str) -> None:
    step = _DODGE / len(layout.styles)
    panel.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0.5)
    for i in range(1, len(layout.categories), 2):
        panel.axvspan(i - 0.5, i + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    for j, (condition, style) in enumerate(layout.styles.items()):
        shift = (j - (len(layout.styles) - 1) / 2) * step
        for i, category in enumerate(layout.categories):
            key = _CategoryKey(model, condition, category)
            _draw_category(panel, i + shift, key, layout, style, width=step)
    panel.set_xlim(-0.5, len(layout.categories) - 0.5)


def _draw_category(
    panel: Any,
    x: float,
    key: _CategoryKey,
    layout: _CategoryLayout,
    style: ConditionStyle,
    *,
    width: float,
) -> None:
    values = sorted(layout.subjects.get(key, ()))
    last = max(1, len(values) - 1)
    # spread in order of size, so that equal dots do not hide each other
    xs = [x + width * (-0.28 + 0.36 * k / last) for k in range(len(values))]
    panel.plot(xs, values, ".", color=style.colour, markersize=4.5, alpha=0.7, markeredgewidth=0)
    row = layout.means.get(key)
    mean = float_or_none(row.var_who) if row is not None else None
    if row is None or mean is None:
        panel.text(
            x, 0.02, "n/a", ha="center", color=GREY, fontsize=TEXT_POINTS,
            transform=panel.get_xaxis_transform(),
        )  # fmt: skip
        return
    at = x + 0.26 * width
    draw_interval(panel, at, row, style.colour, linewidth=1.0)
    panel.plot([at], [mean], linestyle="none", **marker_arguments(style, size=4.4))


def _tests(layout: _CategoryLayout, model: str) -> list[str]:
    """One line: for each condition, the test that its categories are equal."""
    results = []
    for condition, style in layout.styles.items():
        rows = [r for key, r in layout.means.items() if key[:2] == (model, condition)]
        if rows:
            p_value = float_or_none(rows[0].p_corrected)
            results.append(
                f"{style.label}: {'no test' if p_value is None else p_value_text(p_value)}"
            )
    return ["test that categories are equal:  " + ",  ".join(results)] if results else []


def _name_categories(panel: Any, layout: _CategoryLayout) -> None:
    names = []
    for category in layout.categories:
        counts = range_of(
            r.n_subjects for key, r in layout.means.items() if key.category == category
        )
        names.append(f"{category}\n({counts} subjects)")
    panel.set_xticks(range(len(names)), names)
    panel.tick_params(axis="x", length=0)


def _handles(layout: _CategoryLayout) -> list[Any]:
    dot = Line2D(
        [], [], linestyle="none", marker=".", markersize=5, color=GREY, label="one subject"
    )
    bar = Line2D([], [], color=GREY, linewidth=1.0, label="mean of subjects, 95 % interval")
    return [
        *(legend_entry(style, style.label) for style in layout.styles.values()),
        dot,
        bar,
    ]
