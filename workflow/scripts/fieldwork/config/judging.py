"""Judgements in the config: what a schema cannot say of them, and the files that they are read from.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fieldwork.config.paths import files_at
from fieldwork.errors import StudyError

Config = dict[str, Any]

SIDES = ("accepted", "prefers_a", "prefers_b")


def scale_settings(config: Config) -> list[Config]:
    """The scales, with their options as texts; keys are those that `judging/scales` reads."""
    judging = config["judging"] or {"scales": {}}
    return [
        {
            "name": name,
            "level": scale["level"],
            "options": [str(option) for option in scale["options"]],
            **{side: [str(option) for option in scale[side]] for side in SIDES},
            "penalty": scale["penalty"],
            "readings": {text: str(option) for text, option in scale["readings"].items()},
        }
        for name, scale in judging["scales"].items()
    ]


def judgement_files(config: Config, find_shipped: Callable[[str], str]) -> dict[str, list[str]]:
    """The files of each source of judgements.

    Raises:
        StudyError: there is nothing at a path.
    """
    judging = config["judging"] or {"sources": {}}
    return {
        name: _source_files(name, source["path"], find_shipped)
        for name, source in judging["sources"].items()
    }


def _source_files(name: str, path: str, find_shipped: Callable[[str], str]) -> list[str]:
    for place in (path, find_shipped(path)):
        if files := files_at(place):
            return files
    raise StudyError(f"judging.sources.{name}.path: nothing at {path}; correct the path")


def broken_judging(config: Config) -> Iterator[str]:
    """What is wrong with `judging`, a sentence each; nothing where the study has none."""
    judging = config["judging"]
    if judging is None:
        return
    if Path(judging["key_file"]).parts[:1] == ("results",):
        yield (
            f"judging.key_file: {judging['key_file']} lies under results, which may be deleted and "
            f"shared; keep the key elsewhere, as in resources/judging/key"
        )
    for name, scale in judging["scales"].items():
        yield from _broken_scale(f"judging.scales.{name}", scale)
    for name, source in judging["sources"].items():
        yield from _broken_source(f"judging.sources.{name}", source, judging["scales"])


def _broken_scale(setting: str, scale: Config) -> Iterator[str]:
    options = [str(option) for option in scale["options"]]
    names = ", ".join(options)
    if len(set(options)) < len(options):
        yield f"{setting}.options: two options are alike as texts ({names}); name each once"
    for key in SIDES:
        for option in scale[key]:
            if str(option) not in options:
                yield f"{setting}.{key}: {str(option)!r} is no option of the scale ({names})"
    for spelling, option in scale["readings"].items():
        if str(option) not in options:
            yield (
                f"{setting}.readings.{spelling}: {str(option)!r} is no option of the scale ({names})"
            )
    shared_options = {str(o) for o in scale["prefers_a"]} & {str(o) for o in scale["prefers_b"]}
    if shared_options:
        yield (
            f"{setting}: {min(shared_options)!r} prefers both answers; name it in one of "
            f"prefers_a and prefers_b"
        )
    if bool(scale["prefers_a"]) != bool(scale["prefers_b"]):
        yield f"{setting}: give both prefers_a and prefers_b, or neither"


def _broken_source(setting: str, source: Config, scales: Config) -> Iterator[str]:
    columns = source["columns"]
    for key in ("scale", "rater_kind"):
        if (source[key] is None) == (columns.get(key) is None):
            problem = "both are given" if source[key] is not None else "neither is given"
            yield f"{setting}: {problem} of {key} and columns.{key}; give one of them"
    if source["scale"] is not None and source["scale"] not in scales:
        names = ", ".join(scales)
        yield f"{setting}.scale: {source['scale']!r} is not in judging.scales ({names})"
