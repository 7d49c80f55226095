"""Names that become files: none may meet a file of the project, or another name on any file system.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations, takewhile
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError

Config = dict[str, Any]

SHARED_FOLDERS = ("figures", "vectors")
"""Folders of results/ that belong to no study."""

FIGURES = (
    "power",
    "calibration",
    "field_groups",
    "field_ranks",
    "categories",
    "who_asks",
    "pareto",
    "drift",
    "raters",
    "values",
)
"""Figures with a name of their own, besides those with a number."""

_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))
)
_RESERVED_NAMES: Mapping[str, Mapping[str, str]] = {
    "models": {"budget": "resources/ledger/budget.sqlite holds what all models have spent"},
    "conditions": {"field": "it is the condition of real users' answers"},
    "corpora": {"osf": "resources/downloads/osf holds what was fetched from OSF"},
    "datasets": {"osf": "resources/downloads/osf holds what was fetched from OSF"},
}


USUAL_TARGETS = (
    *("all", "plan", "power", "explorer", "export", "archive", "field_kit", "review_kit"),
    "describe",
)
"""Targets that people ask for by name; others are paths of results."""


def refuse_misspelt_targets(arguments: Sequence[str], rules: Iterable[str]) -> None:
    """Refuse a word of Snakemake's command line that is nearly a usual target.

    Snakemake itself says of it that no rule produces it, and speaks of input functions.

    Raises:
        StudyError: names the target that is meant.
    """
    names = {*rules}
    for word in arguments:
        if not re.fullmatch("[a-z_]+", word) or word in names or Path(word).exists():
            continue
        if matches := get_close_matches(word, USUAL_TARGETS, 1, 0.75):
            raise StudyError(
                f"{word}: there is no such target; did you mean {matches[0]}? Targets are "
                f"{', '.join(USUAL_TARGETS)}, and files such as results/figures/fig3.pdf"
            )


def words_after(target: str, arguments: Sequence[str]) -> list[str]:
    """The words behind a target of Snakemake's command line, up to the next option."""
    rest = arguments[arguments.index(target) + 1 :]
    return [*takewhile(lambda word: not word.startswith("-"), rest)]


def broken_names(config: Config) -> Iterator[str]:
    """What is wrong with the names of a study and of its registries, a sentence each."""
    study = config["study"]["name"]
    if study.lower() in SHARED_FOLDERS:
        yield f"study.name: results/{study} is shared by all studies; choose another name"
    yield from _unusable("study.name", study)
    for registry in ("models", "conditions", "tasks", "corpora", "datasets"):
        for name in config[registry]:
            setting = f"{registry}.{name}"
            reason = _RESERVED_NAMES.get(registry, {}).get(name.lower())
            if reason:
                yield f"{setting}: {reason}; choose another name"
            if registry == "models" and name.lower().endswith(".batches"):
                yield (
                    f"{setting}: the file of this name is where the batches of "
                    f"{name[: -len('.batches')]!r} are kept; choose another name"
                )
            yield from _unusable(setting, name)
        yield from _alike(registry, list(config[registry]))
    for one, other in combinations(("corpora", "datasets", "recordings"), 2):
        for name in sorted({*config[one]} & {*config[other]}):
            yield f"{name!r} is in {one} and in {other}; downloads need distinct names"
    # what is downloaded for both lies in one folder
    yield from _alike("corpora and datasets", [*config["corpora"], *config["datasets"]])


def _unusable(setting: str, name: str) -> Iterator[str]:
    if name.lower().partition(".")[0] in _DEVICES:
        yield f"{setting}: Windows keeps this name for a device; choose another name"
    if name.endswith("."):
        yield f"{setting}: Windows drops the dot at its end; choose another name"


def _alike(registry: str, names: list[str]) -> Iterator[str]:
    spellings: dict[str, str] = {}
    for name in names:
        first = spellings.setdefault(name.lower(), name)
        if first != name:
            yield (
                f"{registry}.{name}: {first!r} is the same name on macOS and Windows, where capitals do "
                f"not count in the names of files; choose another name"
            )
