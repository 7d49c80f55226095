"""The kit for Label Studio: a labelling configuration and a list of tasks for each kind of question."""

import html
import json
from collections.abc import Iterator, Mapping

from fieldwork.judging.kit.questions import RaterQuestion, option_labels, question_line
from fieldwork.judging.kit.sides import drawn_side, shown_answers, shown_side
from fieldwork.records.judging import UnitText
from fieldwork.sections.judging import Scale


def configuration(question: RaterQuestion, words: Mapping[str, str]) -> str:
    """The labelling interface, in Label Studio's XML.

    Args:
        words: the texts of the kit, by name.
    """
    texts = {name: words[name] for name in ("facts", "evidence", "question", "attribute")}
    texts["answer_1"] = words["answer_first" if question.has_pairs else "answer"]
    texts["answer_2"] = words["answer_second"]
    names = [name for name in texts if any(_data(unit)[name] for unit in question.units)]
    lines = ["<View>"]
    for name in names:
        lines.append(f'  <Header value="{_quote(texts[name])}"/>')
        lines.append(f'  <Text name="{name}" value="${name}"/>')
    lines.append(f'  <Header value="{_quote(question_line(question.text, question.scale))}"/>')
    lines += _choices("value", names[-1], question.scale, "")
    if question.reason is not None:
        condition = (
            f' visibleWhen="choice-selected" whenTagName="value"'
            f' whenChoiceValue="{_quote(",".join(question.reason.options))}"'
        )
        why_line = question_line(words["why"], question.reason.scale)
        lines.append(f'  <View{condition}><Header value="{_quote(why_line)}"/></View>')
        lines += _choices("why", names[-1], question.reason.scale, condition)
    lines.append(f'  <TextArea name="note" toName="{names[-1]}" rows="2" maxSubmissions="1"/>')
    return "\n".join([*lines, "</View>"]) + "\n"


def _choices(name: str, target: str, scale: Scale, condition: str) -> Iterator[str]:
    yield f'  <Choices name="{name}" toName="{target}" choice="single"{condition}>'
    # an export holds the values, so they are the options and not what raters read in their place
    for option, _ in option_labels(scale):
        yield f'    <Choice value="{_quote(option)}"/>'
    yield "  </Choices>"


def tasks(question: RaterQuestion) -> str:
    """The units as tasks to import, as JSON; sides of pairs are drawn."""
    rows = [{"data": _data(unit)} for unit in sorted(question.units, key=lambda unit: unit.code)]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def _data(unit: UnitText) -> dict[str, str]:
    first_side = drawn_side(unit)
    answers = shown_answers(unit, first_side)
    return {
        "unit": unit.code,
        "first_side": shown_side(unit, first_side),
        "facts": "\n".join(unit.facts),
        "evidence": unit.evidence or "",
        "question": unit.question or "",
        "attribute": unit.attribute or "",
        "answer_1": answers[0] or "",
        "answer_2": answers[1] or "",
    }


def _quote(text: str) -> str:
    return html.escape(text, quote=True)
