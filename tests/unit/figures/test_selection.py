"""Which part of a table a figure draws, and the settings that all figures share."""

import pandas as pd
import pytest

from fieldwork.figures.selection import rows_of_task, select_items
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.shared import ItemKey


@pytest.mark.parametrize(("at_most", "expected"), [(2, ["a", "b"]), (3, ["a", "b", "c"])])
def test_the_first_items_are_drawn_and_the_others_told(at_most: int, expected: list[str]) -> None:
    selection = select_items([ItemKey("t", name) for name in "aabbcc"], at_most=at_most)
    assert [item.item_id for item in selection.items] == expected
    assert bool(selection.remark) is (len(expected) < 3)


def test_a_figure_of_a_task_draws_its_rows_alone() -> None:
    table = pd.DataFrame({"task": ["a", "b", "a"], "n": [1, 2, 3]})
    assert list(rows_of_task(table, FigureSettings(conditions=[], task="a"))["n"]) == [1, 3]
    assert len(rows_of_task(table, FigureSettings(conditions=[]))) == 3


def test_a_model_without_a_label_is_printed_by_its_name() -> None:
    settings = FigureSettings(conditions=[], model_labels={"m": "Model"})
    assert (settings.model_name("m"), settings.model_name("other")) == ("Model", "other")
