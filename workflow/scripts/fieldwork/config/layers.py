"""The files that configure a study: laid one over another, and where each setting stands.

Snakemake lays mappings over mappings, so that a model of another provider would keep settings of the one
it replaces. Here an entry that names another kind than the entry below is defined anew.
"""

import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.config.registries import REGISTRY, read_layer
from fieldwork.config.yaml_files import read_yaml
from fieldwork.errors import StudyError

Config = dict[str, Any]

KINDS = {"models": "provider", "conditions": "context", "corpora": "format", "recordings": "format"}
"""The key of each registry's entries that says which other keys they have."""

LOCATION = ("path", "repo", "revision", "files", "license")


class Places(NamedTuple):
    """Where the settings stand.

    Attributes:
        by_setting: keys joined with dots → file and line.
        files: the files of the study and the lowest below them, for a setting that stands in none.
        own_files: the files in which a setting of a shipped file can be changed; empty without one.
        shipped_settings: the settings that stand in shipped files.
    """

    by_setting: Mapping[str, str]
    files: str
    own_files: str = ""
    shipped_settings: frozenset[str] = frozenset()

    def of(self, setting: str) -> str:
        """File and line of a setting, or of the nearest one around it, and where it can be changed."""
        nearest = self._nearest(setting)
        place = self.by_setting.get(nearest, self.files)
        # a shipped setting that does not fit has to be said in a file above it
        is_shipped = nearest in self.shipped_settings and bool(self.own_files)
        return f"{self.own_files} + {place}" if is_shipped else place

    def origin(self, setting: str) -> str | None:
        """File and line of a setting; None for one that stands nowhere."""
        return self.by_setting.get(setting)

    def _nearest(self, setting: str) -> str:
        while setting and setting not in self.by_setting:
            setting = setting.rpartition(".")[0]
        return setting


def with_place(problem: str, source: str | Places) -> str:
    """A problem, which begins with its setting, after the place of that setting.

    Args:
        source: where the settings stand, or the name of the one file.
    """
    place = source if isinstance(source, str) else source.of(_setting_of(problem))
    return f"{place}: {problem}"


def _setting_of(problem: str) -> str:
    unknown = re.match(r"(?:(.*?): )?unknown key '([^']*)'", problem)
    if unknown is None:
        return problem.partition(": ")[0]
    return ".".join(part for part in unknown.groups() if part)


class _Layers(NamedTuple):
    settings: Config
    places: Places


def lay_over(
    files: Sequence[str | Path],
    command_line: Mapping[str, Any],
    *,
    shipped_files: Sequence[str | Path] = (),
) -> _Layers:
    """The settings of files, each laid over those before it, and of the command line over all.

    Mappings are merged, all else is replaced.

    Args:
        files: of the study.
        command_line: settings given with `--config`.
        shipped_files: those below them, the registries and the shipped config as the last.

    Raises:
        StudyError: a file cannot be read, naming it, the line and the way out.
    """
    # the study's own file first, as most mistakes are in it
    names = [_short(file) for file in dict.fromkeys(reversed(files))]
    shipped_names = [_short(file) for file in shipped_files]
    settings: Config = {}
    places: dict[str, str] = {}
    shipped_settings: set[str] = set()
    for name in [*shipped_names, *reversed(names)]:
        layer = read_layer(name)
        settings = _merge(settings, layer.settings)
        places |= {setting: f"{name}, line {line}" for setting, line in layer.lines.items()}
        in_layer = {*layer.lines}
        is_shipped = name in shipped_names
        shipped_settings = (
            shipped_settings | in_layer if is_shipped else shipped_settings - in_layer
        )
    settings = _merge(settings, command_line)
    on_command_line = {setting for setting, _, _ in settings_in(command_line)}
    places |= dict.fromkeys(on_command_line, "--config")
    return _Layers(
        settings,
        Places(
            places,
            " + ".join([*names, *(n for n in shipped_names if str(REGISTRY) not in n)]),
            " + ".join(names),
            frozenset(shipped_settings - on_command_line),
        ),
    )


def _short(file: str | Path) -> str:
    """A file's path from the folder of the study, where it lies in it."""
    path = Path(file)
    folder = Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _merge(below: Mapping[str, Any], above: Mapping[str, Any], *keys: str) -> Config:
    """`above` over `below`; `keys` lead there."""
    layer = dict(below)
    for key, value in above.items():
        if not isinstance(value, Mapping):
            layer[key] = value
            continue
        base = layer.get(key)
        base = base if isinstance(base, Mapping) else {}
        if len(keys) == 1:
            base = _base_of(keys[0], base, value)
        layer[key] = _merge(base, value, *keys, key)
    return layer


def _base_of(registry: str, base: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an entry takes over from the one below it."""
    kind = KINDS.get(registry, "")
    if kind in entry and entry[kind] != base.get(kind):
        return {}
    if registry in ("corpora", "datasets", "recordings") and {"path", "repo"} & set(entry):
        return {key: value for key, value in base.items() if key not in LOCATION}
    return base


def settings_in(value: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every setting at any depth, its last key, and its value; places in lists are numbers."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    for key, inner in [*pairs, *(enumerate(value) if isinstance(value, list) else ())]:
        setting = f"{prefix}{key}"
        yield setting, key, inner
        yield from settings_in(inner, f"{setting}.")


def values_at(
    part: Any, place: Sequence[str], around: Any = None, way: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Every value at a place, whose `*` stands for each entry: its keys, it, and what it stands in."""
    if not place:
        yield way, part, around
        return
    entries = dict(enumerate(part)) if isinstance(part, list) else part
    if isinstance(entries, Mapping):
        for key in [*entries] if place[0] == "*" else [k for k in entries if k == place[0]]:
            yield from values_at(entries[key], place[1:], part, (*way, str(key)))


def check_command_line(arguments: Sequence[str]) -> None:
    """End the program where a file after `--configfile` cannot be read, before Snakemake reads it.

    Snakemake names neither file nor line of a mistake, and runs what a file holds as code.
    """
    options = ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    for file in options.parse_known_args(arguments)[0].configfile:
        try:
            read_yaml(file)
        except StudyError as error:
            # Snakemake takes every word after the option for a file
            hint = (
                "" if Path(file).exists() else "; write targets before --configfile, not after it"
            )
            raise SystemExit(f"ERROR: {error}{hint}") from None
