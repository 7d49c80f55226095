"""Can weights bring the simulated answers to the field's? The tables of the answer.

Owns the verdict on each calibration: what beats the best uncalibrated arm on prompts it was not fitted on
has weights; everything else has none, and a reason. Promises a row for all that was asked for, weights
only where the verdict is `calibrated`, and one order whatever the order of the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.calibration.judging import (
    FITTED,
    ITSELF,
    Calibrated,
    Comparator,
    Weighted,
    calibrate,
    judge_given,
    make_folds,
)
from fieldwork.metrics.calibration.noise import Question, prepare
from fieldwork.metrics.calibration.rows import (
    Case,
    Scheme,
    differences,
    item_rows,
    rows_of,
    weight_rows,
)
from fieldwork.metrics.calibration.sets import (
    Answered,
    Prompts,
    Puppets,
    puppet_answers,
    puppets_in,
    read_answered,
    usable_prompts,
)
from fieldwork.records.field import Calibration, CalibrationItem, CalibrationWeight
from fieldwork.statistics.families import holm_by_family
from fieldwork.statistics.permutation import sign_flips
from fieldwork.statistics.seeds import generator

ORDERS = {
    "calibration": "model, level, puppets_of NULLS FIRST, comparator, arm NULLS FIRST",
    "calibration_items": (
        "model, level, puppets_of NULLS FIRST, comparator, arm NULLS FIRST, task, item_id"
    ),
    "calibration_weights": "model, level, condition, puppet_id NULLS FIRST",
    "calibrated_shares": "model, level, puppets_of NULLS FIRST, task, item_id, answer",
}
"""What the rows of each table are sorted by."""


class Settings(NamedTuple):
    """What a study decides: the config's `calibration`, and the draws of its tests."""

    models: Sequence[str]
    tasks: Sequence[str]
    over: Sequence[Literal["conditions", "puppets"]]
    conditions: Sequence[str]
    folds: int
    repeats: int
    minimum_answers: int
    minimum_prompts: int
    n_permutations: int
    seed: int


class Given(NamedTuple):
    """Weights of another study, by condition or puppet, and the file they are from."""

    weights: Mapping[Scheme, Mapping[str, float]]
    file: str


class Calibrations(NamedTuple):
    """The rows of the three tables."""

    summary: list[Calibration]
    items: list[CalibrationItem]
    weights: list[CalibrationWeight]


def measure_calibration(
    answers: pd.DataFrame, *, settings: Settings, given: Given | None = None
) -> Calibrations:
    """Calibrate every model of the study, or judge the weights given, as far as the field allows it.

    Rows in order of model, level, condition and comparator; weights are NULL where the verdict is
    not `calibrated`.
    """
    answered = read_answered(answers, tasks=settings.tasks)
    done = Calibrations([], [], [])
    for model in settings.models:
        of = answered.get(model, {})
        usable = usable_prompts(of, settings.conditions, minimum_answers=settings.minimum_answers)
        questions = prepare(usable.prompts, seed=settings.seed, names=[model])
        schemes = [*_schemes(model, of, settings)]
        if given:
            schemes = [scheme for scheme in schemes if scheme in given.weights]
        cases = [_case(s, of, usable, questions, settings, given) for s in schemes]
        corrected = holm_by_family([case.p_value for case in cases])
        for case, p_holm in zip(cases, corrected, strict=True):
            rows = rows_of(
                case,
                p_holm,
                tasks=", ".join(settings.tasks),
                weights_from=given.file if given else None,
            )
            done.summary.extend(rows)
            done.items.extend(item_rows(case))
            done.weights.extend(weight_rows(case, rows[0]))
    return done


def _schemes(model: str, answered: Answered, settings: Settings) -> Iterator[Scheme]:
    if "conditions" in settings.over:
        yield Scheme(model, "conditions", None)
    if "puppets" in settings.over:
        for condition in settings.conditions:
            if puppets_in(answered, condition):
                yield Scheme(model, "puppets", condition)


def _case(
    scheme: Scheme,
    answered: Answered,
    usable: Prompts,
    questions: Sequence[Question],
    settings: Settings,
    given: Given | None,
) -> Case:
    puppets = _puppets(scheme, answered, usable, given)
    arms = tuple(usable.prompts[0].arms if usable.prompts else settings.conditions)
    members = puppets.names if puppets else arms
    why = _why_not(scheme, usable, members, settings, given)
    if why is None and given:
        why = lost_puppets(scheme, answered, given)
    if why is not None:
        return Case(scheme, usable, members, None, why, None, None, None)
    of = Weighted(puppets)
    if given:
        weights = np.array([given.weights[scheme].get(name, 0.0) for name in members])
        found, n_folds = judge_given(questions, of, weights / weights.sum()), None
    else:
        repeats = make_folds(
            len(questions),
            settings.folds,
            1 if of.is_penalised else settings.repeats,
            seed=settings.seed,
            model=scheme.model,
        )
        found, n_folds = calibrate(questions, of, repeats), len(repeats[0])
    best = _best(found)
    tested = sign_flips(
        differences(found, best, FITTED),
        n_permutations=settings.n_permutations,
        random=generator(settings.seed, "calibration flips", *map(str, scheme)),
    )
    return Case(scheme, usable, members, found, None, best, tested.p_value, n_folds)


def lost_puppets(scheme: Scheme, answered: Answered, given: Given) -> str | None:
    """Why the puppets of a weights file are not those of this study, or None where they are."""
    if scheme.puppets_of is None:
        return None
    wanted = {name for name, weight in given.weights[scheme].items() if weight > 0}
    there = wanted & puppets_in(answered, scheme.puppets_of)
    if there == wanted:
        return None
    return (
        f"{len(there)} of the {len(wanted)} puppets that {given.file} weighs answer here under "
        f"{scheme.puppets_of}, so their weights do not apply"
    )


def _puppets(
    scheme: Scheme, answered: Answered, usable: Prompts, given: Given | None
) -> Puppets | None:
    if scheme.puppets_of is None:
        return None
    keys = {(p.task, p.item_id): p.options for p in usable.prompts}
    names = sorted(given.weights[scheme]) if given else ()
    if not keys and not names:
        names = sorted(puppets_in(answered, scheme.puppets_of))
    return puppet_answers(answered, scheme.puppets_of, keys, names=names)


def _why_not(
    scheme: Scheme,
    usable: Prompts,
    members: Sequence[str],
    settings: Settings,
    given: Given | None,
) -> str | None:
    """Why nothing can be said of a calibration, or None."""
    if not usable.n_answered:
        return f"the field has no readable answer of {scheme.model} to {', '.join(settings.tasks)}"
    n = len(usable.prompts)
    if n < settings.minimum_prompts:
        return (
            f"{n} of {usable.n_answered} prompts have at least {settings.minimum_answers} answers of "
            f"the field (calibration.minimum_answers), and {settings.minimum_prompts} are needed "
            f"(calibration.minimum_prompts)"
        )
    if given:
        weighed = [c for c, weight in given.weights[scheme].items() if weight > 0]
        wanted = [scheme.puppets_of] if scheme.puppets_of else weighed
        lost = [c for c in wanted if c in usable.left_out]
        return f"{lost[0]}: {usable.left_out[lost[0]]}" if lost else None
    if scheme.puppets_of in usable.left_out:
        return usable.left_out[scheme.puppets_of or ""]
    if len(members) < 2:
        return f"there are fewer than two {scheme.level} to weigh"
    return None


def _best(found: Calibrated) -> Comparator:
    """Of arms and equal weights the nearest to the field over all prompts, with hindsight."""
    means = {
        name: float(values.mean())
        for name, values in found.judged.values.items()
        if name not in (FITTED, ITSELF)
    }
    return min(means, key=lambda name: (means[name], name.kind, name.arm or ""))
