"""Which settings name entries of other settings, so that nothing names what there is not.

Owns the table of them, and the sentence on a name that nothing has. Read while Snakemake parses the
workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fieldwork.config.layers import Config, values_at
from fieldwork.config.models import is_recorded
from fieldwork.records.field import FIELD


class Reference(NamedTuple):
    """Settings that name entries.

    Attributes:
        setting: its keys from the top, where `*` stands for every entry. It names what its text says, or
            each text of its list, or each key of its mapping; null names nothing.
        among: the settings that have entries of these names, a `*` for what it is in `setting`; `field`
            has one where the study has real users.
        others: names that mean something else there.
        is_asked: whether the model that is named must be one that can be asked.
        formats: only entries of these formats name it; empty for all.
    """

    setting: str
    among: tuple[str, ...]
    others: tuple[str, ...] = ()
    is_asked: bool = False
    formats: tuple[str, ...] = ()


_SELECTED_CONDITIONS = ("study.conditions", FIELD)
_SOURCES = ("corpora", "datasets", "recordings")
_OF_FILES = ("items", "mmlu", "ethics")

REFERENCES_OF_ORIGINS = (
    Reference("tasks.*.of", ("tasks",)),
    Reference("waves.of", ("conditions",)),
)
"""What tasks are derived from, and which conditions are asked anew: they add to the config."""

REFERENCES = (
    Reference("study.models", ("models",)),
    Reference("study.conditions", ("conditions",)),
    Reference("study.tasks", ("tasks",)),
    Reference("study.corpus", ("corpora",)),
    Reference("study.primary.*.models", ("study.models",)),
    Reference("study.primary.*.tasks", ("study.tasks",)),
    Reference("study.primary.*.conditions", _SELECTED_CONDITIONS),
    Reference("models.*.recording", ("recordings",)),
    Reference("conditions.*.corpus", ("corpora",)),
    Reference("conditions.*.after", ("conditions",)),
    Reference("conditions.*.same_users_as", ("conditions",)),
    Reference("conditions.*.select.model", ("models",), is_asked=True),
    Reference("conditions.*.select.scale", ("judging.scales",)),
    Reference("recordings.*.conditions", ("conditions",)),
    Reference("recordings.*.tasks", ("tasks",)),
    Reference("profiles.*.dataset", ("datasets",)),
    Reference("tasks.*.sources.*.dataset", ("datasets",), formats=_OF_FILES),
    Reference("tasks.*.sources.*.dataset", ("recordings",), formats=("recording",)),
    Reference("tasks.*.put.translated.dataset", ("datasets",), formats=_OF_FILES),
    Reference("tasks.*.put.translated.dataset", ("recordings",), formats=("recording",)),
    Reference("memory.corpus", ("corpora",)),
    Reference("memory.model", ("models",), is_asked=True),
    Reference("memory.verify.units", ("judging.units",)),
    Reference("judging.scales.*.accepted", ("judging.scales.*.options",)),
    Reference("judging.scales.*.prefers_a", ("judging.scales.*.options",)),
    Reference("judging.scales.*.prefers_b", ("judging.scales.*.options",)),
    Reference("judging.scales.*.readings.*", ("judging.scales.*.options",)),
    Reference("judging.units.*.scale", ("judging.scales",)),
    Reference("judging.units.*.why.scale", ("judging.scales",)),
    Reference("judging.units.*.model", ("study.models",)),
    Reference("judging.units.*.conditions", ("study.conditions",)),
    Reference("judging.units.*.tasks", ("study.tasks",)),
    Reference("judging.judges.models", ("models",), is_asked=True),
    Reference("judging.judges.units", ("judging.units",)),
    Reference("judging.judges.prompts", ("judging.units",)),
    Reference("judging.learn", ("judging.units",)),
    Reference("judging.sources.*.scale", ("judging.scales",)),
    Reference("field.models.*", ("study.models",)),
    Reference("field_kit.tasks", ("tasks",)),
    Reference("field_kit.platforms", ("models",)),
    Reference("metrics.baseline", ("conditions",)),
    Reference("calibration.tasks", ("study.tasks",)),
    Reference("calibration.conditions", ("study.conditions",)),
    Reference("figures.categories", ("study.tasks",)),
    Reference("figures.*", ("study.tasks",), ("auto",)),
    Reference("figure_styles", ("conditions",), (FIELD,)),
    Reference("arms.conditions", ("study.conditions",)),
    Reference("archive.texts", _SOURCES),
)


def broken_references(
    config: Config, references: Iterable[Reference] = REFERENCES
) -> Iterator[str]:
    """Names of what there is not, a sentence each, in the order of the table."""
    for one in references:
        for keys, value, around in values_at(config, one.setting.split(".")):
            if not one.formats or around["format"] in one.formats:
                for name in map(str, [value] if isinstance(value, str | int) else value or ()):
                    yield from _broken_name(keys, name, one, config)


def _broken_name(
    keys: Sequence[str], name: str, reference: Reference, config: Config
) -> Iterator[str]:
    setting, places = ".".join(keys), [place.split(".") for place in reference.among]
    # the same entry of the same mapping
    places = [[*keys[: len(p) - 1], p[-1]] if "*" in p else p for p in places]
    names = [one for place in places for one in _names_at(config, place)]
    if name not in (*names, *reference.others):
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
