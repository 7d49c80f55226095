"""Models as raters: the question that puts a unit to a judge, and its letter as a judgement.

Two answers are put to a judge in both orders. Which order is the first judgement of a unit is drawn, so
that no side of all units stands first there. What a judge prefers is stored by side, not by place.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.judging.scales import AnswerScale
from fieldwork.records.judging import Judgement, Side, UnitText
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from fieldwork.text_templates import render

_SEPARATOR = "|"


class JudgePrompt(NamedTuple):
    """The question to the judges.

    Attributes:
        template: Jinja; it may use the texts of a unit (docs/judging.md).
        source: its file, for messages.
    """

    template: str
    source: str


def judge_items(
    units: Iterable[UnitText], scale: AnswerScale, prompt: JudgePrompt
) -> Iterator[Item]:
    """The questions to judges: one a unit, and one for each order of a pair.

    Raises:
        StudyError: the template cannot be filled in.
    """
    for unit in units:
        for first_side in _orders(unit):
            yield _judge_item(unit, first_side, scale, prompt)


def _orders(unit: UnitText) -> Sequence[Side | None]:
    return (None,) if unit.text_b is None else ("a", "b")


def _judge_item(
    unit: UnitText, first_side: Side | None, scale: AnswerScale, prompt: JudgePrompt
) -> Item:
    answers = [unit.text_a, unit.text_b]
    if first_side == "b":
        answers.reverse()
    values = {
        "attribute": unit.attribute,
        "facts": unit.facts,
        "evidence": unit.evidence,
        "question": unit.question,
        "answer": unit.text_a,
        "answer_1": answers[0],
        "answer_2": answers[1],
    }
    question = render(prompt.template, values, prompt.source)
    options = [scale.label(option) for option in scale.scale.options]
    lines = "\n".join(f"{a}. {b}" for a, b in zip(ascii_uppercase, options, strict=False))
    return Item(
        item_id=unit.unit_id if first_side is None else f"{unit.unit_id}{_SEPARATOR}{first_side}",
        kind="choice",
        question=question,
        prompt=f"{question}\n\n{lines}\nAnswer with only a single letter.",
        choices=options,
        gold=None,
        subject=None,
        provenance=f"unit {unit.unit_id}",
    )


def model_judgements(
    answers: Iterable[Answer], units: Mapping[str, UnitText], scale: AnswerScale, source: str
) -> Iterator[Judgement]:
    """The letters of judges as judgements, those of each unit and judge numbered.

    Args:
        units: by id.
        source: what the table says the judgements come from.
    """
    by_unit: dict[tuple[str, str], list[tuple[Answer, Side | None]]] = {}
    for answer in answers:
        name, separator, side = answer.item_id.rpartition(_SEPARATOR)
        unit_id = name if separator else answer.item_id
        first_side: Side | None = None if not separator else ("a" if side == "a" else "b")
        by_unit.setdefault((answer.model, unit_id), []).append((answer, first_side))
    for (model, unit_id), pairs in by_unit.items():
        drawn_side = _drawn_side(units[unit_id])
        pairs.sort(key=lambda pair: (pair[0].replicate, pair[1] != drawn_side))
        for repeat, (answer, first_side) in enumerate(pairs):
            option = _option(answer, first_side, scale)
            yield Judgement(
                scale=scale.name,
                unit_id=unit_id,
                rater=model,
                rater_kind="model",
                repeat=repeat,
                value=option,
                number=None if option is None else scale.number(option),
                first_side=first_side,
                seconds=None,
                note=None,
                source=source,
                reason=answer.reason if option is None else None,
            )


def _option(answer: Answer, first_side: Side | None, scale: AnswerScale) -> str | None:
    """The option that a letter means; of an answer in prose none."""
    if answer.letter is None:
        return None
    option = scale.scale.options[ascii_uppercase.index(answer.letter)]
    return scale.mirror(option) if first_side == "b" else option


def _drawn_side(unit: UnitText) -> Side:
    """The side that the first judgement of a unit shows first."""
    return "a" if hashlib.sha256(unit.code.encode()).digest()[0] % 2 else "b"
