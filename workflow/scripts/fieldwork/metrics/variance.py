"""How much of the variance of answers lies between contexts, and how much comes from asking again.

Owns the split of the variance of answers into prompt, puppet and rerun, and `share_who`, the share
of the variance within a prompt that lies between puppets, each a user with one context. Answers are
indicator vectors over the options; half the squared distance of two of them is the number of options
in which they differ. All components are unbiased means over pairs of answers, so that unequal numbers
of answers move none. Where answers state the probabilities of letters, the components are those of all
draws that could have been: one call of each context says them.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    ROUNDING,
    Arm,
    ItemAnswers,
    count_unread,
    has_readable_answer,
)
from fieldwork.estimates.quantity import ChanceSettings, Quantity, none_if_nan
from fieldwork.estimates.reasons import ASKED_ONCE, join_reasons
from fieldwork.metrics.components import (
    Cells,
    Distances,
    cells_of,
    item_distances,
    permuted_rerun,
    prompt_variance,
    ratio,
)
from fieldwork.metrics.ordered_answers import read_ordered_answers
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import VarianceShare
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users, variance_share_interval

UNIT = "puppet"
CERTAIN = "one letter is certain for all users and items: there is no variance to share out"
NOT_REPEATED = (
    "no test: the same call states different probabilities, so that differences between users may be the "
    "server's"
)
NO_SPREAD = "no interval: without one of the puppets, no differences or none between reruns remain"


def measure_variance(
    answers: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[VarianceShare]:
    """One row for each model, task, kind of item and condition, in this order.

    `share_who` is NULL, with a reason, where puppets do not answer an item more than once: rerun
    noise is then not known under the puppets' own contexts.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = ChanceSettings(n_permutations, seed, rarest_users)
    arms = read_ordered_answers(answers)
    cells = {arm: cells_of(items) for arm, items in arms.items()}
    rows = [
        _row(
            arm,
            arms[arm],
            arms.get(arm._replace(condition=baseline), {}),
            cells,
            baseline,
            settings,
        )
        for arm in arms
    ]
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.condition))


def _row(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    baseline_items: Mapping[str, ItemAnswers],
    cells_by_arm: Mapping[Arm, Cells],
    baseline: str,
    settings: ChanceSettings,
) -> VarianceShare:
    cells = cells_by_arm[arm]
    distances = cells.distances()
    if cells.is_stated and cells.has_puppets:
        repeats = [
            calls
            for side in (items, baseline_items)
            for item in side.values()
            if (letter_shares := item.stated_shares())
            for calls in letter_shares.repeats
        ]
        share = _stated_share(cells, distances, repeats, settings)
    else:
        share = _who_share(arm, items, cells, distances, settings)
    var_rerun, var_answers = (float(part[0]) for part in distances)
    return VarianceShare(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        kind=arm.kind,
        **share.columns("share_who"),
        p_value=share.p_value,
        n_permutations=None
        if share.p_value is None or cells.is_stated
        else settings.n_permutations,
        var_prompt=none_if_nan(prompt_variance(cells)),
        var_who=none_if_nan(var_answers - var_rerun),
        var_rerun=none_if_nan(var_rerun),
        var_answers=none_if_nan(var_answers),
        over_baseline=_over_baseline(cells, cells_by_arm.get(arm._replace(condition=baseline))),
        n_items=len(cells.items),
        n_puppets=len(set(cells.units) - {""}),
        n_repeated=cells.n_repeated,
        n_responses=cells.n_answers,
        n_unread=count_unread(items),
        unit=UNIT,
        is_stated=cells.is_stated,
        reason=share.reason,
    )


def _stated_share(
    cells: Cells, distances: Distances, repeats: Sequence[Floats], settings: ChanceSettings
) -> Quantity:
    """The share where answers state probabilities, which need no second answer of a user.

    Whether contexts change anything is known where the model states the same twice: then users' differ or
    do not, and p is 0 or 1.

    Args:
        repeats: calls that ask the same, each of shape (calls, letters).
    """
    if math.isnan(distances.two_cells[0]):
        return Quantity(reason="no item is answered by two puppets")
    if distances.two_cells[0] <= ROUNDING:
        return Quantity(reason=CERTAIN)
    rerun_shares = ratio(distances.rerun, distances.two_cells)
    value, interval = 1 - float(rerun_shares[0]), None
    shortage = too_few_users(len(cells.units), settings.rarest_users)
    if shortage is None:
        interval = variance_share_interval(value, rerun_shares[1:], len(cells.units) - 1)
        shortage = None if interval else NO_SPREAD
    p_value = no_test = None
    if not repeats:
        no_test = ASKED_ONCE
    elif max(np.ptp(calls, axis=0).max() for calls in repeats) > ROUNDING:
        no_test = NOT_REPEATED
    else:
        spread = max(float(np.ptp(item.means, axis=0).max()) for item in cells.items.values())
        p_value = float(spread <= ROUNDING)
    return Quantity(value, interval, p_value, join_reasons(shortage, no_test))


def _who_share(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    cells: Cells,
    distances: Distances,
    settings: ChanceSettings,
) -> Quantity:
    """The share of the variance that comes from who asks, with its test, or why there is none."""
    reason = _no_share(arm, items, cells, distances)
    if reason:
        return Quantity(reason=reason)
    rerun_shares = ratio(distances.rerun, distances.two_cells)
    value, interval = 1 - float(rerun_shares[0]), None
    # without reruns of a rare user the variance of reruns misses it, too
    n_repeating = len({*np.concatenate([i.units[i.n_answers > 1] for i in cells.items.values()])})
    reason = too_few_users(n_repeating, settings.rarest_users, "answer an item twice")
    if reason is None:
        # the variance of reruns comes from puppets alone who answer an item twice
        interval = variance_share_interval(value, rerun_shares[1:], n_repeating - 1)
        reason = None if interval else NO_SPREAD
    reruns = permuted_rerun(
        [*cells.items.values()],
        n_permutations=settings.n_permutations,
        random=settings.random("who", *arm.names),
    )
    return Quantity(value, interval, p_value_of_first(-reruns), reason)


def _no_share(
    arm: Arm, items: Mapping[str, ItemAnswers], cells: Cells, distances: Distances
) -> str | None:
    if not cells.items or not has_readable_answer(items):
        return f"none of {count_unread(items)} answers can be read"
    if not cells.has_puppets:
        return "this condition has no users: all variance within a prompt comes from reruns"
    if math.isnan(distances.two_cells[0]):
        return "no item is answered by two puppets"
    if cells.n_repeated == 0 and arm.condition == FIELD:
        return (
            "no participant answers a prompt twice, so users and reruns cannot be told apart; ask "
            "some of them to answer some prompts again in a new conversation"
        )
    if cells.n_repeated == 0:
        return (
            f"no puppet answers an item twice, so users and reruns cannot be told apart; set "
            f"replicates: 2 for the condition {arm.condition} in the config"
        )
    if math.isnan(distances.rerun[0]):
        return "no item is answered by two puppets of whom one answers it twice"
    if distances.two_cells[0] <= 0:
        return "all answers to an item are the same: there is no variance to share out"
    return None


def _over_baseline(cells: Cells, baseline: Cells | None) -> float | None:
    """1 - (variance of the baseline's reruns) / (variance of the answers), over shared items."""
    if baseline is None:
        return None
    names = [name for name in cells.items if name in baseline.items]
    answers, reruns = (
        item_distances([side.items[name] for name in names], np.ones(len(side.units)))
        for side in (cells, baseline)
    )
    is_whole = np.isfinite(answers.two_cells) & np.isfinite(reruns.rerun)
    total = float(answers.two_cells[is_whole].sum())
    return 1 - float(reruns.rerun[is_whole].sum()) / total if total > 0 else None
