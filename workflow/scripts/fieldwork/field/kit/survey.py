"""The survey of a field study: what is asked, and the column maps by which its answers come back.

Owns the columns of the page's CSV. Whatever writes a survey takes its names from here, so that the maps
name exactly what is written.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item

_FIRST_COLUMNS = ("participant", "platform", "model", "prompt", "position", "answer")
_LAST_COLUMNS = ("started", "ended", "survey")
_QUALTRICS_COLUMNS = ("consent",)


class SurveyPrompt(NamedTuple):
    """A prompt that participants send."""

    task: str
    item_id: str
    text: str

    @property
    def key(self) -> str:
        """Its name in column maps and in the page's CSV."""
        return f"{self.task}/{self.item_id}"


class SurveyQuestion(NamedTuple):
    """A question about the participant; "prefer not to say" comes on top of the options."""

    variable: str
    text: str
    options: Sequence[str]


class Survey(NamedTuple):
    """All that is asked.

    Attributes:
        repeats: how often a participant sends each prompt.
        platforms: what participants call it, by model name in the config.
    """

    study: str
    prompts: Sequence[SurveyPrompt]
    repeats: int
    platforms: Mapping[str, str]
    questions: Sequence[SurveyQuestion]

    @property
    def digest(self) -> str:
        """Tells surveys apart: another prompt, model or question makes another one."""
        text = json.dumps([self.prompts, self.repeats, dict(self.platforms), self.questions])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def survey_of(
    study: str,
    items: Mapping[str, Sequence[Item]],
    settings: Mapping[str, Any],
    labels: Mapping[str, str],
) -> Survey:
    """The survey that the section `field_kit` of a config describes.

    Args:
        items: items of each task that is asked, in order.
        settings: the section.
        labels: what figures call the study's models, by model name.

    Raises:
        StudyError: there is no prompt, or two questions, options or platforms have one name.
    """
    prompts = [
        SurveyPrompt(task, item.item_id, item.prompt) for task in items for item in items[task]
    ]
    if not prompts:
        raise StudyError(
            "field_kit.tasks: there is no prompt to ask; choose tasks that have items in the config"
        )
    platforms = {model: settings["platforms"].get(model, label) for model, label in labels.items()}
    _refuse_repeated("field_kit.platforms", platforms.values())
    questions = [
        SurveyQuestion(variable, entry["question"], entry["options"])
        for variable, entry in settings["groups"].items()
    ]
    reserved_columns = {*_FIRST_COLUMNS, *_LAST_COLUMNS, *_QUALTRICS_COLUMNS}
    for question in questions:
        setting = f"field_kit.groups.{question.variable}"
        if question.variable.lower() in reserved_columns:
            raise StudyError(
                f"{setting}: this name is taken by another column of the answers; choose another"
            )
        _refuse_repeated(f"{setting}.options", question.options)
    _refuse_repeated("field_kit.groups", (question.variable for question in questions))
    return Survey(study, prompts, settings["repeats"], platforms, questions)


def _refuse_repeated(setting: str, names: Any) -> None:
    counts = Counter(str(name).strip().casefold() for name in names)
    repeated_names = [name for name, n in counts.items() if n > 1]
    if repeated_names:
        raise StudyError(f"{setting}: {repeated_names[0]!r} is listed twice; make the names differ")


def page_columns(survey: Survey) -> list[str]:
    """The header of the page's CSV, which has a row for each prompt that a participant was asked."""
    return [*_FIRST_COLUMNS, *(question.variable for question in survey.questions), *_LAST_COLUMNS]


def page_map(survey: Survey, path: str) -> dict[str, Any]:
    """The setting `field` that imports the page's files.

    Args:
        path: folder that the files will lie in.
    """
    return {
        "path": path,
        "layout": "long",
        "columns": {
            **{name: name for name in _FIRST_COLUMNS},
            "groups": {question.variable: question.variable for question in survey.questions},
        },
        "prompts": {prompt.key: prompt.key for prompt in survey.prompts},
        "models": {model: model for model in survey.platforms},
    }


def qualtrics_map(survey: Survey, path: str, ids: Mapping[str, str], agree: str) -> dict[str, Any]:
    """The setting `field` that imports a Qualtrics export.

    Args:
        path: folder that the export will lie in.
        ids: question id of each prompt, by the prompt's key.
        agree: the answer that gives consent; exports of choice values have its number, 1.
    """
    return {
        "path": path,
        "layout": "wide",
        "columns": {
            "participant": "participant",
            "platform": "platform",
            "model": "platform",
            "groups": {question.variable: question.variable for question in survey.questions},
        },
        "prompts": dict(ids),
        "rows": {"consent": [agree, "1"]},
        "models": {label: model for model, label in survey.platforms.items()},
    }
