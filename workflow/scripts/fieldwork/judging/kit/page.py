"""What the page for raters asks: units one by one, none of which says whose answer it is."""

from collections.abc import Mapping
from typing import Any

from fieldwork.answer_pages import PageContent
from fieldwork.judging.kit.questions import PAGE_COLUMNS, RaterQuestion, ReviewKit, option_labels
from fieldwork.judging.kit.sides import drawn_side, other_side, shown_answers, shown_side
from fieldwork.records.judging import UnitText


def review_content(kit: ReviewKit, words: Mapping[str, str]) -> PageContent:
    """The kit as the content of a page; all of it is data."""
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
    data = {
        "study": kit.study,
        "kit": kit.digest,
        "columns": PAGE_COLUMNS,
        "raters": slots,
        "sections": [_section(question, words) for question in kit.questions],
        "units": [[_unit(unit) for unit in question.units] for question in kit.questions],
    }
    return PageContent("judging", data)


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
