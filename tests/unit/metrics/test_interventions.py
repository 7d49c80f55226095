"""What interventions gain: thresholds from other users, and no gain where there is none."""

from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.interventions import NONE_COMPARABLE, intervention_rows, refining_rows
from fieldwork.records.judging import InterventionEstimate, Judgement, LearntScore
from fieldwork.records.memory import Verification
from unit.metrics.findings.finding_rows import filled

Rows = dict[tuple[str, str], InterventionEstimate]


def score(
    user: int, n: int, label: float | None, *values: float | None, **more: Any
) -> LearntScore:
    """With a learnt and an untrained score, of a label that people gave."""
    learnt, untrained = values or (0.5, 0.5)
    end = {"labels_of": "people", "reason": None} | more
    return LearntScore(f"{user}-{n}", f"u{user}", user % 5, learnt, untrained or 0.0, label, **end)


def scores(n_users: int = 60, per_user: int = 5) -> list[LearntScore]:
    """Two of five are accepted, which the learnt score says and the untrained one does not."""
    random = np.random.default_rng(1)
    labels = (random.random((n_users, per_user)) < 0.4).astype(float)
    return [
        score(user, n, label, label, float(random.random()))
        for (user, n), label in np.ndenumerate(labels)
    ]


def learnt(rows: list[LearntScore], units: str = "attributes") -> Rows:
    return {(r.arm, r.measure): r for r in intervention_rows("right", units, rows, 0.125)}


def refined(labels: list[LearntScore], actions: dict[str, str], values: dict[str, str]) -> Rows:
    """Each unit with what was done to it, and what a model says of those that are stated anew."""
    verifications = [
        Verification(
            *(r.user_id, r.unit_id, 0.5, actions[r.unit_id]),  # type: ignore[arg-type]
            *(f"new-{r.unit_id}" if actions[r.unit_id] == "refine" else None, None, None, None),
        )
        for r in labels
    ]
    names = {"scale": "right", "rater": "gpt", "rater_kind": "model"}
    rechecks = [
        filled(Judgement, unit_id=f"new-{unit}", value=value, **names)
        for unit, value in values.items()
    ]
    rows = refining_rows(labels, verifications, rechecks, ["accept"], 0.125)
    return {(r.arm, r.measure): r for r in rows}


def test_a_perfect_score_takes_what_is_accepted_and_all_takes_everything() -> None:
    rows = learnt(scores())
    measures = ("precision", "recall", "f1", "over_selection")
    assert [rows["learnt", m].estimate for m in measures] == [1, 1, 1, 1]
    everything = rows["all", "precision"]
    assert everything.estimate == pytest.approx(0.4, abs=0.06)
    assert everything.ci_low is not None
    assert rows["all", "recall"].estimate == 1
    assert rows["all", "over_selection"].estimate == pytest.approx(1 / (everything.estimate or 1))
    assert (everything.labels_of, everything.n_users, everything.n_units) == ("people", 60, 300)
    # of pairs the order of ratings is foretold as far as scores follow it
    pairs = learnt(scores(), "pairs")
    assert set(pairs) == {("learnt", "rho"), ("untrained", "rho")}
    assert pairs["learnt", "rho"].estimate == pytest.approx(1)
    assert abs(pairs["untrained", "rho"].estimate or 1) < 0.2


def test_what_cannot_be_learnt_or_was_not_judged_has_a_reason() -> None:
    lost = {"labels_of": "models", "reason": "nothing to learn"}
    rows = learnt(
        [score(user, 0, label, None, 0.5, **lost) for user, label in ((1, 1.0), (2, 0.0))]
    )
    assert rows["learnt", "f1"].reason == "nothing to learn"
    assert rows["all", "precision"].estimate == 0.5
    assert "39 are needed" in (rows["all", "precision"].reason or "")
    (row,) = learnt([score(1, 0, None)]).values()
    assert (row.estimate, row.reason) == (None, "no unit is judged")
    (row,) = learnt([]).values()
    assert row.labels_of is None


def test_acceptance_is_followed_from_before_to_refined() -> None:
    labels = scores(50, 4)
    actions = {
        r.unit_id: "keep" if r.label else "refine" if int(r.unit_id[-1]) % 2 else "drop"
        for r in labels
    }
    values = {
        unit: "accept" if unit[-1] == "1" else "reject"
        for unit, action in actions.items()
        if action == "refine"
    }
    rows = refined(labels, actions, values)
    before, verified, after = (rows[a, "accepted"] for a in ("before", "verified", "refined"))
    n_kept = sum(bool(r.label) for r in labels)
    n_right = [*values.values()].count("accept")
    expected = n_kept / 200, 1, (n_kept + n_right) / (n_kept + len(values))
    assert (before.estimate, verified.estimate, after.estimate) == pytest.approx(expected)
    # people judged what was kept, and models what is new: the row says whom to doubt
    assert (verified.labels_of, after.labels_of) == ("people", "models")
    unjudged = refined(labels, actions, {})["refined", "accepted"]
    assert unjudged.estimate is None
    assert "name models in judging.judges" in (unjudged.reason or "")


def test_what_is_stated_anew_counts_where_its_attribute_was_judged() -> None:
    """150 attributes, of which 60 were judged and every third is stated once more, always in vain."""
    labels = [score(n, 0, float(n % 3 > 0) if n < 60 else None) for n in range(150)]
    actions = {f"{n}-0": "keep" if n % 3 else "refine" for n in range(150)}
    rows = refined(labels, actions, {f"{n}-0": "reject" for n in range(0, 150, 3)})
    arms = [rows[arm, "accepted"] for arm in ("before", "verified", "refined")]
    assert [arm.n_units for arm in arms] == [60, 40, 60]
    assert [arm.estimate for arm in arms] == [pytest.approx(2 / 3), 1, pytest.approx(2 / 3)]
    rows = refined(labels, actions, {f"{n}-0": "reject" for n in range(60, 150, 3)})
    assert rows["refined", "accepted"].reason == NONE_COMPARABLE
