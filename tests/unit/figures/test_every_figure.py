"""What every figure promises: its tables are those listed, all it says can be read on a page, and
without rows it is drawn and says so.
"""

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
ROW_TYPES = {name: [*module.TABLES.values()] for name, module in MODULES.items()} | {
    "power": [PowerRow],
    "raters": [JudgementEstimate],
}
BOARD = frames.board(frames.leaderboard())
Names = Sequence[str]


@pytest.mark.parametrize("name", ROW_TYPES)
def test_without_rows_a_figure_says_so_and_keeps_its_note(name: str, tmp_path: Path) -> None:
    tables: list[Any] = [frames.table_of(row, []).assign(p_corrected=[]) for row in ROW_TYPES[name]]
    settings = FigureSettings(conditions=["offline"], users=["rag"], note="A note.")
    module = {"power": power, "raters": raters, **MODULES}[name]
    figure = module.draw(*tables, *[BOARD] * (name == "fig3"), settings)
    words = frames.words(figure)
    assert "no data: " in words
    assert "A note." in words
    frames.assert_readable(figure)
    save(figure, [tmp_path / "figure.svg"])
    assert marks_of(figure) == []


def test_every_table_of_a_figure_has_its_rows() -> None:
    for name, figure in FIGURES.items():
        claims = getattr(MODULES[name], "CLAIMS", {})
        assert [*MODULES[name].TABLES] == [*figure.tables], name
        assert {*claims} <= {*figure.tables}
        assert bool(claims) == figure.has_claims


def score_tables(models: Names, conditions: Names) -> list[Any]:
    runs = frames.run_scores({model: 0.31 + 0.15 * k for k, model in enumerate(models)}, conditions)
    spread = frames.spreads(runs, nulls=[(models[0], conditions[-1])])
    return [runs, spread, frames.ranks(spread), BOARD]


def long_shifts(models: Names, conditions: Names) -> list[pd.DataFrame]:
    table = frames.shifts(models, conditions[2:], nulls=[(models[-1], conditions[-1])])
    return [table.assign(answer=table["answer"] + " of a name that takes more than a line")]


TABLES: dict[str, Callable[[Names, Names, Names], list[Any]]] = {
    "fig1": lambda m, c, items: [frames.heterogeneity(m, c, items, [(m[0], c[0], items[0])])],
    "fig2": lambda m, c, _: [frames.distributions(m, c)],
    "fig3": lambda m, c, _: score_tables(m, c),
    "fig4": lambda m, c, _: long_shifts(m, c),
    "fig5": lambda m, c, items: [frames.rarefaction(m, c, items, [(m[0], c[0], items[0])])],
    "arms": lambda m, c, _: [
        frames.arm_rows({one: 3 * k for k, one in enumerate(c)}, m),
        frames.arm_trends().assign(model=m[0]),
    ],
    "calibration": lambda m, *_: [frames.calibrations(m)],
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("n_models", "n_conditions", "n_items"), [(1, 4, 1), (4, 12, 9)])
def test_everything_is_on_the_page_large_enough_and_apart(
    name: str, n_models: int, n_conditions: int, n_items: int
) -> None:
    labels = {f"model-{k}": f"Model {k} of a name" for k in range(n_models)}
    conditions = (frames.CONDITIONS + frames.EXTRA)[:n_conditions]
    tables = TABLES[name]([*labels], conditions, [f"prompt_number_{k}" for k in range(n_items)])
    note = "An embedding baseline, not a chat model. " * 4
    further: dict[str, Any] = {"users": conditions[2:], "model_labels": labels, "note": note}
    figure = MODULES[name].draw(*tables, FigureSettings(conditions=conditions, **further))
    # twelve conditions of four models are more than a page of places
    frames.assert_readable(figure, inches=99.0 if (name, n_models) == ("fig3", 4) else 9.9)
    words = frames.words(figure)
    assert "embedding baseline" in words
    assert n_models == 1 or all(label in words for label in labels.values())
