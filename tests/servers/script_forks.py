"""Scripts of many studies as forks: what forks for one environment serves the next study in it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from fieldwork.script_forks import ScriptForks

MOST_PROCESSES = 3

# nearly every study has scripts that encode, measure and draw
IMPORTED = (
    "sentence_transformers",
    "transformers.models.auto.modeling_auto",
    "pandas",
    "scipy.stats",
    "matplotlib.pyplot",
    "pyarrow.parquet",
    "duckdb",
)

LIBRARY = Path(__file__).resolve().parents[2] / "workflow/scripts"

# no library looks at these when it is imported
_READ_LATER = re.compile(r"_API_KEY$|_TOKEN$|^HTTPS?_PROXY$|^PYTEST_|^FOR_JOBS$")


def library_modules() -> list[str]:
    """The names of all modules of the library but those of services, which import much for one script."""
    files = [path.relative_to(LIBRARY) for path in sorted(LIBRARY.glob("fieldwork/**/*.py"))]
    names = (".".join(file.with_suffix("").parts) for file in files if file.stem[0] != "_")
    return [name for name in names if ".providers." not in name]


class ScriptForksByEnvironment:
    """A process that forks for each environment, as far as libraries look at it when imported."""

    def __init__(self) -> None:
        self._forks: dict[str, ScriptForks] = {}

    def interpreter(self, env: Mapping[str, str], *, is_library_here: bool = False) -> Path:
        """What Snakemake is to start scripts with.

        Args:
            is_library_here: the scripts are those of this project, so that its library is imported, too.
        """
        key = json.dumps({name: env[name] for name in sorted(env) if not _READ_LATER.search(name)})
        key += str(is_library_here)
        forks = self._forks.pop(key, None)
        if forks is None and is_library_here:
            forks = ScriptForks(
                {**env, "PYTHONPATH": str(LIBRARY)}, (*IMPORTED, *library_modules())
            )
        forks = forks or ScriptForks(env, IMPORTED)
        self._forks[key] = forks
        # each holds what it imported in memory
        if len(self._forks) > MOST_PROCESSES:
            self._forks.pop(next(iter(self._forks))).close()
        return forks.interpreter
