"""The files at a path that a config names: a file, a folder with all that is in it, or a pattern."""

import glob
from collections.abc import Callable
from pathlib import Path

from fieldwork.config.archived import is_left_out
from fieldwork.config.layers import Config
from fieldwork.errors import StudyError


def files_at(place: str) -> list[str]:
    """The files at a place, in alphabetical order; none where nothing is there."""
    if Path(place).is_file():
        return [place]
    pattern = f"{glob.escape(place)}/**/*" if Path(place).is_dir() else place
    return sorted(f for f in glob.glob(pattern, recursive=True) if Path(f).is_file())


def require_files(
    config: Config, setting: str, path: str, find_shipped: Callable[[str], str], way_out: str = ""
) -> list[str]:
    """The files at the path of a setting, or that path where an archive left them out.

    Raises:
        StudyError: there is nothing.
    """
    # a glob never exists as it is written, so the study's own folder is looked through first
    for place in (path, find_shipped(path)):
        if files := files_at(place):
            return files
    if not is_left_out(config, path):
        raise StudyError(f"{setting}: nothing at {path}; correct the path{way_out}")
    return [path]
