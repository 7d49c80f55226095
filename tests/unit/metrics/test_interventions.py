"""What interventions gain: thresholds from other users, and no gain where there is none."""

import numpy as np
import pytest

from fieldwork.metrics.interventions import NONE_COMPARABLE, intervention_rows, refining_rows
from fieldwork.records.judging import InterventionEstimate, Judgement, LearntScore
from fieldwork.records.memory import Verification


def scores(
    n_users: int = 60, per_user: int = 5, *, skill: float = 1.0, share: float = 0.4, seed: int = 1
) -> list[LearntScore]:
    generator = np.random.default_rng(seed)
    rows = []
    for user in range(n_users):
        for n in range(per_user):
            label = float(generator.random() < share)
            learnt = skill * label + (1 - skill) * generator.random()
            rows.append(
                LearntScore(
                    f"{user}-{n}",
                    f"u{user}",
                    user % 5,
                    learnt,
                    float(generator.random()),
                    label,
                    "people",
                    None,
                )
            )
    return rows


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
    rows = [
        LearntScore("1", "u1", 0, None, 0.5, 1.0, "models", "nothing to learn"),
        LearntScore("2", "u2", 1, None, 0.5, 0.0, "models", "nothing to learn"),
    ]
    found = by_arm(list(intervention_rows("right", "attributes", rows, 0.125)))
    assert found["learnt", "f1"].reason == "nothing to learn"
    assert found["all", "precision"].estimate == 0.5
    assert "39 are needed" in (found["all", "precision"].reason or "")
    bare = [LearntScore("1", "u1", 0, None, 0.5, None, "models", "x")]
    (row,) = intervention_rows("right", "attributes", bare, 0.125)
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
            rechecks.append(
                Judgement(
                    "right",
                    new,
                    "gpt",
                    "model",
                    0,
                    "accept" if n == 1 else "reject",
                    None,
                    None,
                    None,
                    None,
                    "x",
                    None,
                )
            )
    found = by_arm(list(refining_rows(labels, verifications, rechecks, ["accept"], 0.125)))
    share = np.mean([row.label for row in labels])
    assert found["before", "accepted"].estimate == pytest.approx(share)
    assert found["verified", "accepted"].estimate == 1
    refined = found["refined", "accepted"]
    n_kept = sum(bool(row.label) for row in labels)
    n_right = sum(j.value == "accept" for j in rechecks)
    assert refined.estimate == pytest.approx((n_kept + n_right) / (n_kept + len(rechecks)))
    # people judged what was kept, and models what is new: the row says whom to doubt
    assert (found["verified", "accepted"].labels_of, refined.labels_of) == ("people", "models")
    unjudged = by_arm(list(refining_rows(labels, verifications, [], ["accept"], 0.125)))
    assert unjudged["refined", "accepted"].estimate is None
    assert "name models in judging.judges" in (unjudged["refined", "accepted"].reason or "")


def test_what_is_stated_anew_counts_where_its_attribute_was_judged() -> None:
    """150 attributes, of which 60 were judged and every third is stated once more, always in vain."""
    labels = [
        LearntScore(
            f"{n}-0", f"u{n}", n % 5, 0.5, 0.5, float(n % 3 > 0) if n < 60 else None, "people", None
        )
        for n in range(150)
    ]
    verifications = [
        verification(n, 0, *(("keep",) if n % 3 else ("refine", f"new-{n}"))) for n in range(150)
    ]
    rechecks = [
        Judgement(
            "right", f"new-{n}", "gpt", "model", 0, "reject", None, None, None, None, "x", None
        )
        for n in range(0, 150, 3)
    ]
    found = by_arm(list(refining_rows(labels, verifications, rechecks, ["accept"], 0.125)))
    arms = [found[arm, "accepted"] for arm in ("before", "verified", "refined")]
    assert [arm.n_units for arm in arms] == [60, 40, 60]
    assert [arm.estimate for arm in arms] == [pytest.approx(2 / 3), 1, pytest.approx(2 / 3)]
    of_others = [row for row in rechecks if int(row.unit_id.removeprefix("new-")) >= 60]
    found = by_arm(list(refining_rows(labels, verifications, of_others, ["accept"], 0.125)))
    assert found["refined", "accepted"].reason == NONE_COMPARABLE


def test_everything_dropped_is_a_reason_and_no_number() -> None:
    labels = scores(3, 1, share=0)
    dropped = [verification(user, 0, "drop") for user in range(3)]
    found = by_arm(list(refining_rows(labels, dropped, [], ["accept"], 0.125)))
    assert found["before", "accepted"].estimate == 0
    assert (found["verified", "accepted"].estimate, found["verified", "accepted"].reason) == (
        None,
        "no unit is judged",
    )
    assert "nothing is stated once more" in (found["refined", "accepted"].reason or "")
