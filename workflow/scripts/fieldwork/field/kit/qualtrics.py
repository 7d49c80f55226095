"""The survey in Qualtrics' advanced text format (Survey > Tools > Import/Export > Import survey).

Owns the question ids, which name the columns of the export. The format knows no order of questions and
no logic, so both are switches that the kit's README names. Texts are HTML there.
"""

import html
import re
from collections.abc import Iterable, Mapping

from fieldwork.field.kit.survey import Survey, SurveyPrompt
from fieldwork.page_texts import paragraphs

_LONGEST_ID = 40


def question_ids(survey: Survey) -> dict[str, str]:
    """Question id of each prompt, by its key; exports keep letters, digits and underscores only."""
    return {
        prompt.key: f"p{number:02}_{re.sub(r'[^A-Za-z0-9]+', '_', prompt.item_id)}"[:_LONGEST_ID]
        for number, prompt in enumerate(survey.prompts, start=1)
    }


def render(survey: Survey, words: Mapping[str, str], consent: str) -> str:
    """The whole file."""
    ids = question_ids(survey)
    parts = [
        "[[AdvancedFormat]]",
        "[[ED:PROLIFIC_PID]]",
        "[[Block:Consent]]",
        _choice("consent", _inline(consent), [words["agree"], words["disagree"]]),
        "[[Block:About]]",
        f"[[Question:TE:SingleLine]]\n[[ID:participant]]\n"
        f"{_text(words['code'])}<br>{_text(words['code_hint'])}",
        _choice("platform", _text(words["platform"]), survey.platforms.values()),
        *(
            _choice(q.variable, _text(q.text), [*q.options, words["not_said"]])
            for q in survey.questions
        ),
        "[[Block:Prompts]]",
        *(_prompt(prompt, ids[prompt.key], words) for prompt in survey.prompts),
    ]
    return "\n\n".join(parts) + "\n"


def _prompt(prompt: SurveyPrompt, question_id: str, words: Mapping[str, str]) -> str:
    steps = "".join(f"<li>{_text(words[step])}</li>" for step in ("do_open", "do_copy", "do_paste"))
    return (
        f"[[Question:TE:Essay]]\n[[ID:{question_id}]]\n"
        f"<ol>{steps}</ol><blockquote>{_text(prompt.text)}</blockquote>"
    )


def _choice(question_id: str, text: str, options: Iterable[str]) -> str:
    option_lines = "\n".join(_text(option) for option in options)
    return (
        f"[[Question:MC:SingleAnswer:Vertical]]\n[[ID:{question_id}]]\n{text}\n"
        f"[[Choices]]\n{option_lines}"
    )


def _inline(consent: str) -> str:
    return _safe(paragraphs(consent).replace("\n", ""))


def _text(text: str) -> str:
    return _safe(html.escape(text.strip(), quote=False).replace("\n", "<br>"))


def _safe(markup: str) -> str:
    # `[[` begins a tag of the format, and `${` a piped text
    return markup.replace("[[", "&#91;&#91;").replace("${", "&#36;{")
