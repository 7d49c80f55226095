"""From responses to answers: the reading of one response, and one name for all spellings of an option."""

import dataclasses
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.list_lengths import list_length
from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.generation import OptionProbability, Outcome, Response
from fieldwork.records.parsing import OUTCOME_REASONS, REFUSALS, Answer, MergedItem
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

LEAST_LETTER_SHARE = 0.9
"""Of the probability, that an item's letters must have together."""


def parse_responses(responses: Iterable[Response], items: Iterable[Item]) -> list[Answer]:
    """Read the responses to a task's items; the log says how many options each list item asks for."""
    by_id = {item.item_id: item for item in items}
    for item in by_id.values():
        if item.kind == "list":
            length = expected_length(item) or "an unknown number of"
            logger.info("%s asks for %s options", item.item_id, length)
    return [parse_response(response, by_id[response.item_id]) for response in responses]


def parse_response(response: Response, item: Item) -> Answer:
    """Read one response; a response that cannot be read has no items or letter, and a reason."""
    outcome, condition, puppet_id = response.outcome, response.condition, response.puppet_id
    answer = _parse(response, response.text, item, outcome, condition, puppet_id)
    if response.option_probabilities is None or item.kind != "choice":
        return answer
    letters = ascii_uppercase[: len(item.choices)]
    return dataclasses.replace(
        answer, option_probabilities=letter_shares(response.option_probabilities, letters)
    )


def letter_shares(
    probabilities: Sequence[OptionProbability], letters: str
) -> list[OptionProbability] | None:
    """The probability of each letter of an item, in all 1.

    None where other letters and words have more than a tenth of it: then the letters say too little of
    what the model answers.
    """
    shares = dict.fromkeys(letters, 0.0)
    shares |= {p.option: p.probability for p in probabilities if p.option in shares}
    total = math.fsum(shares.values())
    if total < LEAST_LETTER_SHARE:
        return None
    return [OptionProbability(letter, share / total) for letter, share in shares.items()]


def parse_field_answer(answer: FieldAnswer, item: Item) -> Answer:
    """Read an answer of a participant, as one of the condition `field`; an empty text has a reason."""
    outcome: Outcome = "empty" if answer.text is None else "ok"
    return _parse(answer, answer.text, item, outcome, FIELD, answer.participant_id)


def _parse(
    source: Response | FieldAnswer,
    text: str | None,
    item: Item,
    outcome: Outcome,
    condition: str,
    puppet_id: str | None,
) -> Answer:
    """The answer with what the text says; blank where its outcome is a reason for holding nothing."""
    blank = Answer(
        model=source.model,
        task=source.task,
        condition=condition,
        item_id=source.item_id,
        puppet_id=puppet_id,
        replicate=source.replicate,
        kind=item.kind,
        outcome=outcome,
        raw_items=None,
        items=None,
        letter_strict=None,
        letter=None,
        reason=OUTCOME_REASONS.get(outcome),
        option_probabilities=source.option_probabilities if isinstance(source, Response) else None,
    )
    # of a text nothing is read here: people, judges and the readers of memory do that
    if blank.reason is not None or item.kind == "text":
        return blank
    if item.kind == "list":
        names = parse_list(
            text, expected_length=expected_length(item), is_truncated=outcome == "truncated"
        )
        raw_items = list(names.items) if names.items is not None else None
        n_asked = expected_length(item)
        return dataclasses.replace(blank, raw_items=raw_items, reason=names.reason, n_asked=n_asked)
    letters = ascii_uppercase[: len(item.choices)]
    strict, letter, reason = parse_choice(text, letters=letters, choices=item.choices)
    return dataclasses.replace(blank, letter_strict=strict, letter=letter, reason=reason)


def unread_reason(response: Response, item: Item) -> str | None:
    """Why a response cannot be read; None where it can, and where it is a refusal."""
    reason = parse_response(response, item).reason
    return None if reason in REFUSALS else reason


def expected_length(item: Item) -> int | None:
    """How many options a list item asks for: its `list_length`, else the number in its prompt."""
    return item.list_length or list_length(item.prompt)


class ListItemKey(NamedTuple):
    """A list item of a task. Options are merged within an item, never across items."""

    task: str
    item_id: str


def merge_items(
    answers: Iterable[Answer],
    *,
    aliases: Sequence[Mapping[str, str]],
    overrides: Sequence[Mapping[str, str]],
    threshold: float,
) -> list[MergedItem]:
    """One row for each spelling of an option, ordered by task, item, canonical name and count.

    Args:
        aliases: rows with task, item_id (empty for every item), written, canonical.
        overrides: rows of an earlier `items.csv` with a canonical name changed by a person.
        threshold: similarity from which two spellings are one, 0 to 100.

    Raises:
        StudyError: aliases or overrides lack a column.
    """
    counts: dict[ListItemKey, Counter[str]] = {}
    for answer in answers:
        names = _option_names(answer)
        if names is not None:
            counts.setdefault(ListItemKey(answer.task, answer.item_id), Counter()).update(names)
    merged_items = [
        MergedItem(key.task, key.item_id, raw, merge.canonical, merge.rule, mentions[raw])
        for key, mentions in counts.items()
        for raw, merge in canonicalise(
            mentions,
            aliases=dict(_names(aliases, key, "parsing.aliases", "written")),
            overrides=dict(_names(overrides, key, "parsing.overrides", "raw")),
            threshold=threshold,
        ).items()
    ]
    return sorted(merged_items, key=lambda m: (m.task, m.item_id, m.canonical, -m.n, m.raw))


def _names(
    rows: Sequence[Mapping[str, str]], key: ListItemKey, setting: str, raw_column: str
) -> Iterator[tuple[str, str]]:
    """Raw and canonical names of the rows that apply to an item."""
    for row in rows:
        try:
            applies = row["task"] in ("", key.task) and row["item_id"] in ("", key.item_id)
            names = (row[raw_column], row["canonical"])
        except KeyError as error:
            raise StudyError(f"{setting}: the file has no column {error}; add it") from error
        if applies:
            yield names


def _option_names(answer: Answer) -> list[str] | None:
    """Options of a list answer as written; None for other answers and for one that cannot be read."""
    if answer.kind != "list":
        return None
    return answer.raw_items if answer.raw_items is not None else answer.items


def apply_merges(
    answers: Iterable[Answer], merges: Iterable[MergedItem], *, is_cut: bool = True
) -> list[Answer]:
    """The answers with canonical options, in the order of the answer and without repeats.

    Args:
        is_cut: only the first options of a list count, as many as its prompt asks for.
    """
    names = {(m.task, m.item_id, m.raw): m.canonical for m in merges}
    canonical_answers = []
    for answer in answers:
        raw_names = _option_names(answer)
        if raw_names is not None:
            items = [*dict.fromkeys(names[answer.task, answer.item_id, raw] for raw in raw_names)]
            end = answer.n_asked if is_cut else None
            answer = dataclasses.replace(answer, items=items[:end], n_items=len(items))
        canonical_answers.append(answer)
    return canonical_answers
