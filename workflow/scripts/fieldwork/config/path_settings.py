"""The settings that hold the path of a file, a folder or a pattern.

Owns which these are. Whether a text looks like a path, or something lies there on this machine, is never
asked: a label may be "/". Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Config = dict[str, Any]
Keys = tuple[str, ...]
Change = Callable[[str, str], str]
"""The new path, of the name of a setting and its path."""

PATH_SETTINGS: tuple[Keys, ...] = tuple(
    tuple(setting.split("."))
    for setting in (
        "study.key_file",
        "field.path",
        "field.key_file",
        "memory.prompt",
        "memory.select_prompt",
        "memory.verify.prompt",
        "memory.reference",
        "judging.key_file",
        "judging.groups",
        "judging.judges.prompts.*",
        "judging.kit.consent",
        "judging.kit.texts",
        "judging.sources.*.path",
        "field_kit.consent",
        "field_kit.texts",
        "corpora.*.path",
        "datasets.*.path",
        "recordings.*.path",
        "embedding.model",
        "profiles.template",
        "conditions.*.template",
        "models.*.path",
        "models.*.ca_file",
        "parsing.aliases",
        "parsing.overrides",
        "parsing.overrides.*",
        "metrics.categories",
        "calibration.weights",
        "tasks.*.leaderboard",
        "tasks.*.sources.*.candidates",
        "tasks.*.put.table",
        "tasks.*.put.translated.candidates",
    )
)
"""Keys from the top; `*` stands for every entry of a mapping or a list."""

PRIVATE_SETTINGS: tuple[Keys, ...] = (
    ("field", "path"),
    ("memory", "reference"),
    ("judging", "groups"),
    ("judging", "sources", "*", "path"),
)
"""Those whose files say something of people, and leave the machine with no archive."""

ANSWER_FILES: tuple[Keys, ...] = (("field", "path"), ("judging", "sources", "*", "path"))
"""Of these, those whose files people filled in: their names may be people's, and are shown nowhere."""

CORRECTION_SETTINGS: tuple[Keys, ...] = (("parsing", "overrides"), ("parsing", "overrides", "*"))
"""Those whose files hold words of answers, and leave the machine with the answers alone."""


def is_outside(path: str) -> bool:
    """Whether a path of the config leads out of the study's folder."""
    return Path(path).is_absolute() or ".." in Path(path).parts or path.startswith("~")


def paths_in(config: Config, settings: Sequence[Keys] = PATH_SETTINGS) -> Iterator[tuple[str, str]]:
    """Every setting with a path, by its name.

    Args:
        settings: of these alone.
    """
    mentions: list[tuple[str, str]] = []

    def note(setting: str, path: str) -> str:
        mentions.append((setting, path))
        return path

    with_paths(config, note, settings)
    yield from mentions


def with_paths(config: Config, change: Change, settings: Sequence[Keys] = PATH_SETTINGS) -> Config:
    """A copy of settings in which those with a path have another one."""

    def copy(value: Any, keys: Keys) -> Any:
        if isinstance(value, dict):
            return {name: copy(inner, (*keys, str(name))) for name, inner in value.items()}
        if isinstance(value, list):
            return [copy(inner, (*keys, str(number))) for number, inner in enumerate(value)]
        if isinstance(value, str) and any(_leads_to(keys, setting) for setting in settings):
            return change(".".join(keys), value)
        return value

    return {name: copy(value, (name,)) for name, value in config.items()}


def _leads_to(keys: Keys, setting: Keys) -> bool:
    return len(keys) == len(setting) and all(
        part in ("*", key) for key, part in zip(keys, setting, strict=True)
    )
