"""Heterogeneity as a mean over prompts: the interval and test of its difference from the baseline's."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, Ints, Zipf, draw_lists, list_table, named, rarest_covered

from fieldwork.metrics.heterogeneity import top5_share
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.statistics.entropy import plug_in_bits

PART = "mean"
ITEMS, OPTIONS = 9, 60
SOURCES = ("the same", "the same, odd puppets", "apart")
SIZES = ((10, 10), (40, 40), (100, 100))
"""Puppets, and answers to a prompt offline."""
UNEQUAL = (("the same", (10, 40)), ("the same, odd puppets", (100, 40)))
TRUTH_SETS = 4000
EVEN, STEEP = Zipf(OPTIONS, 0.5).log_weights(), Zipf(OPTIONS, 2.0).log_weights()


RARE = (0.001, 0.005, 0.02)
"""Chance of another answer where nearly all are alike, as at temperature 0."""


def jobs() -> Iterator[Job]:
    """Every source at every size, and sizes that are brought to the smaller one."""
    for source, sizes in (*product(SOURCES, SIZES), *UNEQUAL):
        yield partial(_simulate, source, sizes)
    for chance in RARE:
        yield partial(_nearly_alike, chance)


def _nearly_alike(chance: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Users and baseline nearly always give the same list; often the baseline always does."""
    random = np.random.default_rng([seed, 7, int(1000 * chance)])
    n = 40
    sides = []
    for puppets in (True, False):
        is_other = random.random((sets, ITEMS, n, 1, 1)) < chance
        other = random.integers(5, OPTIONS - 5, is_other.shape)
        lists = np.where(is_other, other, 0) + np.arange(5)
        sides.append(list_table(lists, condition="c" if puppets else "offline", puppets=puppets))
    rows = measure_prompt_means(
        pd.concat(sides), baseline="offline", seed=1, rarest_users=rarest_covered(n)
    )
    for metric in ("entropy_bits", "one_minus_top5_share"):
        own = [row for row in rows if (row.condition, row.metric) == ("c", metric)]
        yield outcome(
            PART,
            f"difference of {metric}",
            f"lists, one in {1 / chance:g} of another kind",
            f"{n} puppets, {ITEMS} prompts, n {n} offline",
            truth=0.0,
            estimates=[row.difference for row in own],
            intervals=[(row.difference_low, row.difference_high) for row in own],
            p_values=[row.p_value for row in own],
        )


def _simulate(source: str, sizes: tuple[int, int], sets: int, seed: int) -> Iterator[Outcome]:
    puppets, offline = sizes
    random = np.random.default_rng([seed, len(source), *sizes])
    sets = max(1, sets // 4)
    here, there = _draw(source, sets, sizes, random)
    frame = pd.concat(
        [
            list_table(here, condition="c", puppets=True),
            list_table(there, condition="offline", puppets=False),
        ]
    )
    rows = [
        row
        for row in measure_prompt_means(
            frame, baseline="offline", seed=1, rarest_users=rarest_covered(puppets)
        )
        if row.condition == "c"
    ]
    truths = _truths(source, min(sizes), random)
    size = f"{puppets} puppets, {ITEMS} prompts, n {offline} offline"
    for metric, truth in truths.items():
        own = [row for row in rows if row.metric == metric]
        yield outcome(
            PART,
            f"difference of {metric}",
            f"lists, {source}",
            size,
            truth=truth,
            estimates=[row.difference for row in own],
            intervals=[(row.difference_low, row.difference_high) for row in own],
            p_values=[row.p_value for row in own],
        )
    if puppets == offline and source != "apart":
        yield outcome(
            PART,
            "discarded: difference of entropy_bits, sign flips over prompts",
            f"lists, {source}",
            size,
            truth=None,
            p_values=_sign_flips(_entropies(here) - _entropies(there)),
        )


def _draw(
    source: str, sets: int, sizes: tuple[int, int], random: np.random.Generator
) -> tuple[Ints, Ints]:
    """Lists of the puppets and of the reruns: shape (sets, items, answers, 1, 5).

    Odd puppets like everything nearly alike or a few options only, in all prompts; offline every
    answer is of the one or the other kind by itself, so that both sides are of one distribution.
    """
    puppets, offline = sizes
    if source != "the same, odd puppets":
        weights = Zipf(OPTIONS, 1.5).log_weights()
        other = Zipf(OPTIONS, 1.2).log_weights() if source == "apart" else weights
        return _lists(other, (sets, ITEMS, puppets), random), _lists(
            weights, (sets, ITEMS, offline), random
        )
    kinds = random.random((sets, 1, puppets)) < 0.5, random.random((sets, ITEMS, offline)) < 0.5
    here, there = (
        draw_lists(np.where(kind[..., None, None], EVEN, STEEP), random)
        for kind in (np.broadcast_to(kinds[0], (sets, ITEMS, puppets)), kinds[1])
    )
    return here, there


def _lists(weights: Floats, shape: tuple[int, ...], random: np.random.Generator) -> Ints:
    return draw_lists(np.broadcast_to(weights, (*shape, 1, OPTIONS)), random)


def _truths(source: str, n: int, random: np.random.Generator) -> dict[str, float]:
    if source != "apart":
        return {"entropy_bits": 0.0, "one_minus_top5_share": 0.0}
    shape = (TRUTH_SETS, n, OPTIONS)
    counts = [
        named(draw_lists(np.broadcast_to(Zipf(OPTIONS, z).log_weights(), shape), random), OPTIONS)
        for z in (1.2, 1.5)
    ]
    entropy, top5 = ([float(of(c).mean()) for c in counts] for of in (plug_in_bits, top5_share))
    return {"entropy_bits": entropy[0] - entropy[1], "one_minus_top5_share": top5[1] - top5[0]}


def _entropies(lists: Ints) -> Floats:
    sets, items = lists.shape[:2]
    bits = plug_in_bits(named(lists.reshape(sets * items, -1, lists.shape[-1]), OPTIONS))
    return bits.reshape(sets, items)


def _sign_flips(differences: Floats) -> list[float]:
    """Exact two-sided p-values of mean differences over prompts, shape (sets, items)."""
    signs = np.array(list(product((-1, 1), repeat=differences.shape[1])))
    flipped = np.abs(differences @ signs.T)
    observed = np.abs(differences.sum(axis=1, keepdims=True))
    return [float(p) for p in (flipped >= observed - 1e-9).mean(axis=1)]
