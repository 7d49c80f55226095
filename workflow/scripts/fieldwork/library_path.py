"""Where scripts find the library.

Scripts of rules lie in folders, and Snakemake adds only a script's own folder to the path.
"""

import os
from pathlib import Path


def export_library() -> None:
    """Put the library's folder before `PYTHONPATH`, for every process that this one starts."""
    folder = str(Path(__file__).parents[1])
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *([path] if path else [])])
