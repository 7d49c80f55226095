"""What the survey's page asks: who the participant is, and each prompt."""

import html
from collections.abc import Mapping, Sequence

from fieldwork.answer_pages import PageContent
from fieldwork.field.kit.survey import Survey, page_columns


def survey_content(survey: Survey, words: Mapping[str, str]) -> PageContent:
    """The survey as the content of a page; prompts are data, and questions are escaped."""
    parts = {
        "platforms": _radios(
            "model", words["platform"], [*survey.platforms.items()], hint=words["platform_hint"]
        ),
        "groups": "\n".join(
            _radios(
                f"group-{number}",
                question.text,
                [*((option, option) for option in question.options), ("", words["not_said"])],
                variable=question.variable,
            )
            for number, question in enumerate(survey.questions)
        ),
    }
    data = {
        "study": survey.study,
        "survey": survey.digest,
        "columns": page_columns(survey),
        "variables": [question.variable for question in survey.questions],
        "platforms": [*survey.platforms.items()],
        "prompts": [{"key": prompt.key, "text": prompt.text} for prompt in survey.prompts],
        "repeats": survey.repeats,
    }
    return PageContent("prompts", data, parts)


def _radios(
    name: str,
    legend: str,
    options: Sequence[tuple[str, str]],
    *,
    hint: str | None = None,
    variable: str | None = None,
) -> str:
    """A group of radio buttons; one about the participant (`variable`) may be left out."""
    description = f' aria-describedby="{name}-hint"' if hint else ""
    marks = f' data-variable="{html.escape(variable)}"' if variable else " required"
    lines = [f"<fieldset{description}>", f"<legend>{html.escape(legend)}</legend>"]
    if hint:
        lines.append(f'<p class="hint" id="{name}-hint">{html.escape(hint)}</p>')
    lines += [
        f'<label class="tick"><input type="radio" name="{name}" value="{html.escape(value)}"'
        f"{marks}> <span>{html.escape(label)}</span></label>"
        for value, label in options
    ]
    return "\n".join([*lines, "</fieldset>"])
