"""Which part of a table a figure draws, and the settings that all figures share."""

import pandas as pd

from fieldwork.figures.selection import rest_remark, rows_of_task
from fieldwork.figures.settings import FigureSettings


def test_what_is_not_drawn_is_counted() -> None:
    assert rest_remark(3, 3) is None
    assert rest_remark(2, 3, "panels", tables="the tables have") == (
        "Only the first 2 of 3 panels are drawn; the tables have all of them."
    )


def test_a_figure_of_a_task_draws_its_rows_alone() -> None:
    table = pd.DataFrame({"task": ["a", "b", "a"], "n": [1, 2, 3]})
    assert list(rows_of_task(table, FigureSettings(conditions=[], task="a"))["n"]) == [1, 3]
    assert len(rows_of_task(table, FigureSettings(conditions=[]))) == 3


def test_a_model_without_a_label_is_printed_by_its_name() -> None:
    settings = FigureSettings(conditions=[], model_labels={"m": "Model"})
    assert (settings.model_name("m"), settings.model_name("other")) == ("Model", "other")
