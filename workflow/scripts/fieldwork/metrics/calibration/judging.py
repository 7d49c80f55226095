"""How near a calibrated mixture comes to the field on prompts it was not fitted on.

Owns the cross-validation over prompts and the same judgement without each group of people. Promises that
every comparator of a prompt is drawn as often, from the same orders, and that a fold's weights have
never seen its prompts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.calibration.noise import (
    Halves,
    Mixer,
    Question,
    distance,
    halves,
)
from fieldwork.metrics.calibration.sets import GROUPS, Puppets
from fieldwork.metrics.calibration.weights import Fit, Part, choose_penalty, fit_weights
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.seeds import generator

Folds = list[list[int]]


class Weighted(NamedTuple):
    """What gets weights: the puppets of a condition, or, without them, the conditions.

    Puppets are more than prompts can tell apart, and penalised. They are those that the weights are
    for, so none is left out for the interval; chance in the arms' answers is part of that of
    conditions.
    """

    puppets: Puppets | None

    @property
    def is_penalised(self) -> bool:
        """Whether weights are drawn towards equal ones."""
        return self.puppets is not None

    def parts(self, questions: Sequence[Question]) -> list[Part]:
        """What weights are fitted on."""
        if self.puppets is not None:
            pairs = zip(questions, self.puppets.every, strict=True)
            return [Part(q.field.shares(), rows) for q, rows in pairs]
        return [
            Part(q.field.shares(), np.stack([side.shares() for side in q.arms.values()]))
            for q in questions
        ]

    def drawn(self, question: Question, mixer: Mixer, weights: Floats) -> Floats:
        """Draws from the mixture for a prompt: shape (draws, options)."""
        if self.puppets is None:
            return mixer.mixed(weights)
        units = question.arms[self.puppets.condition].units
        return mixer.mixed_puppets(self.puppets.condition, self.puppets.of(units, weights))

    def without(self, questions: Sequence[Question], group: int) -> list[Question]:
        """The prompts without a group of people."""
        return [q.without(group, arms=self.puppets is None) for q in questions]


class Comparator(NamedTuple):
    """What is set beside the field: `calibrated`, `equal`, `field`, or an `arm` by its name."""

    kind: str
    arm: str | None = None


FITTED, EQUAL, ITSELF = Comparator("calibrated"), Comparator("equal"), Comparator("field")


class Judged(NamedTuple):
    """Divergences of each comparator from the field in bits, one a prompt.

    `in_sample` is None where nothing was fitted. `splits` are means over prompts of the field's
    divergence from itself, one a draw.
    """

    values: dict[Comparator, Floats]
    in_sample: Floats | None
    splits: Floats


class Calibrated(NamedTuple):
    """A calibration as judged: the final fit, each fold's weights, and values without each group.

    `without` holds for each comparator its values without each group of people, shape
    (groups, prompts). `fit` has no bound where the weights were given.
    """

    judged: Judged
    fit: Fit
    fold_weights: list[Floats]
    penalty: float
    without: dict[Comparator, Floats]


class _Fitted(NamedTuple):
    """Weights for each prompt that have not seen it, one set a repeat: (repeats, prompts, members)."""

    held_out: Floats
    every: Floats | None


class _Penalties(NamedTuple):
    folds: list[list[float]]
    every: float


def make_folds(
    n_prompts: int, n_folds: int, n_repeats: int, *, seed: int, model: str
) -> list[Folds]:
    """Places of prompts dealt to folds of nearly equal size, anew for each repeat."""
    k = min(n_folds, n_prompts)
    repeats = []
    # each prompt a fold of its own is one and the same in every repeat
    for repeat in range(1 if k == n_prompts else n_repeats):
        order = generator(seed, "calibration folds", model, str(repeat)).permutation(n_prompts)
        repeats.append([sorted(int(i) for i in order[f::k]) for f in range(k)])
    return repeats


def calibrate(questions: Sequence[Question], of: Weighted, repeats: Sequence[Folds]) -> Calibrated:
    """Fit and judge, then again without each group of people, penalties kept."""
    parts = of.parts(questions)
    penalties = _choose(parts, repeats) if of.is_penalised else _Penalties([], 0.0)
    fitted = _fit(parts, repeats, penalties)
    final = fit_weights(parts, penalty=penalties.every)
    judged = _judge(questions, of, fitted._replace(every=final.weights))
    leftovers = []
    for group in range(GROUPS):
        fewer = of.without(questions, group)
        again = _fit(of.parts(fewer), repeats, penalties)
        leftovers.append(_judge(fewer, of, again))
    rows = [fitted.held_out[r, fold[0]] for r, folds in enumerate(repeats) for fold in folds]
    return Calibrated(judged, final, rows, penalties.every, _stacked(leftovers))


def judge_given(questions: Sequence[Question], of: Weighted, weights: Floats) -> Calibrated:
    """Judge weights of another study: every prompt is one they have not seen."""
    given = _Fitted(np.broadcast_to(weights, (1, len(questions), len(weights))), None)
    judged = _judge(questions, of, given)
    leftovers = [_judge(of.without(questions, g), of, given) for g in range(GROUPS)]
    fit = Fit(weights, math.nan, math.nan, 0)
    return Calibrated(judged, fit, [weights], math.nan, _stacked(leftovers))


def _choose(parts: Sequence[Part], repeats: Sequence[Folds]) -> _Penalties:
    chosen = []
    for folds in repeats:
        of = []
        for fold in folds:
            kept = [k for k in range(len(parts)) if k not in fold]
            place = {k: number for number, k in enumerate(kept)}
            inner = [[place[k] for k in other] for other in folds if other is not fold]
            of.append(choose_penalty([parts[k] for k in kept], inner))
        chosen.append(of)
    return _Penalties(chosen, choose_penalty(parts, repeats[0]))


def _fit(parts: Sequence[Part], repeats: Sequence[Folds], penalties: _Penalties) -> _Fitted:
    held_out = np.zeros((len(repeats), len(parts), len(parts[0].members)))
    for r, folds in enumerate(repeats):
        for f, fold in enumerate(folds):
            kept = [part for k, part in enumerate(parts) if k not in fold]
            penalty = penalties.folds[r][f] if penalties.folds else penalties.every
            held_out[r, fold] = fit_weights(kept, penalty=penalty).weights
    return _Fitted(held_out, None)


def _judge(questions: Sequence[Question], of: Weighted, fitted: _Fitted) -> Judged:
    rows: list[dict[Comparator, float]] = []
    in_sample, splits = [], []
    for k, question in enumerate(questions):
        cut, mixer = halves(question), Mixer(question)
        row = {Comparator("arm", arm): _mean(cut, mixer.alone(arm)) for arm in question.arms}
        held = [_mean(cut, of.drawn(question, mixer, w)) for w in fitted.held_out[:, k]]
        row[FITTED] = float(np.mean(held))
        if fitted.every is not None:
            in_sample.append(_mean(cut, of.drawn(question, mixer, fitted.every)))
        if not of.is_penalised:
            row[EQUAL] = _mean(
                cut, mixer.mixed(np.full(len(question.arms), 1 / len(question.arms)))
            )
        splits.append(distance(cut.judged_by, cut.other))
        row[ITSELF] = float(splits[-1].mean())
        rows.append(row)
    return Judged(
        {name: np.array([row[name] for row in rows]) for name in rows[0]},
        np.array(in_sample) if in_sample else None,
        np.stack(splits, axis=1).mean(axis=1),
    )


def _mean(cut: Halves, shares: Floats) -> float:
    return float(distance(cut.judged_by, shares).mean())


def _stacked(leftovers: Sequence[Judged]) -> dict[Comparator, Floats]:
    return {
        name: np.stack([judged.values[name] for judged in leftovers])
        for name in leftovers[0].values
    }
