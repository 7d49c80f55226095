"""Archives of studies for tests: what is planned, and files of one's own."""

import shutil
from pathlib import Path

from fieldwork.config.archive import archive_plan
from fieldwork.config.study import Study
from fieldwork.exports.archive.contents import ArchivePlan
from unit.shipped_config import HOME

CLOSED = {"license": "all rights reserved"}
"""Questions that may not be handed on."""


def plan(a_study: Study) -> ArchivePlan:
    return ArchivePlan(**archive_plan(a_study))


def reasons(a_plan: ArchivePlan) -> dict[str, str]:
    """Why something stays out, and what others do instead."""
    return {what: f"{why}; {instead}" for what, why, instead in a_plan.left_out}


def left_out_files(a_plan: ArchivePlan) -> list[str]:
    files: list[str] = a_plan.config["archived"]["left_out"]
    return files


def elsewhere(a_plan: ArchivePlan) -> dict[str, str]:
    """Files from outside of the study's folder, by their place in the archive."""
    return {place: file for place, file in a_plan.inputs.items() if place.startswith("inputs/")}


def copy_of(source: str, target: Path) -> str:
    """A shipped file or folder in another place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if (HOME / source).is_dir():
        return str(shutil.copytree(HOME / source, target))
    return str(shutil.copy(HOME / source, target))
