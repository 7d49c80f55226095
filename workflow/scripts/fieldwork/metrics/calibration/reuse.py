"""Weights put to use: those of another study, read and checked, and calibrated shares of answers.

Owns which weights of a file apply to a study, and the table of calibrated shares. Promises no share
from weights that a calibration did not support.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.calibration.cross_validation import MIXTURE
from fieldwork.metrics.calibration.prompts import (
    ModelAnswers,
    PromptKey,
    all_answers,
    distinct_options,
    first_answers,
    puppet_shares,
    read_model_answers,
    shares_of,
)
from fieldwork.metrics.calibration.rows import WeightScheme
from fieldwork.metrics.calibration.table import (
    CalibrationSettings,
    ExternalWeights,
    missing_puppets,
)
from fieldwork.records.field import FIELD, CalibratedShare, Calibration, CalibrationWeight
from fieldwork.statistics.arrays import Floats


def read_weights(files: Sequence[str], settings: CalibrationSettings) -> ExternalWeights | None:
    """The weights of another study's table, where `files` names one; see `read_external_weights`."""
    if not files:
        return None
    (file,) = files
    rows = tables.read_rows(file, CalibrationWeight)
    return read_external_weights(rows, file=file, settings=settings)


def read_external_weights(
    rows: Sequence[CalibrationWeight], *, file: str, settings: CalibrationSettings
) -> ExternalWeights:
    """The weights of a file that this study can use, by model and what is weighted.

    Raises:
        StudyError: no weights for a model of the study, or for a condition that it does not ask under.
    """
    weights: dict[WeightScheme, dict[str, float]] = {}
    for row in rows:
        if (
            row.weight is None
            or row.model not in settings.models
            or row.level not in settings.section.over
        ):
            continue
        scheme = WeightScheme.from_row(row.model, row.level, row.condition)
        if row.condition in settings.conditions:
            weights.setdefault(scheme, {})[row.puppet_id or row.condition] = row.weight
        elif row.weight > 0:
            raise StudyError(
                f"calibration.weights: {file} has a weight for condition {row.condition} of "
                f"{row.model}, which this study lacks (it has {', '.join(settings.conditions)}); add "
                "the condition to study.conditions, or take other weights"
            )
    for model in settings.models:
        if not any(scheme.model == model for scheme in weights):
            raise StudyError(f"calibration.weights: {file} {_describe_lack(model, rows)}")
    return ExternalWeights(weights, file)


def _describe_lack(model: str, rows: Sequence[CalibrationWeight]) -> str:
    model_rows = [row for row in rows if row.model == model]
    if not model_rows:
        models = ", ".join(sorted({row.model for row in rows})) or "none"
        return f"has no model {model} (it has {models}); take weights fitted for it, or null"
    reasons = (row.reason for row in model_rows if row.reason)
    reason = next(reasons, "calibration.over leaves them out")
    return f"has no usable weights of {model} ({reason}); take others, or null"


def calibrated_shares(
    answers: pd.DataFrame,
    summary: Sequence[Calibration],
    weights: Sequence[CalibrationWeight],
    *,
    settings: CalibrationSettings,
    baseline: str,
    external: ExternalWeights | None,
) -> list[CalibratedShare]:
    """Shares of every answer to every item of the tasks, whether the field answered it or not.

    In order of model, level, condition, task, item and answer.
    """
    by_model = read_model_answers(answers, tasks=settings.tasks)
    rows: list[CalibratedShare] = []
    for row in summary:
        if row.comparator != MIXTURE.kind:
            continue
        scheme = WeightScheme.from_row(row.model, row.level, row.puppets_of)
        model_answers = by_model.get(row.model, {})
        usable, note = _usable_weights(scheme, row, weights, model_answers, external)
        for key in sorted({key for prompts in model_answers.values() for key in prompts}):
            mixture = partial(_mixture_shares, scheme, key, model_answers, usable, note)
            rows += _prompt_rows(scheme, key, model_answers, mixture, settings.conditions, baseline)
    return rows


def _usable_weights(
    scheme: WeightScheme,
    row: Calibration,
    weights: Sequence[CalibrationWeight],
    answers: ModelAnswers,
    external: ExternalWeights | None,
) -> tuple[Mapping[str, float], str | None]:
    """Weights by member, with a caution; none, with the reason, where they may not be used."""
    if external:
        obstacle = missing_puppets(scheme, answers, external)
        return ({}, obstacle) if obstacle else (external.weights[scheme], row.reason)
    by_member = {
        w.puppet_id or w.condition: w.weight
        for w in weights
        if w.weight is not None and WeightScheme.from_row(w.model, w.level, w.condition) == scheme
    }
    return by_member, None if by_member else f"{row.verdict}: {row.reason}"


def _prompt_rows(
    scheme: WeightScheme,
    key: PromptKey,
    answers: ModelAnswers,
    mixture: Callable[[Options], tuple[Floats | None, str | None]],
    conditions: Sequence[str],
    baseline: str,
) -> Iterator[CalibratedShare]:
    firsts = {c: first_answers(answers, c, key) for c in (*conditions, baseline, FIELD)}
    of_puppets = scheme.puppets_of
    replies = {of_puppets: all_answers(answers, of_puppets, key)} if of_puppets else {}
    options = distinct_options({**firsts, **replies})
    share, reason = mixture(options)
    columns = {
        "share": share,
        "baseline_share": shares_of(firsts[baseline], options),
        "field_share": shares_of(firsts[FIELD], options),
    }
    for number, option in enumerate(options):
        yield CalibratedShare(
            model=scheme.model,
            level=scheme.level,
            puppets_of=of_puppets,
            task=key[0],
            item_id=key[1],
            answer=option,
            **{name: None if c is None else float(c[number]) for name, c in columns.items()},
            reason=reason,
        )


def _mixture_shares(
    scheme: WeightScheme,
    key: PromptKey,
    answers: ModelAnswers,
    usable: Mapping[str, float],
    note: str | None,
    options: Options,
) -> tuple[Floats | None, str | None]:
    """The mixture's shares with their caution, or None with the obstacle."""
    names = [name for name, weight in usable.items() if weight > 0]
    if not names:
        return None, note
    weights = np.array([usable[name] for name in names])
    weights = weights / weights.sum()
    if scheme.puppets_of is not None:
        puppets = puppet_shares(answers, scheme.puppets_of, {key: options}, names=names)
        (shares,) = puppets.puppet_shares
        if not shares.any():
            return None, f"no answer of the puppets of {scheme.puppets_of} can be read"
        return weights @ shares, note
    arms = []
    for name in names:
        arm_shares = shares_of(first_answers(answers, name, key), options)
        if arm_shares is None:
            return None, f"no answer under {name} can be read"
        arms.append(arm_shares)
    return weights @ np.stack(arms), note
