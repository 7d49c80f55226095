"""How often a study of a given size would find a given effect, by simulation.

Owns three designs, each a source of answers with a known effect and the test the study itself would
make of them: a share of answers moved from the baseline's (`comparisons`), a share of variance that
comes from who asks (`variance`), and a difference of mean scores. Where an answer is one of two, the
permutation tests of the first two are counted out. Promises that a number depends on the seed and on
its own effect and size alone, so that another effect or size moves none.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power.dealing import chance_as_alike, differing_pairs
from fieldwork.metrics.power.lists import Lists, list_p_values, taste_of
from fieldwork.records.power import Design
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.equal_n import subsample_indices
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.permutation import MAX_TABLES, TIE, all_tables, table_chances
from fieldwork.statistics.seeds import generator

SATURATED = 0.995
"""Once a size reaches this power, larger ones are not simulated."""

_ANSWERS_AT_ONCE = 2_000_000
_BLOCKS = 10


class Settings(NamedTuple):
    """What all simulations share.

    Attributes:
        sizes: users or puppets to try, rising; the baseline is asked as often.
        alpha: level of the test, over all tests that are corrected together.
        n_permutations: random permutations of a test that is not counted out.
    """

    sizes: Sequence[int]
    simulations: int
    alpha: float
    n_permutations: int
    seed: int


class Moved(NamedTuple):
    """An answer's share under the baseline, and under the condition."""

    baseline: float
    condition: float

    @property
    def label(self) -> str:
        """As the tables call it."""
        return f"{self.baseline:.12g} -> {self.condition:.12g}"


class Who(NamedTuple):
    """The share of variance that comes from who asks, of answers of which one has a known share."""

    share_who: float
    answer_share: float

    @property
    def label(self) -> str:
        """As the tables call it."""
        return f"{self.share_who:.12g}"


class WhoLists(NamedTuple):
    """The share of variance that comes from who asks, of lists of options."""

    share_who: float
    lists: Lists

    @property
    def label(self) -> str:
        """As the tables call it."""
        return f"{self.share_who:.12g}"


class Scores(NamedTuple):
    """A difference of mean scores, and standard deviations over users and over reruns."""

    difference: float
    sd_users: float
    sd_reruns: float

    @property
    def label(self) -> str:
        """As the tables call it."""
        return f"{self.difference:.12g}"


Effect = Moved | Who | WhoLists | Scores


class Setup(NamedTuple):
    """One effect in one kind of study.

    Attributes:
        replicates: answers of each user to each prompt.
        n_items: prompts, for `who`: all of them go into one test.
        n_tests: tests corrected together (Holm); in the others nothing is moved.
    """

    effect: Effect
    replicates: int = 1
    n_items: int = 1
    n_tests: int = 1

    @property
    def source(self) -> str:
        """What an answer is taken for."""
        match self.effect:
            case Moved() | Who():
                return "one answer of two"
            case WhoLists(_, lists):
                return f"lists of {lists.named} of {lists.options} options"
            case Scores():
                return "scores"

    @property
    def design(self) -> Design:
        """Which of the three it is."""
        match self.effect:
            case Moved():
                return "shares"
            case Who() | WhoLists():
                return "who"
            case Scores():
                return "scores"


class Point(NamedTuple):
    """Power at one size; None with a reason where it was not simulated."""

    n_users: int
    power: float | None
    low: float | None
    high: float | None
    n_simulations: int
    reason: str | None


def power_curve(setup: Setup, settings: Settings) -> Iterator[Point]:
    """Power at each size, one after another."""
    saturated: Point | None = None
    for n in settings.sizes:
        if saturated:
            reason = f"not simulated: power is {saturated.power:.3f} with {saturated.n_users}"
            yield Point(n, None, None, None, 0, reason)
            continue
        hits = _hits(setup, n, settings)
        low, high = wilson_interval(hits, settings.simulations)
        power = hits / settings.simulations
        point = Point(n, power, low, high, settings.simulations, None)
        saturated = point if power >= SATURATED else None
        yield point


def _hits(setup: Setup, n: int, settings: Settings) -> int:
    """Simulated studies of `n` users that find the effect."""
    names = (
        *map(repr, setup.effect),
        f"{setup.replicates}",
        f"{setup.n_items}",
        f"{setup.n_tests}",
    )
    random = generator(settings.seed, "power", setup.design, *names, f"{n}")
    match setup.effect:
        case Moved() as moved:
            found = moved_found(moved, n, setup.n_tests, settings, random)
        case Who() as who:
            p_values = who_p_values(who, n, setup, settings.simulations, random)
            found = p_values <= settings.alpha / setup.n_tests
        case WhoLists(share, source):
            shape = (settings.simulations, setup.n_items, n, setup.replicates)
            p_values = list_p_values(taste_of(share, source), source, shape, random)
            found = p_values <= settings.alpha / setup.n_tests
        case Scores() as scores:
            p_values = score_p_values(scores, n, settings, random)
            found = p_values <= settings.alpha / setup.n_tests
    return int(found.sum())


def moved_found(
    moved: Moved, n: int, n_tests: int, settings: Settings, random: np.random.Generator
) -> np.ndarray:
    """Whether each simulated study finds the one prompt of `n_tests` whose answers have moved.

    The other prompts have the baseline's share on both sides: the truth that leaves Holm's
    correction the least to gain from them. Shape (simulations,).
    """
    chances = two_answer_p_values(n)
    shape = (settings.simulations, n_tests)
    here, there = (random.binomial(n, moved.baseline, size=shape) for _ in range(2))
    here[:, 0] = random.binomial(n, moved.condition, size=settings.simulations)
    p_values = chances[here, there]
    found = p_values[:, 0] <= settings.alpha / n_tests
    # Holm can only add to what Bonferroni finds, and never beyond the level of a single test
    for row in np.flatnonzero(~found & (p_values[:, 0] <= settings.alpha)):
        found[row] = holm(p_values[row].tolist())[0] <= settings.alpha
    return found


def two_answer_p_values(n: int) -> Floats:
    """p-values of `permutation_test` for two samples of `n` answers of two kinds.

    By how many of each sample are of the first kind, shape (n + 1, n + 1): a table for each sum of
    the two holds all p-values of that sum.
    """
    statistic = option_distance("total_variation", np.eye(2, dtype=np.int64))
    chances = np.ones((n + 1, n + 1))
    for total in range(2 * n + 1):
        pooled = np.array([total, 2 * n - total])
        tables = all_tables(pooled, n)
        distance = statistic(tables, pooled - tables)
        order = np.argsort(distance, kind="stable")
        beyond = np.cumsum(table_chances(tables, pooled)[order][::-1])[::-1]
        first = np.searchsorted(distance[order], distance - TIE)
        chances[tables[:, 0], total - tables[:, 0]] = np.minimum(beyond[first], 1.0)
    return chances


def who_p_values(
    who: Who, n: int, setup: Setup, simulations: int, random: np.random.Generator
) -> Floats:
    """p-values of the test of `share_who` in simulated studies, counted out.

    Each user has a share of their own for each prompt, from a beta distribution whose intra-class
    correlation is `share_who`. Shape (simulations,).
    """
    answers = setup.replicates
    ones: list[Counts] = []
    differing: list[Counts] = []
    rows = max(1, _ANSWERS_AT_ONCE // (n * setup.n_items))
    for start in range(0, simulations, rows):
        shape = (min(rows, simulations - start), setup.n_items, n)
        given = random.binomial(answers, _user_shares(who, shape, random))
        ones.append(given.sum(axis=2))
        differing.append(differing_pairs(given, answers).sum(axis=(1, 2)))
    return chance_as_alike(
        np.concatenate(ones), np.concatenate(differing), puppets=n, answers=answers
    )


def _user_shares(who: Who, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    mean = who.answer_share
    if who.share_who <= 0:
        return np.full(shape, mean)
    if who.share_who >= 1:
        return (random.random(shape) < mean).astype(np.float64)
    spread = 1 / who.share_who - 1
    return random.beta(mean * spread, (1 - mean) * spread, size=shape)


def score_p_values(
    scores: Scores, n: int, settings: Settings, random: np.random.Generator
) -> Floats:
    """p-values of the permutation test of mean scores, two-sided, in simulated studies.

    A user has one score, a rerun of the baseline has one. A tenth of the studies at a time shares its
    permutations, which leaves each p-value what it is. Shape (simulations,).
    """
    found: list[Floats] = []
    for block in np.array_split(np.arange(settings.simulations), _BLOCKS):
        shape = (len(block), n)
        users = scores.difference + scores.sd_users * random.standard_normal(shape)
        users += scores.sd_reruns * random.standard_normal(shape)
        reruns = scores.sd_reruns * random.standard_normal(shape)
        found.append(mean_difference_p_values(users, reruns, settings.n_permutations, random))
    return np.concatenate(found)


def mean_difference_p_values(
    first: Floats, second: Floats, n_permutations: int, random: np.random.Generator
) -> Floats:
    """p-values of each pair of samples: the share of splits that are as far apart or farther.

    All splits if at most `MAX_TABLES`, else (hits + 1) / (n_permutations + 1). At equal n a distance
    in standard errors, Welch's or Student's, orders splits as the difference of means does.
    Takes shapes (studies, n) and (studies, n), gives (studies,).
    """
    n = first.shape[1]
    pooled = np.concatenate([first, second], axis=1)
    pooled -= pooled.mean(axis=1, keepdims=True)
    counted_out = math.comb(2 * n, n) <= MAX_TABLES
    if counted_out:
        dealt = np.array(list(combinations(range(2 * n), n)), dtype=np.int64)
    else:
        dealt = subsample_indices(2 * n, n, n_subsamples=n_permutations, random=random)
    chosen = np.zeros((2 * n, len(dealt)))
    np.put_along_axis(chosen, dealt.T, 1.0, axis=0)
    # of centred scores, one side's sum says how far apart the means are
    observed = np.abs(pooled[:, :n].sum(axis=1, keepdims=True))
    hits = (np.abs(pooled @ chosen) >= observed * (1 - TIE)).sum(axis=1)
    p_values: Floats = hits / len(dealt) if counted_out else (hits + 1) / (n_permutations + 1)
    return p_values
