"""A study's preregistration: what it will claim, from how much and how, before anything is asked.

Owns the record that is kept, its page under the headings of the OSF Preregistration form, and the
comparison of a record with the config of today.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.metrics.claims.families import HOLM, correction_of
from fieldwork.metrics.claims.measures import MEASURES
from fieldwork.provenance import digest
from fieldwork.records.columns import table_of
from fieldwork.records.power import PowerRow
from fieldwork.statistics.families import LEVEL

FORMAT = "fieldwork-preregistration-1"

MOST_SETTINGS = 8
"""Changed settings that the findings name; the record has the whole config."""

_PACKING = frozenset(("archive", "archived"))

Form = Mapping[str, Mapping[str, str]]
"""Answers by section and question of the OSF Preregistration form."""


class StudySize(NamedTuple):
    """How much a study asks of one task.

    Attributes:
        n_runs: users of a condition, and reruns without a user.
        replicates: answers of each user to each prompt, by condition.
    """

    task: str
    n_items: int
    n_runs: int
    replicates: Mapping[str, int]


def json_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config made of what JSON knows; dates become texts."""
    copy: dict[str, Any] = json.loads(json.dumps(config, default=str))
    return copy


def read_records(folder: str) -> list[dict[str, Any]]:
    """The records of a folder, the oldest first.

    Raises:
        StudyError: a file is no record.
    """
    return [read_record(path) for path in sorted(Path(folder).glob("*.json"))]


def read_record(path: str | Path) -> dict[str, Any]:
    """A record.

    Raises:
        StudyError: the file is no record.
    """
    try:
        record: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        is_record = record["format"] == FORMAT
    except (ValueError, KeyError, TypeError):
        is_record = False
    if not is_record:
        raise StudyError(f"{path}: is no preregistration; move it out of the folder")
    return record


def write_record(folder: str, record: Mapping[str, Any]) -> Path:
    """Write a record and its page beside each other; return the path of the page."""
    name = f"{record['time'][:19].replace(':', '')}_{record['config_digest']}"
    page = Path(folder, f"{name}.md")
    tables.write_text(page.with_suffix(".json"), json.dumps(record, ensure_ascii=False, indent=1))
    tables.write_text(page, render(record))
    return page


def study_sizes(config: Mapping[str, Any], n_items: Mapping[str, int]) -> list[StudySize]:
    """How much the study asks of each task.

    Args:
        n_items: prompts of each task.
    """
    conditions = config["study"]["conditions"]
    replicates = {name: config["conditions"][name].get("replicates", 1) for name in conditions}
    return [
        StudySize(task, n, config["tasks"][task]["runs"], replicates) for task, n in n_items.items()
    ]


def preregister(
    config: Mapping[str, Any],
    sizes: Sequence[StudySize],
    power: Sequence[PowerRow],
    *,
    n_answers: int,
    time: datetime,
) -> dict[str, Any]:
    """The record, ready for JSON.

    Args:
        config: the whole config, as checked.
        power: rows of `snakemake power`.
        n_answers: answers of this study that were there already.
    """
    return {
        "format": FORMAT,
        "study": config["study"]["name"],
        "time": time.isoformat(timespec="seconds"),
        "config_digest": digest(config),
        "answers_before": n_answers,
        "primary": config["study"]["primary"],
        "sample_sizes": [size._asdict() for size in sizes],
        "power": [*_power_at_size(power, sizes)],
        "form": osf_form(config, sizes, n_answers),
        "config": config,
    }


def _power_at_size(
    power: Sequence[PowerRow], sizes: Sequence[StudySize]
) -> Iterator[dict[str, Any]]:
    """Power at the largest simulated size that the study reaches, for each supposed effect and task.

    Where models or conditions differ, as their tests are corrected otherwise, the least.
    """
    by_task = {size.task: size for size in sizes}
    best: dict[tuple[str, ...], PowerRow] = {}
    for row in power:
        size, key = by_task[row.task], (row.task, row.measure, row.effect, row.family)
        replicates = max(size.replicates.values()) if row.measure == "share_who" else 1
        is_asked = row.condition in size.replicates and row.replicates == replicates
        if row.power is None or not is_asked or row.n_users > size.n_runs:
            continue
        if key not in best or (-row.n_users, row.power) < (-best[key].n_users, best[key].power):
            best[key] = row
    for _, row in sorted(best.items()):
        yield {name: getattr(row, name) for name in _POWER_COLUMNS}


_POWER_COLUMNS = ("task", "measure", "effect", "family", "replicates", "n_users", "power")


def osf_form(config: Mapping[str, Any], sizes: Sequence[StudySize], n_answers: int) -> Form:
    """What the config says, under the headings of the OSF Preregistration form."""
    metrics = config["metrics"]
    baseline = metrics["baseline"]
    return {
        "Study Information": {"Hypotheses": "\n".join(_hypotheses(config))},
        "Design Plan": {
            "Study type": "Experiment on language models with simulated users",
            "Study design": _conditions(config),
            "Randomization": f"Every draw comes from the seed {config['study']['seed']}.",
        },
        "Sampling Plan": {
            "Existing data": (
                f"{n_answers:,} answers of this study existed when it was registered."
                if n_answers
                else "No answer of this study existed when it was registered."
            ),
            "Sample size": "\n".join(map(_sample_size, sizes)),
            "Stopping rule": "Every question is asked as often as given under sample size.",
        },
        "Variables": {
            "Manipulated variables": f"The condition; each is compared with {baseline}.",
            "Measured variables": "\n".join(
                f"{name}: table {table_of(measure.row_type).name}"
                for name, measure in _primary(config)
            ),
        },
        "Analysis Plan": {
            "Statistical models": "Formulas and tests are in docs/methods.md of Fieldwork.",
            "Inference criteria": _inference(metrics["margins"]),
            "Data exclusion": "\n".join(_exclusions(config)),
            "Missing data": "Answers that failed count nowhere; unreadable lists are left out.",
            "Exploratory analysis": "All other tests in the table of claims, by family.",
        },
    }


def _primary(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    names = dict.fromkeys(entry["measure"] for entry in config["study"]["primary"])
    return ((name, MEASURES[name]) for name in names)


def _hypotheses(config: Mapping[str, Any]) -> Iterator[str]:
    for entry in config["study"]["primary"]:
        limits = [
            f"{setting}: {', '.join(names)}"
            for setting, names in entry.items()
            if setting != "measure" and names
        ]
        yield f"{entry['measure']} differs ({'; '.join(limits) or 'all simulated users'})."


def _conditions(config: Mapping[str, Any]) -> str:
    conditions = (config["conditions"][name] for name in config["study"]["conditions"])
    return "\n".join(f"{entry['label']}: context {entry['context']}" for entry in conditions)


def _sample_size(size: StudySize) -> str:
    answers = ", ".join(f"{name} {n}" for name, n in size.replicates.items())
    return (
        f"{size.task}: {size.n_items} prompts, {size.n_runs} users or reruns a condition; answers to a "
        f"prompt by condition: {answers}."
    )


def _inference(margins: Mapping[str, float]) -> str:
    words = ", ".join(f"{name} {margin:g}" for name, margin in margins.items())
    corrections = {correction_of(name) for name in MEASURES} - {HOLM}
    return (
        f"Primary comparisons are one family, corrected after Holm at {LEVEL:g} over the study. Other "
        f"tests are corrected by measure, after {HOLM} or {', '.join(corrections)}. A difference whose "
        f"95 % interval lies within its margin is equivalent ({words})."
    )


def _exclusions(config: Mapping[str, Any]) -> Iterator[str]:
    filters = ", ".join(f"{name} {value}" for name, value in config["filters"].items())
    yield f"Conversations are filtered by: {filters}."
    if config["field"]:
        checks = config["field"]["exclude"]
        yield f"Participants' answers: {'default checks' if checks is None else ', '.join(checks)}."


def render(record: Mapping[str, Any]) -> str:
    """The record as a page of Markdown, to read or to copy into a form."""
    lines = [
        f"# Preregistration of the study {record['study']}",
        "",
        f"{record['time']}, config {record['config_digest']}. The record beside this page has the whole "
        "config.",
        "",
    ]
    for section, answers in record["form"].items():
        lines += [f"## {section}", ""]
        for question, text in answers.items():
            lines += [f"### {question}", "", *_paragraphs(text)]
    lines += ["## Power at this size", "", *_power_table(record["power"])]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    lines = text.splitlines()
    yield from (lines if len(lines) == 1 else (f"- {line}" for line in lines))
    yield ""


def _power_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "No size that was simulated is within this study's."
        return
    yield f"| {' | '.join(_POWER_COLUMNS)} |"
    yield f"|{'---|' * len(_POWER_COLUMNS)}"
    for row in rows:
        yield f"| {' | '.join(str(row[name]) for name in _POWER_COLUMNS)} |"


def changed_settings(record: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Settings that are other than in the record, by their path, in order; how it is packed is none."""
    old, new = (
        {key: value for key, value in one.items() if key not in _PACKING}
        for one in (record["config"], config)
    )
    return [*_differences(old, new, "")]


def _differences(old_value: Any, value: Any, setting: str) -> Iterator[str]:
    if isinstance(old_value, dict) and isinstance(value, dict):
        for key in sorted(old_value.keys() | value.keys()):
            path = f"{setting}.{key}" if setting else key
            if key in old_value and key in value:
                yield from _differences(old_value[key], value[key], path)
            else:
                yield path
    elif old_value != value:
        yield setting


def registration_note(
    records: Iterable[Mapping[str, Any]], config: Mapping[str, Any]
) -> str | None:
    """What the page of findings says of the first record, in sentences; None without one.

    Args:
        records: as read from their JSON files, the oldest first.
        config: as checked, made of what JSON knows.
    """
    in_order = [*records]
    if not in_order:
        return None
    first = in_order[0]
    n_answers = first["answers_before"]
    answers = f"after {n_answers:,} answers" if n_answers else "before any answer"
    settings = changed_settings(first, config)
    names = [*settings[:MOST_SETTINGS]]
    if len(settings) > MOST_SETTINGS:
        names.append(f"{len(settings) - MOST_SETTINGS} more")
    changes = f"Settings changed since: {', '.join(names)}" if names else "No setting changed"
    more_records = f"; {len(in_order) - 1} more followed" if len(in_order) > 1 else ""
    name = f"config {first['config_digest']}{more_records}"
    return f"{first['time'][:10]}, {answers} ({name}). {changes}."
