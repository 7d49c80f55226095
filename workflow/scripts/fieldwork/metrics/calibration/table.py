"""Tables of the calibration: can weights bring the simulated answers to the field's?

Owns the verdict on each calibration. One that beats the best uncalibrated arm on prompts it was not
fitted on has weights; any other has none, and a reason. Promises a row for all that the config asks
for, weights only where the verdict is `calibrated`, and one order whatever the order of the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.calibration.cross_validation import (
    FIELD_ITSELF,
    MIXTURE,
    Comparator,
    CrossValidation,
    cross_validate,
    judge_weights,
    make_folds,
)
from fieldwork.metrics.calibration.prompts import (
    MixtureMembers,
    ModelAnswers,
    UsablePrompts,
    find_usable_prompts,
    puppet_shares,
    puppets_in,
    read_model_answers,
)
from fieldwork.metrics.calibration.rows import (
    CalibrationCase,
    WeightScheme,
    summary_rows,
    weight_rows,
)
from fieldwork.records.field import Calibration, CalibrationWeight
from fieldwork.sections.metrics import CalibrationSection
from fieldwork.statistics.families import holm_by_family
from fieldwork.statistics.permutation import sign_flips
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import sample_needed


class CalibrationSettings(NamedTuple):
    """What a study asks of a calibration.

    Attributes:
        tasks, conditions: those that the section stands for.
    """

    models: Sequence[str]
    tasks: Sequence[str]
    conditions: Sequence[str]
    section: CalibrationSection
    chance: ChanceSettings


class ExternalWeights(NamedTuple):
    """Weights of another study, by condition or puppet, and the file they are from."""

    weights: Mapping[WeightScheme, Mapping[str, float]]
    file: str


class Calibrations(NamedTuple):
    """The rows of the two tables."""

    summary: list[Calibration]
    weights: list[CalibrationWeight]


def measure_calibration(
    answers: pd.DataFrame,
    *,
    settings: CalibrationSettings,
    external: ExternalWeights | None = None,
) -> Calibrations:
    """Calibrate every model of the study, or judge the weights of another study.

    Rows in order of model, level, condition and comparator; weights are NULL where the verdict is
    not `calibrated`.
    """
    by_model = read_model_answers(answers, tasks=settings.tasks)
    tables = Calibrations([], [])
    for model in settings.models:
        model_answers = by_model.get(model, {})
        cases = _calibrate_model(model, model_answers, settings, external)
        p_holms = holm_by_family([case.p_value for case in cases])
        for case, p_holm in zip(cases, p_holms, strict=True):
            rows = summary_rows(
                case,
                p_holm,
                tasks=", ".join(settings.tasks),
                weights_from=external.file if external else None,
            )
            tables.summary.extend(rows)
            tables.weights.extend(weight_rows(case, rows[0]))
    return tables


def _calibrate_model(
    model: str,
    answers: ModelAnswers,
    settings: CalibrationSettings,
    external: ExternalWeights | None,
) -> list[CalibrationCase]:
    usable = find_usable_prompts(
        answers,
        settings.conditions,
        rarest_users=settings.chance.rarest_users,
        seed=settings.chance.seed,
        model=model,
    )
    return [
        _calibrate(scheme, answers, usable, settings, external)
        for scheme in _schemes(model, answers, settings)
        if external is None or scheme in external.weights
    ]


def _schemes(
    model: str, answers: ModelAnswers, settings: CalibrationSettings
) -> Iterator[WeightScheme]:
    if "conditions" in settings.section.over:
        yield WeightScheme(model, "conditions", None)
    if "puppets" in settings.section.over:
        for condition in settings.conditions:
            if puppets_in(answers, condition):
                yield WeightScheme(model, "puppets", condition)


def _calibrate(
    scheme: WeightScheme,
    answers: ModelAnswers,
    usable: UsablePrompts,
    settings: CalibrationSettings,
    external: ExternalWeights | None,
) -> CalibrationCase:
    mixture = _members(scheme, answers, usable, settings, external)
    members = mixture.names
    obstacle = _find_obstacle(scheme, usable, members, settings, external)
    if obstacle is None and external:
        obstacle = missing_puppets(scheme, answers, external)
    if obstacle is not None:
        return CalibrationCase(scheme, usable, members, obstacle=obstacle)
    draws = usable.prompts
    if external:
        weights = np.array([external.weights[scheme].get(name, 0.0) for name in members])
        validation, n_folds = judge_weights(draws, mixture, weights / weights.sum()), None
    else:
        repeats = make_folds(
            len(draws),
            settings.section.folds,
            1 if scheme.puppets_of else settings.section.repeats,
            seed=settings.chance.seed,
            model=scheme.model,
        )
        validation, n_folds = cross_validate(draws, mixture, repeats), len(repeats[0])
    best = _best_comparator(validation)
    test = sign_flips(
        validation.gains(best, MIXTURE).values,
        n_permutations=settings.chance.n_permutations,
        random=generator(settings.chance.seed, "calibration flips", *map(str, scheme)),
    )
    return CalibrationCase(
        scheme,
        usable,
        members,
        validation=validation,
        best=best,
        p_value=test.p_value,
        n_folds=n_folds,
    )


def missing_puppets(
    scheme: WeightScheme, answers: ModelAnswers, external: ExternalWeights
) -> str | None:
    """Why weights of puppets do not apply to this study, or None where they do."""
    if scheme.puppets_of is None:
        return None
    names_with_weight = {name for name, weight in external.weights[scheme].items() if weight > 0}
    present = names_with_weight & puppets_in(answers, scheme.puppets_of)
    if present == names_with_weight:
        return None
    return (
        f"only {len(present)} of the {len(names_with_weight)} puppets with a weight in "
        f"{external.file} answer under {scheme.puppets_of} in this study, so these weights do not "
        f"apply"
    )


def _members(
    scheme: WeightScheme,
    answers: ModelAnswers,
    usable: UsablePrompts,
    settings: CalibrationSettings,
    external: ExternalWeights | None,
) -> MixtureMembers:
    if scheme.puppets_of is None:
        return MixtureMembers(
            tuple(usable.prompts[0].arms if usable.prompts else settings.conditions)
        )
    prompts = {(prompt.task, prompt.item_id): prompt.options for prompt in usable.prompts}
    names = sorted(external.weights[scheme]) if external else ()
    if not prompts and not names:
        names = sorted(puppets_in(answers, scheme.puppets_of))
    return puppet_shares(answers, scheme.puppets_of, prompts, names=names)


def _find_obstacle(
    scheme: WeightScheme,
    usable: UsablePrompts,
    members: Sequence[str],
    settings: CalibrationSettings,
    external: ExternalWeights | None,
) -> str | None:
    """Why nothing can be said of a calibration, or None."""
    if not usable.n_answered:
        return f"the field has no readable answer of {scheme.model} to {', '.join(settings.tasks)}"
    n = len(usable.prompts)
    if n == 0 and usable.exclusions:
        return "; ".join(f"{arm}: {reason}" for arm, reason in usable.exclusions.items())
    n_needed = sample_needed(settings.chance.rarest_prompts)
    if n < n_needed:
        return (
            f"{n} of {usable.n_answered} prompts have at least "
            f"{sample_needed(settings.chance.rarest_users)} answers of the field "
            f"(metrics.rarest_users), and {n_needed} are needed (metrics.rarest_prompts)"
        )
    if external:
        names_with_weight = [
            name for name, weight in external.weights[scheme].items() if weight > 0
        ]
        conditions = [scheme.puppets_of] if scheme.puppets_of else names_with_weight
        return next(
            (f"{c}: {usable.exclusions[c]}" for c in conditions if c in usable.exclusions), None
        )
    if scheme.puppets_of in usable.exclusions:
        return usable.exclusions[scheme.puppets_of or ""]
    if len(members) < 2:
        return f"there are fewer than two {scheme.level} to weigh"
    return None


def _best_comparator(validation: CrossValidation) -> Comparator:
    """Of arms and equal weights the nearest to the field over all prompts, with hindsight."""
    means = {
        name: float(bits.values.mean())
        for name, bits in validation.divergences.items()
        if name not in (MIXTURE, FIELD_ITSELF)
    }
    return min(means, key=lambda name: (means[name], name.kind, name.arm or ""))
