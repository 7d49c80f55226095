"""The tests of a whole task in simulated studies: who asks, declared measures, and means of users.

Owns p-values of `variance` and `estimates` under one condition. Values and tests of
declared measures are those of the engine (`fieldwork/estimates`), and the test of scores is the study's
own. That of who asks is the same permutation test by a quicker way: for letters all deals are counted,
and the study's random ones drawn from that count; for lists, simulated studies share their deals.

Answers of a user to two prompts correlate as `Scenario.likeness` says: what a user likes, or answers, is
the same in some prompts and anew in the others. In each prompt alone answers are what they would be
without it.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from fieldwork.estimates.declaration import Measure
from fieldwork.estimates.means import (
    Mean,
    PromptValue,
    difference_of_means,
    mean_of_numbers,
    mean_over,
    mean_test,
)
from fieldwork.estimates.prompts import prompt_value
from fieldwork.estimates.samples import NumberSample
from fieldwork.metrics.power.effects import LetterSource, ListSource, ProbabilitySource, Scenario
from fieldwork.metrics.power.exact_test import count_differing_pairs, exact_p_values
from fieldwork.metrics.power.lists import (
    draw_lists,
    log_weights,
    taste_strength,
    varied_exponent,
)
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, Simulation
from fieldwork.metrics.power.shuffles import count_all_hits, permuted_orders
from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices
from fieldwork.statistics.delete_many import N_SAMPLES, third_samples
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.intervals import p_value_with_interval
from fieldwork.statistics.permutation import (
    p_value_of_first,
    random_p_value,
    unit_splits,
    welch_statistic,
)
from fieldwork.statistics.user_intervals import mean_difference_interval

_ANSWERS_AT_ONCE = 2_000_000


def in_common(likeness: float, shape: tuple[int, ...], random: np.random.Generator) -> Flags:
    """In which prompts a user has what they have in common: in two of them with chance `likeness`."""
    is_common: Flags = random.random(shape) < math.sqrt(likeness)
    return is_common


def liking_likeness(scenario: Scenario) -> float:
    """The correlation of what a user likes in two prompts, from that of their answers.

    Of an answer's variance only `share_who` is the user's liking, so that answers correlate by no more
    than that, where all of it is common to the prompts.
    """
    share_who = scenario.effect.size
    return min(1.0, scenario.likeness / share_who) if share_who > 0 else 0.0


# ---- who asks ------------------------------------------------------------------------------------------


def who_simulation(scenario: Scenario) -> Simulation | None:
    """The test of `share_who`; None where no tastes for lists would do."""
    if isinstance(scenario.source, LetterSource):
        return partial(letter_user_tests, scenario, scenario.source)
    assert isinstance(scenario.source, ListSource)
    taste = taste_strength(scenario.effect.size, scenario.source, scenario.odd_users)
    return None if taste is None else partial(list_user_tests, taste, scenario, scenario.source)


def letter_user_tests(
    scenario: Scenario, source: LetterSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is one of two.

    Users who carry the effect have a share of their own for each prompt, from a beta distribution, or one
    for several prompts. The study's permutations hit with the exact chance, so that their number is
    binomial.
    """
    random, n, answers = studies.random, studies.n_users, scenario.replicates
    likeness = liking_likeness(scenario)
    correlation = scenario.effect.size / scenario.odd_users
    ones: list[Counts] = []
    differing: list[Counts] = []
    rows = max(1, _ANSWERS_AT_ONCE // (n * scenario.n_open))
    for start in range(0, studies.n_studies, rows):
        shape = (min(rows, studies.n_studies - start), scenario.n_open, n)
        of_users = (shape[0], 1, n)
        is_odd = studies.odd_users(scenario, of_users)
        shares = own_shares(correlation, source.answer_share, shape, random)
        if likeness > 0:
            common_shares = own_shares(correlation, source.answer_share, of_users, random)
            is_common = in_common(likeness, shape, random)
            shares = np.where(is_common, common_shares, shares)
        counts = random.binomial(answers, np.where(is_odd, shares, source.answer_share))
        ones.append(counts.sum(axis=2))
        differing.append(count_differing_pairs(counts, answers).sum(axis=(1, 2)))
    chances = exact_p_values(
        np.concatenate(ones), np.concatenate(differing), puppets=n, answers=answers
    )
    for n_hits in random.binomial(studies.n_permutations, chances).tolist():
        yield SimulatedTest(random_p_value(n_hits, studies.n_permutations))


def own_shares(
    correlation: float, mean: float, shape: tuple[int, ...], random: np.random.Generator
) -> Floats:
    """Users' shares with this intra-class correlation and mean, from a beta distribution."""
    if correlation <= 0 or mean in (0, 1):
        return np.full(shape, mean)
    if correlation >= 1 - 1e-9:
        return (random.random(shape) < mean).astype(np.float64)
    spread = 1 / correlation - 1
    return random.beta(mean * spread, (1 - mean) * spread, size=shape)


def list_user_tests(
    taste: float, scenario: Scenario, source: ListSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is a list.

    Args:
        taste: standard deviation of odd users' log weights.
    """
    n_answers = studies.n_users * scenario.replicates
    for n_block in studies.blocks():
        orders = [
            permuted_orders(n_answers, studies.n_permutations, studies.random)
            for _ in range(scenario.n_open)
        ]
        for _ in range(n_block):
            overlaps = _answer_overlaps(taste, scenario, source, studies)
            yield SimulatedTest(_user_p_value(overlaps, orders, scenario.replicates))


def _answer_overlaps(
    taste: float, scenario: Scenario, source: ListSource, studies: SimulatedStudies
) -> list[Counts]:
    """Options that two lists share, for each open prompt, a user's lists one after another."""
    random, n, likeness = studies.random, studies.n_users, liking_likeness(scenario)
    is_odd = studies.odd_users(scenario, (n, 1, 1))
    weights = log_weights(source.n_options, source.exponent)
    shape = (n, 1, source.n_options)
    common_tastes = random.standard_normal(shape) if likeness > 0 else np.zeros(shape)
    overlaps: list[Counts] = []
    for _ in range(scenario.n_open):
        tastes = random.standard_normal(shape)
        if likeness > 0:
            tastes = np.where(in_common(likeness, (n, 1, 1), random), common_tastes, tastes)
        tastes = taste * is_odd * tastes
        gumbel = random.gumbel(size=(n, scenario.replicates, source.n_options))
        lists = draw_lists(weights + tastes, gumbel, source.n_named)
        flat = lists.reshape(n * scenario.replicates, source.n_options).astype(np.float32)
        overlaps.append((flat @ flat.T).astype(np.int16))
    return overlaps


def _user_p_value(overlaps: list[Counts], orders: list[Counts], answers: int) -> float:
    """As few differences within users as observed: as many options that a user's lists share."""
    observed_order = np.arange(len(overlaps[0]))[None, :]
    observed_count = _shared_options(overlaps, [observed_order] * len(overlaps), answers)[0]

    def count_hits(start: int, stop: int) -> int:
        counts = _shared_options(overlaps, [order[start:stop] for order in orders], answers)
        return int((counts >= observed_count).sum())

    n_permutations = len(orders[0])
    return random_p_value(count_all_hits(count_hits, n_permutations), n_permutations)


def _shared_options(overlaps: list[Counts], orders: list[Counts], answers: int) -> Counts:
    """Options that two answers of one user share, over all pairs and prompts, for each order."""
    total = np.zeros(len(orders[0]), dtype=np.int64)
    for overlap, order in zip(overlaps, orders, strict=True):
        for a in range(answers):
            for b in range(a):
                pairs = overlap[order[:, a::answers], order[:, b::answers]]
                total += pairs.sum(axis=1, dtype=np.int64)
    return total


# ---- declared measures ---------------------------------------------------------------------------------


def declared_simulation(measure: Measure, scenario: Scenario) -> Simulation | None:
    """The test of a declared measure's mean over prompts, as the engine makes it.

    Users' lists are more varied, or their numbers higher. None where no lists are so varied.
    """
    if not isinstance(scenario.source, ListSource):
        return partial(_simulate_means, partial(_number_means, scenario))
    # settled prompts take no part, so that the others must be so much more varied
    bits = scenario.effect.size * scenario.n_items / scenario.n_open
    exponent = varied_exponent(bits, scenario.source, scenario.odd_users)
    if exponent is None:
        return None
    return partial(
        _simulate_means, partial(_list_means, measure, exponent, scenario, scenario.source)
    )


def _simulate_means(
    draw: Callable[[SimulatedStudies], list[Mean]], studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    def test(users: Mean, baseline: Mean) -> SimulatedTest:
        """As `estimates` has it. The interval over users only raises p: above the level it can wait."""
        quick = mean_test(users, baseline)
        if quick is None or quick.p_value >= LEVEL:
            return SimulatedTest(quick and quick.p_value)
        return SimulatedTest(difference_of_means(users, baseline, studies.rarest_users).p_value)

    return studies.tests(lambda: draw(studies), lambda: test)


def _list_means(
    measure: Measure,
    exponent: float,
    scenario: Scenario,
    source: ListSource,
    studies: SimulatedStudies,
) -> list[Mean]:
    """The mean over prompts of users, of the baseline and of each control.

    Args:
        exponent: how unequal options are to users who carry the effect.
    """
    random, n = studies.random, studies.n_users
    weights, odd_weights = (
        log_weights(source.n_options, value) for value in (source.exponent, exponent)
    )
    user_weights = np.where(studies.odd_users(scenario, (n, 1)), odd_weights, weights)
    without_user = ([""] * n, np.broadcast_to(weights, user_weights.shape), 0.0)
    means = []
    for names, side_weights, likeness in (
        ([f"{k:05}" for k in range(n)], user_weights, scenario.likeness),
        *[without_user] * studies.n_baselines,
    ):
        user_samples = third_samples(n, random)
        prompts = [
            _prompt_value(measure, lists, names, user_samples if names[0] else None, random)
            for lists in lists_by_prompt(side_weights, source, scenario.n_open, likeness, random)
        ]
        settled_prompt = PromptValue(0.0, np.zeros(n), names, np.zeros(N_SAMPLES))
        means.append(mean_over(prompts + [settled_prompt] * scenario.n_settled))
    return means


def lists_by_prompt(
    weights: Floats,
    source: ListSource,
    n_prompts: int,
    likeness: float,
    random: np.random.Generator,
) -> Iterator[Counts]:
    """A list of each user for one prompt after another, shape (users, options) as that of `weights`.

    In some prompts a user gives the same list: so any two numbers read off a user's lists correlate by
    `likeness`, too, and above all how unusual the lists are.
    """

    def draw() -> Counts:
        return draw_lists(weights, random.gumbel(size=weights.shape), source.n_named)

    if likeness == 0:
        yield from (draw() for _ in range(n_prompts))
        return
    common_lists = draw()
    for _ in range(n_prompts):
        is_common = in_common(likeness, (len(weights), 1), random)
        yield np.where(is_common, common_lists, draw())


def _prompt_value(
    measure: Measure,
    lists: Counts,
    names: list[str],
    user_samples: Counts | None,
    random: np.random.Generator,
) -> PromptValue:
    """A prompt's value at all its answers.

    Args:
        user_samples: of a third of the users, the same for all prompts; None without users.
    """
    samples = third_samples(len(names), random) if user_samples is None else user_samples
    orders = np.arange(len(names), dtype=np.int64)[None, :]
    totals = lists.sum(axis=0, keepdims=True)
    return prompt_value(measure, names, lists, orders, totals, samples, len(names))


def _number_means(scenario: Scenario, studies: SimulatedStudies) -> list[Mean]:
    """Means over prompts of numbers with a standard deviation of 1, of users and each baseline."""
    random, n, n_items = studies.random, studies.n_users, scenario.n_items
    shift = studies.odd_users(scenario, (n, 1)) * scenario.effect.size / scenario.odd_users
    users = random.standard_normal((n, n_items))
    common = random.standard_normal((n, 1))
    users = np.where(in_common(scenario.likeness, users.shape, random), common, users) + shift
    sides = [users, *random.standard_normal((studies.n_baselines, n, n_items))]
    names = [f"{k:05}" for k in range(n_items)]
    means = []
    for place, side in enumerate(sides):
        has_users = place == 0
        units = np.repeat(np.arange(n), n_items) if has_users else np.arange(side.size)
        items = np.tile(np.arange(n_items), n)
        mean = mean_of_numbers(NumberSample(side.ravel(), items, units, names, has_users, 0, None))
        assert mean
        means.append(mean)
    return means


# ---- means of users ------------------------------------------------------------------------------------


def score_simulation(scenario: Scenario) -> Simulation:
    """The test of the difference of mean scores: a user has one score, and so has a rerun."""
    effect = scenario.effect
    if isinstance(scenario.source, ProbabilitySource):
        return partial(known_score_tests, scenario)
    of_user = math.hypot(effect.sd_users, effect.sd_reruns)
    return partial(unit_tests, of_user, effect.sd_reruns, scenario)


def known_score_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """The test of expected scores, where the baseline's is known: it states the same twice."""
    random, n, effect = studies.random, studies.n_users, scenario.effect
    units = np.arange(n, dtype=np.int64)
    baseline = _mean_score(np.zeros(2), units[:2], has_users=False)
    for _ in range(studies.n_studies):
        scores = studies.odd_users(scenario, (n,)) * effect.size / scenario.odd_users
        scores = scores + effect.sd_users * random.standard_normal(n)
        mean = _mean_score(scores, units, has_users=True)
        yield SimulatedTest(difference_of_means(mean, baseline, studies.rarest_users).p_value)


def _mean_score(scores: Floats, units: Indices, *, has_users: bool) -> Mean:
    items = np.zeros_like(units)
    mean = mean_of_numbers(
        NumberSample(scores, items, units, [""], has_users, 0, None, n_unstated=0)
    )
    assert mean
    return mean


def unit_tests(
    of_user: float, of_rerun: float, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of means where a user has one normal value, and so has a rerun.

    Args:
        of_user, of_rerun: standard deviations of their values.
    """
    random, n = studies.random, studies.n_users

    def draw() -> list[Floats]:
        users = studies.odd_users(scenario, (n,)) * scenario.effect.size / scenario.odd_users
        users = users + of_user * random.standard_normal(n)
        return [users, *(of_rerun * random.standard_normal((studies.n_baselines, n)))]

    def new_test() -> Callable[[Floats, Floats], SimulatedTest]:
        splits = unit_splits(n, n, n_permutations=studies.n_permutations, random=random)
        support = 1 / (splits.n_drawn + 1) if splits.n_drawn else 0.0

        def test(users: Floats, reruns: Floats) -> SimulatedTest:
            p_value = p_value_of_first(welch_statistic(np.concatenate([users, reruns]), splits))
            if p_value < LEVEL:
                p_value = p_value_of_means(p_value, users, reruns, studies.rarest_users)
            return SimulatedTest(p_value, support)

        return test

    return studies.tests(draw, new_test)


def p_value_of_means(p_value: float, users: Floats, reruns: Floats, rarest_users: float) -> float:
    """A test's p-value, no smaller than that of the interval over users."""
    sides = users.tolist(), reruns.tolist()
    interval_at = partial(mean_difference_interval, *sides, (rarest_users, None))
    return p_value_with_interval(p_value, interval_at)
