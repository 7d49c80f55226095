"""Which part of a table a figure draws, and the settings that all figures share."""

import pandas as pd
import pytest

from fieldwork.figures.fig1 import Fig1Settings
from fieldwork.figures.selection import rows_of_task, select_items
from fieldwork.figures.settings import FigureSettings, ItemKey

LABELS = {
    "models": {"m": "Model"},
    "conditions": {"offline": "Offline", "rag": "Retrieval"},
    "note": "A note",
}


@pytest.mark.parametrize(("at_most", "expected"), [(2, ["a", "b"]), (3, ["a", "b", "c"])])
def test_the_first_items_are_drawn_and_the_others_told(at_most: int, expected: list[str]) -> None:
    selection = select_items([ItemKey("t", name) for name in "aabbcc"], at_most=at_most)
    assert [item.item_id for item in selection.items] == expected
    assert bool(selection.remark) is (len(expected) < 3)


def test_a_figure_of_a_task_draws_its_rows_alone() -> None:
    table = pd.DataFrame({"task": ["a", "b", "a"], "n": [1, 2, 3]})
    assert list(rows_of_task(table, FigureSettings(conditions=[], task="a"))["n"]) == [1, 3]
    assert len(rows_of_task(table, FigureSettings(conditions=[]))) == 3


def test_the_labels_of_a_study_give_conditions_names_and_note() -> None:
    settings = Fig1Settings.of_study(LABELS, task="films", max_items=3)
    assert settings.conditions == ["offline", "rag"]
    assert settings.condition_labels["rag"] == "Retrieval"
    assert (settings.model_name("m"), settings.model_name("other")) == ("Model", "other")
    assert (settings.note, settings.task, settings.max_items) == ("A note", "films", 3)


def test_further_settings_replace_the_labels_of_a_study() -> None:
    settings = FigureSettings.of_study(LABELS, conditions=["rag"], note=None)
    assert (settings.conditions, settings.note) == (["rag"], None)
