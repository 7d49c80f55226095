"""The tests of a whole task in simulated studies: who asks, how varied lists are, and mean scores.

Owns p-values of `variance`, `prompt_means` and `score_comparisons` under one condition. The tests of
entropy and of scores are the study's own statistics. That of who asks is the same permutation test by a
quicker way: for letters all deals are counted, and the study's random ones drawn from that count; for
lists, simulated studies share their deals.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from fieldwork.metrics.heterogeneity import influences, top5_share
from fieldwork.metrics.power.effects import LetterSource, ListSource, Scenario, ScoreDifference
from fieldwork.metrics.power.exact_test import count_differing_pairs, exact_p_values
from fieldwork.metrics.power.lists import draw_lists, log_weights
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest
from fieldwork.metrics.power.shuffles import blocks, count_all_hits, permuted_orders
from fieldwork.metrics.prompt_means import (
    METRICS,
    PromptValues,
    difference_of_means,
    mean_over,
    mean_test,
)
from fieldwork.metrics.scores import score_difference_interval, welch_statistic
from fieldwork.statistics.arrays import Counts, Flags, Floats
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.intervals import p_value_with_interval
from fieldwork.statistics.permutation import p_value_of_first, random_p_value, unit_splits

_ANSWERS_AT_ONCE = 2_000_000
_ENTROPY = METRICS.index("entropy_bits")


def _odd_users(scenario: Scenario, shape: tuple[int, ...], random: np.random.Generator) -> Flags:
    """Which users carry the effect."""
    is_odd: Flags = random.random(shape) < scenario.odd_users
    return is_odd


# ---- who asks ------------------------------------------------------------------------------------------


def letter_user_tests(
    share_who: float, source: LetterSource, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is one of two.

    Users who carry the effect have a share of their own for each prompt, from a beta distribution. The
    study's permutations hit with the exact chance, so that their number is binomial.
    """
    random, n, answers = studies.random, studies.n_users, scenario.replicates
    ones: list[Counts] = []
    differing: list[Counts] = []
    rows = max(1, _ANSWERS_AT_ONCE // (n * scenario.n_open))
    for start in range(0, studies.n_studies, rows):
        shape = (min(rows, studies.n_studies - start), scenario.n_open, n)
        is_odd = _odd_users(scenario, (shape[0], 1, n), random)
        own_shares = _own_shares(share_who / scenario.odd_users, source, shape, random)
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
    taste: float, source: ListSource, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of `share_who` where an answer is a list.

    Args:
        taste: standard deviation of odd users' log weights.
    """
    random, answers = studies.random, scenario.replicates
    n_answers = studies.n_users * answers
    for n_block in blocks(studies.n_studies):
        orders = [
            permuted_orders(n_answers, studies.n_permutations, random)
            for _ in range(scenario.n_open)
        ]
        for _ in range(n_block):
            overlaps = _answer_overlaps(taste, source, scenario, studies)
            yield SimulatedTest(_user_p_value(overlaps, orders, answers))


def _answer_overlaps(
    taste: float, source: ListSource, scenario: Scenario, studies: SimulatedStudies
) -> list[Counts]:
    """Options that two lists share, for each open prompt, a user's lists one after another."""
    random, n = studies.random, studies.n_users
    is_odd = _odd_users(scenario, (n, 1, 1), random)
    weights = log_weights(source.n_options, source.exponent)
    overlaps: list[Counts] = []
    for _ in range(scenario.n_open):
        tastes = taste * is_odd * random.standard_normal((n, 1, source.n_options))
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
    settled_moves = np.zeros((n, len(METRICS)))
    for _ in range(studies.n_studies):
        is_odd = _odd_users(scenario, (n, 1), random)
        sides: list[list[PromptValues]] = []
        for names, side in ((users, np.where(is_odd, odd_weights, weights)), (reruns, weights)):
            settled_prompts = [PromptValues(np.zeros(2), settled_moves, names)] * scenario.n_settled
            open_prompts = [
                _prompt_values(side, source, names, random) for _ in range(scenario.n_open)
            ]
            sides.append(open_prompts + settled_prompts)
        yield SimulatedTest(_entropy_p_value(sides, studies.rarest_users))


def _prompt_values(
    weights: Floats, source: ListSource, names: list[str], random: np.random.Generator
) -> PromptValues:
    """A prompt's metrics at all its answers, as `prompt_means` has them."""
    shape = (len(names), source.n_options)
    lists = draw_lists(np.broadcast_to(weights, shape), random.gumbel(size=shape), source.n_named)
    totals = lists.sum(axis=0, keepdims=True)
    values = np.array([1 - top5_share(totals)[0], plug_in_bits(totals)[0]])
    moves = influences(np.arange(len(names), dtype=np.int64)[None, :], len(names), lists)
    return PromptValues(values, moves - moves.mean(axis=0), names)


def _entropy_p_value(sides: list[list[PromptValues]], rarest_users: float) -> float | None:
    """That of `prompt_means`. Its interval over users only raises it, so above the level it can wait."""
    means = (mean_over(sides[0]), mean_over(sides[1]))
    test = mean_test(*means, _ENTROPY)
    if test is None or test.p_value >= LEVEL:
        return test and test.p_value
    difference = difference_of_means(sides, means, _ENTROPY, rarest_users)
    return difference and difference.p_value


# ---- scores --------------------------------------------------------------------------------------------


def score_tests(
    scores: ScoreDifference, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of mean scores: a user has one score, and so has a rerun."""
    random, n = studies.random, studies.n_users
    for n_block in blocks(studies.n_studies):
        splits = unit_splits(n, n, n_permutations=studies.n_permutations, random=random)
        support = 1 / (splits.n_drawn + 1) if splits.n_drawn else 0.0
        for _ in range(n_block):
            is_odd = _odd_users(scenario, (n,), random)
            users = is_odd * scores.difference / scenario.odd_users
            users = users + scores.sd_users * random.standard_normal(n)
            noise = scores.sd_reruns * random.standard_normal(2 * n)
            units = np.concatenate([users, np.zeros(n)]) + noise
            p_value = p_value_of_first(welch_statistic(units, splits))
            if p_value < LEVEL:
                sides = units[:n].tolist(), units[n:].tolist()
                interval_at = partial(score_difference_interval, *sides, studies.rarest_users)
                p_value = p_value_with_interval(p_value, interval_at)
            yield SimulatedTest(p_value, support)
