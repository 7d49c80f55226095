"""What probabilities of letters add: the measures that take them, beside the same of the letters drawn.

Owns the table that says how much each measure gained. Each measure is made once more of the same answers
as if they stated nothing. What is left of chance in the first is that of users.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import question
from fieldwork.metrics.claims.measures import EXPECTED_SCORE
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import (
    Comparison,
    ExactEstimate,
    ExactMeasure,
    Novelty,
    VarianceShare,
)
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.user_intervals import RAREST_USERS


class MeasuredTables(NamedTuple):
    """Rows of the measures that take probabilities."""

    variance: Sequence[VarianceShare]
    estimates: Sequence[Estimate]
    novelty: Sequence[Novelty]
    comparisons: Sequence[Comparison]


class _Key(NamedTuple):
    arm: Arm
    measure: ExactMeasure


def measure_exactly(
    answers: pd.DataFrame,
    study_tables: MeasuredTables,
    *,
    baseline: str,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[ExactEstimate]:
    """The measures of each model, task and condition whose answers state probabilities.

    In order of model, task, condition and measure; empty where no answer states any.

    Args:
        study_tables: what the study says, of probabilities where answers state them.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    by_probabilities = _quantities(study_tables, is_stated=True)
    if not by_probabilities:
        return []
    letters_alone = answers.assign(option_probabilities=None)
    controls = {row.control for row in study_tables.novelty}
    # p-values are none of this table's, so that one permutation does
    of_letters = MeasuredTables(
        measure_variance(
            letters_alone, baseline=baseline, n_permutations=1, seed=seed, rarest_users=rarest_users
        ),
        [*study_tables.estimates, *_entropies(letters_alone, baseline, seed, rarest_users)],
        [
            row
            for control in controls
            for row in measure_novelty(
                letters_alone, baseline=baseline, control=control, n_permutations=1, seed=seed,
                rarest_users=rarest_users,
            )
        ],
        measure_comparisons(
            letters_alone, baseline=baseline, n_permutations=1, seed=seed, metrics=("js_bits",)
        ),
    )  # fmt: skip
    by_letters = _quantities(of_letters, is_stated=False)
    counts = _count_answers(answers)
    return [
        ExactEstimate(
            **key.arm.columns,
            measure=key.measure,
            **quantity.columns(),
            **by_letters.get(key, Quantity()).columns("sampled", "sampled_low", "sampled_high"),
            **counts[key.arm],
            reason=quantity.reason,
        )
        for key, quantity in sorted(by_probabilities.items(), key=lambda entry: entry[0])
    ]


def _quantities(tables: MeasuredTables, *, is_stated: bool) -> dict[_Key, Quantity]:
    """Values and intervals by arm and measure: of probabilities, or of letters drawn."""
    quantities: dict[_Key, Quantity] = {}
    score = EXPECTED_SCORE if is_stated else "em_flexible"
    for share in tables.variance:
        if share.kind == "choice" and share.is_stated == is_stated:
            ends = _interval(share.ci_low, share.ci_high)
            quantities[_key(share, "share_who")] = Quantity(
                share.share_who, ends, None, share.reason
            )
    for row in tables.estimates:
        is_entropy = row.measure == "letter_entropy" and row.is_stated == is_stated
        is_mean = row.reference == "baseline" and row.item_id is None
        if is_mean and (is_entropy or row.measure == score):
            ends = _interval(row.ci_low, row.ci_high)
            name: ExactMeasure = "entropy" if is_entropy else "score"
            quantities[_key(row, name)] = Quantity(row.value, ends, None, row.reason)
    for new in tables.novelty:
        if new.is_stated == is_stated:
            ends = _interval(new.ci_low, new.ci_high)
            quantities[_key(new, "novelty")] = Quantity(new.share, ends, None, new.reason)
    for key, excesses in _distances(tables.comparisons, is_stated=is_stated):
        quantities[key] = Quantity(math.fsum(excesses) / len(excesses), reason=NO_MEAN_INTERVAL)
    return quantities


def _entropies(
    letters_alone: pd.DataFrame, baseline: str, seed: int, rarest_users: float
) -> list[Estimate]:
    settings = EstimateSettings(baseline, seed, rarest_users=rarest_users)
    return estimate_question(question("letters"), letters_alone, settings)


NO_MEAN_INTERVAL = "no interval: each item has its own test, in `comparisons`"


def _distances(
    rows: Sequence[Comparison], *, is_stated: bool
) -> Iterator[tuple[_Key, Sequence[float]]]:
    excesses: dict[_Key, list[float]] = {}
    for row in rows:
        is_choice = row.metric == "js_bits" and row.is_stated == is_stated
        if is_choice and row.excess is not None:
            excesses.setdefault(_key(row, "distance"), []).append(row.excess)
    yield from excesses.items()


def _key(row: VarianceShare | Estimate | Novelty | Comparison, measure: ExactMeasure) -> _Key:
    return _Key(Arm.of(row.model, row.task, row.condition), measure)


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)


def _count_answers(answers: pd.DataFrame) -> Mapping[Arm, Mapping[str, Any]]:
    """Of the choices of each arm: items, users, calls that the probabilities take, and answers."""
    is_choice = (answers["kind"] == "choice") & (answers["outcome"] != "failed")
    counts = {}
    for names, rows in answers[is_choice].groupby(["model", "task", "condition"]):
        pairs = rows[["item_id", "puppet_id"]].fillna("").drop_duplicates()
        counts[Arm.of(*map(str, names))] = {
            "n_items": rows["item_id"].nunique(),
            "n_users": rows["puppet_id"].nunique(),
            "n_calls": len(pairs),
            "n_answers": len(rows),
        }
    return counts
