"""Conditions that are asked in a span of time: which there are, and which the setting `waves` adds.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from fieldwork.waves import read_wave, wave_of, waves_from

Config = dict[str, Any]

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


def drawn_conditions(config: Config) -> list[str]:
    """The selected conditions that figures of all conditions show: of a series its two ends."""
    series = series_of(config)
    last = {first: name for name, first in series.items()}
    ends = {*series.values(), *last.values()}
    return [name for name in config["study"]["conditions"] if name not in series or name in ends]


def may_be_empty(config: Config, condition: str) -> bool:
    """Whether a wave may have no answers: one that `waves` added, unless it is the first."""
    rule, entry = config["waves"], config["conditions"][condition]
    if rule is None:
        return False
    additions = {condition_name(name, entry["wave"]) for name in rule["of"]}
    return condition in additions and entry["wave"] != rule["first"]


def condition_name(name: str, wave: str) -> str:
    """The name of the condition that asks another one anew in a wave."""
    return f"{name}_{wave.replace('-', '_').lower()}"


def add_waves(config: Config, now: datetime | None = None) -> str | None:
    """Put the waves of `waves` in the place of the conditions that it names, in `config`.

    A config that has them already is left as it is, but for waves that began since.

    Returns:
        What is wrong with a wave, beginning with the setting; None where all is right.
    """
    now = now or datetime.now(UTC)
    problem = next(_broken_waves(config, now), None)
    rule = config["waves"]
    if problem is not None or rule is None:
        return problem
    study, conditions = config["study"], config["conditions"]
    waves = [*waves_from(read_wave(rule["first"]), now)]
    for name in rule["of"]:
        names = [condition_name(name, wave.name) for wave in waves]
        for addition, wave in zip(names, waves, strict=True):
            label = f"{conditions[name]['label']}, {wave.name}"
            conditions[addition] = {**conditions[name], "label": label, "wave": wave.name}
        study["conditions"] = _with_waves(study["conditions"], name, names)
        if config["metrics"]["baseline"] == name:
            config["metrics"]["baseline"] = names[0]
    return None


def _with_waves(conditions: list[str], name: str, names: list[str]) -> list[str]:
    """The conditions, with the waves where the one that they ask anew stands, or where they are."""
    own = {name, *names}
    place = next((at for at, one in enumerate(conditions) if one in own), len(conditions))
    others = [
        [one for one in part if one not in own] for part in (conditions[:place], conditions[place:])
    ]
    return [*others[0], *names, *others[1]]


def _broken_waves(config: Config, now: datetime) -> Iterator[str]:
    for name, entry in config["conditions"].items():
        if entry.get("wave"):
            yield from _broken_wave(f"conditions.{name}.wave", entry["wave"], now)
    if config["waves"] is not None:
        yield from _broken_rule(config, now)
    yield from _batches(config)


def _broken_wave(setting: str, name: str, now: datetime) -> Iterator[str]:
    try:
        wave = read_wave(name)
    except ValueError:
        yield (
            f"{setting}: {name!r} is no wave; name a week, a month or a day, such as "
            f"{', '.join(wave_of(now.date(), span).name for span in ('week', 'month', 'day'))}"
        )
        return
    if wave.is_ahead(now):
        yield (
            f"{setting}: {name} begins on {wave.start}, and today is {now:%Y-%m-%d} (UTC); a wave is "
            f"asked in its time, so run the study then"
        )


def _broken_rule(config: Config, now: datetime) -> Iterator[str]:
    rule, conditions = config["waves"], config["conditions"]
    yield from _broken_wave("waves.first", rule["first"], now)
    for name in rule["of"]:
        if name not in conditions:
            yield f"waves.of: {name!r} is not in conditions (there are {', '.join(sorted(conditions))})"
        elif conditions[name].get("wave"):
            yield f"waves.of: {name!r} is a wave itself; name the condition without `wave`"
        for other in config["study"]["conditions"]:
            twin = {conditions.get(other, {}).get(key) for key in ("after", "same_users_as")}
            if name in twin:
                yield (
                    f"waves.of: {other!r} repeats {name!r}, which is asked anew in every wave; leave "
                    f"{other!r} out of study.conditions"
                )


def _batches(config: Config) -> Iterator[str]:
    has_waves = config["waves"] or any(
        config["conditions"].get(name, {}).get("wave") for name in config["study"]["conditions"]
    )
    for name in config["study"]["models"] if has_waves else ():
        if config["models"].get(name, {}).get("dispatch") == "batch":
            yield (
                f"models.{name}.dispatch: a batch may be answered a day later, when its wave is over; "
                f"choose live or flex for a study with waves"
            )


def wave_settings(config: Config, condition: str) -> Config:
    """When a condition is asked; keys are those of `GenerationArm` in `generation/rows`."""
    wave = config["conditions"][condition].get("wave")
    return {"wave": wave, "may_be_empty": bool(wave) and may_be_empty(config, condition)}
