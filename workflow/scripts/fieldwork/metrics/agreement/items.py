"""How near a condition's answers to an item are to the field's, and how far the item's rank changes.

Owns the rows that compare an item's answers with the field's: distance, entropy gap, commonest answers,
order of options, and the change of rank with its test. Distances are those of `comparisons` with the
field as baseline.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from fieldwork.estimates.means import PromptValue, mean_over
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.samples import indicator_of
from fieldwork.metrics.agreement.ranks import SharedItems, read_shared_items
from fieldwork.metrics.agreement.values import AnswerSample, influences_by_unit
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.records.field import FIELD, ItemAgreement
from fieldwork.records.metrics import Comparison
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.intervals import BoundedValue, Interval, difference_interval
from fieldwork.statistics.permutation import random_p_value, require_permutations
from fieldwork.statistics.rank_correlation import correlate_ranks, descending_ranks, kendall_tau_b
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users

N_PERMUTATIONS = 200
"""Permutations behind the tau-b to expect of options if both sides answer alike."""
N_DRAWS = 1999
"""Draws behind the test of a change of rank."""

_NOTHING = 1e-9


Comparisons = Mapping[tuple[str, str, str, str], Comparison]
"""By model, task, predictor and item."""


def measure_item_agreement(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[ItemAgreement]:
    """One row for each model, task, condition other than the field, and item that both answer.

    In order of model, task, kind, predictor and item.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations, or an answer's item is not in `items`.
    """
    require_permutations(n_permutations)
    item_groups = read_shared_items(answers, items)
    if not item_groups:
        return []
    comparisons = {
        (row.model, row.task, row.condition, row.item_id): row
        for row in measure_comparisons(
            answers,
            baseline=FIELD,
            n_permutations=n_permutations,
            seed=seed,
            metrics=("js_bits",),
        )
    }
    rows = [
        row
        for item_group in item_groups
        for row in _item_rows(item_group, comparisons, seed, rarest_users)
    ]
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.predictor, r.item_id))


def _item_rows(
    item_group: SharedItems, comparisons: Comparisons, seed: int, rarest_users: float
) -> list[ItemAgreement]:
    names = (item_group.model, item_group.task, item_group.predictor)
    sides = (FIELD, item_group.predictor)
    field, predictor = (item_group.values("entropy_bits", side, seed=seed) for side in sides)
    rank_values = [item_group.values(item_group.measures[0], side, seed=seed) for side in sides]
    ranks = [
        descending_ranks([v.value for v in side]) if side else np.empty(0) for side in rank_values
    ]
    p_values = rank_change_p_values(*rank_values, random=generator(seed, "places", *names))
    is_test = len(p_values) > 1
    rows: list[ItemAgreement] = []
    for number, item in enumerate(item_group.field_samples):
        samples = item_group.field_samples[item], item_group.predictor_samples[item]
        gap = entropy_gap(field[number], predictor[number], rarest_users)
        rows.append(
            _item_row(
                item_group, item, comparisons,
                n_field=len(samples[0].options), n_predictor=len(samples[1].options),
                **_top_options(*samples),
                **(_option_orders(*samples, (*names, item), seed) if item_group.kind == "list" else {}),
                field_entropy=field[number].value, predictor_entropy=predictor[number].value,
                **Quantity(field[number].value - predictor[number].value, gap).columns(
                    "entropy_gap", "gap_low", "gap_high"
                ),
                n_equal=item_group.n_equal, field_rank=float(ranks[0][number]),
                predictor_rank=float(ranks[1][number]),
                rank_change=float(ranks[1][number] - ranks[0][number]),
                p_rank=p_values[number] if is_test else None,
                reason=None if gap else _no_gap(field[number], predictor[number], rarest_users),
            )
        )  # fmt: skip
    rows += [
        _item_row(item_group, item, comparisons, reason=reason)
        for item, reason in item_group.exclusions.items()
    ]
    return rows


def entropy_gap(first: PromptValue, second: PromptValue, rarest_users: float) -> Interval | None:
    """Interval of first - second, from the jackknife's interval of each over its users or responses.

    None with too few users on a side, or where leaving out an answer of a side never changes its value.
    """
    sides = [
        BoundedValue(side.value, interval)
        for side in (first, second)
        if (interval := mean_over([side]).interval(rarest_users))
    ]
    return difference_interval(sides[0], sides[1:]) if len(sides) == 2 else None


def _no_gap(first: PromptValue, second: PromptValue, rarest_users: float) -> str:
    n_users = [len(side.users) for side in (first, second) if any(side.users)]
    shortage = too_few_users(min(n_users), rarest_users, "answer on a side") if n_users else None
    return shortage or "no interval of the gap: all answers of a side are alike"


def rank_change_p_values(
    field: Sequence[PromptValue], predictor: Sequence[PromptValue], *, random: np.random.Generator
) -> list[float]:
    """For each item, the chance of a change of rank as large as the observed, if there is one true order.

    The one order is that of both ranks' mean, weighted by how little of a side's spread is noise. Each
    side keeps its own spread of values, less what noise adds to it, so that a side may be more varied
    throughout. Noise is drawn from the jackknife's influences, unit by unit with all items together
    (multiplier bootstrap). (hits + 1) / (draws + 1).
    """
    if len(field) < 2:
        return [1.0] * len(field)
    values = [np.array([v.value for v in side]) for side in (field, predictor)]
    change = np.abs(descending_ranks(values[1]) - descending_ranks(values[0]))
    influences = [influences_by_unit(side) for side in (field, predictor)]
    signals = [_signal_share(*side) for side in zip(values, influences, strict=True)]
    weights = [math.sqrt(signal) / (1 - signal + _NOTHING) for signal in signals]
    if not any(weights):
        weights = [1.0, 1.0]
    first, second = (w * descending_ranks(side) for w, side in zip(weights, values, strict=True))
    order = rankdata(np.round(first + second, 9))
    ranks = []
    for side, signal, side_influences in zip(values, signals, influences, strict=True):
        noise = random.standard_normal((N_DRAWS, len(side_influences))) @ side_influences
        ranks.append(_rank_rows(_values_in_order(side, signal, order)[None, :] + noise))
    hits = (np.abs(ranks[1] - ranks[0]) >= change - _NOTHING).sum(axis=0)
    return [random_p_value(int(n_hits), N_DRAWS) for n_hits in hits]


def _signal_share(values: Floats, influences: Floats) -> float:
    """Share of the spread of the values that is not noise, 0 to 1."""
    covariance = influences.T @ influences
    n = len(values)
    # noise that all items have in common changes no rank
    common = (covariance.sum() - np.trace(covariance)) / (n * (n - 1))
    noise = float(np.trace(covariance) / n - common)
    spread = float(values.var(ddof=1))
    return min(1.0, max(0.0, 1 - noise / spread)) if spread > 0 else 0.0


def _values_in_order(values: Floats, signal: float, order: Floats) -> Floats:
    """The values in the given order, closer together by the share of their spread that is noise."""
    spread = np.sort(values)[::-1] - values.mean()
    shrunken_values = values.mean() + math.sqrt(signal) * spread
    reordered_values: Floats = np.interp(order, np.arange(1, len(values) + 1), shrunken_values)
    return reordered_values


def _rank_rows(values: Floats) -> Floats:
    ranks: Floats = rankdata(-np.round(values, 9), axis=1)
    return ranks


def _top_options(field: AnswerSample, predictor: AnswerSample) -> dict[str, Any]:
    tops = []
    for side in (field, predictor):
        counts = Counter(option for options in side.options for option in options)
        option, count = min(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        tops.append((option, count / len(side.options)))
    return {
        "field_top": tops[0][0],
        "field_top_share": tops[0][1],
        "predictor_top": tops[1][0],
        "predictor_top_share": tops[1][1],
        "is_same_top": tops[0][0] == tops[1][0],
    }


def _option_orders(
    field: AnswerSample, predictor: AnswerSample, names: Sequence[str], seed: int
) -> dict[str, Any]:
    """The order of options by share on both sides, and that of the same answers permuted."""
    indicator = indicator_of([*field.options, *predictor.options])
    n, size, total = len(field.options), len(indicator), indicator.sum(axis=0)

    def shares(first: Counts) -> tuple[Floats, Floats]:
        counts = first.sum(axis=0)
        return counts / n, (total - counts) / (size - n)

    random = generator(seed, "options", *names)
    draws = (indicator[random.permutation(size)[:n]] for _ in range(N_PERMUTATIONS))
    taus = [tau for draw in draws if (tau := kendall_tau_b(*shares(draw))) is not None]
    correlation = correlate_ranks(*shares(indicator[:n]))
    return {
        "option_tau_b": correlation.tau_b,
        "option_tau_expected": float(np.mean(taus)) if taus else None,
        "option_discordant": correlation.pairs.discordant,
        "option_pairs": correlation.pairs.total,
    }


_NULLS: dict[str, Any] = dict.fromkeys(
    (
        "field_entropy", "predictor_entropy", "entropy_gap", "gap_low", "gap_high", "n_equal",
        "field_top", "field_top_share", "predictor_top", "predictor_top_share", "is_same_top",
        "option_tau_b", "option_tau_expected", "option_discordant", "option_pairs",
        "field_rank", "predictor_rank", "rank_change", "p_rank", "reason",
    )
)  # fmt: skip


def _item_row(
    item_group: SharedItems, item: str, comparisons: Comparisons, **values: Any
) -> ItemAgreement:
    comparison = comparisons[item_group.model, item_group.task, item_group.predictor, item]
    sizes = {"n_field": comparison.n_units_baseline, "n_predictor": comparison.n_units}
    row = ItemAgreement(
        model=item_group.model,
        task=item_group.task,
        item_id=item,
        kind=item_group.kind,
        predictor=item_group.predictor,
        js_distance=_root(comparison.distance),
        js_expected_same=_root(comparison.expected_same),
        p_value=comparison.p_value,
        n_equal_js=comparison.n_equal,
        ranked_by=item_group.measures[0],
        n_ranked=len(item_group.field_samples),
        **(sizes | _NULLS | values),
    )
    return row if row.js_distance is not None else replace(row, reason=comparison.reason)


def _root(bits: float | None) -> float | None:
    return None if bits is None else math.sqrt(bits)
