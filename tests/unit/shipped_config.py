"""The settings that come with the project, as a study lies over them: registries and config.yaml."""

from pathlib import Path
from typing import Any

from fieldwork.config.layers import lay_over
from fieldwork.config.registries import shipped_files

HOME = Path(__file__).resolve().parents[2]


def shipped_config() -> dict[str, Any]:
    """A copy that a test may change."""
    return lay_over([], {}, shipped_files=shipped_files(HOME)).settings
