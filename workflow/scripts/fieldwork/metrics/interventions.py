"""What the light interventions gain on users whom they have not seen, beside doing nothing.

Of attributes and relevance: what is taken is held against what raters accept. `all` takes everything, as
before; `untrained` takes by a cosine and `learnt` by a model, each above the threshold that was best on
the other folds' users (by F1). Of pairs: how the order of ratings is foretold. Intervals leave out users.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.quantity import Quantity
from fieldwork.records.judging import (
    InterventionArm,
    InterventionEstimate,
    Judgement,
    LearntScore,
    UnitKind,
)
from fieldwork.records.memory import Verification
from fieldwork.statistics.arrays import Flags, Floats, Indices
from fieldwork.statistics.rank_correlation import mean_rho

NOBODY = "no unit is judged"
NOTHING_TAKEN = "nothing is taken, or nothing is accepted"
NO_ORDER = "the scores or the ratings are all alike"
NO_RECHECK = "nothing that was stated once more is judged: name models in judging.judges"
NONE_REFINED = "nothing is stated once more: the verifier keeps every attribute, or refines none"
NONE_COMPARABLE = "what was stated once more stands for attributes that raters had not judged"


_SHARE = (0.0, 1.0)
_ENDS = {"rho": (-1.0, 1.0), "over_selection": (0.0, math.inf)}
"""The least and the largest value of measures that are no shares."""


class _Selection(NamedTuple):
    """What an arm takes of the judged units, and what raters accept.

    Attributes:
        is_taken, is_accepted: by unit.
        users: number of each unit's user.
    """

    is_taken: Flags
    is_accepted: Flags
    users: Indices


def intervention_rows(
    units: str, kind: UnitKind, scores: Sequence[LearntScore], rarest_users: float
) -> Iterator[InterventionEstimate]:
    """The estimates of one entry of `judging.units`.

    Args:
        units: name of the entry.
        scores: of all its units.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    judged_scores = [score for score in scores if score.label is not None]
    row = _Row(units, kind, judged_scores, rarest_users)
    if not judged_scores:
        yield row.empty("all", NOBODY)
        return
    labels = np.array([score.label for score in judged_scores], dtype=np.float64)
    users = np.unique([score.user_id for score in judged_scores], return_inverse=True)[1]
    arms: dict[InterventionArm, Floats] = {
        "untrained": np.array([score.untrained_score for score in judged_scores])
    }
    reason = judged_scores[0].reason
    if reason is None:
        arms["learnt"] = np.array([score.score for score in judged_scores], dtype=np.float64)
    else:
        yield row.empty("learnt", reason)
    if kind == "pairs":
        for arm, values in arms.items():
            yield row.of_order(arm, values, labels, users)
        return
    is_accepted = labels > 0.5
    everything = np.ones(len(labels), dtype=bool)
    yield from row.of_selection("all", _Selection(everything, is_accepted, users))
    folds = np.array([score.fold for score in judged_scores])
    for arm, values in arms.items():
        is_taken = _taken_elsewhere(values, is_accepted, folds)
        yield from row.of_selection(arm, _Selection(is_taken, is_accepted, users))


def _taken_elsewhere(values: Floats, is_accepted: Flags, folds: Indices) -> Flags:
    """What is taken above the threshold with the best F1 on the units of the other folds."""
    is_taken = np.zeros(len(values), dtype=bool)
    for fold in np.unique(folds):
        is_other = folds != fold
        if is_other.any():
            threshold = _best_threshold(values[is_other], is_accepted[is_other])
            is_taken[~is_other] = values[~is_other] >= threshold
    return is_taken


def _best_threshold(values: Floats, is_accepted: Flags) -> float:
    """The score from which taking gives the best F1; the lowest of equals."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(is_accepted[order])
    n_taken = np.arange(1, len(values) + 1)
    f1 = 2 * hits / (n_taken + is_accepted.sum())
    # equal scores are taken together
    is_last = np.append(np.diff(values[order]) != 0, True)
    f1 = np.where(is_last, f1, -1.0)
    best = len(f1) - 1 - int(np.argmax(f1[::-1]))
    return float(values[order][best])


class _Row(NamedTuple):
    """What all estimates of an entry share."""

    units: str
    kind: UnitKind
    judged_scores: Sequence[LearntScore]
    rarest_users: float

    def empty(self, arm: InterventionArm, reason: str) -> InterventionEstimate:
        measure = "rho" if self.kind == "pairs" else "f1"
        return self._row(arm, measure, None, np.empty(0), 0, reason)

    def of_selection(
        self, arm: InterventionArm, selection: _Selection
    ) -> Iterator[InterventionEstimate]:
        for measure in ("precision", "recall", "f1", "over_selection"):
            value = _measure(measure, selection, None)
            rest = np.array(
                [
                    np.nan if (v := _measure(measure, selection, user)) is None else v
                    for user in np.unique(selection.users)
                ]
            )
            reason = None if value is not None else NOTHING_TAKEN
            yield self._row(arm, measure, value, rest, len(selection.users), reason)

    def of_order(
        self, arm: InterventionArm, values: Floats, labels: Floats, users: Indices
    ) -> InterventionEstimate:
        value = mean_rho(values[None], labels[None])
        rest = np.array(
            [
                np.nan if rho is None else rho
                for user in np.unique(users)
                for rho in [mean_rho(values[None, users != user], labels[None, users != user])]
            ]
        )
        return self._row(
            arm, "rho", value, rest, len(labels), None if value is not None else NO_ORDER
        )

    def _row(
        self,
        arm: InterventionArm,
        measure: str,
        value: float | None,
        rest: Floats,
        n_units: int,
        reason: str | None,
    ) -> InterventionEstimate:
        quantity = Quantity.over_users(value, rest, self.rarest_users)
        quantity = quantity.clip(*_ENDS.get(measure, _SHARE)).because(reason)
        return InterventionEstimate(
            units=self.units,
            kind=self.kind,
            arm=arm,
            measure=measure,
            **quantity.columns(),
            labels_of=self.judged_scores[0].labels_of if self.judged_scores else None,
            n_units=n_units,
            n_users=len({score.user_id for score in self.judged_scores}),
            reason=quantity.reason,
        )


def _measure(measure: str, selection: _Selection, left_out: int | None) -> float | None:
    mask = selection.users != (-1 if left_out is None else left_out)
    n_taken = int((selection.is_taken & mask).sum())
    n_accepted = int((selection.is_accepted & mask).sum())
    hits = int((selection.is_taken & selection.is_accepted & mask).sum())
    parts = {
        "precision": (hits, n_taken),
        "recall": (hits, n_accepted),
        "f1": (2 * hits, n_taken + n_accepted),
        "over_selection": (n_taken, n_accepted),
    }
    part, whole = parts[measure]
    return part / whole if whole else None


# ---- verify and refine --------------------------------------------------------------------------------


def refining_rows(
    scores: Sequence[LearntScore],
    verifications: Sequence[Verification],
    rechecks: Sequence[Judgement],
    yes_options: Sequence[str],
    rarest_users: float,
) -> Iterator[InterventionEstimate]:
    """Acceptance before, of what is kept, and of what is kept or stated anew.

    All three are of the attributes that raters judged: judges are asked of everything that was stated
    anew, and counting all of it beside a draw of what is kept would mix a census with a sample.

    Args:
        scores: of the attributes, with what raters say of them.
        rechecks: of the study's judges, on what was stated anew.
        yes_options: options that say yes.
    """
    labels = {score.unit_id: score.label for score in scores if score.label is not None}
    votes: dict[str, list[bool]] = {}
    for judgement in rechecks:
        if judgement.value is not None and judgement.repeat == 0:
            votes.setdefault(judgement.unit_id, []).append(judgement.value in yes_options)
    new_labels = {unit: sum(flags) / len(flags) for unit, flags in votes.items()}
    steps: Mapping[InterventionArm, list[tuple[str, float]]] = {
        "before": [
            (v.user_id, labels[v.attribute_id]) for v in verifications if v.attribute_id in labels
        ],
        "verified": [
            (v.user_id, labels[v.attribute_id])
            for v in verifications
            if v.action == "keep" and v.attribute_id in labels
        ],
    }
    new = [
        (v.user_id, new_labels[v.new_attribute_id])
        for v in verifications
        if v.new_attribute_id in new_labels and v.attribute_id in labels
    ]
    raters = scores[0].labels_of if scores else None
    for arm, pairs in (*steps.items(), ("refined", [*steps["verified"], *new])):
        reason = None
        if arm == "refined" and not new:
            reason = _no_recheck(verifications, new_labels)
        of_new = "models" if arm == "refined" and new and raters != "models" else None
        yield _acceptance(arm, pairs, rarest_users, of_new or raters, reason)


def _no_recheck(verifications: Sequence[Verification], new_labels: Mapping[str, float]) -> str:
    """Why nothing is known of what was stated once more."""
    new_ids = {v.new_attribute_id for v in verifications if v.new_attribute_id}
    if not new_ids:
        return NONE_REFINED
    return NONE_COMPARABLE if new_ids & new_labels.keys() else NO_RECHECK


def _acceptance(
    arm: InterventionArm,
    pairs: Sequence[tuple[str, float]],
    rarest_users: float,
    raters: str | None,
    reason: str | None,
) -> InterventionEstimate:
    users = np.unique([user for user, _ in pairs], return_inverse=True)[1]
    values = np.array([float(label > 0.5) for _, label in pairs])
    n_users = len(np.unique(users))
    value = float(values.mean()) if len(values) and reason is None else None
    rest = np.array(
        [values[users != user].mean() if n_users > 1 else np.nan for user in range(n_users)]
    )
    quantity = Quantity.over_users(value, rest, rarest_users).clip(*_SHARE)
    if value is None:
        quantity = quantity.because(reason or NOBODY)
    return InterventionEstimate(
        units="memory.verify",
        kind="attributes",
        arm=arm,
        measure="accepted",
        **quantity.columns(),
        labels_of=raters,
        n_units=len(pairs),
        n_users=n_users,
        reason=quantity.reason,
    )
