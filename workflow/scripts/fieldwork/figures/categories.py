"""The figure of categories: for which subjects contexts, or real users, matter more.

Owns the drawing of `records.SubjectVariance` and `records.CategoryVariance`: a panel per model, a dot per
subject, and a marker with its interval at the mean of a category. The test that the categories are equal
stands under the model's name; a mean that is NULL is marked `n/a` above the axis.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fieldwork.figures.labels import p_value_text
from fieldwork.figures.marks import Point, ends_of
from fieldwork.figures.panel import Panel, dodge, draw_page
from fieldwork.figures.selection import (
    float_or_none,
    models_in,
    range_of,
    row_by,
    rows_by,
    rows_of_task,
    rows_to_draw,
)
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import (
    GREY,
    PAGE_HEIGHT,
    ConditionStyle,
    legend_entry,
    legend_line,
    says_what_is_missing,
    styles_in,
)
from fieldwork.records.field import between
from fieldwork.records.metrics import CategoryVariance, SubjectVariance

TABLES = {"subjects": SubjectVariance, "categories": CategoryVariance}
CLAIMS = {"categories": "categories"}

_PANEL_HEIGHT = 2.6
_DODGE = 0.7


@says_what_is_missing
def draw(subjects: pd.DataFrame, categories: pd.DataFrame, settings: FigureSettings) -> Figure:
    """Draw `records.SubjectVariance` rows as dots, `records.CategoryVariance` rows as means.

    A table without rows of the task gives a figure that says so.
    """
    means = rows_to_draw(categories, settings, f"categories of task {settings.task}: ")
    subjects = rows_of_task(subjects, settings)
    styles = styles_in(means, settings)
    step = _DODGE / len(styles)
    counts = {
        name: range_of(means.loc[means["category"] == name, "n_subjects"])
        for name in sorted(set(means["category"]))
    }
    page = []
    for model in models_in(means, settings):
        part, own_subjects = means[means["model"] == model], subjects[subjects["model"] == model]
        rows = row_by(part, "condition", "category")
        points = {
            style: [
                (place + shift + 0.26 * step, Point(**ends_of(rows[condition, name], "var_who")))
                if (condition, name) in rows
                else (place + shift + 0.26 * step, Point(value=None))
                for place, name in enumerate(counts)
            ]
            for condition, style, shift in dodge(styles, step)
        }
        panel = Panel(
            series=points.items(),
            look={"width": 1.0},
            names=[f"{name}\n({n} subjects)" for name, n in counts.items()],
            is_shaded=True,
            zero=0.6,
            title=f"{settings.model_name(model)}\n{_tests(part, styles)}",
            further=partial(_draw_dots, table=own_subjects, styles=styles, names=[*counts]),
        )
        page.append([panel])
    units = between(styles.keys())
    label = f"Chance of a different answer between {units},\nbeyond that of asking again (var_who)"
    n_without = int(subjects["category"].isna().sum())
    left_out = (
        f"{n_without} rows of subjects that have no category are not drawn." if n_without else None
    )
    return draw_page(
        page,
        settings,
        height=min(PAGE_HEIGHT - 0.6, _PANEL_HEIGHT * len(page)),
        handles=_handles(styles),
        notes=[left_out],
        ylabel={"t": label},
        sharex=True,
        sharey=True,
    )


def _draw_dots(
    axes: Any, *, table: pd.DataFrame, styles: Mapping[str, ConditionStyle], names: Sequence[str]
) -> None:
    """A dot a subject, spread in order of size, so that equal dots do not hide each other."""
    rows = rows_by(table[table["var_who"].notna()], "condition", "category")
    step = _DODGE / len(styles)
    for condition, style, shift in dodge(styles, step):
        for place, name in enumerate(names):
            values = sorted(row.var_who for row in rows.get((condition, name), ()))
            last = max(1, len(values) - 1)
            xs = [place + shift + step * (0.36 * k / last - 0.28) for k in range(len(values))]
            look = {"color": style.colour, "markersize": 4.5, "alpha": 0.7, "markeredgewidth": 0}
            axes.plot(xs, values, ".", **look)


def _tests(means: pd.DataFrame, styles: Mapping[str, ConditionStyle]) -> str:
    """One line: for each condition, the test that its categories are equal."""
    rows, results = rows_by(means, "condition"), []
    for condition, style in styles.items():
        for row in rows.get((condition,), ())[:1]:
            p_value = float_or_none(row.p_corrected)
            test = "no test" if p_value is None else p_value_text(p_value)
            results.append(f"{style.label}: {test}")
    return "test that categories are equal:  " + ",  ".join(results)


def _handles(styles: Mapping[str, ConditionStyle]) -> list[Any]:
    dot = Line2D(
        [], [], linestyle="none", marker=".", markersize=5, color=GREY, label="one subject"
    )
    bar = legend_line("mean of subjects, 95 % interval", width=1.0)
    return [*map(legend_entry, styles.values()), dot, bar]
