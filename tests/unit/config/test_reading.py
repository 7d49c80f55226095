"""A study is read from its files, checked, and a mistake names the file and the setting."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.reading import read_study
from fieldwork.config.study import Study
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]


def read(
    folder: Path, overlay: dict[str, Any], command_line: dict[str, Any] | None = None
) -> Study:
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(overlay), encoding="utf-8")
    settings = command_line or {}
    merged = overlay | {name: {**overlay.get(name, {}), **part} for name, part in settings.items()}
    return read_study(HOME, [HOME / "config.yaml"], [file], command_line=settings, overlay=merged)


def test_resources_that_are_gone_are_said_to_hold_what_was_paid_for(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"resources is missing; restore it .* paid for"):
        read_study(tmp_path, [HOME / "config.yaml"], [], command_line={}, overlay={})


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"study": {"tasks": ["probe"]}}, "mine.yaml: study.name is missing"),
        ({"study": {"name": "mine", "tasks": ["no"]}}, "study.tasks: 'no' is not in tasks"),
        (
            {"study": {"name": "mine"}, "metrics": {"categories": "no.csv"}},
            "metrics.categories: no file at no.csv",
        ),
    ],
    ids=["no name", "no task", "no file"],
)
def test_a_mistake_names_the_setting(
    overlay: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match=sentence.replace(".", r"\.")):
        read(tmp_path, overlay)
