"""A study is read from its files, checked, and a mistake names the file and the setting."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.reading import read_study
from fieldwork.errors import StudyError
from unit.shipped_config import HOME, read_overlay


def test_resources_that_are_gone_are_said_to_hold_what_was_paid_for(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"resources is missing; restore it .* paid for"):
        read_study(tmp_path, [HOME / "config.yaml"], [], command_line={}, overlay={})


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"study": {"tasks": ["probe"]}}, r"study\.yaml: study\.name is missing"),
        ({"study": {"name": "x", "tasks": ["no"]}}, r"study\.tasks: 'no' is not in tasks"),
        (
            {"study": {"name": "x"}, "metrics": {"categories": "no.csv"}},
            r"metrics\.categories: no file at no\.csv",
        ),
        (
            {
                "study": {"name": "x", "tasks": ["a"]},
                "tasks": {"a": {"of": "probe", "put": {"casual": True, "table": "x.csv"}}},
            },
            "no file at x.csv",
        ),
    ],
    ids=["no name", "no task", "no file", "no file of a variant"],
)
def test_a_mistake_names_the_setting(
    overlay: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match=sentence):
        read_overlay(tmp_path, overlay)
