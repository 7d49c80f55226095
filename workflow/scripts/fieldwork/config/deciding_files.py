"""Which files and which code decide what a study asks, and how answers are read and judged.

A preregistration holds their hashes. Questions are not among them: they are hashed as they were made.
Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from fieldwork.config.archived import is_archived
from fieldwork.config.layers import Config
from fieldwork.config.path_settings import PRIVATE_SETTINGS
from fieldwork.config.recordings import study_recordings
from fieldwork.config.study import Study
from fieldwork.config.study_files import single_files

DECIDING_PARTS = (
    "puppets",
    "tasks",
    "memory",
    "generation",
    "parsing",
    "judging",
    "field",
    "metrics",
)
"""Parts of the workflow whose code decides; the others plan, draw and export."""

_CONSENTS = ("field_kit.consent", "judging.kit.consent")
# a hash of who belongs to which group would confirm a guess, and preregistrations are published
_UNNAMED_SETTINGS = {*_CONSENTS, *(".".join(keys) for keys in PRIVATE_SETTINGS)}


def deciding_files(study: Study) -> dict[str, list[str]]:
    """The deciding files by their setting; none where an archive left them out."""
    files: dict[str, list[str]] = {}
    for setting, path in single_files(study.config):
        if setting not in _UNNAMED_SETTINGS:
            files.setdefault(setting, []).append(study.resolve(path))
    weights = study.config["calibration"]["weights"]
    if weights and "calibration" in study.parts():
        files["calibration.weights"] = [study.resolve(weights)]
    for setting, name in _sources(study):
        if not _is_at_commit(study.location(name)):
            files[setting] = study.source(name)
    if is_archived(study.config):
        return {setting: [p for p in paths if Path(p).exists()] for setting, paths in files.items()}
    return files


def downloads_at_commits(study: Study) -> dict[str, Config]:
    """Sources whose repository, commit and files say all of their content, by their setting."""
    locations = {setting: study.location(name) for setting, name in _sources(study)}
    return {setting: one for setting, one in locations.items() if _is_at_commit(one)}


def _sources(study: Study) -> Iterator[tuple[str, str]]:
    """Where users and recorded answers come from: the setting, and the name of the entry."""
    yield from ((f"corpora.{name}", name) for name in study.corpora())
    yield from ((f"recordings.{name}", name) for name in study_recordings(study.config))
    if study.profiles():
        for part in ("personas", "sentences"):
            name = study.config["profiles"][part]["dataset"]
            yield f"datasets.{name}", name


def _is_at_commit(location: Config) -> bool:
    return (
        location["path"] is None and re.fullmatch("[0-9a-f]{40}", location["revision"]) is not None
    )
