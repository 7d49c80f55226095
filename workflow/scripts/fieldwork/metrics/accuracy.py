"""Scores of whole runs over a choice task, and their spread over runs.

A run answers every item once: offline a rerun, with puppets one puppet's pass over the task. The
score is HELM Lite's: exact match, averaged within a subject and then over subjects. Responses that
failed are no data, and a run that lacks them is incomplete; everything else unreadable is wrong.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from fieldwork.metrics.resampling import Interval, student_quantile
from fieldwork.records import Accuracy, RunAccuracy

_NOTHING = 1e-12
"""Spreads below this are rounding."""

METRICS = ("em_strict", "em_flexible", "format_failure")


class _Arm(NamedTuple):
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


class _Row(NamedTuple):
    model: str
    task: str
    condition: str
    item_id: str
    puppet_id: str | float | None
    replicate: int
    letter_strict: str | float | None
    letter: str | float | None


def measure_runs(answers: pd.DataFrame, items: pd.DataFrame) -> list[RunAccuracy]:
    """Score each run of the choice tasks over the items that have a gold letter.

    Runs of a model, task and condition are numbered from 0 in order of (puppet_id, replicate);
    incomplete ones are kept, with their number of items. Items without gold are left out, and a
    run without any other item has no row.

    Raises:
        StudyError: an item is missing from `items`, or a run answers one twice.
    """
    columns = ("puppet_id", "replicate", "letter_strict", "letter")
    given = choice_answers(answers, *columns)
    questions = read_questions(items, sorted(set(given["task"])))
    arms: dict[_Arm, dict[_Run, dict[str, _Graded]]] = {}
    for values in given.itertuples(index=False, name=None):
        row = _Row(*values)
        question = find_question(questions, QuestionKey(row.task, row.item_id))
        if question.gold is None:
            continue
        run = _Run(text_or_none(row.puppet_id) or "", int(row.replicate))
        graded = arms.setdefault(_Arm(*row[:3]), {}).setdefault(run, {})
        if row.item_id in graded:
            raise StudyError(_twice(row))
        graded[row.item_id] = _grade(row, question)
    return [row for arm in sorted(arms) for row in _score_runs(arm, arms[arm])]


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
    )


def _score_runs(arm: _Arm, runs: Mapping[_Run, Mapping[str, _Graded]]) -> Iterator[RunAccuracy]:
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
        )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _mean(values: Sequence[float]) -> float:
    # fsum rounds once, so that the order of the values cannot show in the last bit
    return math.fsum(values) / len(values)


def measure_accuracy(runs: Sequence[RunAccuracy]) -> list[Accuracy]:
    """Mean, lowest and highest score over the complete runs of each model, task and condition.

    Complete runs have as many items as the fullest run of the model and task. One complete run has
    a mean but no spread; none gives NULL with a reason.
    """
    full: dict[tuple[str, str], int] = {}
    arms: dict[_Arm, list[RunAccuracy]] = {}
    for run in runs:
        key = (run.model, run.task)
        full[key] = max(run.n_items, full.get(key, 0))
        arms.setdefault(_Arm(run.model, run.task, run.condition), []).append(run)
    return [
        row for arm in sorted(arms) for row in _spread(arm, arms[arm], full[(arm.model, arm.task)])
    ]


def _spread(arm: _Arm, runs: Sequence[RunAccuracy], n_items: int) -> Iterator[Accuracy]:
    complete = [run for run in runs if run.n_items == n_items]
    readers: dict[str, Callable[[RunAccuracy], float]] = {
        "em_strict": lambda run: run.em_strict,
        "em_flexible": lambda run: run.em_flexible,
        "format_failure": lambda run: run.format_failure,
    }
    for metric in METRICS:
        scores = [readers[metric](run) for run in complete]
        interval = _interval(complete, scores, _unit(runs))
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
            unit=_unit(runs),
            reason=_reason(runs, len(complete), n_items, interval),
        )


def _interval(runs: Sequence[RunAccuracy], scores: Sequence[float], unit: str) -> Interval | None:
    """Student's t over puppets, each with the mean of its runs, or over reruns.

    A puppet answers all items, so its answers are one draw. None for fewer than two, or no spread.
    """
    by_unit: dict[str, list[float]] = {}
    for number, (run, score) in enumerate(zip(runs, scores, strict=True)):
        name = run.puppet_id if unit == "puppet" else None
        by_unit.setdefault(name or f"rerun {number}", []).append(score)
    means = [_mean(of) for of in by_unit.values()]
    if len(means) < 2 or max(means) - min(means) < _NOTHING:
        return None
    error = statistics.stdev(means) / math.sqrt(len(means))
    centre, half = _mean(scores), student_quantile(len(means) - 1) * error
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _unit(runs: Sequence[RunAccuracy]) -> str:
    """Several runs of one puppet differ as reruns do: there is no second puppet to differ from."""
    puppets = {run.puppet_id for run in runs}
    alone = len(puppets) == 1 and (len(runs) > 1 or puppets == {None})
    return "rerun" if alone else "puppet"


def _reason(
    runs: Sequence[RunAccuracy], n_complete: int, n_items: int, interval: Interval | None
) -> str | None:
    dropped = len(runs) - n_complete
    parts = []
    if n_complete == 0:
        fullest = max(run.n_items for run in runs)
        parts.append(f"no run answers all {n_items} items, the fullest answers {fullest}")
    elif dropped:
        parts.append(
            f"{dropped} of {len(runs)} runs left out: they answer fewer than {n_items} items"
        )
    if n_complete == 1:
        parts.append("no lowest and highest, no interval: one run has no spread")
    elif n_complete and interval is None:
        parts.append(f"no interval: there are no two {_unit(runs)}s, or all score alike")
    return "; ".join(parts) or None
