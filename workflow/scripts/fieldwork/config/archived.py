"""A study that was unpacked from an archive: which files it lacks, and that it asks no model.

Owns the setting `archived`. Read while Snakemake parses the workflow, so it imports no scientific
package.
"""

from collections.abc import Mapping
from typing import Any

SECTION = "archived"


def is_archived(config: Mapping[str, Any]) -> bool:
    """Whether the study came out of an archive."""
    return config.get(SECTION) is not None


def is_left_out(config: Mapping[str, Any], path: str | None) -> bool:
    """Whether an archive left out the files at a path of the config."""
    return is_archived(config) and path in config[SECTION]["left_out"]


def generation_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The section `generation`, and whether models may be asked."""
    return {**config["generation"], "may_ask": not is_archived(config)}
