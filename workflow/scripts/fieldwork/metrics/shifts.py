"""How far a condition moves the share of answers that give an option, option by option.

Owns the difference of two shares with Newcombe's interval, Fisher's exact test, and Holm's correction
over all options of a task that anybody names on either side. Independent answers only: of a puppet
that answers an item several times the first counts. Promises rows in one order, whatever the order
of the answers.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.metrics.answer_sets import Arm, ItemAnswers, independent, read_answer_sets
from fieldwork.metrics.fisher import Margins, fisher_p, holm_of_discrete
from fieldwork.metrics.resampling import Interval, wilson_interval
from fieldwork.records.metrics import Shift


class Pair(NamedTuple):
    """Answers that give an option, and all answers, of a condition and of its baseline."""

    named: int
    answers: int
    named_baseline: int
    answers_baseline: int


class _Side(NamedTuple):
    """How many independent answers an item has, and how many of them give each option."""

    named: Counter[str]
    answers: int


class _Share(NamedTuple):
    """A share with Wilson's interval."""

    value: float
    low: float
    high: float


def measure_shifts(answers: pd.DataFrame, *, baseline: str) -> list[Shift]:
    """One row for each option that anybody names under a condition or under the baseline.

    An item that nobody answers on one of the sides has rows without a shift; where no option is
    named on either side, one row without an option. In order of model, task, condition, item and
    answer; empty input gives no rows.
    """
    arms = read_answer_sets(answers)
    rows: list[Shift] = []
    for family in _families(arms, baseline):
        rows += _tested(
            [
                row
                for arm in family
                for row in _measure(
                    arm, arms[arm], arms.get(arm._replace(condition=baseline), {}), baseline
                )
            ]
        )
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.answer or ""))


def newcombe_interval(pair: Pair, *, confidence: float = 0.95) -> Interval:
    """Interval of the difference of two shares: Newcombe 1998, hybrid score (method 10).

    From Wilson's intervals of both shares, without continuity correction. Raises ValueError where a
    side has no answers.
    """
    here = wilson_interval(pair.named, pair.answers, confidence=confidence)
    there = wilson_interval(pair.named_baseline, pair.answers_baseline, confidence=confidence)
    p, q = pair.named / pair.answers, pair.named_baseline / pair.answers_baseline
    return Interval(
        max(-1.0, p - q - math.hypot(p - here.low, there.high - q)),
        min(1.0, p - q + math.hypot(here.high - p, q - there.low)),
    )


def _families(arms: Mapping[Arm, object], baseline: str) -> list[list[Arm]]:
    """Lists and letters of one task under one condition are one family."""
    families: dict[Arm, list[Arm]] = {}
    for arm in arms:
        if arm.condition != baseline:
            families.setdefault(arm._replace(kind="list"), []).append(arm)
    return list(families.values())


def _measure(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    offline: Mapping[str, ItemAnswers],
    baseline: str,
) -> Iterator[Shift]:
    empty = ItemAnswers([], 0)
    for item, given in items.items():
        here, there = _side(given), _side(offline.get(item, empty))
        unit = "puppet" if any(answer.puppet for answer in given.given) else "response"
        reason = _why_none(here, there, item, baseline)
        options: list[str | None] = [*sorted(here.named | there.named)]
        for option in options or [None]:
            pair = Pair(
                here.named[option] if option else 0,
                here.answers,
                there.named[option] if option else 0,
                there.answers,
            )
            yield _row(arm, item, option, pair, baseline=baseline, unit=unit, reason=reason)


def _side(answers: ItemAnswers) -> _Side:
    chosen = independent(answers)
    return _Side(Counter(option for options in chosen for option in options), len(chosen))


def _why_none(here: _Side, there: _Side, item: str, baseline: str) -> str | None:
    if not here.answers:
        return f"no answer to {item} can be read"
    if not there.answers:
        return f"no answer to {item} can be read under the baseline condition {baseline}"
    return None


def _row(
    arm: Arm,
    item: str,
    option: str | None,
    pair: Pair,
    *,
    baseline: str,
    unit: str,
    reason: str | None,
) -> Shift:
    here = _share(pair.named, pair.answers)
    there = _share(pair.named_baseline, pair.answers_baseline)
    interval = newcombe_interval(pair) if here and there else None
    return Shift(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=baseline,
        item_id=item,
        kind=arm.kind,
        answer=option,
        baseline_share=there.value if there else None,
        baseline_ci_low=there.low if there else None,
        baseline_ci_high=there.high if there else None,
        n_named_baseline=pair.named_baseline,
        n_baseline=pair.answers_baseline,
        share=here.value if here else None,
        share_ci_low=here.low if here else None,
        share_ci_high=here.high if here else None,
        n_named=pair.named,
        n_answers=pair.answers,
        shift=here.value - there.value if here and there else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        p_value=None,
        p_holm=None,
        n_family=0,
        unit=unit,
        reason=reason,
    )


def _share(named: int, answers: int) -> _Share | None:
    if not answers:
        return None
    interval = wilson_interval(named, answers)
    return _Share(named / answers, interval.low, interval.high)


def _tested(rows: Sequence[Shift]) -> list[Shift]:
    """The rows of one family with their tests."""
    shifted = [row for row in rows if row.shift is not None]
    margins = [
        Margins(row.n_named + row.n_named_baseline, row.n_answers, row.n_baseline)
        for row in shifted
    ]
    p_values = [fisher_p(row.n_named, of) for row, of in zip(shifted, margins, strict=True)]
    corrected = holm_of_discrete(p_values, margins)
    done = [
        replace(row, p_value=p, p_holm=held, n_family=len(shifted))
        for row, p, held in zip(shifted, p_values, corrected, strict=True)
    ]
    return done + [replace(row, n_family=len(shifted)) for row in rows if row.shift is None]
