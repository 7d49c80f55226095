"""Licences of corpora, datasets and recordings: which let others hand the texts on.

Owns which sources of a study an archive may hold the texts of, and the sentence why or why not. Read
while Snakemake parses the workflow, so it imports no scientific package.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from fieldwork.conditions import materials_of
from fieldwork.config.explorer import is_shipped
from fieldwork.config.layers import Config
from fieldwork.config.memory import memory_conditions, memory_corpus
from fieldwork.config.study import Study
from fieldwork.config.variants import source_settings

Use = Literal["conversations", "profiles", "questions", "answers"]

_OPEN = re.compile(
    r"(CC0|CC-BY|CC-BY-SA|CC-BY-NC|CC-BY-NC-SA|ODC-BY|ODBL|PDDL|MIT|MIT-0|APACHE|BSD-\d-CLAUSE|ISC"
    r"|CDLA-PERMISSIVE|CDLA-SHARING|UNLICENSE)(-\d[\d.]*)?(-ONLY|-OR-LATER)?"
)
"""Licences, without their versions, under which texts may be handed on, in parts too, with a note of
where they come from. Licences that allow whole copies only are not among them."""


class Source(NamedTuple):
    """Where texts of a study come from.

    Attributes:
        setting: the registry and the entry.
        uses: what the study takes from it; the strictest use decides.
        origin: the path, or repository and revision.
        files: those at the path; none for a download.
        is_open: whether an archive holds the texts.
        reason: why, or why not.
    """

    name: str
    setting: str
    uses: list[Use]
    origin: str
    files: list[str]
    license: str | None
    is_open: bool
    reason: str


def is_open_licence(name: str) -> bool:
    """Whether a licence lets everybody hand texts on, in parts too."""
    return _OPEN.fullmatch(name.strip().upper().replace(" ", "-")) is not None


def sources_of(study: Study) -> dict[str, Source]:
    """Where the study's texts come from, by the name of the entry."""
    uses: dict[str, list[Use]] = {}
    for name, use in _uses(study):
        if use not in uses.setdefault(name, []):
            uses[name].append(use)
    return {name: _source(study, name, of_name) for name, of_name in uses.items()}


def _uses(study: Study) -> Iterator[tuple[str, Use]]:
    for corpus in study.corpora():
        yield corpus, "conversations"
    if study.profiles():
        profiles = study.config["profiles"]
        yield profiles["personas"]["dataset"], "profiles"
        if profiles["sentences_per_profile"]:
            yield profiles["sentences"]["dataset"], "profiles"
    for task in study.tasks:
        for part in source_settings(study.config, task).values():
            yield part["dataset"], "answers" if part["format"] == "recording" else "questions"
    for model in study.entries("models").values():
        if model["provider"] == "recorded":
            yield model["recording"], "answers"


def _source(study: Study, name: str, uses: list[Use]) -> Source:
    registry = next(r for r in ("corpora", "datasets", "recordings") if name in study.config[r])
    entry, path = study.config[registry][name], study.location(name)["path"]
    files = study.source(name) if path is not None else []
    origin = path if path is not None else f"{entry['repo']} at {entry['revision']}"
    # False comes first: a source is closed where one of its uses is
    is_open, reason = min(
        (_judgement(study, name, use, entry, files) for use in uses), key=lambda one: one[0]
    )
    return Source(
        name, f"{registry}.{name}", uses, str(origin), files, entry["license"], is_open, reason
    )


def _judgement(
    study: Study, name: str, use: Use, entry: Config, files: list[str]
) -> tuple[bool, str]:
    """Whether an archive holds the texts of a source, and why."""
    choice: bool | None = study.config["archive"]["texts"].get(name)
    if choice is not None:
        return choice, f"archive.texts.{name} says so"
    is_of_users = use in ("conversations", "profiles")
    if is_of_users and study.config["explorer"]["contexts"] in ("ids", "none"):
        return False, f"explorer.contexts is {study.config['explorer']['contexts']}"
    license_name: str | None = entry["license"]
    if license_name is not None:
        is_open = is_open_licence(license_name)
        verb = "lets texts be handed on" if is_open else "does not let everybody hand texts on"
        return is_open, f"{license_name} {verb}"
    if files and all(map(is_shipped, files)):
        return True, "it comes with Fieldwork, whose licence is MIT"
    if use == "questions" and files:
        return True, "they are the study's own questions"
    return False, "its licence is not known"


def closed_sources_of(study: Study, condition: str, sources: dict[str, Source]) -> list[Source]:
    """The sources of a condition's contexts whose texts stay out."""
    entry = study.condition(condition)
    materials, config = materials_of(entry), study.config
    names = [entry["corpus"]] if "conversations" in materials else []
    if "memories" in materials and memory_conditions(config):
        names.append(memory_corpus(config))
    if "profiles" in materials:
        names += [n for n, one in sources.items() if "profiles" in one.uses]
    return [sources[name] for name in dict.fromkeys(names) if not sources[name].is_open]
