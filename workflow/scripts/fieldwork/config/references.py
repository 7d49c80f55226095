"""Which settings name entries of other settings, so that nothing names what there is not.

Owns the table of them, and the sentence on a name that nothing has. Read while Snakemake parses the
workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fieldwork.config.layers import Config, values_at
from fieldwork.config.models import is_recorded
from fieldwork.records.field import FIELD


class NameReference(NamedTuple):
    """Settings that name entries.

    Attributes:
        setting: its keys from the top, where `*` stands for every entry. It names what its text says, or
            each text of its list, or each key of its mapping; null names nothing.
        registries: the settings that have entries of these names, a `*` for what it is in `setting`;
            `field` has one where the study has real users.
        other_names: names that mean something else there.
        is_asked: whether the model that is named must be one that can be asked.
        formats: only entries of these formats name it; empty for all.
    """

    setting: str
    registries: tuple[str, ...]
    other_names: tuple[str, ...] = ()
    is_asked: bool = False
    formats: tuple[str, ...] = ()


_SELECTED_CONDITIONS = ("study.conditions", FIELD)
_SOURCES = ("corpora", "datasets", "recordings")
_OF_FILES = ("items", "mmlu", "ethics")

REFERENCES_OF_ORIGINS = (
    NameReference("tasks.*.of", ("tasks",)),
    NameReference("waves.of", ("conditions",)),
)
"""What tasks are derived from, and which conditions are asked anew: they add to the config."""

REFERENCES = (
    NameReference("study.models", ("models",)),
    NameReference("study.conditions", ("conditions",)),
    NameReference("study.tasks", ("tasks",)),
    NameReference("study.corpus", ("corpora",)),
    NameReference("study.primary.*.models", ("study.models",)),
    NameReference("study.primary.*.tasks", ("study.tasks",)),
    NameReference("study.primary.*.conditions", _SELECTED_CONDITIONS),
    NameReference("models.*.recording", ("recordings",)),
    NameReference("conditions.*.corpus", ("corpora",)),
    NameReference("conditions.*.after", ("conditions",)),
    NameReference("conditions.*.same_users_as", ("conditions",)),
    NameReference("conditions.*.select.model", ("models",), is_asked=True),
    NameReference("conditions.*.select.scale", ("judging.scales",)),
    NameReference("recordings.*.conditions", ("conditions",)),
    NameReference("recordings.*.tasks", ("tasks",)),
    NameReference("profiles.*.dataset", ("datasets",)),
    NameReference("tasks.*.sources.*.dataset", ("datasets",), formats=_OF_FILES),
    NameReference("tasks.*.sources.*.dataset", ("recordings",), formats=("recording",)),
    NameReference("tasks.*.put.translated.dataset", ("datasets",), formats=_OF_FILES),
    NameReference("tasks.*.put.translated.dataset", ("recordings",), formats=("recording",)),
    NameReference("memory.corpus", ("corpora",)),
    NameReference("memory.model", ("models",), is_asked=True),
    NameReference("memory.verify.units", ("judging.units",)),
    NameReference("judging.scales.*.accepted", ("judging.scales.*.options",)),
    NameReference("judging.scales.*.prefers_a", ("judging.scales.*.options",)),
    NameReference("judging.scales.*.prefers_b", ("judging.scales.*.options",)),
    NameReference("judging.scales.*.readings.*", ("judging.scales.*.options",)),
    NameReference("judging.units.*.scale", ("judging.scales",)),
    NameReference("judging.units.*.why.scale", ("judging.scales",)),
    NameReference("judging.units.*.model", ("study.models",)),
    NameReference("judging.units.*.conditions", ("study.conditions",)),
    NameReference("judging.units.*.tasks", ("study.tasks",)),
    NameReference("judging.judges.models", ("models",), is_asked=True),
    NameReference("judging.judges.units", ("judging.units",)),
    NameReference("judging.judges.prompts", ("judging.units",)),
    NameReference("judging.learn", ("judging.units",)),
    NameReference("judging.sources.*.scale", ("judging.scales",)),
    NameReference("field.models.*", ("study.models",)),
    NameReference("field_kit.tasks", ("tasks",)),
    NameReference("field_kit.platforms", ("models",)),
    NameReference("metrics.baseline", ("conditions",)),
    NameReference("calibration.tasks", ("study.tasks",)),
    NameReference("calibration.conditions", ("study.conditions",)),
    NameReference("figures.categories", ("study.tasks",)),
    NameReference("figures.*", ("study.tasks",), ("auto",)),
    NameReference("figure_styles", ("conditions",), (FIELD,)),
    NameReference("arms.conditions", ("study.conditions",)),
    NameReference("archive.texts", _SOURCES),
)


def broken_references(
    config: Config, references: Iterable[NameReference] = REFERENCES
) -> Iterator[str]:
    """Names of what there is not, a sentence each, in the order of the table."""
    for one in references:
        for keys, value, around in values_at(config, one.setting.split(".")):
            if not one.formats or around["format"] in one.formats:
                for name in map(str, [value] if isinstance(value, str | int) else value or ()):
                    yield from _broken_name(keys, name, one, config)


def _broken_name(
    keys: Sequence[str], name: str, reference: NameReference, config: Config
) -> Iterator[str]:
    setting, places = ".".join(keys), [place.split(".") for place in reference.registries]
    # the same entry of the same mapping
    places = [[*keys[: len(p) - 1], p[-1]] if "*" in p else p for p in places]
    names = [one for place in places for one in _names_at(config, place)]
    if name not in (*names, *reference.other_names):
        homes = " or ".join(".".join(place) for place in places if place != [FIELD])
        way_out = "select it there, or correct" if homes.startswith("study.") else "correct"
        yield (
            f"{setting}: {name!r} is not in {homes} (there are {', '.join(names) or 'none'}); {way_out} "
            f"the name"
        )
    elif reference.is_asked and is_recorded(config["models"][name]):
        yield f"{setting}: the answers of {name!r} are recorded, so it cannot be asked; name another"


def _names_at(config: Config, place: Sequence[str]) -> list[str]:
    """The names of what stands at a place of the config; of a mapping in alphabetical order."""
    entries = next((value for _, value, _ in values_at(config, place)), None) or ()
    if place == [FIELD]:
        return [FIELD] if entries else []
    return sorted(entries) if isinstance(entries, dict) else [*map(str, entries)]
