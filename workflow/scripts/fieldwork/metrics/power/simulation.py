"""How often a study of a given size detects a given effect, by simulation.

Owns three designs. Each is a source of answers with a known effect, and the test that the study itself
makes of them: the share of an answer that differs from the baseline's (`comparisons`), the share of
variance that comes from who asks (`variance`), and the difference of mean scores. Where answers have two
options, the permutation tests of the first two are exact. Promises that a number depends on the seed
and on its own effect and size alone: another effect or size in the config changes none.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power.exact_test import count_differing_pairs, exact_p_values
from fieldwork.metrics.power.lists import ListSource, list_p_values, taste_strength
from fieldwork.records.power import Design
from fieldwork.statistics.arrays import Counts, Flags, Floats
from fieldwork.statistics.equal_n import subsample_indices
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.permutation import MAX_TABLES, TIE, all_tables, table_chances
from fieldwork.statistics.seeds import generator

POWER_CEILING = 0.995
"""Once a size reaches this power, larger sizes are not simulated."""

_ANSWERS_AT_ONCE = 2_000_000
_N_BLOCKS = 10


class SimulationSettings(NamedTuple):
    """What all simulations share.

    Attributes:
        sizes: numbers of users or puppets to try, rising. The baseline is asked as often.
        alpha: level of the test, over all tests that are corrected together.
        n_permutations: random permutations of a test that is not exact.
    """

    sizes: Sequence[int]
    simulations: int
    alpha: float
    n_permutations: int
    seed: int


class ShareChange(NamedTuple):
    """An answer's share under the baseline, and under the condition."""

    baseline: float
    condition: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.baseline:.12g} -> {self.condition:.12g}"


class UserEffect(NamedTuple):
    """The share of variance that comes from who asks; the answers are one of two, with known shares."""

    share_who: float
    answer_share: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.share_who:.12g}"


class ListUserEffect(NamedTuple):
    """The share of variance that comes from who asks; the answers are lists of options."""

    share_who: float
    lists: ListSource

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.share_who:.12g}"


class ScoreDifference(NamedTuple):
    """A difference of mean scores, and standard deviations over users and over reruns."""

    difference: float
    sd_users: float
    sd_reruns: float

    @property
    def label(self) -> str:
        """The effect as the tables name it."""
        return f"{self.difference:.12g}"


Effect = ShareChange | UserEffect | ListUserEffect | ScoreDifference


class Scenario(NamedTuple):
    """One effect in one kind of study.

    Attributes:
        replicates: answers of each user to each prompt.
        n_items: prompts that one test of `who` pools.
        n_tests: tests corrected together (Holm). Only one of them has an effect.
    """

    effect: Effect
    replicates: int = 1
    n_items: int = 1
    n_tests: int = 1

    @property
    def source(self) -> str:
        """What the simulated answers are."""
        match self.effect:
            case ShareChange() | UserEffect():
                return "one answer of two"
            case ListUserEffect(_, lists):
                return f"lists of {lists.n_named} of {lists.n_options} options"
            case ScoreDifference():
                return "scores"

    @property
    def design(self) -> Design:
        """Which of the three designs it is."""
        match self.effect:
            case ShareChange():
                return "shares"
            case UserEffect() | ListUserEffect():
                return "who"
            case ScoreDifference():
                return "scores"

    def random(self, seed: int, n_users: int) -> np.random.Generator:
        """Random numbers of this scenario at one size."""
        values = (v.seed_name if isinstance(v, ListSource) else repr(v) for v in self.effect)
        shape = (f"{self.replicates}", f"{self.n_items}", f"{self.n_tests}")
        return generator(seed, "power", self.design, *values, *shape, f"{n_users}")


class PowerEstimate(NamedTuple):
    """Power at one size; None, with a reason, where it was not simulated."""

    n_users: int
    power: float | None
    low: float | None
    high: float | None
    n_simulations: int
    reason: str | None


def power_curve(scenario: Scenario, settings: SimulationSettings) -> Iterator[PowerEstimate]:
    """Power at each size, one after another."""
    ceiling: PowerEstimate | None = None
    for n in settings.sizes:
        if ceiling:
            reason = f"not simulated: power is {ceiling.power:.3f} with {ceiling.n_users}"
            yield PowerEstimate(n, None, None, None, 0, reason)
            continue
        detections = _count_detections(scenario, n, settings)
        low, high = wilson_interval(detections, settings.simulations)
        power = detections / settings.simulations
        estimate = PowerEstimate(n, power, low, high, settings.simulations, None)
        ceiling = estimate if power >= POWER_CEILING else None
        yield estimate


def _count_detections(scenario: Scenario, n: int, settings: SimulationSettings) -> int:
    """Simulated studies of `n` users that detect the effect."""
    random = scenario.random(settings.seed, n)
    match scenario.effect:
        case ShareChange() as change:
            return int(detect_share_change(change, n, scenario.n_tests, settings, random).sum())
        case UserEffect() as effect:
            p_values = user_effect_p_values(effect, n, scenario, settings.simulations, random)
        case ListUserEffect(share, source):
            p_values = list_p_values(
                taste_strength(share, source),
                source,
                simulations=settings.simulations,
                n_items=scenario.n_items,
                n_users=n,
                answers=scenario.replicates,
                random=random,
            )
        case ScoreDifference() as scores:
            p_values = score_p_values(scores, n, settings, random)
    return int((p_values <= settings.alpha / scenario.n_tests).sum())


def detect_share_change(
    change: ShareChange,
    n: int,
    n_tests: int,
    settings: SimulationSettings,
    random: np.random.Generator,
) -> Flags:
    """Whether each simulated study detects the one prompt of `n_tests` whose shares change.

    The other prompts have the baseline's share on both sides. Holm's correction gains least from such
    prompts. Shape (simulations,).
    """
    p_table = two_answer_p_values(n)
    shape = (settings.simulations, n_tests)
    condition, baseline = (random.binomial(n, change.baseline, size=shape) for _ in range(2))
    condition[:, 0] = random.binomial(n, change.condition, size=settings.simulations)
    p_values = p_table[condition, baseline]
    is_detected: Flags = p_values[:, 0] <= settings.alpha / n_tests
    # Holm can only add to what Bonferroni detects, and never beyond the level of a single test
    for row in np.flatnonzero(~is_detected & (p_values[:, 0] <= settings.alpha)):
        is_detected[row] = holm(p_values[row].tolist())[0] <= settings.alpha
    return is_detected


def two_answer_p_values(n: int) -> Floats:
    """p-values of `permutation_test` for two samples of `n` answers of two kinds.

    Row and column are the numbers of answers of the first kind in each sample: shape (n + 1, n + 1).
    One set of tables serves all pairs with the same sum.
    """
    statistic = option_distance("total_variation", np.eye(2, dtype=np.int64))
    p_values = np.ones((n + 1, n + 1))
    for total in range(2 * n + 1):
        pool = np.array([total, 2 * n - total])
        tables = all_tables(pool, n)
        distance = statistic(tables, pool - tables)
        order = np.argsort(distance, kind="stable")
        at_least = np.cumsum(table_chances(tables, pool)[order][::-1])[::-1]
        first = np.searchsorted(distance[order], distance - TIE)
        p_values[tables[:, 0], total - tables[:, 0]] = np.minimum(at_least[first], 1.0)
    return p_values


def user_effect_p_values(
    effect: UserEffect, n: int, scenario: Scenario, simulations: int, random: np.random.Generator
) -> Floats:
    """Exact p-values of the test of `share_who` in simulated studies.

    Each user has a share of their own for each prompt, from a beta distribution whose intra-class
    correlation is `share_who`. Shape (simulations,).
    """
    answers = scenario.replicates
    ones: list[Counts] = []
    differing: list[Counts] = []
    rows = max(1, _ANSWERS_AT_ONCE // (n * scenario.n_items))
    for start in range(0, simulations, rows):
        shape = (min(rows, simulations - start), scenario.n_items, n)
        counts = random.binomial(answers, _user_shares(effect, shape, random))
        ones.append(counts.sum(axis=2))
        differing.append(count_differing_pairs(counts, answers).sum(axis=(1, 2)))
    return exact_p_values(
        np.concatenate(ones), np.concatenate(differing), puppets=n, answers=answers
    )


def _user_shares(effect: UserEffect, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    mean = effect.answer_share
    if effect.share_who <= 0:
        return np.full(shape, mean)
    if effect.share_who >= 1:
        return (random.random(shape) < mean).astype(np.float64)
    spread = 1 / effect.share_who - 1
    return random.beta(mean * spread, (1 - mean) * spread, size=shape)


def score_p_values(
    scores: ScoreDifference, n: int, settings: SimulationSettings, random: np.random.Generator
) -> Floats:
    """p-values of the two-sided permutation test of mean scores in simulated studies.

    A user has one score, and so has a rerun of the baseline. A tenth of the studies shares its
    permutations, which changes no p-value's distribution. Shape (simulations,).
    """
    p_values: list[Floats] = []
    for block in np.array_split(np.arange(settings.simulations), _N_BLOCKS):
        shape = (len(block), n)
        users = scores.difference + scores.sd_users * random.standard_normal(shape)
        users += scores.sd_reruns * random.standard_normal(shape)
        reruns = scores.sd_reruns * random.standard_normal(shape)
        p_values.append(mean_difference_p_values(users, reruns, settings.n_permutations, random))
    return np.concatenate(p_values)


def mean_difference_p_values(
    first: Floats, second: Floats, n_permutations: int, random: np.random.Generator
) -> Floats:
    """p-values of pairs of samples: the share of splits with means at least as far apart.

    All splits if at most `MAX_TABLES`, else (hits + 1) / (n_permutations + 1). At equal n a distance
    in standard errors, Welch's or Student's, orders splits as the difference of means does.
    Takes shapes (studies, n) and (studies, n), gives (studies,).
    """
    n = first.shape[1]
    pool = np.concatenate([first, second], axis=1)
    pool -= pool.mean(axis=1, keepdims=True)
    is_exact = math.comb(2 * n, n) <= MAX_TABLES
    if is_exact:
        splits = np.array(list(combinations(range(2 * n), n)), dtype=np.int64)
    else:
        splits = subsample_indices(2 * n, n, n_subsamples=n_permutations, random=random)
    in_first = np.zeros((2 * n, len(splits)))
    np.put_along_axis(in_first, splits.T, 1.0, axis=0)
    # of centred scores, one side's sum says how far apart the means are
    distance = np.abs(pool[:, :n].sum(axis=1, keepdims=True))
    hits = (np.abs(pool @ in_first) >= distance * (1 - TIE)).sum(axis=1)
    p_values: Floats = hits / len(splits) if is_exact else (hits + 1) / (n_permutations + 1)
    return p_values
