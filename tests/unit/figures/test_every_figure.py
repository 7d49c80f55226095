"""What every figure promises: without rows it is drawn and says so, and its tables are those listed."""

import dataclasses
from importlib import import_module
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.config.drawn import FIGURES, figure_module
from fieldwork.figures import power, raters
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import save
from fieldwork.records.judging import JudgementEstimate
from fieldwork.records.power import PowerRow

MODULES = {name: import_module(f"fieldwork.figures.{figure_module(name)}") for name in FIGURES}
OTHERS = {"power": (power, PowerRow), "raters": (raters, JudgementEstimate)}


def empty_table(row_type: Any) -> pd.DataFrame:
    columns = [column.name for column in dataclasses.fields(row_type)]
    return pd.DataFrame(columns=[*columns, "p_corrected"])


def draw_nothing(name: str) -> Figure:
    module, *row_types = OTHERS.get(name) or (MODULES[name], *MODULES[name].TABLES.values())
    boards = [frames.board(frames.leaderboard())] if name == "fig3" else []
    settings = FigureSettings(conditions=["offline"], users=["rag"], note="A note.")
    return module.draw(*map(empty_table, row_types), *boards, settings)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", [*FIGURES, *OTHERS])
def test_without_rows_a_figure_says_so_and_keeps_its_note(name: str, tmp_path: Any) -> None:
    figure = draw_nothing(name)
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
