"""Shares of the variance that come from who asks: of users, of contexts of one user, by category.

Called *discarded* is what was tried and is not used: bootstraps, and the variance of offline reruns.
"""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from populations import (
    LETTERS,
    SHARES,
    Floats,
    Ints,
    Zipf,
    answer_table,
    beside_offline,
    choice_items,
    draw_letters,
    draw_lists,
    puppet_shares,
    rarest_covered,
)
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.metrics.nests import measure_nests
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import CategoryVariance

PERMUTATIONS, RESAMPLES = 199, 300
CORRELATIONS = (0.0, 0.1, 0.3, 0.7, 0.95)
SOURCE = Zipf(60, 1.5)
SIZE = "{} puppets, {} items, {} answers each"
LETTER_SIZES = (
    *((10, 4, 2), (10, 4, 5), (40, 4, 2), (100, 4, 2), (10, 75, 2)),
    (72, 30, 2),
)
LIST_SIZES = ((10, 9, 2), (40, 9, 2), (100, 9, 2))
"""Puppets, items, and answers of each."""
TRUTH_PARTS = 20
TASTES = (0.0, 1.0, 3.0)
"""Standard deviation of a puppet's own log weights of the options."""
UNEVEN = (
    *((40, 9, k, 0.0) for k in (3, 5, 10, 20)),
    (40, 9, 0, 0.25),
    (40, 4, 5, 0.0),
    (120, 4, 72, 0.0),
)
"""Of a field study: puppets, items, who is asked again, and the share of answers that come again."""
BLURRED = np.array([0.93, 0.03, 0.03, 0.01])


def _letters(puppets: int, items: int, reruns: int, icc: float, sets: Sets) -> Lines:
    shares = puppet_shares(icc, (sets.n, items, puppets), sets.random)
    yield _share_who(answer_table(draw_letters(shares, reruns, sets.random)), icc, puppets)


def _lists(puppets: int, items: int, reruns: int, taste: float, sets: Sets) -> Lines:
    lists = sets.each(_tasted_lists, (puppets, items, reruns), taste)
    yield _share_who(answer_table(np.stack(lists)), _true_share(taste), puppets)


def _uneven(puppets: int, items: int, again: int, cells: float, icc: float, sets: Sets) -> Lines:
    """Everyone answers once; some puppets, or some answers, come again."""
    shares = puppet_shares(icc, (sets.n, items, puppets), sets.random)
    frame = answer_table(draw_letters(shares, 3, sets.random))
    puppet, rerun = frame["puppet_id"].str[1:].astype(int), frame["replicate"]
    is_asked = (puppet < again) & (rerun == 1) | (puppet < again // 2) & (rerun == 2)
    if cells:
        is_asked = (rerun == 1) & (sets.random.random(len(frame)) < cells)
    yield _share_who(frame[(rerun == 0) | is_asked], icc, again or puppets // 2)


def _uneven_name(puppets: int, items: int, again: int, cells: float) -> str:
    repeats = f"{again} of them again, half of these three times"
    if cells:
        repeats = f"{cells:.0%} of the answers again"
    return f"{puppets} participants, {items} items, {repeats}"


def _tasted_lists(size: tuple[int, ...], taste: float, random: np.random.Generator) -> Ints:
    puppets, items, reruns = size
    # a puppet's taste holds for all items, so that its answers hang together
    weights = SOURCE.log_weights() + taste * random.normal(size=(puppets, SOURCE.n_options))
    shape = (items, puppets, reruns, SOURCE.n_options)
    return draw_lists(np.broadcast_to(weights[None, :, None, :], shape), random)


@cache
def _true_share(taste: float) -> float:
    """By the definition: 1 - (differences within puppets) / (differences between)."""
    if taste == 0:
        return 0.0
    random = np.random.default_rng([TRUTH_PARTS, int(taste * 100)])
    within, between = [], []
    for _ in range(TRUTH_PARTS):
        first, second = _tasted_lists((20_000, 1, 2), taste, random)[0].swapaxes(0, 1)
        within.append(_mean_difference(first, second))
        # every answer beside those of several other puppets
        between += [_mean_difference(first, np.roll(second, k, axis=0)) for k in range(1, 6)]
    return float(1 - np.mean(within) / np.mean(between))


def _mean_difference(first: Ints, second: Ints) -> float:
    shared = (first[:, :, None] == second[:, None, :]).sum(axis=(1, 2))
    return float((first.shape[1] - shared).mean())


def _share_who(frame: pd.DataFrame, truth: float, n_repeating: int) -> Line:
    rows = measure_variance(
        frame,
        baseline="offline",
        n_permutations=PERMUTATIONS,
        seed=1,
        rarest_users=rarest_covered(n_repeating),
    )
    return line_of("share_who", rows, truth, value="share_who", interval="ci", p_value="p_value")


# ---- what is not used ----------------------------------------------------------------------------------


def _bootstrapped(puppets: int, items: int, reruns: int, icc: float, sets: Sets) -> Lines:
    intervals = sets.each(_bootstrap_interval, (items, puppets), reruns, icc)
    yield Line("discarded: share_who, percentile bootstrap", icc, intervals=intervals)


def _bootstrap_interval(
    shape: tuple[int, int], reruns: int, icc: float, random: np.random.Generator
) -> Bounds:
    """Puppets drawn with replacement; a pair of one puppet with itself is no pair of two."""
    puppets = shape[1]
    letters = draw_letters(puppet_shares(icc, shape, random), reruns, random)
    rerun, between = letter_distances(letters)
    weights = random.multinomial(puppets, np.full(puppets, 1 / puppets), size=RESAMPLES)
    pairs = puppets**2 - (weights**2).sum(axis=1)
    apart = np.einsum("bj,jl,bl->b", weights, between, weights) / np.maximum(pairs, 1)
    shares = 1 - (weights @ rerun / puppets) / np.maximum(apart, 1e-12)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


def letter_distances(letters: Ints) -> tuple[Floats, Floats]:
    """Of answers of each user, and of each pair of users; from shape (items, users, reruns)."""
    items, _, reruns = letters.shape
    means = np.eye(len(LETTERS))[letters].mean(axis=2)
    rerun = reruns / (reruns - 1) * (1 - (means**2).sum(axis=2)).mean(axis=0)
    between = 1 - np.einsum("ijk,ilk->jl", means, means, optimize=True) / items
    # a user with itself is no pair
    np.fill_diagonal(between, 0.0)
    return rerun, between


def _blurred(sets: Sets) -> Lines:
    """Every user's context makes the model less certain in the same way: nobody matters."""
    letters = draw_letters(puppet_shares(0.0, (sets.n, 4, 10), sets.random), 2, sets.random)
    offline = draw_letters(np.broadcast_to(BLURRED, (sets.n, 4, 1, 4)), 20, sets.random)
    rows = measure_variance(
        beside_offline(letters, offline), baseline="offline", n_permutations=19, seed=1
    )
    rows = [row for row in rows if row.condition == "c"]
    yield line_of("share_who", rows, 0.0, value="share_who")
    name = "discarded: share_who, rerun variance from offline"
    yield line_of(name, rows, 0.0, value="over_baseline")


# ---- users and contexts of one user --------------------------------------------------------------------

NESTED_SIZE = "{} users, {} contexts each, {} items, {} answers each"
NESTED = (
    *product(
        ((20, 2, 4, 2), (20, 3, 4, 2), (72, 2, 4, 2)),
        ((0, 0), (0, 0.2), (0.2, 0), (0.1, 0.1), (0.3, 0.3)),
        (False,),
    ),
    *product(((100, 3, 4, 2), (72, 2, 20, 2)), ((0, 0.2), (0.1, 0.1)), (False,)),
    *product(((20, 2, 4, 2), (72, 2, 4, 2)), ((0, 0.2), (0.1, 0.1), (0.3, 0.3)), (True,)),
)
"""Sizes, shares of the variance between users and between contexts of one, and whether habits last."""


def _nested(
    size: tuple[int, int, int, int], shares: tuple[float, float], is_lasting: bool, sets: Sets
) -> Lines:
    """Letters of users whose shares vary around the mean, and of contexts that vary around theirs."""
    n_users, n_contexts, n_items, reruns = size
    users = puppet_shares(shares[0], (sets.n, 1 if is_lasting else n_items, n_users), sets.random)
    contexts = [_context_shares(*shares, users, sets.random) for _ in range(n_contexts)]
    shape = (sets.n, n_items, *users.shape[2:])
    letters = [draw_letters(np.broadcast_to(c, shape), reruns, sets.random) for c in contexts]
    rows = measure_nests(
        pd.concat([answer_table(drawn, f"c{k}") for k, drawn in enumerate(letters)]),
        nests={"c0": [f"c{k}" for k in range(n_contexts)]},
        rarest_users=rarest_covered(n_users),
        n_permutations=PERMUTATIONS,
        seed=1,
    )
    for name, truth in zip(("user", "context"), shares, strict=True):
        share = f"share_{name}"
        yield line_of(share, rows, truth, value=share, interval=name, p_value=f"p_{name}")


def _context_shares(
    user: float, context: float, users: Floats, random: np.random.Generator
) -> Floats:
    """Letter shares of one context of each user: the user's in the mean."""
    if context == 0:
        return users
    concentration = (1 - user) / context - 1
    weights = np.maximum(random.gamma(np.maximum(users, 1e-12) * concentration), 1e-300)
    context_shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return context_shares


# ---- categories of subjects ----------------------------------------------------------------------------

MMLU = {
    "STEM": (
        *(100, 100, 100, 100, 100, 100, 102, 112, 144, 145, 151, 152, 203, 216, 235, 270, 310),
        378,
    ),
    "humanities": (108, 121, 126, 163, 165, 171, 204, 237, 311, 324, 346, 895, 1534),
    "social sciences": (100, 110, 114, 131, 193, 198, 201, 238, 245, 390, 545, 612),
    "other": (100, 100, 100, 103, 135, 166, 173, 223, 234, 265, 272, 282, 306, 783),
}
"""Questions of the subjects of MMLU's test split, by category; every subject is simulated at a tenth."""
CATEGORY_SIZE = "10 puppets, 57 subjects, 2 answers each"
IMPURITY = float(1 - (SHARES**2).sum())
"""Variance of one letter drawn from the mean shares."""


def _alike(low: float, high: float, sets: Sets) -> Lines:
    """Correlations are drawn for each subject from one uniform distribution, whatever the category."""
    studies = sets.each(_subject_study, dict.fromkeys(MMLU, (low, high)))
    rows = columns_of({row.category: row for row in study} for study in studies)
    truth = IMPURITY * (low + high) / 2
    for category in MMLU:
        name = f"mean var_who, {category}"
        yield line_of(name, rows.get(category, []), truth, value="var_who", interval="ci")
    first = [study[0] for study in studies]
    yield line_of("test that categories are alike", first, p_value="p_value")


def _category_apart(sets: Sets) -> Lines:
    """Not an error: how often a true difference is found, in the column of false positives."""
    spans = {c: (0.15, 0.25) if c == "humanities" else (0.0, 0.2) for c in MMLU}
    first = [study[0] for study in sets.each(_subject_study, spans)]
    yield line_of("test, humanities apart (power)", first, p_value="p_value")


def _subject_study(
    spans: dict[str, tuple[float, float]], random: np.random.Generator
) -> list[CategoryVariance]:
    letters, subjects, categories = [], [], {}
    for category, sizes in MMLU.items():
        for number, size in enumerate(sizes):
            shape = (1, max(1, size // 10), 10)
            shares = puppet_shares(float(random.uniform(*spans[category])), shape, random)
            letters.append(draw_letters(shares, 2, random))
            categories[f"{category} {number}"] = category
            subjects += [f"{category} {number}"] * shape[1]
    answers = answer_table(np.concatenate(letters, axis=1))
    items = choice_items([f"{k:05}" for k in range(len(subjects))], subjects)
    measured = measure_subjects(answers, items, categories)
    return measure_categories(measured, n_permutations=PERMUTATIONS, seed=1)


# ---- all of them ---------------------------------------------------------------------------------------


def _fewer(puppets: int, items: int, *_: object) -> int:
    """Large studies are simulated half as often."""
    return 1 if puppets * items < 300 else 2


def _nested_name(shares: tuple[float, float], is_lasting: bool) -> str:
    habits = "lasting habits" if is_lasting else "habits by item"
    return f"letters, users {shares[0]:g}, contexts {shares[1]:g}, {habits}"


SIMULATIONS = (
    *(
        Simulation(
            "share_who", make, (*size, spread), f"{name} {spread:g}", SIZE.format(*size),
            (*size, int(spread * 100)), _fewer(*size),
        )
        for make, name, sizes, spreads in (
            (_letters, "letters, correlation", LETTER_SIZES, CORRELATIONS),
            (_lists, "lists, taste", LIST_SIZES, TASTES),
        )
        for size, spread in product(sizes, spreads)
    ),
    *(
        Simulation(
            "share_who", _bootstrapped, (*size, icc), f"letters, correlation {icc:g}",
            SIZE.format(*size), (*size, int(icc * 100), 1), 2,
        )
        for size, icc in product(LETTER_SIZES[:4], CORRELATIONS)
    ),
    Simulation(
        "share_who", _blurred, (), "letters, 93% one letter offline, 55% with any user",
        SIZE.format(10, 4, 2), (93,), 2,
    ),
    *(
        Simulation(
            "share_who", _uneven, (*size, icc), f"letters, correlation {icc:g}, uneven repeats",
            _uneven_name(*size), (size[1], size[2], int(icc * 100)), _fewer(*size),
        )
        for size, icc in product(UNEVEN, (0.0, 0.3, 0.7))
    ),
    *(
        Simulation(
            "nested", _nested, (size, shares, is_lasting), _nested_name(shares, is_lasting),
            NESTED_SIZE.format(*size), (*size, *(int(100 * s) for s in shares), is_lasting),
            1 if size[0] * size[2] <= 300 else 2,
        )
        for size, shares, is_lasting in NESTED
    ),
    *(
        Simulation(
            "categories", _alike, (low, high),
            f"letters, correlation {low:g}" + (f" to {high:g}" if high > low else ""), CATEGORY_SIZE,
            (int(100 * low), int(100 * high)), 4,
        )
        for low, high in ((0.0, 0.0), (0.1, 0.1), (0.0, 0.2))
    ),
    Simulation(
        "categories", _category_apart, (), "letters, correlation 0 to 0.2, humanities 0.15 to 0.25",
        CATEGORY_SIZE, (999,), 4,
    ),
)  # fmt: skip
