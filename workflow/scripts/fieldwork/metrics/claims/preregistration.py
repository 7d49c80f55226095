"""A study's preregistration: what it will claim, from how much and how, before anything is asked.

Owns what a record says, and its page under the headings of the OSF Preregistration form.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from fieldwork.config.models import is_recorded
from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.families import HOLM, correction_of
from fieldwork.metrics.claims.measures import MEASURES
from fieldwork.metrics.claims.registration_records import FORMAT, Record
from fieldwork.metrics.claims.study_hashes import Hashes
from fieldwork.provenance import digest
from fieldwork.records.columns import table_of
from fieldwork.records.power import PowerRow
from fieldwork.statistics.families import LEVEL

NO_POWER = "Every selected model is recorded, so there is no study of another size to plan."

Form = Mapping[str, Mapping[str, str]]
"""Answers by section and question of the OSF Preregistration form."""


class StudySize(NamedTuple):
    """How much a study asks of one task.

    Attributes:
        n_runs: users of a condition, and reruns without a user.
        replicates: answers of each user to each prompt, by condition; empty where all were recorded.
    """

    task: str
    n_items: int
    n_runs: int
    replicates: Mapping[str, int]


def json_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config made of what JSON knows; dates become texts."""
    copy: dict[str, Any] = json.loads(json.dumps(config, default=str))
    return copy


def study_sizes(config: Mapping[str, Any], n_items: Mapping[str, int]) -> list[StudySize]:
    """How much the study asks of each task.

    Args:
        n_items: prompts of each task.
    """
    conditions = config["study"]["conditions"] if asks_models(config) else []
    replicates = {name: config["conditions"][name].get("replicates", 1) for name in conditions}
    return [
        StudySize(task, n, config["tasks"][task]["runs"], replicates) for task, n in n_items.items()
    ]


def recorded_models(config: Mapping[str, Any]) -> list[str]:
    """The selected models whose answers were collected elsewhere."""
    return [name for name in config["study"]["models"] if is_recorded(config["models"][name])]


def asks_models(config: Mapping[str, Any]) -> bool:
    """Whether any selected model is asked."""
    return len(recorded_models(config)) < len(config["study"]["models"])


def preregister(
    config: Mapping[str, Any],
    sizes: Sequence[StudySize],
    power: Sequence[PowerRow],
    hashes: Hashes,
    time: datetime,
    *,
    n_read: int,
    n_stored: int,
) -> Record:
    """What a record says, ready for JSON; its place among other records is not in it yet.

    Args:
        config: the whole config, as checked.
        power: rows of `snakemake power`; none where no model is asked.
        n_read: rows in the study's tables of responses.
        n_stored: answers in the ledgers of its models, to this study and others.
    """
    record: Record = {
        "format": FORMAT,
        "study": config["study"]["name"],
        "time": time.isoformat(timespec="seconds"),
        "config_digest": digest(config),
        "answers_before": n_read,
        "answers_stored": n_stored,
        "recorded_models": recorded_models(config),
        "hashes": hashes,
        "primary": config["study"]["primary"],
        "sample_sizes": [size._asdict() for size in sizes],
        "power": [*_power_at_size(power, sizes)],
        "power_reason": None if asks_models(config) else NO_POWER,
        "form": {},
        "config": config,
    }
    return record | {"form": osf_form(record, sizes)}


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


def osf_form(record: Record, sizes: Sequence[StudySize]) -> Form:
    """What a record says, under the headings of the OSF Preregistration form."""
    config, metrics = record["config"], record["config"]["metrics"]
    baseline = metrics["baseline"]
    return {
        "Study Information": {"Hypotheses": "\n".join(_hypotheses(config))},
        "Design Plan": {
            "Study type": "Experiment on language models with simulated users",
            "Study design": _conditions(config),
            "Randomization": f"Every draw comes from the seed {config['study']['seed']}.",
        },
        "Sampling Plan": {
            "Existing data": " ".join(_existing_data(record)),
            "Sample size": "\n".join(map(_sample_size, sizes)),
            "Stopping rule": (
                "Every question is asked as often as given under sample size."
                if asks_models(config)
                else "No question is asked; all answers of the recordings count."
            ),
        },
        "Variables": {
            "Manipulated variables": f"The condition; each is compared with {baseline}.",
            "Measured variables": "\n".join(
                f"{name}: table {table_of(MEASURES[name].row_type).name}"
                for name in dict.fromkeys(entry["measure"] for entry in record["primary"])
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


def _existing_data(record: Record) -> Iterator[str]:
    models, n_stored = record["recorded_models"], record["answers_stored"]
    if record["answers_before"]:
        yield f"{record['answers_before']:,} answers of this study existed when it was registered."
    elif models:
        yield "No answer had been read by Fieldwork when this study was registered."
    else:
        yield "No answer of this study existed when it was registered."
    if models:
        yield f"The answers of {', '.join(models)} had been recorded elsewhere before."
    if n_stored:
        yield f"{n_stored:,} answers of its models were stored, to this study or others."


def answers_before(record: Mapping[str, Any]) -> str:
    """What was answered before a record was written, as half a sentence."""
    n_read, n_stored = record["answers_before"], record.get("answers_stored", 0)
    names = ", ".join(record.get("recorded_models", ()))
    clause = f"after {n_read:,} answers" if n_read else "before any answer"
    if names:
        clause += "" if n_read else " was read"
        clause += f", those of {names} recorded elsewhere"
    if n_stored > n_read:
        clause += f", with {n_stored:,} answers of its models stored, to this study or others"
    return clause


def _sample_size(size: StudySize) -> str:
    if not size.replicates:
        return f"{size.task}: {size.n_items} prompts, with all answers that were recorded."
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
        f"# Preregistration of the study {literal(record['study'])}",
        "",
        f"{record['time']}, digest {record['digest']}, config {record['config_digest']}. The record "
        "beside this page has the whole config.",
        "",
    ]
    for section, answers in record["form"].items():
        lines += [f"## {section}", ""]
        for question, text in answers.items():
            lines += [f"### {question}", "", *_paragraphs(text)]
    lines += ["## Power at this size", "", *_power_table(record), ""]
    lines += ["## Questions, files and code, by sha256", "", *_hash_table(record["hashes"])]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    lines = text.splitlines()
    yield from (f"{'- ' if len(lines) > 1 else ''}{literal(line)}" for line in lines)
    yield ""


def _power_table(record: Mapping[str, Any]) -> Iterator[str]:
    rows = record["power"]
    if not rows:
        yield record["power_reason"] or "No size that was simulated is within this study's."
        return
    yield f"| {' | '.join(_POWER_COLUMNS)} |"
    yield f"|{'---|' * len(_POWER_COLUMNS)}"
    for row in rows:
        yield f"| {' | '.join(literal(str(row[name])) for name in _POWER_COLUMNS)} |"


def _hash_table(hashes: Hashes) -> Iterator[str]:
    yield "| kind | name | sha256 |"
    yield "|---|---|---|"
    for kind, named_hashes in hashes.items():
        for name, sha256 in named_hashes.items():
            yield f"| {kind} | {literal(name)} | {sha256 or 'not here'} |"
