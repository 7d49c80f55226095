"""Models as raters: the question that puts a unit to a judge, and its letter as a judgement.

Two answers are put to a judge in both orders. Which order is the first judgement of a unit is drawn, so
that no side of all units stands first there. What a judge prefers is stored by side, not by place.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase

from fieldwork.judging.repeats import number_repeats
from fieldwork.records.judging import Judgement, Side, UnitText
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from fieldwork.sections.judging import Scale
from fieldwork.text_templates import TextTemplate, render

_SEPARATOR = "|"


def judge_items(units: Iterable[UnitText], scale: Scale, template: TextTemplate) -> Iterator[Item]:
    """The questions to judges: one a unit, and one for each order of a pair.

    Args:
        template: it may use the texts of a unit (docs/judging.md).

    Raises:
        StudyError: the template cannot be filled in.
    """
    for unit in units:
        for first_side in _orders(unit):
            yield _judge_item(unit, first_side, scale, template)


def _orders(unit: UnitText) -> Sequence[Side | None]:
    return (None,) if unit.text_b is None else ("a", "b")


def _judge_item(
    unit: UnitText, first_side: Side | None, scale: Scale, template: TextTemplate
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
    question = render(template, values)
    options = [scale.label(option) for option in scale.options]
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
    answers: Iterable[Answer], units: Mapping[str, UnitText], scale: Scale, source: str
) -> Iterator[Judgement]:
    """The letters of judges as judgements, those of each unit and judge numbered.

    Args:
        units: by id.
        source: what the table says the judgements come from.
    """
    by_unit: dict[tuple[str, str], list[tuple[Answer, Side | None]]] = {}
    for answer in answers:
        unit_id, first_side = _unit_and_side(answer.item_id, units)
        by_unit.setdefault((answer.model, unit_id), []).append((answer, first_side))
    for (_, unit_id), pairs in by_unit.items():
        drawn_side = _drawn_side(units[unit_id])
        pairs.sort(key=lambda pair: (pair[0].replicate, pair[1] != drawn_side))
        yield from number_repeats(
            [_judgement(answer, side, unit_id, scale, source) for answer, side in pairs]
        )


def _unit_and_side(item_id: str, units: Mapping[str, UnitText]) -> tuple[str, Side | None]:
    """The unit of a question and the side that it shows first; ids of users may have a bar too."""
    unit = units.get(item_id)
    if unit is not None and unit.text_b is None:
        return item_id, None
    unit_id, _, side = item_id.rpartition(_SEPARATOR)
    return unit_id, "a" if side == "a" else "b"


def _judgement(
    answer: Answer, first_side: Side | None, unit_id: str, scale: Scale, source: str
) -> Judgement:
    """The judgement that a letter is, its repeats not numbered yet."""
    option = _option(answer, first_side, scale)
    return Judgement(
        scale=scale.name,
        unit_id=unit_id,
        rater=answer.model,
        rater_kind="model",
        repeat=0,
        value=option,
        number=scale.number(option),
        first_side=first_side,
        seconds=None,
        note=None,
        source=source,
        reason=answer.reason if option is None else None,
    )


def _option(answer: Answer, first_side: Side | None, scale: Scale) -> str | None:
    """The option that a letter means; of an answer in prose none."""
    if answer.letter is None:
        return None
    option = scale.options[ascii_uppercase.index(answer.letter)]
    return scale.mirror(option) if first_side == "b" else option


def _drawn_side(unit: UnitText) -> Side:
    """The side that the first judgement of a unit shows first."""
    return "a" if hashlib.sha256(unit.code.encode()).digest()[0] % 2 else "b"
