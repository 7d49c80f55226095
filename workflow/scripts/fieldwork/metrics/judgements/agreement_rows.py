"""How far raters agree: within people, within models, between the two, and each with itself.

Pairs of judgements of one unit are pooled, so that a unit with many raters has many pairs. Two raters
keep their own shares of options, as in Cohen's κ; of more raters a pair counts in both orders, as none
of them is the first. Fleiss' κ is over the units with the most usual number of raters; α and AC1 are over
all units with two raters or more.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.rows import (
    CORRELATION,
    SHARE,
    EstimateBasis,
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
)
from fieldwork.metrics.judgements.sample import (
    KINDS,
    MODELS,
    PEOPLE,
    JudgementSample,
    without_each_sum,
)
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.rater_agreement import (
    PairAgreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pair_agreement,
)

PAIR_MEASURES: dict[str, Callable[[PairAgreement], float | None]] = {
    "exact_agreement": lambda a: a.exact_share,
    "near_agreement": lambda a: a.near_share,
    "kappa": lambda a: a.kappa,
    "weighted_kappa": lambda a: a.weighted_kappa,
}
OF_ORDERED = ("near_agreement", "weighted_kappa")
"""Measures that need options with an order."""
ONE_OPTION = "all raters give one option, so that nothing tells agreement from habit"


def agreement_rows(sample: JudgementSample, group: str | None) -> Iterator[JudgementEstimate]:
    """Every agreement of a scale."""
    people, models = sample.of_kind("person"), sample.of_kind("model")
    yield from _pair_rows(sample, EstimateName("", PEOPLE, PEOPLE, group), people, people)
    yield from _pair_rows(sample, EstimateName("", MODELS, MODELS, group), models, models)
    yield from _pair_rows(sample, EstimateName("", MODELS, PEOPLE, group), models, people)
    if models["rater"].nunique() > 1:
        for judge, rows in models.groupby("rater"):
            yield from _pair_rows(sample, EstimateName("", str(judge), PEOPLE, group), rows, people)
    for kind, rows in (("person", people), ("model", models)):
        yield from _unit_rows(sample, KINDS[kind], group, rows)
    yield from _repeat_rows(sample, group)


def _pair_rows(
    sample: JudgementSample, name: EstimateName, first: pd.DataFrame, second: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    if first.empty or second.empty:
        return
    columns = ["unit", "rater", "place", "owner"]
    pairs = first[columns].merge(second[columns], on=["unit", "owner"], suffixes=("", "_other"))
    is_within = name.raters == name.versus
    keep = pairs["rater"] < pairs["rater_other"] if is_within else pairs["rater"].notna()
    pairs = pairs[keep]
    all_rows = pd.concat([first, second])
    if pairs.empty:
        reason = "no unit was judged by two of them"
        basis = basis_of(all_rows, 0)._replace(n_units=0, n_owners=0)
        missing = EstimateValue(None, reason=reason)
        yield estimate_row(sample, name._replace(measure="exact_agreement"), missing, basis)
        return
    basis = basis_of(all_rows[all_rows["unit"].isin(pairs["unit"])], len(pairs))
    are_two = set(pairs["rater"]) | set(pairs["rater_other"])
    yield from _table_rows(sample, name, pairs, basis, is_within and len(are_two) > 2)


def _table_rows(
    sample: JudgementSample,
    name: EstimateName,
    pairs: pd.DataFrame,
    basis: EstimateBasis,
    in_both_orders: bool,
) -> Iterator[JudgementEstimate]:
    tables = _tables(pairs, len(sample.scale.options), in_both_orders)
    whole = pair_agreement(tables.sum(axis=0))
    rests = [pair_agreement(rest) for rest in without_each_sum(tables, pairs["owner"].to_numpy())]
    if whole is None:
        return
    for measure, read in PAIR_MEASURES.items():
        if measure in OF_ORDERED and not sample.scale.is_ordered:
            continue
        value = read(whole)
        chances = {"exact_agreement": whole.chance_exact, "near_agreement": whole.chance_near}
        result = EstimateValue(
            value=value,
            rest=np.array([_read(rest, read) for rest in rests]),
            ends=SHARE if measure in chances else CORRELATION,
            chance=chances.get(measure),
            largest=whole.largest_kappa if measure == "kappa" else None,
            reason=None if value is not None else ONE_OPTION,
        )
        yield estimate_row(sample, name._replace(measure=measure), result, basis)


def _read(agreement: PairAgreement | None, read: Callable[[PairAgreement], float | None]) -> float:
    value = None if agreement is None else read(agreement)
    return np.nan if value is None else value


def _tables(pairs: pd.DataFrame, n_options: int, in_both_orders: bool) -> Floats:
    """A table of options for each pair, shape (pairs, options, options)."""
    tables = np.zeros((len(pairs), n_options, n_options))
    rows = np.arange(len(pairs))
    places = pairs["place"].to_numpy(), pairs["place_other"].to_numpy()
    tables[rows, places[0], places[1]] = 1.0
    return (tables + tables.transpose(0, 2, 1)) / 2 if in_both_orders else tables


def _unit_rows(
    sample: JudgementSample, raters: str, group: str | None, rows: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """Agreement of all raters of a kind at once."""
    if rows["rater"].nunique() < 2:
        if len(rows):
            reason = f"one of {raters} judged, and agreement needs two raters"
            name = EstimateName("alpha", raters, raters, group)
            yield estimate_row(sample, name, EstimateValue(None, reason=reason), basis_of(rows))
        return
    n_raters = rows.groupby("unit")["rater"].transform("size")
    of_pairs, of_usual = rows[n_raters >= 2], rows[n_raters == _usual_size(rows)]
    numbers = sample.numbers()
    measures: dict[str, tuple[pd.DataFrame, Callable[[Counts], float | None]]] = {
        "fleiss_kappa": (of_usual, fleiss_kappa),
        "alpha": (of_pairs, lambda counts: krippendorff_alpha(counts, sample.scale.level, numbers)),
        # chance is that of all units, agreement of those with two raters
        "ac1": (rows, gwet_ac1),
    }
    for measure, (side, coefficient) in measures.items():
        name = EstimateName(measure, raters, raters, group)
        value = _coefficient_value(side, len(sample.scale.options), coefficient)
        yield estimate_row(sample, name, value, basis_of(side))


def _coefficient_value(
    rows: pd.DataFrame, n_options: int, coefficient: Callable[[Counts], float | None]
) -> EstimateValue:
    table = pd.crosstab(rows["unit"], rows["place"]).reindex(columns=range(n_options), fill_value=0)
    counts = table.to_numpy(dtype=np.int64)
    owners = rows.groupby("unit")["owner"].first().to_numpy()
    return EstimateValue.over(
        owners, lambda mask: coefficient(counts[mask]), CORRELATION, reason=ONE_OPTION
    )


def _usual_size(rows: pd.DataFrame) -> int:
    """The most usual number of raters of a unit, of two or more; the larger of equals."""
    sizes = rows.groupby("unit")["rater"].size().to_numpy()
    values, n_units = np.unique(sizes[sizes >= 2], return_counts=True)
    return int(values[n_units == n_units.max()][-1]) if len(values) else 2


def _repeat_rows(sample: JudgementSample, group: str | None) -> Iterator[JudgementEstimate]:
    """Agreement of each kind of raters with themselves, where units came again as they were.

    A pair of answers in the other order is another question (`same_in_both_orders`), so it counts where
    the same side stood first.
    """
    for kind, raters in KINDS.items():
        rows = sample.judgements[sample.judgements["rater_kind"] == kind]
        rows = rows.assign(first_side=rows["first_side"].fillna(""))
        names = ["unit", "owner", "rater", "first_side"]
        turns = rows.sort_values("repeat", kind="stable").groupby(names).cumcount()
        first, second = (rows[turns.reindex(rows.index) == turn] for turn in (0, 1))
        columns = [*names, "place"]
        pairs = first[columns].merge(second[columns], on=names, suffixes=("", "_other"))
        if pairs.empty:
            continue
        name = EstimateName("", raters, "themselves", group)
        yield from _table_rows(sample, name, pairs, basis_of(pairs), in_both_orders=False)
