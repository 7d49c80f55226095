"""The files at a path that a config names: a file, a folder with all that is in it, or a pattern."""

import glob
from pathlib import Path


def files_at(place: str) -> list[str]:
    """The files at a place, in alphabetical order; none where nothing is there."""
    if Path(place).is_file():
        return [place]
    pattern = f"{glob.escape(place)}/**/*" if Path(place).is_dir() else place
    return sorted(f for f in glob.glob(pattern, recursive=True) if Path(f).is_file())
