"""Scores of whole runs over a choice task, and their spread over runs.

A run answers every item once: without users it is a rerun, else one puppet's pass over the task. The
score is HELM Lite's: exact match, averaged within a subject and then over subjects. Responses that
failed are no data, and a run that lacks them is incomplete. Other unreadable answers are wrong; an arm
without any readable answer has no score. One run counts for each unit: a puppet's first complete one,
or each complete rerun, so that arms with replicates have as many counted runs as arms without.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.distributions import (
    ChoiceArm,
    ChoiceItem,
    QuestionKey,
    choice_answers,
    find_question,
    read_questions,
    text_or_none,
)
from fieldwork.records.metrics import Accuracy, RunAccuracy
from fieldwork.records.parsing import REFUSALS
from fieldwork.statistics.first_answers import first_answers
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.user_intervals import RAREST_USERS, mean_interval, too_few_users

NOTHING = 1e-12
"""Spreads below this are rounding."""


READERS: Mapping[str, Callable[[RunAccuracy], float]] = {
    "em_strict": lambda run: run.em_strict,
    "em_flexible": lambda run: run.em_flexible,
    "format_failure": lambda run: run.format_failure,
}
"""How a run's score by each metric is read."""


class _RunKey(NamedTuple):
    puppet_id: str
    replicate: int


class _GradedAnswer(NamedTuple):
    subject: str
    is_strict_match: bool
    is_flexible_match: bool
    is_unreadable: bool
    is_answer: bool


class _ChoiceRow(NamedTuple):
    model: str
    task: str
    condition: str
    item_id: str
    puppet_id: str | float | None
    replicate: int
    letter_strict: str | float | None
    letter: str | float | None
    reason: str | float | None


def measure_runs(answers: pd.DataFrame, items: pd.DataFrame) -> list[RunAccuracy]:
    """Score each run of the choice tasks over the items that have a gold letter.

    Runs of a model, task and condition are numbered from 0 in order of (puppet_id, replicate);
    incomplete ones are kept, with their number of items, and marked as not counted. Items without
    gold are left out, and a run without any other item has no row.

    Raises:
        StudyError: an item is missing from `items`, or a run answers one twice.
    """
    columns = ("puppet_id", "replicate", "letter_strict", "letter", "reason")
    choices = choice_answers(answers, *columns)
    questions = read_questions(items, sorted(set(choices["task"])))
    arms: dict[ChoiceArm, dict[_RunKey, dict[str, _GradedAnswer]]] = {}
    for values in choices.itertuples(index=False, name=None):
        row = _ChoiceRow(*values)
        question = find_question(questions, QuestionKey(row.task, row.item_id))
        if question.gold is None:
            continue
        run = _RunKey(text_or_none(row.puppet_id) or "", int(row.replicate))
        grades = arms.setdefault(ChoiceArm(*row[:3]), {}).setdefault(run, {})
        if row.item_id in grades:
            raise StudyError(_repeat_message(row))
        grades[row.item_id] = _grade(row, question)
    runs = [row for arm in sorted(arms) for row in _score_runs(arm, arms[arm])]
    return count_runs(runs, unreadable={arm for arm in arms if not _has_answers(arms[arm])})


def _has_answers(runs: Mapping[_RunKey, Mapping[str, _GradedAnswer]]) -> bool:
    """Whether an arm has an answer that can be read, or a refusal."""
    return any(grade.is_answer for run in runs.values() for grade in run.values())


def _repeat_message(row: _ChoiceRow) -> str:
    puppet = text_or_none(row.puppet_id) or "no puppet"
    return (
        f"answers: item {row.item_id} of task {row.task} is answered twice by {row.model}, "
        f"{row.condition}, {puppet}, replicate {row.replicate}; give each repeat its own replicate"
    )


def _grade(row: _ChoiceRow, question: ChoiceItem) -> _GradedAnswer:
    strict = text_or_none(row.letter_strict)
    return _GradedAnswer(
        subject=question.subject or "",
        is_strict_match=strict == question.gold,
        is_flexible_match=text_or_none(row.letter) == question.gold,
        is_unreadable=strict is None,
        is_answer=text_or_none(row.letter) is not None or text_or_none(row.reason) in REFUSALS,
    )


def _score_runs(
    arm: ChoiceArm, runs: Mapping[_RunKey, Mapping[str, _GradedAnswer]]
) -> Iterator[RunAccuracy]:
    for index, run in enumerate(sorted(runs)):
        grades = list(runs[run].values())
        by_subject: dict[str, list[_GradedAnswer]] = {}
        for grade in grades:
            by_subject.setdefault(grade.subject, []).append(grade)
        subjects = by_subject.values()
        yield RunAccuracy(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            run=index,
            puppet_id=run.puppet_id or None,
            replicate=run.replicate,
            em_strict=mean([_share([g.is_strict_match for g in subject]) for subject in subjects]),
            em_flexible=mean(
                [_share([g.is_flexible_match for g in subject]) for subject in subjects]
            ),
            format_failure=_share([grade.is_unreadable for grade in grades]),
            n_items=len(grades),
            n_subjects=len(subjects),
            is_counted=False,
        )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def mean(values: Sequence[float]) -> float:
    """Mean of at least one value, the same for every order of them."""
    # fsum rounds once, so that the order of the values cannot show in the last bit
    return math.fsum(values) / len(values)


def count_runs(
    runs: Sequence[RunAccuracy], *, unreadable: Collection[ChoiceArm] = ()
) -> list[RunAccuracy]:
    """Mark the runs that stand for their units: complete, and of a puppet only the first.

    Complete runs have as many items as the fullest run of the model and task. Runs of one single
    puppet differ as reruns do, and all count.

    Args:
        unreadable: arms without a readable answer: their score would say nothing of the model.
    """
    sizes = full_sizes(runs)
    units = {arm: unit_of(arm_runs) for arm, arm_runs in runs_by_arm(runs).items()}
    arms = [ChoiceArm(run.model, run.task, run.condition) for run in runs]
    complete = [
        place
        for place, (run, arm) in enumerate(zip(runs, arms, strict=True))
        if run.n_items == sizes[arm.model, arm.task] and arm not in unreadable
    ]

    def user(place: int) -> tuple[ChoiceArm, str] | None:
        puppet, arm = runs[place].puppet_id, arms[place]
        return (arm, puppet) if puppet and units[arm] == "puppet" else None

    firsts = set(first_answers(complete, user))
    return [replace(run, is_counted=place in firsts) for place, run in enumerate(runs)]


def runs_by_arm(runs: Sequence[RunAccuracy]) -> dict[ChoiceArm, list[RunAccuracy]]:
    """The runs of each arm, arms in alphabetical order."""
    arms: dict[ChoiceArm, list[RunAccuracy]] = {}
    for run in runs:
        arms.setdefault(ChoiceArm(run.model, run.task, run.condition), []).append(run)
    return {arm: arms[arm] for arm in sorted(arms)}


def full_sizes(runs: Sequence[RunAccuracy]) -> dict[tuple[str, str], int]:
    """Items of the fullest run of each model and task."""
    sizes: dict[tuple[str, str], int] = {}
    for run in runs:
        sizes[run.model, run.task] = max(run.n_items, sizes.get((run.model, run.task), 0))
    return sizes


def unit_of(runs: Sequence[RunAccuracy]) -> str:
    """Several runs of one puppet differ as reruns do: there is no second puppet to differ from."""
    puppets = {run.puppet_id for run in runs}
    is_one_user = len(puppets) == 1 and (len(runs) > 1 or puppets == {None})
    return "rerun" if is_one_user else "puppet"


def measure_accuracy(
    runs: Sequence[RunAccuracy], *, rarest_users: float = RAREST_USERS
) -> list[Accuracy]:
    """Mean, lowest and highest score over the counted runs of each model, task and condition.

    One counted run has a mean but no spread; none gives NULL with a reason.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    sizes = full_sizes(runs)
    return [
        row
        for arm, arm_runs in runs_by_arm(runs).items()
        for row in _rows(arm, arm_runs, sizes[arm.model, arm.task], rarest_users)
    ]


def _rows(
    arm: ChoiceArm, runs: Sequence[RunAccuracy], n_items: int, rarest_users: float
) -> Iterator[Accuracy]:
    rarest = rarest_users if unit_of(runs) == "puppet" else None
    for metric, read in READERS.items():
        scores = counted_scores(runs, read)
        whole_interval = mean_interval(scores, rarest) if scores else None
        interval = whole_interval.clip(0.0, 1.0) if whole_interval else None
        yield Accuracy(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            metric=metric,
            mean=mean(scores) if scores else None,
            minimum=min(scores) if len(scores) > 1 else None,
            maximum=max(scores) if len(scores) > 1 else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            n_runs=len(scores),
            n_items=n_items,
            unit=unit_of(runs),
            reason=_reason(runs, len(scores), n_items, interval, rarest),
        )


def counted_scores(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> list[float]:
    """Scores of the runs that stand for their units."""
    return [read(run) for run in runs if run.is_counted]


def _reason(
    runs: Sequence[RunAccuracy],
    n_counted: int,
    n_items: int,
    interval: Interval | None,
    rarest_users: float | None,
) -> str | None:
    n_incomplete = sum(run.n_items < n_items for run in runs)
    parts = []
    fullest = max(run.n_items for run in runs)
    if n_counted == 0 and fullest == n_items:
        n_answers = sum(run.n_items for run in runs)
        parts.append(f"none of {n_answers} answers can be read")
    elif n_counted == 0:
        parts.append(f"no run answers all {n_items} items, the fullest answers {fullest}")
    elif n_incomplete:
        parts.append(
            f"{n_incomplete} of {len(runs)} runs left out: they answer fewer than {n_items} items"
        )
    if n_counted == 1:
        parts.append("no lowest and highest, no interval: one run has no spread")
    elif n_counted and interval is None:
        shortage = too_few_users(n_counted, rarest_users) if rarest_users is not None else None
        parts.append(
            shortage or f"no interval: there are no two {unit_of(runs)}s, or all score alike"
        )
    return "; ".join(parts) or None
