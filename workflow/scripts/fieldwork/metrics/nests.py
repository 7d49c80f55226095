"""How much of the variance of answers lies between users, and how much between contexts of one user.

Owns the split for conditions that bring the same users with other conversations (`same_users_as`). Each
of them has one context of each user and is a condition like any other, so that no other table takes two
contexts of one user for two users. A mean distance of two answers is taken over pairs, then contexts,
users and items, each alike, so that unequal numbers of answers move none.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    Arm,
    ItemAnswers,
    Options,
    count_unread,
    has_readable_answer,
)
from fieldwork.estimates.quantity import ChanceSettings, Quantity, none_if_nan
from fieldwork.estimates.reasons import join_reasons
from fieldwork.metrics.components import (
    ItemCells,
    cell_distances,
    distances_without_each,
    has_reruns_and_pairs,
    item_cells,
    permuted_rerun,
    ratio,
)
from fieldwork.metrics.ordered_answers import read_ordered_answers
from fieldwork.records.metrics import NestedVariance
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
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


class Nest(NamedTuple):
    """Answers of users in several contexts.

    Attributes:
        items: the cells of each item; a unit is a context.
        blocks: the cells of each item and user.
        user_of: numbers of the users of contexts, in `users`.
    """

    items: list[ItemCells]
    blocks: list[ItemCells]
    users: list[str]
    user_of: Indices

    @property
    def n_nested(self) -> int:
        """Users with answers in two contexts or more."""
        return int((np.bincount(self.user_of) > 1).sum()) if len(self.user_of) else 0

    def distances(self) -> "NestedDistances":
        """Means over the items that have all of them; reruns are left aside where none has any."""
        contexts = [_user_cells(item, self.user_of) for item in self.items]
        n_users = len(self.users)
        context, other = distances_without_each([c for c, _ in contexts], n_users)
        of_reruns = [cells._replace(rerun=rerun) for cells, rerun in contexts]
        same = distances_without_each(of_reruns, n_users).rerun
        is_whole = np.isfinite(context[:, 0]) & np.isfinite(other[:, 0])
        has_reruns = is_whole & np.isfinite(same[:, 0])
        counts = has_reruns if has_reruns.any() else is_whole
        if not counts.any():
            return NestedDistances(*np.full((3, 1 + n_users), np.nan))
        return NestedDistances(*(part[counts].mean(axis=0) for part in (same, context, other)))


class NestedDistances(NamedTuple):
    """Mean distances of all users, then without each: shape (1 + users,).

    Of two answers in one context, in two contexts of one user, and of two users. NaN where an item is
    left without a pair. `same` is NaN throughout where no answer is repeated.
    """

    same: Floats
    context: Floats
    other: Floats


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
    settings = ChanceSettings(n_permutations, seed, rarest_users)
    arms = read_ordered_answers(answers)
    rows = [
        _row(arm, {name: arms.get(arm._replace(condition=name), {}) for name in names}, settings)
        for arm in arms
        if (names := nests.get(arm.condition))
    ]
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.condition))


def read_nest(conditions: Mapping[str, Mapping[str, ItemAnswers]]) -> Nest:
    """The answers of users by condition and item; each condition has one context of each user."""
    cells = [
        (item, (user, condition), [answer.options for answer in group])
        for condition, items in conditions.items()
        for item, answers in items.items()
        for user, group in groupby(answers.answers, key=lambda answer: answer.puppet)
        if user
    ]
    names = sorted({name for _, name, _ in cells})
    numbers = {name: number for number, name in enumerate(names)}
    users = sorted({user for user, _ in names})
    items: dict[str, list[tuple[int, list[Options]]]] = {}
    blocks: dict[tuple[str, str], list[tuple[int, list[Options]]]] = {}
    for item, name, replies in cells:
        items.setdefault(item, []).append((numbers[name], replies))
        blocks.setdefault((item, name[0]), []).append((numbers[name], replies))
    return Nest(
        [item_cells(items[item]) for item in sorted(items)],
        [item_cells(sorted(block)) for block in blocks.values()],
        users,
        np.array([users.index(user) for user, _ in names], dtype=np.int64),
    )


def _user_cells(item: ItemCells, user_of: Indices) -> tuple[ItemCells, Floats]:
    """Each user as a cell of contexts whose reruns are the contexts; and the reruns within these."""
    users, places = np.unique(user_of[item.units], return_inverse=True)
    members = np.equal.outer(np.arange(len(users)), places).astype(np.float64)
    n_contexts = members.sum(axis=1)
    rerun, context = cell_distances(item, members.__matmul__)
    length, means = members @ item.length / n_contexts, members @ item.means / n_contexts[:, None]
    return item._replace(units=users, length=length, means=means, rerun=context), rerun


def _row(
    arm: Arm, conditions: Mapping[str, Mapping[str, ItemAnswers]], settings: ChanceSettings
) -> NestedVariance:
    nest, random = read_nest(conditions), settings.random("nests", *arm.names)
    distances = nest.distances()
    same, context, other = (float(part[0]) for part in distances)
    of_users = of_contexts = Quantity(reason=_no_share(conditions, nest, context, other))
    shortage = None
    if of_users.reason is None:
        shortage = too_few_users(nest.n_nested, settings.rarest_users, "answer in two contexts")
        of_users = _user_share(nest, distances, shortage, settings.n_permutations, random)
        of_contexts = _context_share(nest, distances, shortage, settings, random)
    has_test = of_users.p_value is not None or of_contexts.p_value is not None
    return NestedVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        kind=arm.kind,
        n_contexts=len(conditions),
        **of_users.columns("share_user", "user_low", "user_high"),
        p_user=of_users.p_value,
        **of_contexts.columns("share_context", "context_low", "context_high"),
        p_context=of_contexts.p_value,
        n_permutations=settings.n_permutations if has_test else None,
        var_user=none_if_nan(other - context),
        var_context=none_if_nan(context - same),
        var_rerun=none_if_nan(same),
        var_answers=none_if_nan(other),
        n_items=len(nest.items),
        n_users=len(nest.users),
        n_nested=nest.n_nested,
        n_responses=sum(int(item.n_answers.sum()) for item in nest.items),
        n_unread=sum(map(count_unread, conditions.values())),
        unit=UNIT,
        reason=join_reasons(of_users.reason, shortage, of_contexts.reason),
    )


def _no_share(
    conditions: Mapping[str, Mapping[str, ItemAnswers]], nest: Nest, context: float, other: float
) -> str | None:
    if not any(map(has_readable_answer, conditions.values())):
        return f"none of {sum(map(count_unread, conditions.values()))} answers can be read"
    if not nest.n_nested:
        return "each user has one context"
    if math.isnan(context) or math.isnan(other):
        return "no item is answered by one user in two contexts, and by another user"
    if other <= 0:
        return "all answers to an item are the same: there is no variance to share out"
    return None


def _user_share(
    nest: Nest,
    distances: NestedDistances,
    shortage: str | None,
    n_permutations: int,
    random: np.random.Generator,
) -> Quantity:
    rests = ratio(distances.context, distances.other)
    value, interval = 1 - float(rests[0]), None
    if shortage is None:
        interval = variance_share_interval(value, rests[1:], nest.n_nested - 1)
    share = Quantity(value, interval, reason=None if interval or shortage else _NO_SPREAD)
    if nest.n_nested < LEAST_USERS:
        return share.because(
            f"no test: {nest.n_nested} users in two contexts; {LEAST_USERS} are needed"
        )
    deals = dealt_context_distances(nest, n_permutations=n_permutations, random=random)
    return share._replace(p_value=p_value_of_first(-deals))


def _context_share(
    nest: Nest,
    distances: NestedDistances,
    shortage: str | None,
    settings: ChanceSettings,
    random: np.random.Generator,
) -> Quantity:
    if math.isnan(distances.same[0]):
        return Quantity(reason=_NO_REPEATS)
    shares = ratio(distances.context - distances.same, distances.other)
    value, rest, interval = float(shares[0]), shares[1:], None
    if shortage is None and np.isfinite(rest).all():
        interval = unit_interval(
            value, rest, rarest_users=settings.rarest_users, freedom=nest.n_nested - 1
        )
    share = Quantity(value, interval, reason=None if interval or shortage else _NO_SPREAD)
    if not any(has_reruns_and_pairs(block) for block in nest.blocks):
        return share.because(
            "no test: no user answers an item in two contexts and twice in one of them"
        )
    # the answers of a user to an item are dealt anew to the user's contexts
    reruns = permuted_rerun(nest.blocks, n_permutations=settings.n_permutations, random=random)
    return share._replace(p_value=p_value_of_first(-reruns))


def dealt_context_distances(
    nest: Nest, *, n_permutations: int, random: np.random.Generator
) -> Floats:
    """Mean distance of two contexts of one user, with contexts dealt anew among the users.

    The first is that of the true users: shape (1 + permutations,). If users make no difference beyond
    their contexts, all deals are equally likely; a context keeps all its answers.
    """
    n = len(nest.user_of)
    sums, n_items = np.zeros((n, n)), np.zeros((n, n))
    for item in nest.items:
        square = np.ix_(item.units, item.units)
        sums[square] += np.add.outer(item.length, item.length) / 2 - item.means @ item.means.T
        n_items[square] += 1
    distances = ratio(sums, n_items)
    first, second = np.triu_indices(n, k=1)
    is_pair = nest.user_of[first] == nest.user_of[second]
    first, second = first[is_pair], second[is_pair]
    deals = [np.arange(n), *(random.permutation(n) for _ in range(n_permutations))]
    return np.array([np.nanmean(distances[deal[first], deal[second]]) for deal in deals])
