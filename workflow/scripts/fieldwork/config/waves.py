"""Conditions that are asked in a span of time: which there are, and which the setting `waves` adds.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from fieldwork.config.archived import is_archived
from fieldwork.config.layers import Config
from fieldwork.waves import Span, Wave, present, read_wave, wave_of

WAVES = Path("resources/waves")
"""A folder a study, with a file for each wave in which it was run."""

_FREE_SETTINGS = ("label", "wave", "after")
"""Settings in which the waves of one series may differ."""


def waves_of(config: Config) -> dict[str, str]:
    """The selected conditions that are waves, with their waves, the earliest first."""
    names = {
        name: wave
        for name in config["study"]["conditions"]
        if (wave := config["conditions"][name].get("wave"))
    }
    return dict(sorted(names.items(), key=lambda one: read_wave(one[1]).start))


def series_of(config: Config) -> dict[str, str]:
    """The series of each wave, by the earliest condition of it: alike but for their time."""
    firsts: dict[str, str] = {}
    series = {}
    for name in waves_of(config):
        entry = config["conditions"][name]
        settings = repr({key: entry[key] for key in sorted(entry) if key not in _FREE_SETTINGS})
        series[name] = firsts.setdefault(settings, name)
    return series


def later_waves(config: Config) -> list[str]:
    """The waves after the first of their series."""
    return [name for name, first in series_of(config).items() if name != first]


def drawn_conditions(config: Config) -> list[str]:
    """The selected conditions that figures of all conditions show: of a series its two ends."""
    series = series_of(config)
    last = {first: name for name, first in series.items()}
    ends = {*series.values(), *last.values()}
    return [name for name in config["study"]["conditions"] if name not in series or name in ends]


def _condition_name(name: str, wave: str) -> str:
    """The name of the condition that asks another one anew in a wave."""
    return f"{name}_{wave.replace('-', '_').lower()}"


def add_waves(config: Config, time: datetime | None = None) -> None:
    """Put waves in the place of the conditions that `waves` names, in `config`.

    They are those in which the study was run, and the present one. A config that has them already gains
    only the new ones, and that of an archive none.
    """
    time, rule = time or present(), config["waves"]
    if rule is None or is_archived(config):
        return
    study, conditions = config["study"], config["conditions"]
    waves = {*_recorded_waves(study["name"], rule["every"]), wave_of(time.date(), rule["every"])}
    for name in rule["of"]:
        names = []
        for wave in sorted(waves, key=lambda wave: wave.start):
            names.append(_condition_name(name, wave.name))
            label = f"{conditions[name]['label']}, {wave.name}"
            conditions[names[-1]] = {**conditions[name], "label": label, "wave": wave.name}
        study["conditions"] = _with_waves(study["conditions"], name, names)
        if config["metrics"]["baseline"] == name:
            config["metrics"]["baseline"] = names[0]


def _recorded_waves(study: str, span: Span) -> Iterator[Wave]:
    """The waves in which a study was run."""
    for path in (WAVES / study).glob("*.txt"):
        with suppress(ValueError):
            wave = read_wave(path.stem)
            if wave.span == span:
                yield wave


def _with_waves(conditions: list[str], name: str, names: list[str]) -> list[str]:
    """The conditions, with the waves where the one that they ask anew stands, or where they are."""
    series = {name, *names}
    place = next((at for at, one in enumerate(conditions) if one in series), len(conditions))
    sides = [
        [one for one in part if one not in series]
        for part in (conditions[:place], conditions[place:])
    ]
    return [*sides[0], *names, *sides[1]]


def wave_settings(config: Config, condition: str) -> dict[str, str | None]:
    """When a condition is asked; keys are those of `GenerationArm` in `generation/rows`."""
    # auxiliary tasks have conditions of their own, which are no waves
    entry, rule = config["conditions"].get(condition, {}), config["waves"]
    wave = entry.get("wave")
    additions = [_condition_name(name, wave) for name in rule["of"]] if wave and rule else []
    record = WAVES / config["study"]["name"] / f"{wave}.txt"
    return {"wave": wave, "wave_record": str(record) if condition in additions else None}


def tables_of_waves(tables: Iterable[str], waves: Mapping[str, str]) -> list[str]:
    """Of tables that are named after conditions, those of the waves."""
    return [path for path in tables if Path(path).stem in waves]
