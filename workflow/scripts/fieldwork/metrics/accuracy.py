"""Scores of whole runs over a choice task, and their spread over runs.

A run answers every item once: offline a rerun, with puppets one puppet's pass over the task. The
score is HELM Lite's: exact match, averaged within a subject and then over subjects. Responses that
failed are no data, and a run that lacks them is incomplete; everything else unreadable is wrong,
unless nothing of an arm can be read: then it has no score.
One run counts for each unit: a puppet's first complete one, or each complete rerun, so that arms with
replicates are described by as many runs as arms without.
"""

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.distributions import (
    Question,
    QuestionKey,
    choice_answers,
    find_question,
    read_questions,
    text_or_none,
)
from fieldwork.records.metrics import Accuracy, RunAccuracy
from fieldwork.records.parsing import REFUSALS
from fieldwork.statistics.intervals import Interval, student_quantile

NOTHING = 1e-12
"""Spreads below this are rounding."""


READERS: Mapping[str, Callable[[RunAccuracy], float]] = {
    "em_strict": lambda run: run.em_strict,
    "em_flexible": lambda run: run.em_flexible,
    "format_failure": lambda run: run.format_failure,
}
"""How a run's score by each metric is read."""


class RunArm(NamedTuple):
    """A model's runs over a task, under one condition."""

    model: str
    task: str
    condition: str


class _Run(NamedTuple):
    puppet_id: str
    replicate: int


class _Graded(NamedTuple):
    subject: str
    strict: bool
    flexible: bool
    unreadable: bool
    is_answer: bool


class _Row(NamedTuple):
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
    given = choice_answers(answers, *columns)
    questions = read_questions(items, sorted(set(given["task"])))
    arms: dict[RunArm, dict[_Run, dict[str, _Graded]]] = {}
    for values in given.itertuples(index=False, name=None):
        row = _Row(*values)
        question = find_question(questions, QuestionKey(row.task, row.item_id))
        if question.gold is None:
            continue
        run = _Run(text_or_none(row.puppet_id) or "", int(row.replicate))
        graded = arms.setdefault(RunArm(*row[:3]), {}).setdefault(run, {})
        if row.item_id in graded:
            raise StudyError(_twice(row))
        graded[row.item_id] = _grade(row, question)
    runs = [row for arm in sorted(arms) for row in _score_runs(arm, arms[arm])]
    return count_runs(runs, unread={arm for arm in arms if not _has_answers(arms[arm])})


def _has_answers(runs: Mapping[_Run, Mapping[str, _Graded]]) -> bool:
    """Whether an arm has an answer that can be read, or a refusal."""
    return any(graded.is_answer for run in runs.values() for graded in run.values())


def _twice(row: _Row) -> str:
    who = text_or_none(row.puppet_id) or "no puppet"
    return (
        f"answers: item {row.item_id} of task {row.task} is answered twice by {row.model}, "
        f"{row.condition}, {who}, replicate {row.replicate}; give each repeat its own replicate"
    )


def _grade(row: _Row, question: Question) -> _Graded:
    strict = text_or_none(row.letter_strict)
    return _Graded(
        subject=question.subject or "",
        strict=strict == question.gold,
        flexible=text_or_none(row.letter) == question.gold,
        unreadable=strict is None,
        is_answer=text_or_none(row.letter) is not None or text_or_none(row.reason) in REFUSALS,
    )


def _score_runs(arm: RunArm, runs: Mapping[_Run, Mapping[str, _Graded]]) -> Iterator[RunAccuracy]:
    for index, run in enumerate(sorted(runs)):
        graded = list(runs[run].values())
        subjects: dict[str, list[_Graded]] = {}
        for answer in graded:
            subjects.setdefault(answer.subject, []).append(answer)
        yield RunAccuracy(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            run=index,
            puppet_id=run.puppet_id or None,
            replicate=run.replicate,
            em_strict=_mean([_share([a.strict for a in of]) for of in subjects.values()]),
            em_flexible=_mean([_share([a.flexible for a in of]) for of in subjects.values()]),
            format_failure=_share([a.unreadable for a in graded]),
            n_items=len(graded),
            n_subjects=len(subjects),
            is_counted=False,
        )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _mean(values: Sequence[float]) -> float:
    # fsum rounds once, so that the order of the values cannot show in the last bit
    return math.fsum(values) / len(values)


def count_runs(
    runs: Sequence[RunAccuracy], *, unread: Collection[RunArm] = ()
) -> list[RunAccuracy]:
    """Mark the runs that stand for their units: complete, and of a puppet only the first.

    Complete runs have as many items as the fullest run of the model and task. Runs of one single
    puppet differ as reruns do, and all count.

    Args:
        unread: arms without a readable answer: what they would score says nothing of the model.
    """
    full = full_sizes(runs)
    arms = runs_by_arm(runs)
    counted: list[RunAccuracy] = []
    seen: set[tuple[RunArm, str]] = set()
    for run in runs:
        arm = RunArm(run.model, run.task, run.condition)
        is_first = True
        if run.puppet_id and unit_of(arms[arm]) == "puppet":
            is_first = (arm, run.puppet_id) not in seen
        is_counted = run.n_items == full[arm.model, arm.task] and is_first and arm not in unread
        if is_counted:
            seen.add((arm, run.puppet_id or ""))
        counted.append(replace(run, is_counted=is_counted))
    return counted


def runs_by_arm(runs: Sequence[RunAccuracy]) -> dict[RunArm, list[RunAccuracy]]:
    """The runs of each arm, arms in alphabetical order."""
    arms: dict[RunArm, list[RunAccuracy]] = {}
    for run in runs:
        arms.setdefault(RunArm(run.model, run.task, run.condition), []).append(run)
    return {arm: arms[arm] for arm in sorted(arms)}


def full_sizes(runs: Sequence[RunAccuracy]) -> dict[tuple[str, str], int]:
    """Items of the fullest run of each model and task."""
    full: dict[tuple[str, str], int] = {}
    for run in runs:
        full[run.model, run.task] = max(run.n_items, full.get((run.model, run.task), 0))
    return full


def unit_of(runs: Sequence[RunAccuracy]) -> str:
    """Several runs of one puppet differ as reruns do: there is no second puppet to differ from."""
    puppets = {run.puppet_id for run in runs}
    alone = len(puppets) == 1 and (len(runs) > 1 or puppets == {None})
    return "rerun" if alone else "puppet"


def measure_accuracy(runs: Sequence[RunAccuracy]) -> list[Accuracy]:
    """Mean, lowest and highest score over the counted runs of each model, task and condition.

    One counted run has a mean but no spread; none gives NULL with a reason.
    """
    full = full_sizes(runs)
    return [
        row
        for arm, of in runs_by_arm(runs).items()
        for row in _spread(arm, of, full[arm.model, arm.task])
    ]


def _spread(arm: RunArm, runs: Sequence[RunAccuracy], n_items: int) -> Iterator[Accuracy]:
    counted = [run for run in runs if run.is_counted]
    for metric, read in READERS.items():
        scores = [read(run) for run in counted]
        interval = _interval(scores)
        yield Accuracy(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            metric=metric,
            mean=_mean(scores) if scores else None,
            minimum=min(scores) if len(scores) > 1 else None,
            maximum=max(scores) if len(scores) > 1 else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            n_runs=len(scores),
            n_items=n_items,
            unit=unit_of(runs),
            reason=_reason(runs, len(counted), n_items, interval),
        )


def _interval(scores: Sequence[float]) -> Interval | None:
    """Student's t over units. None for fewer than two, or no spread."""
    if len(scores) < 2 or max(scores) - min(scores) < NOTHING:
        return None
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    centre, half = _mean(scores), student_quantile(len(scores) - 1) * error
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _reason(
    runs: Sequence[RunAccuracy], n_counted: int, n_items: int, interval: Interval | None
) -> str | None:
    dropped = sum(run.n_items < n_items for run in runs)
    parts = []
    fullest = max(run.n_items for run in runs)
    if n_counted == 0 and fullest == n_items:
        n_answers = sum(run.n_items for run in runs)
        parts.append(f"none of {n_answers} answers can be read")
    elif n_counted == 0:
        parts.append(f"no run answers all {n_items} items, the fullest answers {fullest}")
    elif dropped:
        parts.append(
            f"{dropped} of {len(runs)} runs left out: they answer fewer than {n_items} items"
        )
    if n_counted == 1:
        parts.append("no lowest and highest, no interval: one run has no spread")
    elif n_counted and interval is None:
        parts.append(f"no interval: there are no two {unit_of(runs)}s, or all score alike")
    return "; ".join(parts) or None
