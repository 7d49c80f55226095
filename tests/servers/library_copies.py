"""The library as one process imported it, for its forks that run in copies of the project."""

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = Path("workflow/scripts")

_PATH_ON_HUB = "{repo_id}/resolve/{revision}/{filename}"

LibraryFiles = Mapping[str, tuple[int, int]]
"""Size and time of each file of a library."""


def library_files(project: Path) -> LibraryFiles:
    """The files of a project's library; none where there is no library."""
    folder = project / LIBRARY / "fieldwork"
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in folder.rglob("*.py")}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def adapt_library(project: Path, is_same: bool) -> None:
    """Have modules be those of another copy, or forget them."""
    for name in [name for name in sys.modules if name.split(".")[0] == "fieldwork"]:
        module = sys.modules[name]
        if not is_same:
            del sys.modules[name]
            continue
        path = project / Path(str(module.__file__)).relative_to(PROJECT)
        module.__file__ = str(path)
        if hasattr(module, "__path__"):
            module.__path__ = [str(path.parent)]


def library_modules() -> list[str]:
    """The names of all modules of the library but those of services, which import much for one script."""
    folder = PROJECT / LIBRARY
    files = [path.relative_to(folder) for path in sorted(folder.glob("fieldwork/**/*.py"))]
    names = (".".join(file.with_suffix("").parts) for file in files if file.stem[0] != "_")
    return [name for name in names if ".providers." not in name]


def set_clock_and_hub(env: Mapping[str, str]) -> None:
    """Have it be STUDY_TIME for the library, in whichever module asks, and HF_ENDPOINT the hub's address.

    What is imported has read another environment.
    """
    if "huggingface_hub.constants" in sys.modules:
        constants: Any = sys.modules["huggingface_hub.constants"]
        constants.ENDPOINT = env.get("HF_ENDPOINT", constants._HF_DEFAULT_ENDPOINT).rstrip("/")
        constants.HUGGINGFACE_CO_URL_TEMPLATE = f"{constants.ENDPOINT}/{_PATH_ON_HUB}"
        if "huggingface_hub.hf_api" in sys.modules:
            sys.modules["huggingface_hub.hf_api"].api.endpoint = constants.ENDPOINT
    if "STUDY_TIME" in env and "fieldwork.waves" in sys.modules:
        # modules that are imported have the function by its name
        sys.modules["fieldwork.waves"].present.__code__ = _study_time.__code__


def _study_time() -> Any:
    # run with the names of fieldwork.waves
    return datetime.fromisoformat(__import__("os").environ["STUDY_TIME"])
