"""How much of the variance of answers lies between users, and how much between contexts of one user.

Owns the split for conditions that bring the same users with other conversations (`same_users_as`). Each
of them has one context of each user and is a condition like any other, so that no other table takes two
contexts of one user for two users.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    AnswerSet,
    Arm,
    ItemAnswers,
    count_unread,
    has_readable_answer,
)
from fieldwork.metrics.components import lay_out, permuted_rerun, split
from fieldwork.metrics.nest_distances import (
    NestedCell,
    NestedDistances,
    NestedLayout,
    dealt_context_distances,
    lay_out_nest,
    nest_cells,
    nest_distances,
)
from fieldwork.metrics.ordered_answers import read_ordered_answers
from fieldwork.records.metrics import NestedVariance
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.permutation import TIE, random_p_value, require_permutations
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    too_few_users,
    unit_interval,
    variance_share_interval,
)

UNIT = "user"
LEAST_USERS = 4
"""With three users and two contexts each, one deal in 15 is the true one: no test at 5 %."""

_NO_SPREAD = "no interval: without one of the users, no distances or none between contexts remain"
_NO_REPEATS = (
    "no context answers an item twice, so contexts of a user and reruns cannot be told apart; set "
    "replicates: 2"
)


class _NestedShare(NamedTuple):
    """A share of the variance, or as much of it as there is, with the reasons for the rest."""

    value: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    reasons: tuple[str, ...] = ()


class _NestedSettings(NamedTuple):
    n_permutations: int
    rarest_users: float
    random: np.random.Generator


def measure_nests(
    answers: pd.DataFrame,
    *,
    nests: Mapping[str, Sequence[str]],
    rarest_users: float,
    n_permutations: int,
    seed: int,
) -> list[NestedVariance]:
    """One row for each model, task, kind of item and nest, in this order.

    Args:
        nests: by a condition, all conditions that have its users, itself among them.
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = read_ordered_answers(answers)
    rows = []
    for arm in arms:
        if arm.condition in nests:
            names = nests[arm.condition]
            nest = {name: arms.get(arm._replace(condition=name), {}) for name in names}
            settings = _NestedSettings(
                n_permutations, rarest_users, generator(seed, "nests", *arm.names)
            )
            rows.append(_row(arm, nest, settings))
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.condition))


def _row(
    arm: Arm, nest: Mapping[str, Mapping[str, ItemAnswers]], settings: _NestedSettings
) -> NestedVariance:
    cells = [*nest_cells(nest)]
    layout = lay_out_nest(cells)
    distances = nest_distances(layout)
    same, context, other = (float(part[-1]) for part in distances)
    of_users = of_contexts = _NestedShare()
    reasons = _no_share(nest, layout, context, other)
    if not reasons:
        of_users = _user_share(layout, distances, settings)
        of_contexts = _context_share(cells, layout, distances, settings)
        reasons = (*of_users.reasons, *of_contexts.reasons)
    has_test = of_users.p_value is not None or of_contexts.p_value is not None
    return NestedVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        kind=arm.kind,
        n_contexts=len(nest),
        **_columns("user", of_users),
        **_columns("context", of_contexts),
        n_permutations=settings.n_permutations if has_test else None,
        var_user=_none_if_nan(other - context),
        var_context=_none_if_nan(context - same),
        var_rerun=_none_if_nan(same),
        var_answers=_none_if_nan(other),
        n_items=len(layout.items),
        n_users=len(layout.users),
        n_nested=layout.n_nested,
        n_responses=sum(len(cell.answers) for cell in cells),
        n_unread=sum(map(count_unread, nest.values())),
        unit=UNIT,
        reason="; ".join(dict.fromkeys(reasons)) or None,
    )


def _columns(name: str, share: _NestedShare) -> dict[str, Any]:
    low, high = share.interval or (None, None)
    return {
        f"share_{name}": share.value,
        f"{name}_low": low,
        f"{name}_high": high,
        f"p_{name}": share.p_value,
    }


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def _no_share(
    nest: Mapping[str, Mapping[str, ItemAnswers]],
    layout: NestedLayout,
    context: float,
    other: float,
) -> tuple[str, ...]:
    if not any(map(has_readable_answer, nest.values())):
        return (f"none of {sum(map(count_unread, nest.values()))} answers can be read",)
    if not layout.n_nested:
        return ("each user has one context",)
    if math.isnan(context) or math.isnan(other):
        return ("no item is answered by one user in two contexts, and by another user",)
    if other <= 0:
        return ("all answers to an item are the same: there is no variance to share out",)
    return ()


def _user_share(
    layout: NestedLayout, distances: NestedDistances, settings: _NestedSettings
) -> _NestedShare:
    value = 1 - float(distances.context[-1] / distances.other[-1])
    reason, interval = _too_few(layout, settings), None
    if reason is None:
        rest = _ratios(distances.context[:-1], distances.other[:-1])
        interval = variance_share_interval(value, rest, layout.n_nested - 1)
        reason = None if interval else _NO_SPREAD
    reasons = (reason,) if reason else ()
    if layout.n_nested < LEAST_USERS:
        no_test = f"no test: {layout.n_nested} users in two contexts; {LEAST_USERS} are needed"
        return _NestedShare(value, interval, None, (no_test, *reasons))
    deals = dealt_context_distances(
        layout, n_permutations=settings.n_permutations, random=settings.random
    )
    # equal sums in another order differ in their last bits; a tie counts against the effect
    n_hits = int((deals[1:] <= deals[0] + TIE).sum())
    p_value = random_p_value(n_hits, settings.n_permutations)
    return _NestedShare(value, interval, p_value, reasons)


def _context_share(
    cells: Sequence[NestedCell],
    layout: NestedLayout,
    distances: NestedDistances,
    settings: _NestedSettings,
) -> _NestedShare:
    if math.isnan(distances.same[-1]):
        return _NestedShare(reasons=(_NO_REPEATS,))
    shares = _ratios(distances.context - distances.same, distances.other)
    value, rest = float(shares[-1]), shares[:-1]
    reason, interval = _too_few(layout, settings), None
    if reason is None:
        if np.isfinite(rest).all():
            interval = unit_interval(
                value, rest, rarest_users=settings.rarest_users, freedom=layout.n_nested - 1
            )
        reason = None if interval else _NO_SPREAD
    p_value = _context_p_value(cells, settings)
    return _NestedShare(value, interval, p_value, (reason,) if reason else ())


def _too_few(layout: NestedLayout, settings: _NestedSettings) -> str | None:
    return too_few_users(layout.n_nested, settings.rarest_users, "answer in two contexts")


def _ratios(above: Floats, below: Floats) -> Floats:
    ratios = np.full(len(below), np.nan)
    np.divide(above, below, out=ratios, where=below > 0)
    return ratios


def _context_p_value(cells: Sequence[NestedCell], settings: _NestedSettings) -> float:
    """The answers of a user to an item are dealt anew to the user's contexts."""
    blocks: dict[str, list[AnswerSet]] = {}
    for cell in cells:
        answers = [AnswerSet(cell.context, k, options) for k, options in enumerate(cell.answers)]
        blocks.setdefault(f"{cell.item}\n{cell.user}", []).extend(answers)
    layout = lay_out({name: ItemAnswers(sorted(answers), 0) for name, answers in blocks.items()})
    reruns = permuted_rerun(layout, n_permutations=settings.n_permutations, random=settings.random)
    n_hits = int((reruns <= split(layout).var_rerun + TIE).sum())
    return random_p_value(n_hits, settings.n_permutations)
