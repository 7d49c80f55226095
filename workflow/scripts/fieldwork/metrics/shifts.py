"""How far a condition moves the share of answers that give an option, option by option.

Owns the difference of two shares with Newcombe's interval, and Fisher's exact test. A puppet's first
answer to an item counts, so that answers are independent. Where all answers to an item by letter state
probabilities, shares are their means over users, and the test is that of means. Promises rows in one
order, whatever the order of the answers.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from string import ascii_uppercase

import pandas as pd

from fieldwork.estimates.answer_sets import ItemAnswers, StatedShares, read_answer_sets
from fieldwork.estimates.pairs import Pair, pairs, unread_side
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.reasons import ASKED_ONCE
from fieldwork.estimates.stated import letter_differences, share_interval, stated_sides
from fieldwork.records.metrics import Shift
from fieldwork.statistics.fisher import Margins, fisher_p
from fieldwork.statistics.intervals import ShareCount, newcombe_interval, wilson_interval
from fieldwork.statistics.user_intervals import RAREST_USERS

TOO_RARE = "no test: on both sides its probability is below 0.01, or above 0.99"


def measure_shifts(
    answers: pd.DataFrame, *, baseline: str, rarest_users: float = RAREST_USERS
) -> list[Shift]:
    """One row for each option that is named under a condition or under the baseline.

    An item without an answer on one of the sides has rows without a shift; where no option is named
    on either side, one row without an option. In order of model, task, condition, item and answer;
    empty input gives no rows.

    Args:
        rarest_users: share of users of the rarest kind that intervals of probabilities cover.
    """
    rows: list[Shift] = []
    for pair in pairs(read_answer_sets(answers), baseline, ItemAnswers([], 0)):
        sides = stated_sides(pair)
        rows += _stated_shifts(pair, sides, rarest_users) if sides else _shifts(pair)
    # lists and letters of one task under one condition are tested together
    tests = Counter((r.model, r.task, r.condition) for r in rows if r.shift is not None)
    rows = [replace(row, n_family=tests[row.model, row.task, row.condition]) for row in rows]
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.answer or ""))


def _stated_shifts(
    pair: Pair[str, ItemAnswers],
    sides: tuple[StatedShares, StatedShares],
    rarest_users: float,
) -> Iterator[Shift]:
    letters = letter_differences(*sides, rarest_users)
    for name, letter in zip(ascii_uppercase, letters, strict=False):
        share, baseline_share = (
            Quantity(side.value, share_interval(side, rarest_users))
            for side in (letter.first, letter.second)
        )
        shift = Quantity(letter.of_both.value, letter.interval(rarest_users))
        p_value = letter.of_both.p_value if letter.is_compared else None
        no_test = ASKED_ONCE if letter.is_compared else TOO_RARE
        yield Shift(
            **pair.arm.columns,
            baseline=pair.versus,
            item_id=pair.item,
            kind=pair.arm.kind,
            answer=name,
            **baseline_share.columns("baseline_share", "baseline_ci_low", "baseline_ci_high"),
            n_named_baseline=None,
            n_baseline=len(sides[1].users),
            **share.columns("share", "share_ci_low", "share_ci_high"),
            n_named=None,
            n_answers=len(sides[0].users),
            **shift.columns("shift"),
            p_value=p_value,
            n_family=0,
            unit=pair.first.unit,
            is_stated=True,
            reason=None if p_value is not None else no_test,
        )


def _shifts(pair: Pair[str, ItemAnswers]) -> Iterator[Shift]:
    sides = [side.independent() for side in (pair.first, pair.second)]
    counts = [Counter(option for options in side for option in options) for side in sides]
    names: list[str | None] = [*sorted(counts[0] | counts[1])]
    for name in names or [None]:
        count, baseline_count = (
            ShareCount(n_named[name] if name else 0, len(side))
            for n_named, side in zip(counts, sides, strict=True)
        )
        yield _shift(pair, name, count, baseline_count)


def _shift(
    pair: Pair[str, ItemAnswers], option: str | None, count: ShareCount, baseline_count: ShareCount
) -> Shift:
    share, baseline_share = (
        Quantity(side.share, wilson_interval(*side)) if side.n_answers else Quantity()
        for side in (count, baseline_count)
    )
    reason = unread_side(pair.item, count.n_answers, baseline_count.n_answers, pair.versus)
    shift = Quantity(reason=reason)
    if not reason:
        interval = newcombe_interval(count, [baseline_count])
        shift = Quantity(count.share - baseline_count.share, interval)
    margins = Margins(
        count.n_named + baseline_count.n_named, count.n_answers, baseline_count.n_answers
    )
    return Shift(
        **pair.arm.columns,
        baseline=pair.versus,
        item_id=pair.item,
        kind=pair.arm.kind,
        answer=option,
        **baseline_share.columns("baseline_share", "baseline_ci_low", "baseline_ci_high"),
        n_named_baseline=baseline_count.n_named,
        n_baseline=baseline_count.n_answers,
        **share.columns("share", "share_ci_low", "share_ci_high"),
        n_named=count.n_named,
        n_answers=count.n_answers,
        **shift.columns("shift"),
        p_value=None if reason else fisher_p(count.n_named, margins),
        n_family=0,
        unit=pair.first.unit,
        is_stated=False,
        reason=reason,
    )
