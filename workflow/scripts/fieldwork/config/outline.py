"""What findings and page need to know of a study beside its tables: its question, names and labels.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections import Counter
from collections.abc import Mapping

from fieldwork.conditions import WHO_ASKS, kind_of
from fieldwork.config.figures import leaderboard_note
from fieldwork.config.filling import judging_of
from fieldwork.config.judging import pair_sides
from fieldwork.config.layers import Config
from fieldwork.config.study import Study
from fieldwork.config.waves import later_waves
from fieldwork.records.field import FIELD


def question_of(study: Study) -> str | None:
    """The question that findings and page begin with; None of a study without users that names none."""
    question: str | None = study.config["study"]["question"]
    return question or (WHO_ASKS if study.users_and_controls()["users"] else None)


REAL_USERS = "by real users"


def condition_phrases(study: Study, labels: Mapping[str, str]) -> dict[str, str]:
    """How questions are asked under each condition, in the words of a reader, each its own."""
    controls = study.users_and_controls()["controls"]
    entries = study.entries("conditions")
    # of answers that are only read the baseline may be no part of the study
    temperature = entries.get(study.baseline, {}).get("temperature")
    later = later_waves(study.config)
    phrases = {}
    for name, entry in entries.items():
        kind = kind_of(entry)
        phrases[name] = "repeated without a user" if name in controls else kind.phrase
        if not kind.has_user and temperature not in (None, entry["temperature"]):
            phrases[name] += (
                f" at temperature {entry['temperature']:g}"
                if entry["temperature"]
                else ", always the likeliest answer (temperature 0)"
            )
        if wave := entry.get("wave"):
            phrases[name] = (
                f"again in {wave}"
                if name in later and not kind.has_user
                else f"{phrases[name]} in {wave}"
            )
    phrases |= {FIELD: REAL_USERS} if FIELD in labels else {}
    counts = Counter(phrases.values())
    return {
        name: phrase
        if counts[phrase] == 1 or name == study.baseline
        else f"{phrase} ({labels.get(name, name)})"
        for name, phrase in phrases.items()
    }


def outline_settings(study: Study) -> Config:
    """What the findings need to know; keys are those of their `StudyOutline`."""
    notes = [leaderboard_note(study.config, task) for task in study.tasks]
    drawing = study.drawing()
    labels = drawing["condition_labels"]
    return {
        "name": study.name,
        "question": question_of(study),
        "models": drawing["model_labels"],
        "tasks": study.tasks,
        "conditions": labels,
        "phrases": condition_phrases(study, labels),
        "corpora": study.corpora(),
        "waves": sorted({*study.waves().values()}),
        "baseline": study.baseline,
        "rarest_users": study.config["metrics"]["rarest_users"],
        **study.users_and_controls(),
        "notes": [note for note in [drawing["note"], *notes] if note],
        "model_limits": [
            f"{model['label']}: {model['limits']}"
            for model in study.entries("models").values()
            if model.get("limits")
        ],
        "retrieval": [
            name
            for name, entry in study.entries("conditions").items()
            if kind_of(entry).is_retrieved
        ],
        "unit_kinds": {
            entry["scale"]: entry["of"] for entry in judging_of(study.config)["units"].values()
        },
        "pairs": {
            scale: [labels.get(condition, condition) for condition in conditions]
            for scale, conditions in pair_sides(study.config).items()
        },
    }
