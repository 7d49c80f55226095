"""The tests of a whole task in simulated studies: who asks, how varied lists are, and means of users.

Owns p-values of `variance` and `estimates` under one condition. The tests of
entropy and of scores are the study's own statistics. That of who asks is the same permutation test by a
quicker way: for letters all deals are counted, and the study's random ones drawn from that count; for
lists, simulated studies share their deals.

Answers of a user to two prompts correlate as `Scenario.likeness` says: what a user likes, or answers, is
the same in some prompts and anew in the others. In each prompt alone answers are what they would be
without it.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.means import PromptValue, difference_of_means, mean_over, mean_test
from fieldwork.estimates.prompts import option_moves, rest_deviations
from fieldwork.metrics.power.effects import LetterSource, ListSource, Scenario, ScoreDifference
from fieldwork.metrics.power.exact_test import count_differing_pairs, exact_p_values
from fieldwork.metrics.power.lists import draw_lists, log_weights
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, confirmed_p
from fieldwork.metrics.power.shuffles import blocks, count_all_hits, permuted_orders
from fieldwork.statistics.arrays import Counts, Flags, Floats
from fieldwork.statistics.delete_many import N_SAMPLES, third_samples
from fieldwork.statistics.entropy import plug_in_bits
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


def odd_users(scenario: Scenario, shape: tuple[int, ...], random: np.random.Generator) -> Flags:
    """Which users carry the effect."""
    is_odd: Flags = random.random(shape) < scenario.odd_users
    return is_odd


def _is_common(likeness: float, shape: tuple[int, ...], random: np.random.Generator) -> Flags:
    """In which prompts a user has what they have in common: in two of them with chance `likeness`."""
    is_common: Flags = random.random(shape) < math.sqrt(likeness)
    return is_common


def liking_likeness(likeness: float, share_who: float) -> float:
    """The correlation of what a user likes in two prompts, from that of their answers.

    Of an answer's variance only `share_who` is the user's liking, so that answers correlate by no more
    than that, where all of it is common to the prompts.
    """
    return min(1.0, likeness / share_who) if share_who > 0 else 0.0


# ---- who asks ------------------------------------------------------------------------------------------


def letter_user_tests(
    share_who: float, source: LetterSource, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is one of two.

    Users who carry the effect have a share of their own for each prompt, from a beta distribution, or one
    for several prompts. The study's permutations hit with the exact chance, so that their number is
    binomial.
    """
    random, n, answers = studies.random, studies.n_users, scenario.replicates
    likeness = liking_likeness(scenario.likeness, share_who)
    ones: list[Counts] = []
    differing: list[Counts] = []
    rows = max(1, _ANSWERS_AT_ONCE // (n * scenario.n_open))
    for start in range(0, studies.n_studies, rows):
        shape = (min(rows, studies.n_studies - start), scenario.n_open, n)
        is_odd = odd_users(scenario, (shape[0], 1, n), random)
        correlation = share_who / scenario.odd_users
        own_shares = _own_shares(correlation, source, shape, random)
        if likeness > 0:
            common_shares = _own_shares(correlation, source, (shape[0], 1, n), random)
            is_common = _is_common(likeness, shape, random)
            own_shares = np.where(is_common, common_shares, own_shares)
        counts = random.binomial(answers, np.where(is_odd, own_shares, source.answer_share))
        ones.append(counts.sum(axis=2))
        differing.append(count_differing_pairs(counts, answers).sum(axis=(1, 2)))
    chances = exact_p_values(
        np.concatenate(ones), np.concatenate(differing), puppets=n, answers=answers
    )
    for n_hits in random.binomial(studies.n_permutations, chances).tolist():
        yield SimulatedTest(random_p_value(n_hits, studies.n_permutations))


def _own_shares(
    correlation: float, source: LetterSource, shape: tuple[int, ...], random: np.random.Generator
) -> Floats:
    """Users' shares with this intra-class correlation."""
    mean = source.answer_share
    if correlation <= 0:
        return np.full(shape, mean)
    if correlation >= 1 - 1e-9:
        return (random.random(shape) < mean).astype(np.float64)
    spread = 1 / correlation - 1
    return random.beta(mean * spread, (1 - mean) * spread, size=shape)


def list_user_tests(
    taste: float,
    source: ListSource,
    scenario: Scenario,
    studies: SimulatedStudies,
    likeness: float = 0.0,
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is a list.

    Args:
        taste: standard deviation of odd users' log weights.
        likeness: correlation of a user's log weights in two prompts.
    """
    random, answers = studies.random, scenario.replicates
    n_answers = studies.n_users * answers
    for n_block in blocks(studies.n_studies):
        orders = [
            permuted_orders(n_answers, studies.n_permutations, random)
            for _ in range(scenario.n_open)
        ]
        for _ in range(n_block):
            overlaps = _answer_overlaps(taste, source, scenario, studies, likeness)
            yield SimulatedTest(_user_p_value(overlaps, orders, answers))


def _answer_overlaps(
    taste: float,
    source: ListSource,
    scenario: Scenario,
    studies: SimulatedStudies,
    likeness: float,
) -> list[Counts]:
    """Options that two lists share, for each open prompt, a user's lists one after another."""
    random, n = studies.random, studies.n_users
    is_odd = odd_users(scenario, (n, 1, 1), random)
    weights = log_weights(source.n_options, source.exponent)
    shape = (n, 1, source.n_options)
    common_tastes = random.standard_normal(shape) if likeness > 0 else np.zeros(shape)
    overlaps: list[Counts] = []
    for _ in range(scenario.n_open):
        tastes = random.standard_normal(shape)
        if likeness > 0:
            tastes = np.where(_is_common(likeness, (n, 1, 1), random), common_tastes, tastes)
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


# ---- how varied lists are ------------------------------------------------------------------------------


def entropy_tests(
    exponent: float, source: ListSource, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the mean entropy over prompts.

    Args:
        exponent: how unequal options are to users who carry the effect.
    """
    random, n = studies.random, studies.n_users
    users, reruns = [f"{k:05}" for k in range(n)], [""] * n
    weights, odd_weights = (
        log_weights(source.n_options, value) for value in (source.exponent, exponent)
    )
    settled_moves, settled_deviations = np.zeros(n), np.zeros(N_SAMPLES)
    for _ in range(studies.n_studies):
        is_odd = odd_users(scenario, (n, 1), random)
        user_weights = np.where(is_odd, odd_weights, weights)
        sides: list[list[PromptValue]] = []
        without_user = (reruns, np.broadcast_to(weights, user_weights.shape), 0.0)
        for names, side, likeness in (
            (users, user_weights, scenario.likeness),
            *[without_user] * studies.n_baselines,
        ):
            settled_prompts = [
                PromptValue(0.0, settled_moves, names, settled_deviations)
            ] * scenario.n_settled
            user_samples = third_samples(n, random)
            open_prompts = [
                _prompt_values(
                    lists, names, user_samples if names is users else third_samples(n, random)
                )
                for lists in _lists_by_prompt(side, source, scenario.n_open, likeness, random)
            ]
            sides.append(open_prompts + settled_prompts)
        of_users, *baselines = sides
        p_values = [_entropy_p_value([of_users, s], studies.rarest_users) for s in baselines]
        yield SimulatedTest(confirmed_p(p_values))


def _lists_by_prompt(
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
        is_common = _is_common(likeness, (len(weights), 1), random)
        yield np.where(is_common, common_lists, draw())


def _prompt_values(lists: Counts, names: list[str], samples: Counts) -> PromptValue:
    """A prompt's entropy at all its answers, as `estimates` has it.

    Args:
        samples: `third_samples` of the answers.
    """
    value = float(plug_in_bits(lists.sum(axis=0, keepdims=True))[0])
    orders = np.arange(len(names), dtype=np.int64)[None, :]
    moves = option_moves(plug_in_bits, orders, len(names), lists)
    deviations = rest_deviations(plug_in_bits, samples, lists)
    return PromptValue(value, moves - moves.mean(), names, deviations)


def _entropy_p_value(sides: list[list[PromptValue]], rarest_users: float) -> float | None:
    """That of `estimates`. Its interval over users only raises it, so above the level it can wait."""
    first, second = (mean_over(side) for side in sides)
    test = mean_test(first, second)
    if test is None or test.p_value >= LEVEL:
        return test and test.p_value
    return difference_of_means(first, second, rarest_users).p_value


# ---- means of users ------------------------------------------------------------------------------------


class UnitSpreads(NamedTuple):
    """Standard deviations of one user's mean and of one rerun's, and the difference of all users' means.

    Attributes:
        difference: over all users, whoever carries it.
    """

    difference: float
    of_user: float
    of_rerun: float


def score_tests(
    scores: ScoreDifference, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of mean scores: a user has one score, and so has a rerun."""
    of_user = math.hypot(scores.sd_users, scores.sd_reruns)
    spreads = UnitSpreads(scores.difference, of_user, scores.sd_reruns)
    return unit_tests(spreads, scenario, studies)


def unit_tests(
    spreads: UnitSpreads, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of means where a user has one normal value, and so has a rerun."""
    random, n = studies.random, studies.n_users
    for n_block in blocks(studies.n_studies):
        splits = unit_splits(n, n, n_permutations=studies.n_permutations, random=random)
        support = 1 / (splits.n_drawn + 1) if splits.n_drawn else 0.0
        for _ in range(n_block):
            is_odd = odd_users(scenario, (n,), random)
            users = is_odd * spreads.difference / scenario.odd_users
            users = users + spreads.of_user * random.standard_normal(n)
            p_values = []
            for _baseline in range(studies.n_baselines):
                reruns = spreads.of_rerun * random.standard_normal(n)
                p_value = p_value_of_first(welch_statistic(np.concatenate([users, reruns]), splits))
                if p_value < LEVEL:
                    sides = users.tolist(), reruns.tolist()
                    p_value = p_value_of_means(p_value, sides, studies.rarest_users)
                p_values.append(p_value)
            yield SimulatedTest(confirmed_p(p_values), support)


def p_value_of_means(
    p_value: float, sides: tuple[list[float], list[float]], rarest_users: float
) -> float:
    """A test's p-value, no smaller than that of the interval over users."""
    interval_at = partial(mean_difference_interval, *sides, (rarest_users, None))
    return p_value_with_interval(p_value, interval_at)
