"""The page for raters: nothing is loaded, nothing is sent, everything is in the file.

Promises that whatever stands in a conversation or an answer is shown and never run: texts are data, and
the page's policy names the hashes of its one script and its one style.
"""

import html
from collections.abc import Mapping
from typing import Any, NamedTuple

from fieldwork.judging.kit.questions import PAGE_COLUMNS, RaterQuestion, ReviewKit, option_labels
from fieldwork.judging.kit.sides import drawn_side, other_side, shown_answers, shown_side
from fieldwork.page_templates import fill, inline_text, page_policy, script_json
from fieldwork.page_texts import is_draft, paragraphs
from fieldwork.records.judging import UnitText


class ReviewTemplate(NamedTuple):
    """The parts of the page as they are shipped, and the page's own file name for messages."""

    page: str
    style: str
    script: str
    source: str


def render(kit: ReviewKit, parts: ReviewTemplate, words: Mapping[str, str], consent: str) -> str:
    """The whole page.

    Raises:
        StudyError: the template has an unknown placeholder.
    """
    style, script = inline_text(parts.style), inline_text(parts.script)
    texts = {f"text {name}": html.escape(text) for name, text in words.items()}
    draft = f'<p class="note warning" role="note">{html.escape(words["draft"])}</p>'
    values = texts | {
        "policy": html.escape(page_policy(style, script), quote=True),
        "css": style,
        "js": script,
        "data": script_json(_data(kit, words)),
        "consent": paragraphs(consent),
        "draft": draft if is_draft(consent) else "",
    }
    return fill(parts.page, values, parts.source)


def _data(kit: ReviewKit, words: Mapping[str, str]) -> dict[str, Any]:
    """What the script reads. No unit says whose answer it is."""
    places = {
        (question.name, unit.code): (section, place)
        for section, question in enumerate(kit.questions)
        for place, unit in enumerate(question.units)
    }
    slots: dict[str, list[list[int]]] = {rater: [] for rater in kit.raters}
    for one in sorted(kit.allotments, key=lambda a: (places[a.units, a.code][0], a.place)):
        section, place = places[one.units, one.code]
        unit = kit.questions[section].units[place]
        is_turned = one.first_side is not None and one.first_side != drawn_side(unit)
        slots[one.rater].append([section, place, int(is_turned)])
    return {
        "study": kit.study,
        "kit": kit.digest,
        "columns": PAGE_COLUMNS,
        "raters": slots,
        "sections": [_section(question, words) for question in kit.questions],
        "units": [[_unit(unit) for unit in question.units] for question in kit.questions],
        "texts": dict(words),
    }


def _section(question: RaterQuestion, words: Mapping[str, str]) -> dict[str, Any]:
    reason = question.reason
    return {
        "name": question.name,
        "scale": question.scale.name,
        "question": question.text,
        "options": option_labels(question.scale),
        "why": reason
        and {
            "scale": reason.scale.name,
            "question": words["why"],
            "options": option_labels(reason.scale),
            "after": list(reason.options),
        },
    }


def _unit(unit: UnitText) -> dict[str, Any]:
    """A unit as the page has it: answers in a drawn order, and the code of either order."""
    first_side = drawn_side(unit)
    orders = [first_side, other_side(first_side)]
    return {
        "code": unit.code,
        "facts": unit.facts,
        "evidence": unit.evidence,
        "question": unit.question,
        "attribute": unit.attribute,
        "answers": shown_answers(unit, first_side),
        "orders": [shown_side(unit, side) for side in orders],
    }
