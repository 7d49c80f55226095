"""Scripts of many studies as forks: what forks for one environment serves the next study in it.

Whoever forks has imported the library of this project. It serves copies whose library is the same file by
file; in a fork for another one it is forgotten.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from fieldwork.script_forks import ScriptForks
from servers.library_copies import LIBRARY, PROJECT

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
    "snakemake.script",
)

# no library looks at these when it is imported, or each fork is told
_READ_LATER = re.compile(
    r"_API_KEY$|_TOKEN$|^HTTPS?_PROXY$|^PYTEST_|^FOR_JOBS$|^STUDY_TIME$|^HF_ENDPOINT$"
)


class ScriptForksByEnvironment:
    """A process that forks for each environment, as far as libraries look at it when imported."""

    def __init__(self) -> None:
        self._forks: dict[str, ScriptForks] = {}

    def interpreter(self, env: Mapping[str, str]) -> Path:
        """What Snakemake is to start scripts with."""
        key = json.dumps({name: env[name] for name in sorted(env) if not _READ_LATER.search(name)})
        forks = self._forks.pop(key, None)
        if forks is None:
            places = {"PYTHONPATH": f"{PROJECT / LIBRARY}:{PROJECT / 'tests'}"}
            forks = ScriptForks({**env, **places}, (*IMPORTED, "servers.script_forks_of_copies"))
        self._forks[key] = forks
        # each holds what it imported in memory
        if len(self._forks) > MOST_PROCESSES:
            self._forks.pop(next(iter(self._forks))).close()
        return forks.interpreter
