"""Weights put to use: those of another study read and checked, and shares of answers as calibrated.

Owns what of a weights file fits a study, and the table that a reader takes calibrated shares from.
Promises no share from weights that a calibration did not support.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.answer_sets import ItemAnswers, Options
from fieldwork.metrics.calibration.rows import CALIBRATED, Scheme
from fieldwork.metrics.calibration.sets import (
    Answered,
    puppet_answers,
    read_answered,
    shares_of,
)
from fieldwork.metrics.calibration.table import Given, Settings, lost_puppets
from fieldwork.records.field import FIELD, CalibratedShare, Calibration, CalibrationWeight
from fieldwork.statistics.arrays import Floats

Key = tuple[str, str]


class Usable(NamedTuple):
    """Weights of a scheme by member, or why there are none; `caution` says what speaks against them."""

    weights: Mapping[str, float]
    why: str | None
    caution: str | None = None


def given_weights(rows: Sequence[CalibrationWeight], *, file: str, settings: Settings) -> Given:
    """The weights of a file that this study can use, by model and what is weighted.

    Raises:
        StudyError: no weights for a model of the study, or for a condition that it does not ask under.
    """
    found: dict[Scheme, dict[str, float]] = {}
    for row in rows:
        if row.weight is None or row.model not in settings.models or row.level not in settings.over:
            continue
        scheme = Scheme.of(row.model, row.level, row.condition)
        if row.condition in settings.conditions:
            found.setdefault(scheme, {})[row.puppet_id or row.condition] = row.weight
        elif row.weight > 0:
            raise StudyError(
                f"calibration.weights: {file} weighs condition {row.condition} of {row.model}, under "
                f"which this study does not ask (it has {', '.join(settings.conditions)}); add it to "
                f"study.conditions, or take other weights"
            )
    for model in settings.models:
        if not any(scheme.model == model for scheme in found):
            raise StudyError(f"calibration.weights: {file} {_none_for(model, rows)}")
    return Given(found, file)


def _none_for(model: str, rows: Sequence[CalibrationWeight]) -> str:
    own = [row for row in rows if row.model == model]
    if not own:
        there = ", ".join(sorted({row.model for row in rows})) or "none"
        return f"has no model {model} (there are {there}); take weights fitted for it, or null"
    why = next((row.reason for row in own if row.reason), "calibration.over leaves them out")
    return f"has no usable weights of {model} ({why}); take others, or null"


def calibrated_shares(
    answers: pd.DataFrame,
    summary: Sequence[Calibration],
    weights: Sequence[CalibrationWeight],
    *,
    settings: Settings,
    baseline: str,
    given: Given | None,
) -> list[CalibratedShare]:
    """Shares of every answer to every item of the tasks, whether the field answered it or not.

    In order of model, level, condition, task, item and answer.
    """
    answered = read_answered(answers, tasks=settings.tasks)
    rows: list[CalibratedShare] = []
    for row in summary:
        if row.comparator != CALIBRATED:
            continue
        scheme = Scheme.of(row.model, row.level, row.puppets_of)
        of = answered.get(row.model, {})
        usable = _usable(scheme, row, weights, of, given)
        for key in sorted({key for items in of.values() for key in items}):
            rows += _item_shares(scheme, key, of, usable, [*settings.conditions, baseline])
    return rows


def _usable(
    scheme: Scheme,
    row: Calibration,
    weights: Sequence[CalibrationWeight],
    answered: Answered,
    given: Given | None,
) -> Usable:
    if given:
        missing = lost_puppets(scheme, answered, given)
        return Usable(given.weights[scheme], missing, None if missing else row.reason)
    own = {
        w.puppet_id or w.condition: w.weight
        for w in weights
        if w.weight is not None and Scheme.of(w.model, w.level, w.condition) == scheme
    }
    return Usable(own, None if own else f"{row.verdict}: {row.reason}")


def _item_shares(
    scheme: Scheme, key: Key, answered: Answered, usable: Usable, conditions: Sequence[str]
) -> Iterator[CalibratedShare]:
    empty = ItemAnswers([], 0)
    given = {c: answered.get(c, {}).get(key, empty).first_answers() for c in (*conditions, FIELD)}
    every = {
        c: answered.get(c, {}).get(key, empty).answers if c == scheme.puppets_of else given[c]
        for c in given
    }
    options = tuple(sorted({o for c in every.values() for g in c for o in g.options}))
    mixed, why = _mixed(scheme, key, answered, usable, options)
    shares = {c: shares_of(given[c], options) for c in (conditions[-1], FIELD)}
    for number, answer in enumerate(options):
        yield CalibratedShare(
            model=scheme.model,
            level=scheme.level,
            puppets_of=scheme.puppets_of,
            task=key[0],
            item_id=key[1],
            answer=answer,
            share=None if mixed is None else float(mixed[number]),
            baseline_share=_at(shares[conditions[-1]], number),
            field_share=_at(shares[FIELD], number),
            reason=why,
        )


def _at(shares: Floats | None, number: int) -> float | None:
    return None if shares is None else float(shares[number])


def _mixed(
    scheme: Scheme, key: Key, answered: Answered, usable: Usable, options: Options
) -> tuple[Floats | None, str | None]:
    """The mixture's shares and what speaks against them, or None and why."""
    if usable.why is not None:
        return None, usable.why
    names = [name for name, weight in usable.weights.items() if weight > 0]
    weights = np.array([usable.weights[name] for name in names])
    weights = weights / weights.sum()
    if scheme.puppets_of is not None:
        rows = puppet_answers(answered, scheme.puppets_of, {key: options}, names=names).every[0]
        if not rows.any():
            return None, f"no answer of the puppets of {scheme.puppets_of} can be read"
        return weights @ rows, usable.caution
    empty = ItemAnswers([], 0)
    parts = [shares_of(answered.get(c, {}).get(key, empty).first_answers(), options) for c in names]
    for name, part in zip(names, parts, strict=True):
        if part is None:
            return None, f"no answer under {name} can be read"
    return weights @ np.stack([part for part in parts if part is not None]), usable.caution
