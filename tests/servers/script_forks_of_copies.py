"""Imported by the process that forks scripts: each fork has the library of its own copy."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.library_copies import (
    LIBRARY,
    PROJECT,
    adapt_library,
    library_files,
    library_modules,
    set_clock_and_hub,
)

_FILES = library_files(PROJECT)
_SERVER: Any = sys.modules["__main__"]
_END = _SERVER._exit_status


def _exit_status(request: Mapping[str, Any], streams: Sequence[int], folder: Path) -> int:
    """Run a script with the library that its environment names first."""
    first = request["env"].get("PYTHONPATH", "").split(os.pathsep)[0]
    project = Path(str(first).removesuffix(f"/{LIBRARY}"))
    adapt_library(project, library_files(project) == _FILES)
    set_clock_and_hub(request["env"])
    status: int = _END(request, streams, folder)
    return status


for _name in library_modules():
    importlib.import_module(_name)
for _place in os.environ["PYTHONPATH"].split(os.pathsep):
    sys.path.remove(_place)
_SERVER._exit_status = _exit_status
