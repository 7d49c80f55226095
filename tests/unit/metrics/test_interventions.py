"""What interventions gain: thresholds from other users, and no gain where there is none."""

from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.interventions import NONE_COMPARABLE, intervention_rows, refining_rows
from fieldwork.records.judging import InterventionEstimate, Judgement, LearntScore
from fieldwork.records.memory import Verification
from unit.metrics.findings.finding_rows import filled


def scores(
    n_users: int = 60, per_user: int = 5, *, skill: float = 1.0, share: float = 0.4, seed: int = 1
) -> list[LearntScore]:
    generator = np.random.default_rng(seed)
    rows = []
    for user, n in np.ndindex(n_users, per_user):
        label = float(generator.random() < share)
        learnt = skill * label + (1 - skill) * generator.random()
        untrained = float(generator.random())
        rows.append(score(user, n, label, learnt, untrained))
    return rows


def score(
    user: int, n: int, label: float | None, *values: float | None, **more: Any
) -> LearntScore:
    """With a learnt and an untrained score, of a label that people gave."""
    learnt, untrained = values or (0.5, 0.5)
    defaults = {"labels_of": "people", "reason": None} | more
    return LearntScore(
        f"{user}-{n}", f"u{user}", user % 5, learnt, untrained or 0.0, label, **defaults
    )


def recheck(new: str, value: str) -> Judgement:
    """What a model says of an attribute that is stated once more."""
    return filled(
        Judgement, scale="right", unit_id=new, rater="gpt", rater_kind="model", value=value
    )


def by_arm(rows: list[InterventionEstimate]) -> dict[tuple[str, str], InterventionEstimate]:
    return {(row.arm, row.measure): row for row in rows}


def test_a_perfect_score_takes_what_is_accepted_and_all_takes_everything() -> None:
    found = by_arm(list(intervention_rows("right", "attributes", scores(), 0.125)))
    assert [
        found["learnt", m].estimate for m in ("precision", "recall", "f1", "over_selection")
    ] == [1, 1, 1, 1]
    everything = found["all", "precision"]
    assert everything.estimate == pytest.approx(0.4, abs=0.06)
    assert everything.ci_low is not None
    assert found["all", "recall"].estimate == 1
    assert found["all", "over_selection"].estimate == pytest.approx(1 / (everything.estimate or 1))
    assert (everything.labels_of, everything.n_users, everything.n_units) == ("people", 60, 300)


def test_the_order_of_ratings_is_foretold_as_far_as_scores_follow_it() -> None:
    found = by_arm(list(intervention_rows("better", "pairs", scores(), 0.125)))
    assert found["learnt", "rho"].estimate == pytest.approx(1)
    assert abs(found["untrained", "rho"].estimate or 1) < 0.2
    assert set(found) == {("learnt", "rho"), ("untrained", "rho")}


def test_what_cannot_be_learnt_or_was_not_judged_has_a_reason() -> None:
    lost = {"labels_of": "models", "reason": "nothing to learn"}
    rows = [score(user, 0, label, None, 0.5, **lost) for user, label in ((1, 1.0), (2, 0.0))]
    found = by_arm(list(intervention_rows("right", "attributes", rows, 0.125)))
    assert found["learnt", "f1"].reason == "nothing to learn"
    assert found["all", "precision"].estimate == 0.5
    assert "39 are needed" in (found["all", "precision"].reason or "")
    (row,) = intervention_rows("right", "attributes", [score(1, 0, None)], 0.125)
    assert (row.estimate, row.reason) == (None, "no unit is judged")
    (row,) = intervention_rows("right", "attributes", [], 0.125)
    assert row.labels_of is None


def verification(user: int, n: int, action: str, new: str | None = None) -> Verification:
    return Verification(f"u{user}", f"{user}-{n}", 0.5, action, new, None, None, None)  # type: ignore[arg-type]


def test_acceptance_is_followed_from_before_to_refined() -> None:
    labels = scores(50, 4)
    verifications, rechecks = [], []
    for row in labels:
        user, n = map(int, row.unit_id.split("-"))
        action = "keep" if row.label else "refine" if n % 2 else "drop"
        new = f"new-{row.unit_id}" if action == "refine" else None
        verifications.append(verification(user, n, action, new))
        if new:
            rechecks.append(recheck(new, "accept" if n == 1 else "reject"))
    found = by_arm(list(refining_rows(labels, verifications, rechecks, ["accept"], 0.125)))
    before, verified, refined = (found[a, "accepted"] for a in ("before", "verified", "refined"))
    n_kept = sum(bool(row.label) for row in labels)
    n_right = sum(j.value == "accept" for j in rechecks)
    expected = n_kept / 200, 1, (n_kept + n_right) / (n_kept + len(rechecks))
    assert (before.estimate, verified.estimate, refined.estimate) == pytest.approx(expected)
    # people judged what was kept, and models what is new: the row says whom to doubt
    assert (verified.labels_of, refined.labels_of) == ("people", "models")
    unjudged = by_arm(list(refining_rows(labels, verifications, [], ["accept"], 0.125)))
    assert unjudged["refined", "accepted"].estimate is None
    assert "name models in judging.judges" in (unjudged["refined", "accepted"].reason or "")


def test_what_is_stated_anew_counts_where_its_attribute_was_judged() -> None:
    """150 attributes, of which 60 were judged and every third is stated once more, always in vain."""
    labels = [score(n, 0, float(n % 3 > 0) if n < 60 else None) for n in range(150)]
    verifications = [
        verification(n, 0, *(("keep",) if n % 3 else ("refine", f"new-{n}"))) for n in range(150)
    ]
    rechecks = {n: recheck(f"new-{n}", "reject") for n in range(0, 150, 3)}
    own = [*rechecks.values()]
    found = by_arm(list(refining_rows(labels, verifications, own, ["accept"], 0.125)))
    arms = [found[arm, "accepted"] for arm in ("before", "verified", "refined")]
    assert [arm.n_units for arm in arms] == [60, 40, 60]
    assert [arm.estimate for arm in arms] == [pytest.approx(2 / 3), 1, pytest.approx(2 / 3)]
    of_others = [row for n, row in rechecks.items() if n >= 60]
    found = by_arm(list(refining_rows(labels, verifications, of_others, ["accept"], 0.125)))
    assert found["refined", "accepted"].reason == NONE_COMPARABLE
