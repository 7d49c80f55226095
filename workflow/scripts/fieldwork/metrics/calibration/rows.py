"""The rows of a calibration and its verdict.

Owns the rule by which a calibration is worth using, and what the tables say of one that is not.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from fieldwork.metrics.calibration.cross_validation import (
    FIELD_ITSELF,
    MIXTURE,
    Comparator,
    CrossValidation,
)
from fieldwork.metrics.calibration.draws import gain_interval, ratio_interval
from fieldwork.metrics.calibration.prompts import UsablePrompts
from fieldwork.metrics.calibration.weights import effective_number
from fieldwork.records.field import Calibration, CalibrationWeight
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.intervals import BoundedValue, Interval

IS_CALIBRATED, IS_NO_BETTER, CANNOT_SUPPORT = "calibrated", "no better", "cannot support"


class WeightScheme(NamedTuple):
    """What gets weights for a model: its conditions, or the puppets of one."""

    model: str
    level: Literal["conditions", "puppets"]
    puppets_of: str | None

    @classmethod
    def from_row(cls, model: str, level: str, condition: str | None) -> "WeightScheme":
        """The scheme that a row of a table belongs to."""
        if level == "puppets":
            return cls(model, "puppets", condition)
        return cls(model, "conditions", None)


class CalibrationCase(NamedTuple):
    """One calibration, with all that its rows are made from.

    Attributes:
        members: conditions or puppets that get weights.
        validation: None where nothing was fitted; `obstacle` then says why.
        best: the nearest of the arms and equal weights.
        p_value: of its difference from the mixture.
    """

    scheme: WeightScheme
    usable: UsablePrompts
    members: tuple[str, ...]
    validation: CrossValidation | None = None
    obstacle: str | None = None
    best: Comparator | None = None
    p_value: float | None = None
    n_folds: int | None = None


def mean_gain(validation: CrossValidation, first: Comparator, second: Comparator) -> BoundedValue:
    """How much nearer to the field the second is than the first, mean over prompts."""
    return gain_interval(*validation.gains(first, second))


def decide(case: CalibrationCase, p_holm: float | None) -> tuple[str, str | None]:
    """The verdict on a calibration, and its reason; docs/methods.md has the rule."""
    if case.validation is None or case.best is None or p_holm is None:
        return (CANNOT_SUPPORT, case.obstacle)
    best = case.best.arm or "equal weights"
    gain = mean_gain(case.validation, case.best, MIXTURE)
    if not math.isfinite(gain.interval.low):
        return (IS_NO_BETTER, f"the best weights are those of {best}")
    room = mean_gain(case.validation, case.best, FIELD_ITSELF)
    numbers = (
        f"gain over {best} on held-out prompts {_in_bits(gain)}, p = {p_holm:.3f} after Holm; "
        f"distance of {best} beyond that of the field's own halves {_in_bits(room)}"
    )
    if room.interval.low > 0 and gain.interval.low > 0 and p_holm <= LEVEL:
        return (IS_CALIBRATED, None)
    if room.interval.low <= 0:
        reason = f"{best} is not shown to be further from the field than the field's own halves"
        return (IS_NO_BETTER, f"{reason}: {numbers}")
    if gain.interval.low <= 0 and gain.interval.high >= room.value:
        reason = "the data allow both no gain and the largest possible gain"
        return (CANNOT_SUPPORT, f"{reason}: {numbers}")
    return (IS_NO_BETTER, numbers)


def _in_bits(gain: BoundedValue) -> str:
    return (
        f"{gain.value:.3f} bits (95 % interval {gain.interval.low:.3f} to {gain.interval.high:.3f})"
    )


def summary_rows(
    case: CalibrationCase, p_holm: float | None, *, tasks: str, weights_from: str | None
) -> list[Calibration]:
    """The calibrated mixture first, then equal weights, the arms and the field itself."""
    (verdict, reason), prompts = decide(case, p_holm), case.usable.prompts
    prompt_tasks = dict.fromkeys(prompt.task for prompt in prompts)
    blank = Calibration(
        model=case.scheme.model,
        tasks=", ".join(prompt_tasks) or tasks,
        level=case.scheme.level,
        puppets_of=case.scheme.puppets_of,
        comparator=MIXTURE.kind,
        arm=None,
        js_bits=None,
        in_sample_bits=None,
        overfit_bits=None,
        excess_bits=None,
        excess_low=None,
        excess_high=None,
        split_low=None,
        split_high=None,
        gain_bits=None,
        ci_low=None,
        ci_high=None,
        gap_closed=None,
        closed_low=None,
        closed_high=None,
        p_value=None,
        p_holm=None,
        is_best=False,
        n_prompts=len(prompts),
        n_field=min((len(prompt.field.units) for prompt in prompts), default=0),
        n_equal=min((prompt.n_equal for prompt in prompts), default=0),
        n_folds=case.n_folds,
        n_members=len(case.members) or None,
        n_effective=None,
        penalty_bits=None,
        duality_gap=None,
        weights_from=weights_from,
        verdict=verdict,
        reason=reason,
    )
    excluded_arms = [
        replace(blank, comparator="arm", arm=arm, n_members=None, verdict=None, reason=reason)
        for arm, reason in case.usable.exclusions.items()
    ]
    if case.validation is None:
        return [blank, *excluded_arms]
    return [
        _mixture_row(blank, case.validation),
        *_comparator_rows(blank, case, case.validation, p_holm),
        *excluded_arms,
    ]


def _mixture_row(blank: Calibration, validation: CrossValidation) -> Calibration:
    row = replace(
        blank,
        **_distance(validation, MIXTURE),
        n_effective=effective_number(validation.fit.weights),
    )
    if row.js_bits is None or validation.in_sample is None:
        return row
    in_sample = float(validation.in_sample.mean())
    return replace(
        row,
        in_sample_bits=in_sample,
        overfit_bits=row.js_bits - in_sample,
        penalty_bits=validation.penalty if 0 < validation.penalty < math.inf else None,
        duality_gap=validation.fit.gap,
    )


def _distance(validation: CrossValidation, name: Comparator) -> dict[str, Any]:
    """A comparator's distance from the field, and beyond that of the field's own halves, by column."""
    excess = mean_gain(validation, name, FIELD_ITSELF)
    return {
        "js_bits": float(validation.divergences[name].values.mean()),
        "excess_bits": excess.value,
        "excess_low": _finite(excess.interval.low),
        "excess_high": _finite(excess.interval.high),
    }


def _comparator_rows(
    blank: Calibration, case: CalibrationCase, validation: CrossValidation, p_holm: float | None
) -> Iterator[Calibration]:
    """Rows of equal weights, of each arm and of the field."""
    row = replace(blank, n_members=None, verdict=None, reason=None)
    for name in validation.divergences:
        if name in (MIXTURE, FIELD_ITSELF):
            continue
        distance, gain = _distance(validation, name), mean_gain(validation, name, MIXTURE)
        part = _closed_share(validation, name)
        yield replace(
            row,
            comparator=name.kind,
            arm=name.arm,
            **distance,
            gain_bits=gain.value,
            ci_low=_finite(gain.interval.low),
            ci_high=_finite(gain.interval.high),
            gap_closed=gain.value / distance["excess_bits"] if part else None,
            closed_low=part.low if part else None,
            closed_high=part.high if part else None,
            p_value=case.p_value if name == case.best else None,
            p_holm=p_holm if name == case.best else None,
            is_best=name == case.best,
        )
    yield replace(
        row,
        comparator=FIELD_ITSELF.kind,
        js_bits=float(validation.splits.mean()),
        excess_bits=0.0,
        split_low=float(np.quantile(validation.splits, 0.025)),
        split_high=float(np.quantile(validation.splits, 0.975)),
    )


def _closed_share(validation: CrossValidation, name: Comparator) -> Interval | None:
    """Share of a comparator's distance beyond the field's own that the mixture takes away."""
    return ratio_interval(validation.gains(name, MIXTURE), validation.gains(name, FIELD_ITSELF))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def weight_rows(case: CalibrationCase, summary: Calibration) -> Iterator[CalibrationWeight]:
    """A row for each condition or puppet; without the verdict `calibrated` none has a weight."""
    validation = case.validation if summary.verdict == IS_CALIBRATED else None
    folds = np.stack(validation.fold_weights) if validation else None
    puppets_of = case.scheme.puppets_of
    for number, name in enumerate(case.members):
        yield CalibrationWeight(
            model=case.scheme.model,
            level=case.scheme.level,
            condition=puppets_of or name,
            puppet_id=name if puppets_of else None,
            weight=float(validation.fit.weights[number]) if validation else None,
            fold_low=float(folds[:, number].min()) if folds is not None else None,
            fold_high=float(folds[:, number].max()) if folds is not None else None,
            verdict=str(summary.verdict),
            reason=None if validation else f"{summary.verdict}: {summary.reason}",
        )
