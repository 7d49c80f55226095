"""Answers that were collected elsewhere as rows of responses: pairs to items, users and repeats.

No call is made and nothing is invented: what the file does not say is NULL. An answer is a row only where
the file has one, so a request that nobody recorded is no failure.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import name_list
from fieldwork.files.recordings.answers import RecordedAnswer, RowRule, matches
from fieldwork.generation.recorded_items import ItemFinder
from fieldwork.pseudonyms import user_key, user_pseudonym
from fieldwork.records.generation import Outcome, Response
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

_LIMIT_REASONS = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_FILTER_REASONS = frozenset({"content_filter", "safety", "prohibited_content"})


class RecordedArm(NamedTuple):
    """One model under one condition on one task, and which answers of a recording belong to it.

    Attributes:
        recording: name of the entry of `recordings`, for messages.
        recorded_model: what the recording calls the model; None where it has one model.
        has_user: whether the condition brings a user.
        rows: rows of the condition, by the values of fields.
        temperature: of a condition without a user; None where the condition has none.
        first, runs: repeats that belong to a condition without a user: `runs` from `first` on.
        match: `id` or `question`: what tells an item.
        wording: `same` or `any` other than the study's.
        key_file: of the users' pseudonyms; None keeps the names of the recording.
    """

    model: str
    task: str
    condition: str
    recording: str
    recorded_model: str | None
    has_user: bool
    rows: RowRule
    temperature: float | None
    first: int
    runs: int
    match: str
    wording: str
    key_file: str | None = None

    @property
    def setting(self) -> str:
        return f"recordings.{self.recording}"


class _MatchedAnswer(NamedTuple):
    answer: RecordedAnswer
    item: Item


def recorded_responses(
    answers: Iterable[RecordedAnswer], items: Sequence[Item], arm: RecordedArm
) -> list[Response]:
    """The rows of an arm: the answers of its model, condition and items.

    Raises:
        StudyError: no answer belongs to the arm; two are the same repeat; the recording has several
            models and the config names none; or a prompt has another wording than the study's.
    """
    of_model = _answers_of_model(answers, arm)
    of_condition = [a for a in of_model if _is_of_condition(a, arm)]
    finder = ItemFinder(items, arm.match)
    pairs = [
        _MatchedAnswer(answer, item)
        for answer in of_condition
        if (item := finder.item_of(answer)) is not None
    ]
    _require_answers(of_model, of_condition, pairs, items, arm)
    _check_temperature(of_condition, arm)
    finder.check_wording([pair.answer for pair in pairs], arm.wording, arm.setting)
    repeats = _number_repeats(pairs, arm)
    rows = [
        _response(pair, replicate, arm)
        for pair, replicate in repeats
        if arm.has_user or arm.first <= replicate < arm.first + arm.runs
    ]
    if not rows:
        raise StudyError(
            f"{arm.setting}: each item has {1 + max(n for _, n in repeats)} answers of {arm.model} "
            f"without a user, and {arm.condition} begins with number {arm.first + 1}; lower "
            f"tasks.{arm.task}.runs, or leave {arm.condition} out of study.conditions"
        )
    _log_counts(of_model, of_condition, pairs, rows, arm)
    return _with_pseudonyms(rows, arm.key_file)


def _answers_of_model(answers: Iterable[RecordedAnswer], arm: RecordedArm) -> list[RecordedAnswer]:
    every_answer = list(answers)
    names = Counter(answer.model for answer in every_answer if answer.model is not None)
    listing = name_list(sorted(names))
    if arm.recorded_model is None:
        if len(names) > 1:
            raise StudyError(
                f"models.{arm.model}: {arm.setting} has answers of several models ({listing}); name one "
                f"in models.{arm.model}.recorded_as"
            )
        return every_answer
    answers_of_model = [answer for answer in every_answer if answer.model == arm.recorded_model]
    if not answers_of_model:
        raise StudyError(
            f"models.{arm.model}.recorded_as: {arm.setting} has no answer of {arm.recorded_model!r}; "
            f"its models are {listing}"
        )
    return answers_of_model


def _is_of_condition(answer: RecordedAnswer, arm: RecordedArm) -> bool:
    return (answer.user is not None) == arm.has_user and matches(answer.fields, arm.rows)


def _require_answers(
    of_model: Sequence[RecordedAnswer],
    of_condition: Sequence[RecordedAnswer],
    pairs: Sequence[_MatchedAnswer],
    items: Sequence[Item],
    arm: RecordedArm,
) -> None:
    if pairs:
        return
    if not of_condition:
        kind = "with" if arm.has_user else "without"
        raise StudyError(
            f"{arm.setting}: none of the {len(of_model)} answers of {arm.model} is one {kind} a user "
            f"that belongs to the condition {arm.condition}; correct {arm.setting}.conditions, its "
            f"columns.user or blank_users, or leave the condition out of study.conditions"
        )
    examples = name_list(sorted({str(answer.item) for answer in of_condition})[:3])
    raise StudyError(
        f"{arm.setting}: none of {len(of_condition)} answers of {arm.model} under {arm.condition} "
        f"is to an item of tasks.{arm.task}; its items are such as {examples}, and those of the task "
        f"such as {name_list([item.item_id for item in items[:3]])}: correct columns.item, or set "
        f"{arm.setting}.match to question"
    )


def _check_temperature(answers: Sequence[RecordedAnswer], arm: RecordedArm) -> None:
    if arm.temperature is None:
        return
    temperatures = sorted(
        {a.temperature for a in answers if a.temperature is not None} - {arm.temperature}
    )
    if temperatures:
        raise StudyError(
            f"{arm.setting}: answers of {arm.model} under {arm.condition} were recorded at temperature "
            f"{temperatures[0]:g}, and conditions.{arm.condition}.temperature is {arm.temperature:g}; "
            f"correct the condition, or choose its rows in {arm.setting}.conditions.{arm.condition}"
        )


# ---- repeats -------------------------------------------------------------------------------------


def _number_repeats(
    pairs: Sequence[_MatchedAnswer], arm: RecordedArm
) -> list[tuple[_MatchedAnswer, int]]:
    """The answers with their number among the repeats of an item and a user, from 0.

    Repeats that the file names are repeats in the order of their names; temperatures as they come.
    """
    names = {pair.answer.replicate for pair in pairs}
    if None in names and len(names) > 1:
        source = next(pair.answer.source for pair in pairs if pair.answer.replicate is None)
        raise StudyError(
            f"{arm.setting}.columns.replicate: {source} has none, and other rows have; complete the "
            f"column, or leave it out"
        )
    ranks = {
        name: rank for rank, name in enumerate(sorted(filter(None, names), key=_natural_order))
    }
    counts: Counter[tuple[str, str | None]] = Counter()
    sources: dict[tuple[str, str | None, int], str] = {}
    repeats = []
    for pair in pairs:
        unit = (pair.item.item_id, pair.answer.user)
        name = pair.answer.replicate
        replicate = counts[unit] if name is None else ranks[name]
        counts[unit] += 1
        first = sources.setdefault((*unit, replicate), pair.answer.source)
        if first != pair.answer.source:
            raise StudyError(
                f"{arm.setting}: {first} and {pair.answer.source} are both repeat {name!r} of item "
                f"{unit[0]!r}; name the column that tells them apart in columns.replicate, or leave rows "
                f"out by `rows`"
            )
        repeats.append((pair, replicate))
    return repeats


def _natural_order(name: str) -> tuple[int, float, str]:
    """Numbers by their size, before words in alphabetical order."""
    try:
        return (0, float(name), name)
    except ValueError:
        return (1, 0.0, name)


# ---- rows ----------------------------------------------------------------------------------------


def _with_pseudonyms(rows: list[Response], key_file: str | None) -> list[Response]:
    if key_file is None:
        return rows
    key = user_key(key_file)
    puppets = {row.puppet_id: user_pseudonym(row.puppet_id, key) for row in rows if row.puppet_id}
    return [replace(row, puppet_id=puppets.get(row.puppet_id or "")) for row in rows]


def _response(pair: _MatchedAnswer, replicate: int, arm: RecordedArm) -> Response:
    answer = pair.answer
    return Response(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        item_id=pair.item.item_id,
        context_id=None,
        puppet_id=answer.user,
        replicate=replicate,
        ledger_key=None,
        text=answer.text or None,
        outcome=_outcome(answer),
        finish_reason=answer.finish_reason,
        returned_model=answer.returned_model,
        fingerprint=None,
        input_tokens=answer.input_tokens,
        cached_tokens=answer.cached_tokens,
        cache_write_tokens=None,
        output_tokens=answer.output_tokens,
        reasoning_tokens=answer.reasoning_tokens,
        cost_usd=None,
        latency_s=answer.latency_s,
        attempts=None,
        started_at=answer.started_at,
        dispatch="recorded",
        service_tier=None,
        request_id=None,
        temperature_sent=None,
        price_as_of=None,
        defects=[],
        source=answer.source,
    )


def _outcome(answer: RecordedAnswer) -> Outcome:
    reason = (answer.finish_reason or "").lower()
    if answer.text is None:
        return "failed"
    if reason in _FILTER_REASONS:
        return "filtered"
    if not answer.text.strip():
        return "empty"
    return "truncated" if reason in _LIMIT_REASONS else "ok"


def _log_counts(
    of_model: Sequence[RecordedAnswer],
    of_condition: Sequence[RecordedAnswer],
    pairs: Sequence[_MatchedAnswer],
    rows: Sequence[Response],
    arm: RecordedArm,
) -> None:
    logger.info(
        "%s: of %d answers of %s, %d belong to %s, %d of these to items of %s, and %d are read",
        *(arm.setting, len(of_model), arm.model, len(of_condition), arm.condition),
        *(len(pairs), arm.task, len(rows)),
    )
