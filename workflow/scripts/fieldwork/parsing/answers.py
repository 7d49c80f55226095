"""From responses to answers: the reading of one response, and one name for all spellings of an option."""

import dataclasses
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.list_lengths import list_length
from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.numbers import LENIENT, STRICT, parse_number
from fieldwork.parsing.scales import parse_scale
from fieldwork.readable_texts import without_invisible
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.generation import OptionProbability, Outcome, Response
from fieldwork.records.parsing import OUTCOME_REASONS, REFUSALS, Answer, MergedItem
from fieldwork.records.tasks import LETTER_KINDS, Item
from fieldwork.sections.asking import ValueRules

logger = logging.getLogger(__name__)

LEAST_LETTER_SHARE = 0.9
"""Of the probability, that an item's letters must have together."""
MOST_LETTER_SHARE = 1.01
"""Rounding may lift their sum a little above 1."""
MUCH_UNLISTED = 0.01
"""Of the probability, from which the log says that letters are not listed."""


def parse_responses(
    responses: Iterable[Response], items: Iterable[Item], rules: ValueRules = STRICT
) -> list[Answer]:
    """Read the responses to a task's items; the log says how many options each list item asks for.

    Args:
        rules: what counts where a scale or a number has a range, or several numbers.
    """
    by_id = {item.item_id: item for item in items}
    for item in by_id.values():
        if item.kind == "list":
            length = expected_length(item) or "an unknown number of"
            logger.info("%s asks for %s options", item.item_id, length)
    return [parse_response(response, by_id[response.item_id], rules) for response in responses]


class StatedCount(NamedTuple):
    """How many answers of an arm to questions with options state their probabilities.

    Attributes:
        unlisted_share: the most that an answer leaves to letters that it does not list.
    """

    n_stated: int
    n_silent: int
    unlisted_share: float


def count_stated(answers: Iterable[Answer]) -> dict[tuple[str, str, str], StatedCount]:
    """The counts by model, task and condition; failed answers are none."""
    counts: dict[tuple[str, str, str], StatedCount] = {}
    for answer in answers:
        if answer.kind in LETTER_KINDS and answer.outcome != "failed":
            arm = (answer.model, answer.task, answer.condition)
            n_stated, n_silent, unlisted_share = counts.get(arm, StatedCount(0, 0, 0.0))
            has_stated = answer.option_probabilities is not None
            counts[arm] = StatedCount(
                n_stated + has_stated,
                n_silent + (not has_stated),
                max(unlisted_share, answer.unlisted_share or 0),
            )
    return counts


def log_stated(counts: Mapping[tuple[str, str, str], StatedCount]) -> None:
    """Warn where answers of a model to a task state no probabilities, or not those of all letters."""
    stating = {(model, task) for (model, task, _), count in counts.items() if count.n_stated}
    for (model, task, condition), count in counts.items():
        if count.n_silent and (model, task) in stating:
            logger.warning(
                "%s, %s, %s: of %d answers %d state no probabilities of their options, or letters have "
                "less than %s or more than 1 of it; their questions are compared by the letters drawn",
                *(model, task, condition, count.n_stated + count.n_silent, count.n_silent),
                LEAST_LETTER_SHARE,
            )
        if count.unlisted_share > MUCH_UNLISTED:
            logger.warning(
                "%s, %s, %s: answers do not list all letters and leave up to %.2g of the probability to "
                "them, by which estimates are less sure; raise models.%s.top_logprobs",
                *(model, task, condition, count.unlisted_share, model),
            )


def parse_response(response: Response, item: Item, rules: ValueRules = STRICT) -> Answer:
    """Read one response; one that cannot be read has no items, letter or value, and a reason."""
    source = _AnswerSource(response.outcome, response.condition, response.puppet_id)
    answer = _parse(response, item, source, rules)
    if response.option_probabilities is None or item.kind not in LETTER_KINDS:
        return answer
    letters = ascii_uppercase[: len(item.choices)]
    shares = letter_shares(response.option_probabilities, letters)
    if shares is None:
        return dataclasses.replace(answer, option_probabilities=None)
    of_letters = [p for p in response.option_probabilities if p.option in letters]
    return dataclasses.replace(
        answer,
        option_probabilities=shares,
        letter_share=min(1.0, math.fsum(p.probability for p in of_letters)),
        unlisted_share=share_of_unlisted(of_letters, letters),
    )


def letter_shares(
    probabilities: Sequence[OptionProbability], letters: str
) -> list[OptionProbability] | None:
    """The probability of each letter of an item, in all 1.

    None where other letters and words have more than a tenth of it: then the letters say too little of
    what the model answers. None, too, where they have more than 1, which are no probabilities.
    """
    shares = dict.fromkeys(letters, 0.0)
    shares |= {p.option: p.probability for p in probabilities if p.option in shares}
    total = math.fsum(shares.values())
    # NaN fails both
    if not LEAST_LETTER_SHARE <= total <= MOST_LETTER_SHARE:
        return None
    return [OptionProbability(letter, share / total) for letter, share in shares.items()]


def share_of_unlisted(probabilities: Sequence[OptionProbability], letters: str) -> float:
    """The most that letters have together that an answer does not list; 0 where it lists all.

    It is what the listed ones leave, and for each letter no more than the least of them, as a server
    lists the likeliest tokens.
    """
    shares = [p.probability for p in probabilities if p.option in letters]
    n_missing = len(letters) - len(shares)
    if not n_missing:
        return 0.0
    return max(0.0, min(1 - math.fsum(shares), n_missing * min(shares)))


def parse_field_answer(answer: FieldAnswer, item: Item, rules: ValueRules = STRICT) -> Answer:
    """Read an answer of a participant, as one of the condition `field`; an empty text has a reason."""
    outcome: Outcome = "empty" if answer.text is None else "ok"
    return _parse(answer, item, _AnswerSource(outcome, FIELD, answer.participant_id), rules)


class _AnswerSource(NamedTuple):
    """How a call ended, and whose answer it is."""

    outcome: Outcome
    condition: str
    puppet_id: str | None


def _parse(
    reply: Response | FieldAnswer, item: Item, source: _AnswerSource, rules: ValueRules
) -> Answer:
    """The answer with what the text says; blank where its outcome is a reason for holding nothing."""
    blank = Answer(
        model=reply.model,
        task=reply.task,
        condition=source.condition,
        item_id=reply.item_id,
        puppet_id=source.puppet_id,
        replicate=reply.replicate,
        kind=item.kind,
        outcome=source.outcome,
        raw_items=None,
        items=None,
        letter_strict=None,
        letter=None,
        reason=OUTCOME_REASONS.get(source.outcome),
        option_probabilities=reply.option_probabilities if isinstance(reply, Response) else None,
    )
    if blank.reason is not None:
        return blank
    is_truncated = source.outcome == "truncated"
    return dataclasses.replace(blank, **_reading(reply.text, item, is_truncated, rules))


def _reading(text: str | None, item: Item, is_truncated: bool, rules: ValueRules) -> dict[str, Any]:
    """The columns of `Answer` that a text fills."""
    match item.kind:
        case "list":
            n_asked = expected_length(item)
            names = parse_list(
                text, expected_length=n_asked, is_truncated=is_truncated, question=item.prompt
            )
            raw_items = list(names.items) if names.items is not None else None
            reading = {"raw_items": raw_items, "reason": names.reason, "n_asked": n_asked}
            return {**reading, "read_by": names.read_by}
        case "choice":
            letters = ascii_uppercase[: len(item.choices)]
            choice = parse_choice(text, letters=letters, choices=_options(item))
            strict, letter, reason, read_by = choice
            return {
                "letter_strict": strict,
                "letter": letter,
                "reason": reason,
                "read_by": read_by,
            }
        case "scale":
            return _scale_reading(text, item, is_truncated, rules)
        case "number":
            return parse_number(
                text,
                unit=item.unit,
                lowest=item.lowest,
                highest=item.highest,
                rules=rules,
                is_truncated=is_truncated,
            )._asdict()
        case "text":
            # people, judges and the readers of memory read it
            return {}


def _options(item: Item) -> list[str]:
    """The options as a reply is read: neither has signs of no width."""
    return [without_invisible(option) for option in item.choices]


def _scale_reading(
    text: str | None, item: Item, is_truncated: bool, rules: ValueRules
) -> dict[str, Any]:
    """A point's letter and value; the middle of a range where the study counts it has a value alone."""
    strict, letters, reason, read_by = parse_scale(
        text,
        marks=item.marks,
        choices=_options(item),
        n_points=len(item.points or []) or None,
        is_truncated=is_truncated,
    )
    if len(letters) == 1:
        return {
            "letter_strict": strict,
            "letter": letters[0],
            "value": point_of(item, letters[0]),
            "reason": None,
            "read_by": read_by,
        }
    values = [value for letter in letters if (value := point_of(item, letter)) is not None]
    if len(values) == 2 and rules.ranges == "middle":
        return {"value": math.fsum(values) / 2, "reason": None, "read_by": read_by}
    return {"reason": reason}


def point_of(item: Item, letter: str) -> float | None:
    """The value of a scale's option; None for one beside the scale."""
    place = ascii_uppercase.index(letter)
    points = item.points or []
    return points[place] if place < len(points) else None


def unread_reason(response: Response, item: Item) -> str | None:
    """Why no setting could read a response; None where one can, and where it is a refusal."""
    reason = parse_response(response, item, LENIENT).reason
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
