"""The columns of a page's answers: one entry an answer, small enough to be loaded at once.

Owns what an answer counts for (`base`) and why a person may want to look at it (`doubt`). Counts by these
bits equal those of the metrics, which `tests/unit/explorer/test_page_answers.py` holds them to.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from string import ascii_uppercase
from typing import Any, NamedTuple

from fieldwork.explorer.replies import Merges, spellings
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import REFUSALS, Answer
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS

ARRIVAL, READING, FIRST_ANSWER, COUNTED_RUN, FIRST_VALUE = 1, 2, 4, 8, 16
"""Bits of `base`: the call did not fail; options or a letter were read; it counts as its user's
independent answer to the item; it belongs to a run that a score is made of; it is its user's
first answer with a value, to a scale or a number."""

NO_READING, REFUSAL, CUT, LIKENESS, ODD_LENGTH, CORRECTION = 1, 2, 4, 8, 16, 32
"""Bits of `doubt`: nothing was read, by a person either, and it is no refusal; a refusal, or filtered by
the provider; cut off; an option was merged because it looks alike; far longer or shorter than the model's
other replies to the item; a person decided how it is read."""

LONGER, SHORTER = 4.0, 0.25
"""An odd length is more, or less, than this many times the median of the model's replies to the item."""


class ReplyFacts(NamedTuple):
    """What the columns take from a reply.

    Attributes:
        length: in characters, 0 where there is no text.
        context: place among the page's contexts, -1 without one.
        sha256: of the text, None where there is none.
    """

    length: int
    context: int
    sha256: str | None


class PageRun(NamedTuple):
    """A run over a task of choice items."""

    model: str
    task: str
    condition: str
    puppet_id: str | None
    replicate: int


class Readings(NamedTuple):
    """What other tables say of the answers.

    Attributes:
        merges: how written options became canonical ones.
        runs: those that scores count.
        gold_items: items with a right answer, which runs are made of.
    """

    merges: Merges
    runs: Collection[PageRun]
    gold_items: Collection[ItemKey]


class PageNames(NamedTuple):
    """The names that columns point to, in the order of the page's lists of them."""

    models: Sequence[str]
    items: Sequence[ItemKey]
    conditions: Sequence[str]


class Numbering:
    """Numbers values from 0, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, value: str | None) -> int:
        """The number of a value; -1 of None."""
        return -1 if value is None else self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[str]:
        return [*self._numbers]


def runs_that_count(rows: Iterable[RunAccuracy]) -> set[PageRun]:
    return {
        PageRun(row.model, row.task, row.condition, row.puppet_id, row.replicate)
        for row in rows
        if row.is_counted
    }


def answer_columns(
    answers: Sequence[Answer],
    replies: Sequence[ReplyFacts],
    names: PageNames,
    readings: Readings,
    contexts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Everything that the page loads at once, by the names of its columns.

    Args:
        replies: one for each answer, in the same order.
        contexts: what `store_contexts` lists.
    """
    models, items, conditions = map(_places, names)
    puppets, outcomes, reasons, options = (Numbering() for _ in range(4))
    return {
        "model": [models[answer.model] for answer in answers],
        "item": [items[ItemKey(answer.task, answer.item_id)] for answer in answers],
        "condition": [conditions[answer.condition] for answer in answers],
        "puppet": [puppets(answer.puppet_id) for answer in answers],
        "replicate": [answer.replicate for answer in answers],
        "outcome": [outcomes(answer.outcome) for answer in answers],
        "reason": [reasons(answer.reason) for answer in answers],
        "letter": [_letter_number(answer.letter) for answer in answers],
        "strict": [_letter_number(answer.letter_strict) for answer in answers],
        "options": [
            None if (n := _names(answer)) is None else [*map(options, n)] for answer in answers
        ],
        "base": base_bits(answers, readings),
        "doubt": doubt_bits(answers, replies, readings),
        "context": [reply.context for reply in replies],
        "length": [reply.length for reply in replies],
        "puppets": puppets.values(),
        "outcomes": outcomes.values(),
        "reasons": reasons.values(),
        "names": options.values(),
        "contexts": contexts,
    }


def _places(values: Sequence[Any]) -> dict[Any, int]:
    return {value: place for place, value in enumerate(values)}


def _letter_number(letter: str | None) -> int:
    return -1 if letter is None else ascii_uppercase.index(letter)


def _names(answer: Answer) -> Sequence[str] | None:
    """The options that the page knows by name: those of a list, and a number."""
    if answer.kind == "number":
        return None if answer.value is None else [f"{answer.value:.15g}"]
    return answer.items


def is_readable(answer: Answer) -> bool:
    """Whether options, a letter or a number were read; of a text there is nothing to be read."""
    if answer.kind in LETTER_KINDS:
        return answer.letter is not None
    if answer.kind == "number":
        return answer.value is not None
    if answer.kind == "text":
        return answer.reason is None
    return bool(answer.items)


def base_bits(answers: Sequence[Answer], readings: Readings) -> list[int]:
    """What each answer counts for."""
    return [
        0
        if answer.outcome == "failed"
        else ARRIVAL
        + READING * is_readable(answer)
        + FIRST_ANSWER * bool(answer.is_counted)
        + COUNTED_RUN * _is_in_run(answer, readings)
        + FIRST_VALUE * bool(answer.is_value_counted)
        for answer in answers
    ]


def _is_in_run(answer: Answer, readings: Readings) -> bool:
    run = PageRun(answer.model, answer.task, answer.condition, answer.puppet_id, answer.replicate)
    is_graded = ItemKey(answer.task, answer.item_id) in readings.gold_items
    return answer.kind == "choice" and is_graded and run in readings.runs


def doubt_bits(
    answers: Sequence[Answer], replies: Sequence[ReplyFacts], readings: Readings
) -> list[int]:
    """Why a person may want to look at each answer; 0 where nothing is odd."""
    medians = _median_lengths(answers, replies)
    return [
        _doubt(answer, reply, readings, medians)
        for answer, reply in zip(answers, replies, strict=True)
    ]


def _doubt(
    answer: Answer,
    reply: ReplyFacts,
    readings: Readings,
    medians: Mapping[tuple[str, ItemKey], float],
) -> int:
    key = ItemKey(answer.task, answer.item_id)
    merges = [readings.merges.get((*key, raw)) for raw in spellings(answer)]
    rules = {merge.rule for merge in merges if merge is not None}
    is_refusal = answer.reason in REFUSALS
    is_corrected = answer.correction is not None
    # who says that there is no answer has looked already
    is_open = not (answer.outcome == "failed" or is_readable(answer) or is_refusal or is_corrected)
    usual = medians.get((answer.model, key), 0.0)
    has_odd_length = reply.sha256 is not None and not (
        SHORTER * usual <= reply.length <= LONGER * usual
    )
    return (
        NO_READING * is_open
        + REFUSAL * is_refusal
        + CUT * (answer.outcome == "truncated")
        + LIKENESS * ("near" in rules)
        + ODD_LENGTH * has_odd_length
        + CORRECTION * (is_corrected or "override" in rules)
    )


def _median_lengths(
    answers: Sequence[Answer], replies: Sequence[ReplyFacts]
) -> dict[tuple[str, ItemKey], float]:
    lengths: dict[tuple[str, ItemKey], list[int]] = {}
    for answer, reply in zip(answers, replies, strict=True):
        if reply.sha256 is not None:
            key = (answer.model, ItemKey(answer.task, answer.item_id))
            lengths.setdefault(key, []).append(reply.length)
    return {key: float(median(values)) for key, values in lengths.items()}
