"""The rows of a calibration and its verdict.

Owns the rule by which a calibration is worth using, and what the tables say of one that is not.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from fieldwork.metrics.calibration.judging import FITTED, ITSELF, Calibrated, Comparator
from fieldwork.metrics.calibration.noise import Gain, gain_interval
from fieldwork.metrics.calibration.sets import Prompt, Prompts
from fieldwork.metrics.calibration.weights import effective_number
from fieldwork.records.field import Calibration, CalibrationItem, CalibrationWeight
from fieldwork.statistics.arrays import Floats

CALIBRATED, NO_BETTER, CANNOT = "calibrated", "no better", "cannot support"
LEVEL = 0.05


class Scheme(NamedTuple):
    """What gets weights for a model: its conditions, or the puppets of one."""

    model: str
    level: Literal["conditions", "puppets"]
    puppets_of: str | None

    @classmethod
    def of(cls, model: str, level: str, condition: str | None) -> "Scheme":
        """The scheme that a row of a table belongs to."""
        if level == "puppets":
            return cls(model, "puppets", condition)
        return cls(model, "conditions", None)


class Case(NamedTuple):
    """One calibration: all that its rows are made from; `found` is None where nothing was fitted."""

    scheme: Scheme
    usable: Prompts
    members: tuple[str, ...]
    found: Calibrated | None
    why: str | None
    best: Comparator | None
    p_value: float | None
    n_folds: int | None


class Verdict(NamedTuple):
    word: str
    reason: str | None


def nearer(found: Calibrated, first: Comparator, second: Comparator) -> Gain:
    """How much nearer to the field the second is than the first, mean over prompts."""
    without = found.without[first] - found.without[second]
    return gain_interval(differences(found, first, second), without)


def differences(found: Calibrated, first: Comparator, second: Comparator) -> Floats:
    """The same, prompt by prompt."""
    values = found.judged.values
    apart: Floats = values[first] - values[second]
    return apart


def decide(case: Case, p_holm: float | None) -> Verdict:
    """What the data say; docs/methods.md has the rule."""
    if case.found is None or case.best is None or p_holm is None:
        return Verdict(CANNOT, case.why)
    name = case.best.arm or "equal weights"
    gain = nearer(case.found, case.best, FITTED)
    if not math.isfinite(gain.interval.low):
        return Verdict(NO_BETTER, f"the weights that do best are those of {name}")
    room = nearer(case.found, case.best, ITSELF)
    told = (
        f"gain over {name} on held-out prompts {_told(gain)}, p = {p_holm:.3f} after Holm; from "
        f"{name} to the field's own halves {_told(room)}"
    )
    if room.interval.low > 0 and gain.interval.low > 0 and p_holm <= LEVEL:
        return Verdict(CALIBRATED, None)
    if room.interval.low <= 0:
        why = f"{name} is not shown to be further from the field than its own halves are"
        return Verdict(NO_BETTER, f"{why}: {told}")
    if gain.interval.low <= 0 and gain.interval.high >= room.mean:
        return Verdict(CANNOT, f"no gain and all that there is to gain are both possible: {told}")
    return Verdict(NO_BETTER, told)


def _told(gain: Gain) -> str:
    return (
        f"{gain.mean:.3f} bits (95 % interval {gain.interval.low:.3f} to {gain.interval.high:.3f})"
    )


def rows_of(
    case: Case, p_holm: float | None, *, tasks: str, weights_from: str | None
) -> list[Calibration]:
    """The calibrated mixture first, then equal weights, the arms and the field itself."""
    word, reason = decide(case, p_holm)
    found = case.found
    used = dict.fromkeys(prompt.task for prompt in case.usable.prompts)
    blank = Calibration(
        model=case.scheme.model,
        tasks=", ".join(used) or tasks,
        level=case.scheme.level,
        puppets_of=case.scheme.puppets_of,
        comparator=CALIBRATED,
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
        p_value=None,
        p_holm=None,
        is_best=False,
        n_prompts=len(case.usable.prompts),
        n_field=min((len(p.field.units) for p in case.usable.prompts), default=0),
        n_equal=min((p.n_equal for p in case.usable.prompts), default=0),
        n_folds=case.n_folds,
        n_members=len(case.members) or None,
        n_effective=None,
        penalty_bits=None,
        duality_gap=None,
        weights_from=weights_from,
        verdict=word,
        reason=reason,
    )
    lost = [
        replace(blank, comparator="arm", arm=arm, n_members=None, verdict=None, reason=why)
        for arm, why in case.usable.left_out.items()
    ]
    if found is None:
        return [blank, *lost]
    return [_calibrated(blank, found), *_compared(blank, case, found, p_holm), *lost]


def _calibrated(blank: Calibration, found: Calibrated) -> Calibration:
    judged, excess = found.judged, nearer(found, FITTED, ITSELF)
    held_out = float(judged.values[FITTED].mean())
    in_sample = None if judged.in_sample is None else float(judged.in_sample.mean())
    fitted = in_sample is not None
    return replace(
        blank,
        js_bits=held_out,
        excess_bits=excess.mean,
        excess_low=_finite(excess.interval.low),
        excess_high=_finite(excess.interval.high),
        in_sample_bits=in_sample,
        overfit_bits=None if in_sample is None else held_out - in_sample,
        n_effective=effective_number(found.fit.weights),
        penalty_bits=found.penalty if fitted and 0 < found.penalty < math.inf else None,
        duality_gap=found.fit.gap if fitted else None,
    )


def _compared(
    blank: Calibration, case: Case, found: Calibrated, p_holm: float | None
) -> Iterator[Calibration]:
    """Rows of equal weights, of each arm and of the field."""
    own = replace(blank, n_members=None, verdict=None, reason=None)
    for name, values in found.judged.values.items():
        if name in (FITTED, ITSELF):
            continue
        gain, excess = nearer(found, name, FITTED), nearer(found, name, ITSELF)
        yield replace(
            own,
            comparator=name.kind,
            arm=name.arm,
            js_bits=float(values.mean()),
            excess_bits=excess.mean,
            excess_low=_finite(excess.interval.low),
            excess_high=_finite(excess.interval.high),
            gain_bits=gain.mean,
            ci_low=_finite(gain.interval.low),
            ci_high=_finite(gain.interval.high),
            p_value=case.p_value if name == case.best else None,
            p_holm=p_holm if name == case.best else None,
            is_best=name == case.best,
        )
    splits = found.judged.splits
    yield replace(
        own,
        comparator=ITSELF.kind,
        js_bits=float(splits.mean()),
        excess_bits=0.0,
        split_low=float(np.quantile(splits, 0.025)),
        split_high=float(np.quantile(splits, 0.975)),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def item_rows(case: Case) -> Iterator[CalibrationItem]:
    """A row for each comparator of each prompt."""
    if case.found is None:
        return
    judged = case.found.judged
    for k, prompt in enumerate(case.usable.prompts):
        for name, values in judged.values.items():
            inside = None if judged.in_sample is None else float(judged.in_sample[k])
            yield _item(case, prompt, name, float(values[k]), inside if name == FITTED else None)


def _item(
    case: Case,
    prompt: Prompt,
    name: Comparator,
    js_bits: float,
    in_sample: float | None,
) -> CalibrationItem:
    return CalibrationItem(
        model=case.scheme.model,
        level=case.scheme.level,
        puppets_of=case.scheme.puppets_of,
        comparator=name.kind,
        arm=name.arm,
        task=prompt.task,
        item_id=prompt.item_id,
        js_bits=js_bits,
        in_sample_bits=in_sample,
        n_field=len(prompt.field.units),
        n_equal=prompt.n_equal,
    )


def weight_rows(case: Case, summary: Calibration) -> Iterator[CalibrationWeight]:
    """A row for each condition or puppet; without the verdict `calibrated` none has a weight."""
    found = case.found if summary.verdict == CALIBRATED else None
    folds = np.stack(found.fold_weights) if found else None
    for number, name in enumerate(case.members):
        of = case.scheme.puppets_of
        yield CalibrationWeight(
            model=case.scheme.model,
            level=case.scheme.level,
            condition=of or name,
            puppet_id=name if of else None,
            weight=float(found.fit.weights[number]) if found else None,
            fold_low=float(folds[:, number].min()) if folds is not None else None,
            fold_high=float(folds[:, number].max()) if folds is not None else None,
            verdict=str(summary.verdict),
            reason=None if found else f"{summary.verdict}: {summary.reason}",
        )
