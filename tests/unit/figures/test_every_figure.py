"""What every figure promises: its tables are those listed, all it says can be read on a page, and
without rows it is drawn and says so.
"""

import dataclasses
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest

from fieldwork.config.drawn import FIGURES, figure_module
from fieldwork.figures import power, raters
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import save
from fieldwork.records.judging import JudgementEstimate
from fieldwork.records.power import PowerRow

MODULES: dict[str, Any] = {
    name: import_module(f"fieldwork.figures.{figure_module(name)}") for name in FIGURES
}
OTHERS: dict[str, Any] = {"power": (power, PowerRow), "raters": (raters, JudgementEstimate)}
BOARD = frames.board(frames.leaderboard())


def empty_tables(name: str) -> list[Any]:
    rows = OTHERS[name][1:] if name in OTHERS else MODULES[name].TABLES.values()
    names = [[column.name for column in dataclasses.fields(row)] for row in rows]
    tables: list[Any] = [pd.DataFrame(columns=[*columns, "p_corrected"]) for columns in names]
    return tables + [BOARD] * (name == "fig3")


@pytest.mark.parametrize("name", [*FIGURES, *OTHERS])
def test_without_rows_a_figure_says_so_and_keeps_its_note(name: str, tmp_path: Path) -> None:
    module = OTHERS[name][0] if name in OTHERS else MODULES[name]
    settings = FigureSettings(conditions=["offline"], users=["rag"], note="A note.")
    figure = module.draw(*empty_tables(name), settings)
    words = frames.words(figure)
    assert "no data: " in words
    assert "A note." in words
    assert not frames.texts_cut_off(figure)
    save(figure, [tmp_path / "figure.svg"])
    assert marks_of(figure) == []


def test_every_table_of_a_figure_has_its_rows() -> None:
    for name, figure in FIGURES.items():
        assert [*MODULES[name].TABLES] == [*figure.tables], name
        assert {*getattr(MODULES[name], "CLAIMS", {})} <= {*figure.tables}
        assert bool(getattr(MODULES[name], "CLAIMS", {})) == figure.has_claims


Names = Sequence[str]


def score_tables(models: Names, conditions: Names) -> list[Any]:
    centres = {model: 0.31 + 0.15 * k for k, model in enumerate(models)}
    runs = frames.run_scores(centres, conditions)
    spread = frames.spreads(runs, nulls=[(models[0], conditions[-1])])
    return [runs, spread, frames.ranks(spread), BOARD]


def long_shifts(models: Names, conditions: Names) -> pd.DataFrame:
    table = frames.shifts(models, conditions[2:], nulls=[(models[-1], conditions[-1])])
    return table.assign(answer=table["answer"] + " of a name that takes more than a line")


TABLES: dict[str, Callable[[Names, Names, Names], list[Any]]] = {
    "fig1": lambda m, c, items: [frames.heterogeneity(m, c, items, [(m[0], c[0], items[0])])],
    "fig2": lambda m, c, _: [frames.distributions(m, c)],
    "fig3": lambda m, c, _: score_tables(m, c),
    "fig4": lambda m, c, _: [long_shifts(m, c)],
    "fig5": lambda m, c, items: [frames.rarefaction(m, c, items, [(m[0], c[0], items[0])])],
    "arms": lambda m, c, _: [
        frames.arm_rows({one: 3 * k for k, one in enumerate(c)}, m),
        frames.arm_trends().assign(model=m[0]),
    ],
    "calibration": lambda m, *_: [frames.calibrations(m)],
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("n_models", "conditions", "n_items"),
    [
        (1, frames.CONDITIONS[:4], 1),
        (2, frames.CONDITIONS, 9),
        (4, frames.CONDITIONS + frames.EXTRA, 9),
    ],
)
def test_everything_is_on_the_page_large_enough_and_apart(
    name: str, n_models: int, conditions: Names, n_items: int
) -> None:
    models = [f"model-{k}" for k in range(n_models)]
    labels = {model: f"Model {k} of a name" for k, model in enumerate(models)}
    tables = TABLES[name](models, conditions, [f"prompt_number_{k}" for k in range(n_items)])
    figure = MODULES[name].draw(
        *tables,
        FigureSettings(
            conditions=conditions,
            users=conditions[2:],
            model_labels=labels,
            note="An embedding baseline, not a chat model. " * 4,
        ),
    )
    # twelve conditions of four models are more than a page of places
    frames.assert_readable(figure, inches=99.0 if (name, n_models) == ("fig3", 4) else 9.9)
    words = frames.words(figure)
    assert "embedding baseline" in words
    assert n_models == 1 or all(label in words for label in labels.values())
