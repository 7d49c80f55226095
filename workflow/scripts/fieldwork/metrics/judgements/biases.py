"""What moves a choice between two answers besides their worth: place, length, author, naming the user.

Only judgements that prefer a side count. None of these shares is a bias by itself: a longer answer may be
better. People's share on the same units is the yardstick.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.rows import (
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
    mean_of,
)
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample
from fieldwork.metrics.judgements.shares import mean_value
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Floats


def bias_rows(sample: JudgementSample, group: str | None) -> Iterator[JudgementEstimate]:
    """Shares that prefer the first, the longer, their own answer, or that which names an attribute.

    Of people and of each model. The answers of a unit `mentions` differ in the naming alone, so a share
    above a half is mention bias.
    """
    if not (sample.scale.prefers_a or sample.scale.prefers_b):
        return
    people = sample.of_kind("person")
    models = sample.of_kind("model")
    sides = {PEOPLE: people} | {str(judge): rows for judge, rows in models.groupby("rater")}
    for raters, rows in sides.items():
        name = EstimateName("", raters, None, group)
        yield from _share_rows(sample, name, rows)
        yield from _order_rows(sample, name)
    for judge, rows in models.groupby("rater"):
        name = EstimateName("self_preference", str(judge), PEOPLE, group)
        yield from _own_rows(sample, name, rows, people)


def _decisions(sample: JudgementSample, rows: pd.DataFrame) -> pd.DataFrame:
    """Judgements that prefer a side, with the side as the column `side`."""
    is_a = rows["value"].isin(sample.scale.prefers_a)
    is_b = rows["value"].isin(sample.scale.prefers_b)
    decisions = rows[is_a | is_b]
    return decisions.assign(side=np.where(is_a[is_a | is_b], "a", "b"))


def _share_rows(
    sample: JudgementSample, name: EstimateName, rows: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    decisions = _decisions(sample, rows)
    with_place = decisions[decisions["first_side"].notna()]
    lengths = decisions[["characters_a", "characters_b"]].astype(np.float64)
    unequal = decisions[lengths.notna().all(axis=1) & (lengths.iloc[:, 0] != lengths.iloc[:, 1])]
    is_a_longer = unequal["characters_a"] > unequal["characters_b"]
    mentions = decisions[decisions["unit_kind"].eq("mentions")]
    for measure, side, is_preferred in (
        ("prefers_named", mentions, mentions["side"].eq("b")),
        ("prefers_first", with_place, with_place["side"].eq(with_place["first_side"])),
        (
            "prefers_longer",
            unequal,
            unequal["side"].eq("a").eq(is_a_longer),
        ),
    ):
        if len(side):
            result = mean_value(side, np.asarray(is_preferred, dtype=np.float64))
            row_name = name._replace(measure=measure)
            yield estimate_row(sample, row_name, result, basis_of(side))


def _order_rows(sample: JudgementSample, name: EstimateName) -> Iterator[JudgementEstimate]:
    """The share of units judged in both orders by one rater that get the same judgement."""
    rows = sample.judgements
    kind = "person" if name.raters == PEOPLE else "model"
    rows = rows[(rows["rater_kind"] == kind) & rows["first_side"].notna()]
    if kind == "model":
        rows = rows[rows["rater"] == name.raters]
    orders = rows.drop_duplicates(["unit", "rater", "first_side"])
    columns = ["unit", "owner", "rater", "place"]
    a_first, b_first = (orders[orders["first_side"] == side] for side in ("a", "b"))
    pairs = a_first[columns].merge(
        b_first[columns], on=["unit", "owner", "rater"], suffixes=("", "_other")
    )
    if len(pairs):
        is_same = np.asarray(pairs["place"].eq(pairs["place_other"]), dtype=np.float64)
        row_name = name._replace(measure="same_in_both_orders")
        yield estimate_row(sample, row_name, mean_value(pairs, is_same), basis_of(pairs))


def _own_rows(
    sample: JudgementSample, name: EstimateName, rows: pd.DataFrame, people: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """How much oftener a judge prefers its own answer than people do, on units that both decided."""
    judge, people_side = (_own_side(_decisions(sample, r), name.raters) for r in (rows, people))
    units = np.intersect1d(judge["unit"], people_side["unit"])
    judge, people_side = (side[side["unit"].isin(units)] for side in (judge, people_side))
    if not len(units):
        return
    means = [
        side.groupby("unit")["is_own"].mean().loc[units].to_numpy() for side in (judge, people_side)
    ]
    owners = judge.drop_duplicates("unit").set_index("unit").loc[units, "owner"].to_numpy()
    differences: Floats = means[0] - means[1]
    result = EstimateValue.over(owners, mean_of(differences))
    basis = basis_of(pd.concat([judge, people_side]))
    yield estimate_row(sample, name, result, basis)


def _own_side(decisions: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Judgements of units of which the judge wrote one side, with whether that side is preferred."""
    own_side = np.where(decisions["author_a"].eq(judge), "a", "b")
    is_own = decisions["author_a"].eq(judge) ^ decisions["author_b"].eq(judge)
    is_side = (decisions["side"].to_numpy() == own_side).astype(np.float64)
    return decisions.assign(is_own=is_side)[is_own.to_numpy()]
