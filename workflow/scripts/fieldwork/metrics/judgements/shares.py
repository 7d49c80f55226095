"""What raters say: shares of options, acceptance, means, and which of two answers is better.

A share is of judgements, each alike. Intervals leave out users with all that was said of their units.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.rows import (
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
)
from fieldwork.metrics.judgements.sample import (
    MODELS,
    PEOPLE,
    JudgementSample,
    without_each_sum,
)
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Floats

NEITHER = "neither"


def share_rows(sample: JudgementSample, group: str | None) -> Iterator[JudgementEstimate]:
    """What people say, what models say, and what each model says."""
    models = sample.of_kind("model")
    sides = {PEOPLE: sample.of_kind("person"), MODELS: models}
    if models["rater"].nunique() > 1:
        sides |= {str(judge): rows for judge, rows in models.groupby("rater")}
    for raters, rows in sides.items():
        if len(rows):
            for name, values in _values(sample, rows, EstimateName("", raters, None, group)):
                yield estimate_row(sample, name, mean_value(rows, values), basis_of(rows))


def mean_value(rows: pd.DataFrame, values: Floats) -> EstimateValue:
    """The mean of a value of each row, and the means without each cluster."""
    owners = rows["owner"].to_numpy()
    sums = without_each_sum(np.column_stack([values, np.ones(len(values))]), owners)
    with np.errstate(invalid="ignore"):
        rest = sums[:, 0] / sums[:, 1]
    return EstimateValue(float(values.mean()), rest, (float(values.min()), float(values.max())))


def _values(
    sample: JudgementSample, rows: pd.DataFrame, name: EstimateName
) -> Iterator[tuple[EstimateName, Floats]]:
    """What is averaged over judgements, by the estimate that it makes."""
    scale = sample.scale
    answers = rows["value"]
    for option in scale.options:
        yield name._replace(measure="share", option=option), _flags(answers.eq(option))
    if scale.accepted:
        yield name._replace(measure="accepted"), _flags(answers.isin(scale.accepted))
    if scale.is_ordered:
        yield name._replace(measure="mean"), sample.numbers()[rows["place"].to_numpy()]
    if scale.prefers_a or scale.prefers_b:
        yield from _preferences(sample, rows, name)


def _preferences(
    sample: JudgementSample, rows: pd.DataFrame, name: EstimateName
) -> Iterator[tuple[EstimateName, Floats]]:
    scale = sample.scale
    is_a, is_b = rows["value"].isin(scale.prefers_a), rows["value"].isin(scale.prefers_b)
    sides = {"a": is_a, "b": is_b, NEITHER: ~(is_a | is_b)}
    for option, flags in sides.items():
        yield name._replace(measure="preferred", option=option), _flags(flags)
    yield name._replace(measure="b_no_better"), _flags(~is_b)


def _flags(values: pd.Series) -> Floats:
    return np.asarray(values.to_numpy(), dtype=np.float64)
