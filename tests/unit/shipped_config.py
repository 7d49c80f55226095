"""The settings that come with the project, as a study lies over them: registries and config.yaml."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.layers import lay_over
from fieldwork.config.registries import shipped_files
from fieldwork.config.settings import check_config
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[2]
FIELD: dict[str, Any] = {
    "path": "resources/tasks/aliases.csv",
    "layout": "wide",
    "columns": {"participant": "id"},
    "prompts": {"hobbies": "Q1"},
}
"""Real users in any file that is read: its columns are looked at by the import."""


def shipped_config() -> dict[str, Any]:
    """A copy that a test may change."""
    return lay_over([], {}, shipped_files=shipped_files(HOME)).settings


def complaint(config: dict[str, Any]) -> str:
    """The sentence with which a config is refused as `mine.yaml`."""
    with pytest.raises(StudyError) as caught:
        check_config(config, "mine.yaml")
    return str(caught.value)
