"""Power of tests of points and numbers: what is promised, and what whole studies reach."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome
from populations import Floats
from power_alike import likeness_of
from power_promises import (
    POINTS,
    RAREST,
    RULES,
    USERS,
    Promise,
    lines_of,
    no_answers,
    power_of,
    shape_of,
)
from power_sources import MANY, Source

from fieldwork.metrics.claims.families import PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.power.study import PlannedTask
from fieldwork.metrics.values.comparisons import measure_value_comparisons


class ValuedStudy(NamedTuple):
    """Scales or a number that the first condition moves.

    A user's latent answer to a scale is t-distributed, part of it in all questions, and cut where points
    are as common as labels of agreement are. Numbers are skewed: their logarithm is normal.

    Attributes:
        n_scales: 0 for one number.
        is_together: whether the effect is in the mean of the scales.
    """

    shift: float
    n_scales: int
    shared: float
    is_together: bool
    n_users: int
    before: float | None = None


CUTS = np.array([-1.4, -0.5, 0.3, 1.2])
FREEDOM = 5
SKEW = 0.25
VALUE_RULES = RULES._replace(primary=[PrimaryTests("value")])
PERMUTATIONS = 1999
"""With fewer, no p-value of a mean of scales could be claimed among so many."""


def _values(
    study: ValuedStudy,
    n_units: int,
    random: np.random.Generator,
    *,
    has_effect: bool,
    has_users: bool,
) -> Floats:
    """Answers to questions of users or reruns: shape (questions, units)."""
    n_questions, spread = study.n_scales, np.sqrt(FREEDOM / (FREEDOM - 2))
    if not study.n_scales:
        latent = random.normal(size=(1, n_units)) + study.shift * has_effect
        return np.round(np.exp(SKEW * latent) * 20)
    common = random.standard_t(FREEDOM, size=(1, n_units)) / spread
    own = random.standard_t(FREEDOM, size=(n_questions, n_units)) / spread
    shared = study.shared if has_users else 0.0
    latent = np.sqrt(shared) * common + np.sqrt(1 - shared) * own + study.shift * has_effect
    points: Floats = 1.0 + (latent[..., None] > CUTS).sum(axis=-1)
    return points


def _value_frame(values: Floats, condition: str, *, is_user: bool, is_scale: bool) -> pd.DataFrame:
    item, unit = np.indices(values.shape).reshape(2, -1)
    points = values.ravel().astype(int)
    return pd.DataFrame(
        {
            "model": "m",
            "task": "main",
            "condition": condition,
            "item_id": [f"{k:05}" for k in item],
            "kind": "scale" if is_scale else "number",
            "puppet_id": [f"p{k:04}" for k in unit] if is_user else None,
            "replicate": 0 if is_user else unit,
            "outcome": "ok",
            "items": None,
            "letter": np.array(list("ABCDE"))[points - 1] if is_scale else None,
            "value": values.ravel(),
            "reason": None,
        }
    )


def _value_study(study: ValuedStudy, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, 17])
    is_scale = study.n_scales > 0
    names = [f"{k:05}" for k in range(max(1, study.n_scales))]
    points = [float(k + 1) for k in range(POINTS)] if is_scale else None
    items = pd.DataFrame(
        {"item_id": names, "kind": "scale" if is_scale else "number", "task": "main"}
    )
    items["points"] = pd.Series([points] * len(names), dtype=object)
    claims: list[float] = []
    settings: dict[str, Any] = {"baseline": "offline", "n_permutations": PERMUTATIONS}
    for number in range(sets):
        frame = pd.concat(
            _value_frame(
                _values(
                    study,
                    study.n_users,
                    random,
                    has_effect=name == USERS[0],
                    has_users=name in USERS,
                ),
                name,
                is_user=name in USERS,
                is_scale=is_scale,
            )
            for name in ("offline", *USERS)
        )
        rows = measure_value_comparisons(
            frame, items, **settings, seed=seed + number, rarest_users=RAREST
        )
        claims.append(_is_value_claimed(study, rows))
    promise = _value_promise(study)
    n = study.n_scales
    questions = {"main": PlannedTask({"scale": n, "number": int(not n)})}
    shape = shape_of(questions, {"main": study.n_users}, VALUE_RULES)
    promised = power_of(promise, shape, place=int(study.is_together), n_permutations=PERMUTATIONS)
    yield from lines_of(promise, claims, promise.source.name, f"{study.n_users} users", promised)


def _is_value_claimed(study: ValuedStudy, rows: Sequence[Any]) -> float:
    item = None if study.is_together else "00000"
    claim = next(
        claim
        for claim in measure_claims({"value_comparisons": rows}, VALUE_RULES)
        if (claim.measure, claim.condition, claim.item_id) == ("value", USERS[0], item)
    )
    return float(claim.verdict == "differs")


def _value_promise(study: ValuedStudy) -> Promise:
    """Difference and likeness are read off many users; the former in pooled standard deviations."""
    random = np.random.default_rng(5)
    moved, flat = (
        _values(study, 10 * MANY, random, has_effect=effect, has_users=True)
        for effect in (True, False)
    )
    spread = np.sqrt((moved.var(axis=1) + flat.var(axis=1)) / 2)
    difference = float(((moved.mean(axis=1) - flat.mean(axis=1)) / spread).mean())
    likeness = likeness_of(flat) if study.n_scales > 1 else 0.0
    kind = f"{study.n_scales} scales" if study.n_scales else "a skewed number"
    place = " together" if study.is_together else ""
    name = (
        f"{kind}{place}, {difference:.2f} sd higher, {study.shared:.0%} of a user in all questions"
    )
    supposed = {"likeness": likeness}
    source = Source(name, 1, False, no_answers, {"values": [difference]}, supposed)
    return Promise("value", source, study.n_users, study.before, has_companion=False)


VALUED = (
    ValuedStudy(0.35, 4, 0.0, is_together=True, n_users=40),
    ValuedStudy(0.45, 4, 0.5, is_together=True, n_users=40),
    ValuedStudy(0.8, 4, 0.5, is_together=False, n_users=40),
    ValuedStudy(0.7, 0, 0.0, is_together=False, n_users=40),
)


def jobs() -> Iterator[Job]:
    """Every promise, beside what studies reach."""
    for study in VALUED:
        yield partial(_value_study, study)
