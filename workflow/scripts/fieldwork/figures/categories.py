"""Figure `categories`: where who asks matters more, by category of subject.

Owns the drawing of `records.SubjectVariance` and `records.CategoryVariance`: a dot a subject, a
marker with its interval at the mean of a category, a panel a model. The test that categories are
alike stands under the model's name; what is NULL is named below the axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.style import (
    PAGE_HEIGHT,
    TEXT_POINTS,
    FigureOptions,
    Look,
    add_head,
    conditions_in,
    handle,
    looks,
    marker_style,
    models_in,
    new_figure,
    no_data,
    number,
    range_of,
    rows_of,
    why_empty,
)

_GREY = "#555555"
_PANEL_HEIGHT = 2.6
_DODGE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about the figure of categories."""

    task: str
    """The task to draw."""


class _Place(NamedTuple):
    model: str
    condition: str
    category: str


class _Plan(NamedTuple):
    models: list[str]
    categories: list[str]
    looks: dict[str, Look]
    subjects: Mapping[_Place, Sequence[float]]
    means: Mapping[_Place, Any]


def draw(subjects: pd.DataFrame, categories: pd.DataFrame, *, options: Options) -> Figure:
    """Draw `records.SubjectVariance` rows as dots, `records.CategoryVariance` rows as means.

    A table without rows of the task gives a figure that says so.
    """
    subjects = subjects[subjects["task"] == options.task]
    categories = categories[categories["task"] == options.task]
    why = why_empty(categories, options)
    if why:
        return no_data(f"categories of task {options.task}: {why}", note=options.note)
    plan = _plan(subjects, categories, options)
    height = min(PAGE_HEIGHT - 0.6, _PANEL_HEIGHT * len(plan.models))
    figure = new_figure(height=height)
    panels = figure.subplots(len(plan.models), 1, squeeze=False, sharex=True, sharey=True)
    for panel, model in zip(panels[:, 0], plan.models, strict=True):
        _draw_model(panel, plan, model)
        name = options.model_labels.get(model, model)
        panel.set_title("\n".join([name, *_tests(plan, model)]))
    _name_categories(panels[-1, 0], plan)
    figure.supylabel("Chance of another answer for another user,\nbeyond asking again (var_who)")
    without = int(subjects["category"].isna().sum())
    left_out = f"{without} rows of subjects without a category are not drawn." if without else None
    add_head(figure, handles=_handles(plan), notes=[options.note, left_out])
    return figure


def _plan(subjects: pd.DataFrame, categories: pd.DataFrame, options: Options) -> _Plan:
    shown = conditions_in(categories, options)
    dots: dict[_Place, list[float]] = {}
    for row in rows_of(subjects):
        value = number(row.var_who)
        if value is not None and isinstance(row.category, str):
            dots.setdefault(_Place(row.model, row.condition, row.category), []).append(value)
    return _Plan(
        models=models_in(categories[categories["condition"].isin(shown)], options),
        categories=sorted(set(categories["category"])),
        looks=looks(shown, labels=options.condition_labels),
        subjects=dots,
        means={_Place(r.model, r.condition, r.category): r for r in rows_of(categories)},
    )


def _draw_model(panel: Any, plan: _Plan, model: str) -> None:
    step = _DODGE / len(plan.looks)
    panel.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0.5)
    for i in range(1, len(plan.categories), 2):
        panel.axvspan(i - 0.5, i + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
    for j, (condition, look) in enumerate(plan.looks.items()):
        shift = (j - (len(plan.looks) - 1) / 2) * step
        for i, category in enumerate(plan.categories):
            place = _Place(model, condition, category)
            _draw_category(panel, i + shift, place, plan, look, width=step)
    panel.set_xlim(-0.5, len(plan.categories) - 0.5)


def _draw_category(
    panel: Any, x: float, place: _Place, plan: _Plan, look: Look, *, width: float
) -> None:
    values = sorted(plan.subjects.get(place, ()))
    last = max(1, len(values) - 1)
    # spread in order of size, so that equal dots do not hide each other
    xs = [x + width * (-0.28 + 0.36 * k / last) for k in range(len(values))]
    panel.plot(xs, values, ".", color=look.colour, markersize=4.5, alpha=0.7, markeredgewidth=0)
    row = plan.means.get(place)
    mean = number(row.var_who) if row is not None else None
    if row is None or mean is None:
        panel.text(
            x, 0.02, "n/a", ha="center", color=_GREY, fontsize=TEXT_POINTS,
            transform=panel.get_xaxis_transform(),
        )  # fmt: skip
        return
    at = x + 0.26 * width
    low, high = number(row.ci_low), number(row.ci_high)
    if low is not None and high is not None:
        panel.vlines(at, low, high, color=look.colour, linewidth=1.0, zorder=1.5)
    panel.plot([at], [mean], linestyle="none", **marker_style(look, size=4.4))


def _tests(plan: _Plan, model: str) -> list[str]:
    """One line: for each condition, the test that its categories are alike."""
    told = []
    for condition, look in plan.looks.items():
        rows = [r for p, r in plan.means.items() if p[:2] == (model, condition)]
        if rows:
            p_value = number(rows[0].p_holm)
            told.append(f"{look.label}: {'no test' if p_value is None else _p(p_value)}")
    return ["are categories alike?  " + ",  ".join(told)] if told else []


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3f}"


def _name_categories(panel: Any, plan: _Plan) -> None:
    names = []
    for category in plan.categories:
        counts = range_of(r.n_subjects for p, r in plan.means.items() if p.category == category)
        names.append(f"{category}\n({counts} subjects)")
    panel.set_xticks(range(len(names)), names)
    panel.tick_params(axis="x", length=0)


def _handles(plan: _Plan) -> list[Any]:
    dot = Line2D(
        [], [], linestyle="none", marker=".", markersize=5, color=_GREY, label="one subject"
    )
    bar = Line2D([], [], color=_GREY, linewidth=1.0, label="mean of subjects, 95 % interval")
    return [*(handle(look, look.label) for look in plan.looks.values()), dot, bar]
