"""The survey as one web page: nothing is loaded, nothing is sent, everything is in the file.

Promises that whatever stands in a prompt, a question or a text is shown and never run: markup is
escaped, and the page's policy names the hashes of its one script and its one style.
"""

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fieldwork.field.kit.survey import Survey, page_columns
from fieldwork.page_templates import fill, inline_text, page_policy, script_json
from fieldwork.page_texts import is_draft, paragraphs


class PageTemplate(NamedTuple):
    """The parts of the page as they are shipped, and the page's own file name for messages."""

    page: str
    style: str
    script: str
    source: str


def render(survey: Survey, template: PageTemplate, words: Mapping[str, str], consent: str) -> str:
    """The whole page.

    Raises:
        StudyError: the template has an unknown placeholder.
    """
    style, script = inline_text(template.style), inline_text(template.script)
    parts = {f"text {name}": html.escape(text) for name, text in words.items()}
    parts |= {
        "policy": html.escape(page_policy(style, script), quote=True),
        "css": style,
        "js": script,
        "data": _data(survey, words),
        "consent": paragraphs(consent),
        "draft": _draft(words) if is_draft(consent) else "",
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
    return fill(template.page, parts, template.source)


def _data(survey: Survey, words: Mapping[str, str]) -> str:
    """What the script reads."""
    return script_json(
        {
            "study": survey.study,
            "survey": survey.digest,
            "columns": page_columns(survey),
            "variables": [question.variable for question in survey.questions],
            "platforms": [*survey.platforms.items()],
            "prompts": [{"key": prompt.key, "text": prompt.text} for prompt in survey.prompts],
            "repeats": survey.repeats,
            "texts": dict(words),
        }
    )


def _draft(words: Mapping[str, str]) -> str:
    return f'<p class="note warning" role="note">{html.escape(words["draft"])}</p>'


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
