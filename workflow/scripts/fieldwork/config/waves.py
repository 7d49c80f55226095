"""Which conditions of a study are waves: the same questions put again after a time.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Config = dict[str, Any]

_OF_THE_WAVE = frozenset({"wave", "label"})
"""Settings in which waves of one series differ."""

LOOKS = 52
"""Waves after the first one that share the level of a study: a year of weeks."""


def waves_of(config: Config) -> dict[str, str]:
    """The selected conditions that are waves, each with the wave's name, in the order of these names."""
    waves = {
        name: str(wave)
        for name in config["study"]["conditions"]
        if (wave := config["conditions"][name].get("wave")) is not None
    }
    return dict(sorted(waves.items(), key=lambda pair: pair[1]))


def series_of(config: Config) -> dict[str, str]:
    """By each wave, the first wave that is asked as it is: all settings but the wave itself agree."""
    firsts: dict[str, str] = {}
    series = {}
    for name in waves_of(config):
        entry = config["conditions"][name]
        settings = {key: value for key, value in entry.items() if key not in _OF_THE_WAVE}
        key = json.dumps(settings, sort_keys=True, default=str)
        series[name] = firsts.setdefault(key, name)
    return series


def tables_of_waves(tables: Iterable[str], waves: Mapping[str, str]) -> list[str]:
    """Of tables that are named after conditions, those of the waves."""
    return [path for path in tables if Path(path).stem in waves]
