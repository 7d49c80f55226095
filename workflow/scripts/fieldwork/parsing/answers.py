"""From responses to answers: what one response says, and one name for options written differently."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.parsing.canonical import Merge, canonicalise
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lengths import list_length
from fieldwork.parsing.lists import parse_list
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.generation import Outcome, Response
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.tasks import Item

UNREAD_OUTCOMES = {
    "refused": "refused",
    "filtered": "filtered by the provider",
    "empty": "empty",
    "failed": "failed",
}


def parse_response(response: Response, item: Item) -> Answer:
    """Read one response; what cannot be read is NULL with a reason."""
    blank = Answer(
        model=response.model,
        task=response.task,
        condition=response.condition,
        item_id=response.item_id,
        puppet_id=response.puppet_id,
        replicate=response.replicate,
        kind=item.kind,
        outcome=response.outcome,
        raw_items=None,
        items=None,
        letter_strict=None,
        letter=None,
        reason=UNREAD_OUTCOMES.get(response.outcome),
    )
    return _read(blank, response.text, item)


def parse_field_answer(answer: FieldAnswer, item: Item) -> Answer:
    """Read an answer of the field, as one of the condition `field`; an empty one has no reading."""
    outcome: Outcome = "empty" if answer.text is None else "ok"
    blank = Answer(
        model=answer.model,
        task=answer.task,
        condition=FIELD,
        item_id=answer.item_id,
        puppet_id=answer.participant_id,
        replicate=answer.replicate,
        kind=item.kind,
        outcome=outcome,
        raw_items=None,
        items=None,
        letter_strict=None,
        letter=None,
        reason=UNREAD_OUTCOMES.get(outcome),
    )
    return _read(blank, answer.text, item)


def expected_length(item: Item) -> int | None:
    """How many options a list item asks for: its own number, else the one its prompt names."""
    return item.list_length or list_length(item.prompt)


def _read(blank: Answer, text: str | None, item: Item) -> Answer:
    """`blank` with what the text says, where it has not said already why there is nothing."""
    if blank.reason is not None:
        return blank
    if item.kind == "list":
        truncated = blank.outcome == "truncated"
        listing = parse_list(text, expected=expected_length(item), truncated=truncated)
        items = list(listing.items) if listing.items is not None else None
        return dataclasses.replace(blank, raw_items=items, reason=listing.reason)
    letters = ascii_uppercase[: len(item.choices)]
    choice = parse_choice(text, letters=letters, choices=item.choices)
    return dataclasses.replace(
        blank, letter_strict=choice.strict, letter=choice.letter, reason=choice.reason
    )


class Prompt(NamedTuple):
    """A list item within its task: options are merged within one, never across."""

    task: str
    item_id: str


def merge_items(
    answers: Iterable[Answer],
    *,
    aliases: Sequence[Mapping[str, str]],
    overrides: Sequence[Mapping[str, str]],
    threshold: float,
) -> list[MergedItem]:
    """One row for each way an option is written, ordered by task, item, canonical name and count.

    Args:
        aliases: rows with task, item_id (empty for every item), written, canonical.
        overrides: rows of an earlier `items.csv` with a canonical name changed by a person.
        threshold: similarity from which two spellings are one, 0 to 100.

    Raises:
        StudyError: aliases or overrides lack a column.
    """
    counts: dict[Prompt, Counter[str]] = {}
    for answer in answers:
        names = answer.raw_items if answer.raw_items is not None else answer.items
        if answer.kind == "list" and names is not None:
            counts.setdefault(Prompt(answer.task, answer.item_id), Counter()).update(names)
    merged = [
        MergedItem(prompt.task, prompt.item_id, raw, merge.canonical, merge.rule, mentions[raw])
        for prompt, mentions in counts.items()
        for raw, merge in _merges(prompt, mentions, aliases, overrides, threshold).items()
    ]
    return sorted(merged, key=lambda m: (m.task, m.item_id, m.canonical, -m.n, m.raw))


def _merges(
    prompt: Prompt,
    counts: Counter[str],
    aliases: Sequence[Mapping[str, str]],
    overrides: Sequence[Mapping[str, str]],
    threshold: float,
) -> dict[str, Merge]:
    return canonicalise(
        counts,
        aliases=dict(_names(aliases, prompt, "parsing.aliases", "written")),
        overrides=dict(_names(overrides, prompt, "parsing.overrides", "raw")),
        threshold=threshold,
    )


def _names(
    rows: Sequence[Mapping[str, str]], prompt: Prompt, setting: str, written: str
) -> Iterator[tuple[str, str]]:
    for row in rows:
        try:
            applies = row["task"] in ("", prompt.task) and row["item_id"] in ("", prompt.item_id)
            name = (row[written], row["canonical"])
        except KeyError as error:
            raise StudyError(f"{setting}: the file has no column {error}") from error
        if applies:
            yield name


def apply_merges(answers: Iterable[Answer], merges: Iterable[MergedItem]) -> list[Answer]:
    """The answers with canonical options: repeats removed, in the order they were given."""
    names = {(m.task, m.item_id, m.raw): m.canonical for m in merges}
    return [_canonical(answer, names) for answer in answers]


def _canonical(answer: Answer, names: Mapping[tuple[str, str, str], str]) -> Answer:
    written = answer.raw_items if answer.raw_items is not None else answer.items
    if answer.kind != "list" or written is None:
        return answer
    canonical = [names[answer.task, answer.item_id, raw] for raw in written]
    return dataclasses.replace(answer, items=list(dict.fromkeys(canonical)))
