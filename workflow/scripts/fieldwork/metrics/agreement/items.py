"""How near a condition's answers to an item are to the field's, and how far the item changes place.

Owns the rows of items beside the field: distance, entropy gap, commonest answers, order of options,
and the change of rank with its test. Distances are those of `comparisons` with the field as baseline.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from fieldwork.metrics.agreement.ordering import agree, ranks
from fieldwork.metrics.agreement.ranks import Board, read_boards
from fieldwork.metrics.agreement.values import Sample, Value, by_unit
from fieldwork.metrics.answer_sets import indicator_of
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.records.field import FIELD, ItemAgreement
from fieldwork.records.metrics import Comparison
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import Interval, student_interval, welch_freedom
from fieldwork.statistics.permutation import random_p_value, require_permutations
from fieldwork.statistics.seeds import generator

N_DEALS = 200
"""Deals behind the tau-b to expect of options where both sides answer alike."""
N_DRAWS = 1999
"""Draws behind the test of a change of rank."""

_NOTHING = 1e-9


class _Key(NamedTuple):
    model: str
    task: str
    predictor: str
    item: str


def measure_item_agreement(
    answers: pd.DataFrame, items: pd.DataFrame, *, n_permutations: int, seed: int
) -> list[ItemAgreement]:
    """One row for each model, task, condition beside the field, and item that both answer.

    `p_holm` is corrected over the items of a model, task and predictor, `p_rank_holm` over those
    ranked together. In order of model, task, kind, predictor and item.

    Raises:
        StudyError: no permutations, or an answer's item is not in `items`.
    """
    require_permutations(n_permutations)
    boards = read_boards(answers, items)
    if not boards:
        return []
    far = {
        _Key(row.model, row.task, row.condition, row.item_id): row
        for row in measure_comparisons(
            answers,
            baseline=FIELD,
            n_permutations=n_permutations,
            seed=seed,
            metrics=("js_bits",),
        )
    }
    rows = [row for board in boards for row in _measure(board, far, seed)]
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.predictor, r.item_id))


def _measure(board: Board, far: dict[_Key, Comparison], seed: int) -> list[ItemAgreement]:
    ranked_by = board.measures[0]
    names = (board.model, board.task, board.predictor)
    entropies = [board.values("entropy_bits", side, seed=seed) for side in (FIELD, board.predictor)]
    ranked = [board.values(ranked_by, side, seed=seed) for side in (FIELD, board.predictor)]
    places = [ranks([v.value for v in side]) if side else np.empty(0) for side in ranked]
    moved = places[1] - places[0]
    chances = change_chances(*ranked, random=generator(seed, "places", *names))
    held = holm(list(chances))
    rows: list[ItemAgreement] = []
    for number, item in enumerate(board.field):
        sample, other = board.field[item], board.other[item]
        gap = entropy_gap(entropies[0][number], entropies[1][number])
        rows.append(
            _row(
                board, item, far, n_field=len(sample.options), n_predictor=len(other.options),
                **_tops(sample, other), **_options(board, sample, other, (*names, item), seed),
                field_entropy=entropies[0][number].value,
                predictor_entropy=entropies[1][number].value,
                entropy_gap=entropies[0][number].value - entropies[1][number].value,
                gap_low=gap.low if gap else None, gap_high=gap.high if gap else None,
                n_equal=board.n_equal, field_rank=float(places[0][number]),
                predictor_rank=float(places[1][number]), rank_change=float(moved[number]),
                p_rank=chances[number] if len(moved) > 1 else None,
                p_rank_holm=held[number] if len(moved) > 1 else None,
                reason=None if gap else "no interval of the gap: answers of a side are all alike",
            )
        )  # fmt: skip
    return [*rows, *(_row(board, item, far, reason=why) for item, why in board.few.items())]


def entropy_gap(own: Value, other: Value) -> Interval | None:
    """Interval of own - other: jackknife errors of both, Student's t with Welch's degrees of freedom.

    None where leaving out an answer of one side never changes its value.
    """
    freedoms = [len(v.moved) - 1 for v in (own, other)]
    variances = [
        n / (n + 1) * float((v.moved**2).sum()) for n, v in zip(freedoms, (own, other), strict=True)
    ]
    if min(variances) <= _NOTHING**2:
        return None
    error, freedom = math.sqrt(math.fsum(variances)), welch_freedom(variances, freedoms)
    return student_interval(own.value - other.value, error, freedom)


def change_chances(
    own: Sequence[Value], other: Sequence[Value], *, random: np.random.Generator
) -> list[float]:
    """For each item, the chance of a change of place as far as the observed if the true order is one.

    The one order is that of both ranks' mean, weighted by how little of a side's spread is noise; each
    side keeps its own spread of values, less what noise adds to it, so that a side may be more varied
    throughout. Noise is drawn from the jackknife's moves, unit by unit with all items together
    (multiplier bootstrap). (hits + 1) / (draws + 1).
    """
    if len(own) < 2:
        return [1.0] * len(own)
    values = [np.array([v.value for v in side]) for side in (own, other)]
    observed = ranks(values[1]) - ranks(values[0])
    moves = [by_unit(side) for side in (own, other)]
    signal = [_signal(*side) for side in zip(values, moves, strict=True)]
    weights = [math.sqrt(share) / (1 - share + _NOTHING) for share in signal]
    if not any(weights):
        weights = [1.0, 1.0]
    placed = [weight * ranks(level) for weight, level in zip(weights, values, strict=True)]
    common = rankdata(np.round(placed[0] + placed[1], 9))
    drawn = []
    for level, share, moved in zip(values, signal, moves, strict=True):
        noise = random.standard_normal((N_DRAWS, len(moved))) @ moved
        drawn.append(_rank_rows(_in_order(level, share, common)[None, :] + noise))
    change = np.abs(drawn[1] - drawn[0])
    hits = (change >= np.abs(observed) - _NOTHING).sum(axis=0)
    return [random_p_value(int(n), N_DRAWS) for n in hits]


def _signal(level: Floats, moves: Floats) -> float:
    """Share of the spread of the values that is not noise, 0 to 1."""
    covariance = moves.T @ moves
    n = len(level)
    # what all items share moves no rank
    shared = (covariance.sum() - np.trace(covariance)) / (n * (n - 1))
    noise = float(np.trace(covariance) / n - shared)
    spread = float(level.var(ddof=1))
    return min(1.0, max(0.0, 1 - noise / spread)) if spread > 0 else 0.0


def _in_order(level: Floats, signal: float, common: Floats) -> Floats:
    """The values in the common order, drawn together by the share of their spread that is noise."""
    centred = level.mean() + math.sqrt(signal) * (np.sort(level)[::-1] - level.mean())
    placed: Floats = np.interp(common, np.arange(1, len(level) + 1), centred)
    return placed


def _rank_rows(values: Floats) -> Floats:
    placed: Floats = rankdata(-np.round(values, 9), axis=1)
    return placed


def _tops(sample: Sample, other: Sample) -> dict[str, Any]:
    tops = []
    for side in (sample, other):
        named = Counter(option for options in side.options for option in options)
        option, count = min(named.items(), key=lambda entry: (-entry[1], entry[0]))
        tops.append((option, count / len(side.options)))
    return {
        "field_top": tops[0][0],
        "field_top_share": tops[0][1],
        "predictor_top": tops[1][0],
        "predictor_top_share": tops[1][1],
        "is_same_top": tops[0][0] == tops[1][0],
    }


def _options(
    board: Board, sample: Sample, other: Sample, names: Sequence[str], seed: int
) -> dict[str, Any]:
    """The order of options by share, beside that of the same answers dealt out anew; lists alone."""
    if board.kind != "list":
        return {}
    indicator = indicator_of([*sample.options, *other.options])
    n, total = len(sample.options), indicator.sum(axis=0)
    found = agree(*_shares(indicator[:n].sum(axis=0), total, n, len(indicator)))
    random = generator(seed, "options", *names)
    dealt = []
    for _ in range(N_DEALS):
        first = indicator[random.permutation(len(indicator))[:n]].sum(axis=0)
        dealt.append(agree(*_shares(first, total, n, len(indicator))).tau_b)
    known = [tau for tau in dealt if tau is not None]
    return {
        "option_tau_b": found.tau_b,
        "option_tau_expected": float(np.mean(known)) if known else None,
        "option_discordant": found.pairs.discordant,
        "option_pairs": found.pairs.total,
    }


def _shares(first: Any, total: Any, n: int, size: int) -> tuple[Floats, Floats]:
    return first / n, (total - first) / (size - n)


def _row(board: Board, item: str, far: dict[_Key, Comparison], **values: Any) -> ItemAgreement:
    told: dict[str, Any] = dict.fromkeys(
        (
            "field_entropy", "predictor_entropy", "entropy_gap", "gap_low", "gap_high", "n_equal",
            "field_top", "field_top_share", "predictor_top", "predictor_top_share", "is_same_top",
            "option_tau_b", "option_tau_expected", "option_discordant", "option_pairs",
            "field_rank", "predictor_rank", "rank_change", "p_rank", "p_rank_holm", "reason",
        )
    )  # fmt: skip
    distance = far[_Key(board.model, board.task, board.predictor, item)]
    row = ItemAgreement(
        model=board.model,
        task=board.task,
        item_id=item,
        kind=board.kind,
        predictor=board.predictor,
        js_distance=_root(distance.distance),
        js_expected_same=_root(distance.expected_same),
        p_value=distance.p_value,
        p_holm=distance.p_holm,
        n_equal_js=distance.n_equal,
        ranked_by=board.measures[0],
        n_ranked=len(board.field),
        **({"n_field": distance.n_units_baseline, "n_predictor": distance.n_units} | told | values),
    )
    return row if row.js_distance is not None else replace(row, reason=distance.reason)


def _root(bits: float | None) -> float | None:
    return None if bits is None else math.sqrt(bits)
