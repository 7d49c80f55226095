"""How far a condition moves the share of answers that give an option, option by option.

Owns the difference of two shares with Newcombe's interval, Fisher's exact test, and the correction
over all options of a task that are named on either side. A puppet's first answer to an item counts, so
that answers are independent. Promises rows in one order, whatever the order of the answers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.records.metrics import Shift
from fieldwork.statistics.fisher import Margins, fisher_p, holm_of_discrete
from fieldwork.statistics.intervals import ShareCount, newcombe_interval, wilson_interval


def measure_shifts(answers: pd.DataFrame, *, baseline: str) -> list[Shift]:
    """One row for each option that is named under a condition or under the baseline.

    An item without an answer on one of the sides has rows without a shift; where no option is named
    on either side, one row without an option. In order of model, task, condition, item and answer;
    empty input gives no rows.
    """
    arms = read_answer_sets(answers)
    rows: list[Shift] = []
    for family in _families(arms, baseline):
        rows += _with_tests(
            [
                row
                for arm in family
                for row in _measure(
                    arm, arms[arm], arms.get(arm._replace(condition=baseline), {}), baseline
                )
            ]
        )
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.answer or ""))


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
    for item, answers in items.items():
        sides = [side.independent() for side in (answers, offline.get(item, empty))]
        counts = [Counter(option for options in side for option in options) for side in sides]
        names: list[str | None] = [*sorted(counts[0] | counts[1])]
        for name in names or [None]:
            count, baseline_count = (
                ShareCount(n_named[name] if name else 0, len(side))
                for n_named, side in zip(counts, sides, strict=True)
            )
            yield _row(arm, item, name, count, baseline_count, baseline=baseline, unit=answers.unit)


def _row(
    arm: Arm,
    item: str,
    option: str | None,
    count: ShareCount,
    baseline_count: ShareCount,
    *,
    baseline: str,
    unit: str,
) -> Shift:
    interval, baseline_interval = (
        wilson_interval(*side) if side.n_answers else None for side in (count, baseline_count)
    )
    shift = newcombe_interval(count, [baseline_count]) if interval and baseline_interval else None
    return Shift(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=baseline,
        item_id=item,
        kind=arm.kind,
        answer=option,
        baseline_share=baseline_count.share if baseline_interval else None,
        baseline_ci_low=baseline_interval.low if baseline_interval else None,
        baseline_ci_high=baseline_interval.high if baseline_interval else None,
        n_named_baseline=baseline_count.n_named,
        n_baseline=baseline_count.n_answers,
        share=count.share if interval else None,
        share_ci_low=interval.low if interval else None,
        share_ci_high=interval.high if interval else None,
        n_named=count.n_named,
        n_answers=count.n_answers,
        shift=count.share - baseline_count.share if shift else None,
        ci_low=shift.low if shift else None,
        ci_high=shift.high if shift else None,
        p_value=None,
        p_holm=None,
        n_family=0,
        unit=unit,
        reason=_no_shift(count, baseline_count, item, baseline),
    )


def _no_shift(
    count: ShareCount, baseline_count: ShareCount, item: str, baseline: str
) -> str | None:
    if not count.n_answers:
        return f"no answer to {item} can be read"
    if not baseline_count.n_answers:
        return f"no answer to {item} can be read under the baseline condition {baseline}"
    return None


def _with_tests(rows: Sequence[Shift]) -> list[Shift]:
    """The rows of one family with their tests."""
    shifts = [row for row in rows if row.shift is not None]
    margins = [
        Margins(row.n_named + row.n_named_baseline, row.n_answers, row.n_baseline) for row in shifts
    ]
    p_values = [fisher_p(row.n_named, table) for row, table in zip(shifts, margins, strict=True)]
    p_holms = holm_of_discrete(p_values, margins)
    return [
        replace(row, p_value=p_value, p_holm=p_holm, n_family=len(shifts))
        for row, p_value, p_holm in zip(shifts, p_values, p_holms, strict=True)
    ] + [replace(row, n_family=len(shifts)) for row in rows if row.shift is None]
