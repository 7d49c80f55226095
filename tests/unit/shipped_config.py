"""The settings that come with the project, as a study lies over them: registries and config.yaml."""

import copy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.layers import lay_over
from fieldwork.config.reading import read_study
from fieldwork.config.registries import shipped_files
from fieldwork.config.settings import check_config
from fieldwork.config.study import Study
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[2]
FIELD: dict[str, Any] = {
    "path": "resources/tasks/aliases.csv",
    "layout": "wide",
    "columns": {"participant": "id"},
    "prompts": {"hobbies": "Q1"},
}
"""Real users in any file that is read: its columns are looked at by the import."""


@cache
def _laid_over(*files: Path) -> dict[str, Any]:
    return lay_over(list(files), {}, shipped_files=shipped_files(HOME)).settings


def shipped_config(*files: Path) -> dict[str, Any]:
    """A copy that a test may change, with study files laid over."""
    return copy.deepcopy(_laid_over(*files))


def config_with(changes: Mapping[str, Any], *files: Path) -> dict[str, Any]:
    """The shipped config with other values at some places, as in `tasks/probe/sources/0`."""
    config = shipped_config(*files)
    for setting, value in changes.items():
        *way, last = setting.split("/")
        place: Any = config
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        place[last] = copy.deepcopy(value)
    return config


def checked_config(changes: Mapping[str, Any], *files: Path) -> dict[str, Any]:
    """The same with defaults."""
    config = config_with(changes, *files)
    check_config(config, "mine.yaml")
    return config


def complaint(config: dict[str, Any]) -> str:
    """The sentence with which a config is refused as `mine.yaml`."""
    with pytest.raises(StudyError) as caught:
        check_config(config, "mine.yaml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def study(*files: str, **changes: dict[str, Any]) -> Study:
    """The quickstart, or it with shipped studies laid over, and with changed settings of sections."""
    config = shipped_config(*(HOME / file for file in files))
    for section, entries in changes.items():
        if not isinstance(config.get(section), dict):
            config[section] = entries
            continue
        for name, entry in entries.items():
            old = config[section].get(name)
            is_both = isinstance(old, dict) and isinstance(entry, dict)
            config[section][name] = {**old, **entry} if is_both else entry
    check_config(config, "config.yaml")
    return Study(config, HOME)


def read_overlay(folder: Path, overlay: dict[str, Any]) -> Study:
    """A study of the settings in a file of its own."""
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(overlay, sort_keys=False), encoding="utf-8")
    lowest = [HOME / "config.yaml"]
    return read_study(HOME, lowest, [file], command_line={}, overlay=overlay)
