"""Names that become files: none may meet a file of the project, or another name on any file system.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path

from fieldwork.config.checks import SettingCheck, Spot
from fieldwork.errors import StudyError

SHARED_FOLDERS = ("figures", "vectors")
"""Folders of results/ that belong to no study."""

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


def _file_name(spot: Spot) -> str:
    return spot.value if isinstance(spot.value, str) else spot.name


def _other_spelling(spot: Spot) -> str | None:
    """The first name of the registry that is this one but for its capitals."""
    first = next(name for name in spot.around if name.lower() == spot.name.lower())
    return first if first != spot.name else None


_ALIKE = (
    "{detail!r} is the same name on macOS and Windows, where capitals do not count in the names of "
    "files; choose another name"
)
_ENTRIES = [
    f"{registry}.*" for registry in ("models", "conditions", "tasks", "corpora", "datasets")
]

NAME_CHECKS = (
    SettingCheck(
        "study.name",
        lambda at: at.value.lower() in SHARED_FOLDERS,
        "results/{value} is shared by all studies; choose another name",
    ),
    *(
        SettingCheck(setting, find, sentence)
        for setting in ("study.name", *_ENTRIES)
        for find, sentence in (
            (
                lambda at: _file_name(at).lower().partition(".")[0] in _DEVICES,
                "Windows keeps this name for a device; choose another name",
            ),
            (
                lambda at: _file_name(at).endswith("."),
                "Windows drops the dot at its end; choose another name",
            ),
        )
    ),
    *(
        SettingCheck(
            setting,
            lambda at: _RESERVED_NAMES.get(at.keys[0], {}).get(at.name.lower()),
            "{detail}; choose another name",
        )
        for setting in _ENTRIES
    ),
    SettingCheck(
        "models.*",
        lambda at: at.name.lower().endswith(".batches") and at.name.rpartition(".")[0],
        "the file of this name is where the batches of {detail!r} are kept; choose another name",
    ),
    *(SettingCheck(setting, _other_spelling, _ALIKE) for setting in _ENTRIES),
    *(
        SettingCheck(
            f"{registry}.*",
            lambda at: next(
                (
                    one
                    for one in ("corpora", "datasets")
                    if one != at.keys[0] and at.name in at.config[one]
                ),
                None,
            ),
            "{name!r} is in {detail} too; downloads need distinct names",
        )
        for registry in ("datasets", "recordings")
    ),
    # what is downloaded for both lies in one folder
    SettingCheck(
        "datasets.*",
        lambda at: next(
            (one for one in at.config["corpora"] if one.lower() == at.name.lower()), None
        ),
        _ALIKE,
    ),
)
"""What is wrong with the names of a study and of its registries."""
