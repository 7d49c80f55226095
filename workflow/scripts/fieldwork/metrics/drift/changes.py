"""What one measure is in two waves: values, their change with its interval, and the test.

Owns the statistic of each form of values. Under the null, the calls to an item (of a user) could have
come in either wave. Shares are tested exactly, all others by dealing calls anew to the waves.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.samples import indicator_of
from fieldwork.metrics.drift.calls import Form, WavePair
from fieldwork.metrics.drift.intervals import change_interval
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import PermutationTest
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.stratified import (
    DrawPlan,
    ShuffleTest,
    StratumCounts,
    StratumShuffles,
    aligned_ranks,
    exact_share_test,
    least_chance,
    shuffle_test,
)

NO_DISTANCE_INTERVAL = "no interval: it is a distance, which is never below 0"
NO_TIME_TEST = "no interval and no test: calls near in time are alike, whatever the model does"


class ShufflePlan(NamedTuple):
    """What the permutations of a test depend on beside its answers.

    Attributes:
        names: what tells its random numbers from those of other tests.
    """

    seed: int
    names: tuple[str, ...]
    draws: DrawPlan

    def generators(self) -> tuple[np.random.Generator, np.random.Generator]:
        """Of the first and of the second permutations."""
        first, second = (generator(self.seed, *self.names, stage) for stage in ("first", "second"))
        return first, second


class Change(NamedTuple):
    """A measure in two waves; `first_value` is None where the value is a distance between them.

    Attributes:
        is_capped: more permutations would have been needed to show a change at the level.
    """

    first_value: float | None
    value: float
    change: Quantity
    test: PermutationTest | None
    is_capped: bool = False


def change_of(pair: WavePair, form: Form, plan: ShufflePlan) -> Change:
    """Compare the waves of a pair that has calls."""
    match form:
        case "share":
            return _share_change(pair)
        case "options":
            return _options_change(pair, plan)
        case "letters":
            # over all items, as a letter may be preferred whatever is asked, and few answers show it
            return _options_change(pair._replace(items=np.zeros_like(pair.items)), plan)
        case "number":
            return _number_change(pair, plan)
        case "time":
            return _time_change(pair)


def _share_change(pair: WavePair) -> Change:
    successes = np.array(pair.values, dtype=np.float64)
    counts = StratumCounts(
        *(pair.sums(pair.strata, v).astype(np.int64) for v in (successes, np.ones_like(successes)))
    )
    first_value, value = pair.item_means(successes).mean(axis=0).tolist()
    change = change_interval(pair, successes, is_share=True)
    return Change(first_value, value, change, exact_share_test(counts))


def _time_change(pair: WavePair) -> Change:
    """Medians alone: a slow hour makes all calls of a wave alike, so that they test nothing."""
    numbers = np.array(pair.values, dtype=np.float64)
    first_value, value = (
        float(np.median(numbers[pair.is_later == side])) for side in (False, True)
    )
    return Change(first_value, value, Quantity(value - first_value, reason=NO_TIME_TEST), None)


def _number_change(pair: WavePair, plan: ShufflePlan) -> Change:
    numbers = np.array(pair.values, dtype=np.float64)
    first_value, value = pair.item_means(numbers).mean(axis=0).tolist()
    change = change_interval(pair, numbers, is_share=False)
    # a change is rather so many times as much than so much more
    scores = aligned_ranks(np.log(np.maximum(numbers, 0) + 1), pair.strata)

    def statistic(dealt_later: Floats) -> Floats:
        distances_from_0: Floats = np.abs(dealt_later @ scores)
        return distances_from_0

    test, _, is_capped = _shuffle(pair, statistic, plan)
    return Change(first_value, value, change, test, is_capped)


def _options_change(pair: WavePair, plan: ShufflePlan) -> Change:
    members = [np.flatnonzero(pair.items == item) for item in range(pair.n_items)]
    indicators = [
        indicator_of([pair.values[place] for place in places.tolist()]).astype(np.float64)
        for places in members
    ]
    n_later = [int(pair.is_later[places].sum()) for places in members]

    def distances(dealt_later: Floats) -> Floats:
        """Mean over items of the share of what is named that is other, a value a draw."""
        total = np.zeros(len(dealt_later))
        for places, indicator, n in zip(members, indicators, n_later, strict=True):
            later_counts = dealt_later[:, places] @ indicator
            first_counts = indicator.sum(axis=0) - later_counts
            shares = later_counts / n - first_counts / (len(places) - n)
            # a reply of several options is spread over them
            total += np.abs(shares).sum(axis=1) / 2 / indicator.sum() * len(places)
        return total / len(members)

    # of two answers it is no matter which one came first
    is_blind = all(len(places) == 2 for places in members) and len(members) > 0
    value = _of_true_waves(pair, distances)
    test, mean, is_capped = _shuffle(pair, distances, plan, is_blind=is_blind)
    change = Quantity(value - mean, reason=NO_DISTANCE_INTERVAL)
    return Change(None, value, change, test, is_capped)


def _of_true_waves(pair: WavePair, statistic: Callable[[Floats], Floats]) -> float:
    return float(statistic(pair.is_later.astype(np.float64)[None, :])[0])


def _shuffle(
    pair: WavePair,
    statistic: Callable[[Floats], Floats],
    plan: ShufflePlan,
    *,
    is_blind: bool = False,
) -> ShuffleTest:
    """Calls of a stratum are dealt to the waves anew; a blind statistic has p = 1 at least."""
    kinds = np.unique([str(value) for value in pair.values], return_inverse=True)[1]
    return shuffle_test(
        StratumShuffles(pair.strata, pair.is_later),
        statistic,
        _of_true_waves(pair, statistic),
        least_chance=1.0 if is_blind else least_chance(kinds, pair.strata, pair.is_later),
        plan=plan.draws,
        generators=plan.generators(),
    )
