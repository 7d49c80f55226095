"""Estimates recover what is planted, claim nothing where nothing is, and say why they are missing."""

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from judgement_frames import Key, estimates, tables_of
from scipy.stats import t as student

from fieldwork.metrics.judgements.alternative_annotators import alternative_annotators
from fieldwork.metrics.judgements.judges import judge_rows
from fieldwork.metrics.judgements.prediction_powered import prediction_powered_rows
from fieldwork.metrics.judgements.sample import sample_of
from fieldwork.metrics.judgements.table import measure_judgements
from fieldwork.records.judging import JudgementEstimate
from fieldwork.sections.judging import Scale

RATING = Scale(name="rating", level="interval", options=[*"12345"])
RIGHT = Scale(name="right", options=["accept", "unsure", "reject"], accepted=["accept"])
SIDES = {"prefers_a": ["1", "2"], "prefers_b": ["4", "5"]}
PAIR = Scale(name="pair", level="interval", options=[*"12345"], **SIDES)  # type: ignore[arg-type]
JUDGES = {"kind judge": 0.6, "fair judge": 0.0}


def judged(rows: Iterable[tuple[object, ...]], *more: str) -> pd.DataFrame:
    """Judgements by unit, user, rater and value; of raters those whose names begin with p are people."""
    frame = pd.DataFrame(rows, columns=["unit_id", "user_id", "rater", "value", *more])
    is_person = frame["rater"].str.startswith("p")
    return frame.assign(rater_kind=np.where(is_person, "person", "model")).astype(
        {"unit_id": str, "user_id": str, "value": str}
    )


def planted_ratings(
    seed: int, n_users: int = 60, units_of_user: int = 4, n_people: int = 6, **inflation: float
) -> pd.DataFrame:
    """Three of the people rate each unit, and every judge does, higher by its inflation."""
    generator = np.random.default_rng(seed)
    rows = []
    for user, unit in np.ndindex(n_users, units_of_user):
        if unit == 0:
            worth_of_user = generator.normal(3, 0.5)
        worth = worth_of_user + generator.normal(0, 0.6)
        people = generator.choice(n_people, size=3, replace=False)
        raters = {f"p{person}": 0.0 for person in people} | (inflation or JUDGES)
        for rater, higher in raters.items():
            rating = np.clip(round(worth + higher + generator.normal(0, 0.6)), 1, 5)
            rows.append((f"{user}/{unit}", f"u{user}", rater, int(rating)))
    return judged(rows)


def true_inflation(judge: str) -> float:
    """Of so many units that chance is nothing; rounding and the ends of the scale shift it a little."""
    rows = planted_ratings(0, n_users=1_000, **{judge: JUDGES[judge]})
    numbers = rows.assign(number=rows["value"].astype(float))
    people = numbers[numbers["rater_kind"] == "person"].groupby("unit_id")["number"].mean()
    own = numbers[numbers["rater"] == judge].set_index("unit_id")["number"]
    return float((own - people).mean())


def test_the_inflation_of_a_judge_is_recovered_and_a_fair_one_has_none() -> None:
    truth = {judge: true_inflation(judge) for judge in JUDGES}
    assert truth["fair judge"] == pytest.approx(0, abs=0.04)
    assert truth["kind judge"] == pytest.approx(0.6, abs=0.05)
    n_covered, n_claimed, n_studies = 0, 0, 20
    for seed in range(1, n_studies + 1):
        sample = sample_of(*tables_of(planted_ratings(seed, n_people=3), RATING), RATING, 0.1)
        for judge, value in truth.items():
            row = next(r for r in judge_rows(sample, judge, None) if r.measure == "inflation")
            low, high = row.ci_low or 0.0, row.ci_high or 0.0
            n_covered += low <= value <= high
            n_claimed += judge == "fair judge" and not low <= 0 <= high
    assert n_covered >= 0.88 * 2 * n_studies
    # of 20 studies one is expected to claim something of a judge that is fair
    assert n_claimed <= 4


def test_a_judge_as_good_as_a_person_may_stand_in_and_one_that_draws_may_not() -> None:
    rows = planted_ratings(3, n_users=100, **{"good": 0.0, "noise": 0.0})
    generator = np.random.default_rng(5)
    is_noise = rows["rater"] == "noise"
    rows.loc[is_noise, "value"] = generator.choice([*"12345"], size=int(is_noise.sum()))
    found = estimates(rows, RATING)
    assert found["winning_rate", "good", "people"].estimate == 1.0
    assert found["winning_rate", "noise", "people"].estimate == 0.0
    rho, ceiling = (found[m, "good", "people"].estimate for m in ("rho", "rho_of_people"))
    assert rho == pytest.approx(ceiling, abs=0.1)
    assert found["rho", "noise", "people"].estimate == pytest.approx(0, abs=0.15)


def test_few_people_and_a_good_judge_give_the_mean_of_people() -> None:
    """People rate every fifth unit; the judge rates all of them, half a step too high."""
    truth = planted_ratings(0, n_users=1_000, judge=0.5).query("rater_kind == 'person'")
    mean = truth["value"].astype(float).mean()
    n_covered, n_saved, n_studies = 0, [], 15
    for seed in range(n_studies):
        rows = planted_ratings(seed, n_users=120, units_of_user=2, judge=0.5)
        user = rows["unit_id"].str.split("/").str[0].astype(int)
        few = rows[(rows["rater_kind"] == "model") | (user % 5 == 0)]
        sample = sample_of(*tables_of(few, RATING), RATING, 0.2)
        row, saved = prediction_powered_rows(sample, "judge")
        n_covered += (row.ci_low or 9.0) <= mean <= (row.ci_high or 0.0)
        n_saved.append(saved.estimate or 0.0)
    assert n_covered >= 0.8 * n_studies
    # 48 units were rated by people; the judge's are worth a fair part of them again
    assert 5 < np.median(n_saved) < 100


def rated_by_few(seed: int, n_rated: int, n_users: int, *, has_users: bool) -> pd.DataFrame:
    """A person rates some of the units; a judge rates all, half a step higher. People's mean is 3."""
    generator = np.random.default_rng(seed)
    worth, noise = generator.normal(size=n_users), generator.normal(size=(2, n_users))
    people, judge = np.clip(np.rint(np.array([[3], [3.5]]) + 0.6 * worth + noise), 1, 5).astype(int)
    rows = [(unit, f"u{unit}", "p1", people[unit]) for unit in range(n_rated)]
    rows += [(unit, f"u{unit}", "judge", judge[unit]) for unit in range(n_users)]
    frame = judged(rows)
    return frame if has_users else frame.drop(columns="user_id")


def test_the_interval_of_peoples_mean_hangs_on_the_few_units_that_people_rated() -> None:
    def mean_of_people(seed: int, *, has_users: bool) -> JudgementEstimate:
        few = rated_by_few(seed, 5, 30, has_users=has_users)
        row, _ = prediction_powered_rows(sample_of(*tables_of(few, RATING), RATING, 0.05), "judge")
        return row

    row = mean_of_people(0, has_users=True)
    assert row.ci_low is None
    assert "5 users have units that count here, and 100 are needed" in (row.reason or "")
    rows = [mean_of_people(seed, has_users=False) for seed in range(60)]
    # 95 % are expected; the degrees of freedom of all units gave 88 %
    assert np.mean([(row.ci_low or 9) <= 3 <= (row.ci_high or 0) for row in rows]) >= 0.92


def test_a_correlation_counts_the_users_whose_units_several_people_rated() -> None:
    generator = np.random.default_rng(0)
    rows = [
        (unit, f"u{unit}", rater, generator.integers(1, 6))
        for rater, n_units in (("p1", 150), ("p2", 15), ("judge", 150))
        for unit in range(n_units)
    ]
    found = estimates(judged(rows), RATING, rarest_users=0.05)
    for measure in ("rho", "rho_of_people"):
        row = found[measure, "judge", "people"]
        assert row.estimate is not None
        assert (row.n_units, row.n_owners, row.n_raters, row.ci_low) == (15, 15, 2, None)
        assert "15 users have units that count here, and 100 are needed" in (row.reason or "")


def test_a_judge_that_says_what_all_people_say_may_stand_in_for_each() -> None:
    rows = judged(
        (unit, f"u{unit}", rater, "accept" if unit % 2 else "reject")
        for unit in range(60)
        for rater in ("p1", "p2", "p3", "judge", *(["p4"] if unit < 10 else []))
    )
    winning = estimates(rows, RIGHT)["winning_rate", "judge", "people"]
    # the fourth person has too few units for a test, and is no defeat of the judge
    assert (winning.estimate, winning.n_raters, winning.n_units) == (1.0, 3, 60)
    assert winning.reason == "no interval: people are compared, not users"
    worst = rows.assign(value=rows["value"].where(rows["rater"] != "judge", "unsure"))
    assert estimates(worst, RIGHT)["winning_rate", "judge", "people"].estimate == 0.0


def test_units_of_one_user_do_not_stand_for_many() -> None:
    """A judge that fails one of ten users, and so a tenth of the units."""
    rows = judged(
        (f"{user}/{unit}", f"u{user}", rater, "accept")
        for user, unit in itertools.product(range(10), range(12))
        for rater in ("p1", "p2", "judge")
    )
    rows.loc[(rows["user_id"] == "u3") & (rows["rater"] == "judge"), "value"] = "reject"
    test, _ = alternative_annotators(sample_of(*tables_of(rows, RIGHT), RIGHT, 0.1), "judge")
    assert (test.p_value or 1) < 0.001
    # a mean of .1 less the penalty, over an error of .1, at 9 degrees of freedom
    assert test.p_by_user == pytest.approx(student.cdf(-1.0, 9), abs=1e-3)
    assert not test.is_replaceable


def acceptance(shares: dict[str, float], n_users: int = 80) -> pd.DataFrame:
    generator = np.random.default_rng(11)
    return judged(
        (f"{user}/{unit}", f"u{user}", rater, "accept" if generator.random() < share else "reject")
        for user in range(n_users)
        for unit in range(3)
        for rater, share in shares.items()
    )


def test_acceptance_and_over_selection_are_those_planted() -> None:
    rows = acceptance({"p1": 0.2, "p2": 0.2, "eager": 0.6})
    found = estimates(rows, RIGHT, rarest_users=0.1)
    for side, share in (("people", 0.2), ("models", 0.6)):
        row = found["accepted", side, None]
        assert (row.ci_low or 1) < share < (row.ci_high or 0)
    # people's verdict needs both of them: a share of .04 of all units, of .06 of those with a verdict
    assert (found["over_selection", "eager", "people"].estimate or 0) > 5
    kappa = found["kappa", "models", "people"]
    assert kappa.estimate == pytest.approx(0, abs=0.1)
    assert (kappa.largest or 1) < 0.4
    few = estimates(rows, RIGHT, rarest_users=0.03)["accepted", "people", None]
    assert (few.estimate is None, few.ci_low) == (False, None)


def test_place_and_length_and_own_answers_are_counted_where_they_decide() -> None:
    generator = np.random.default_rng(2)
    rows = []
    for unit in range(300):
        lengths, first = generator.integers(100, 1_000, size=2), "ab"[unit % 2]
        values = {
            "p1": generator.choice([*"12345"]),
            "first": "1" if first == "a" else "5",
            "long": "1" if lengths[0] > lengths[1] else "5",
            "vain": "2",
        }
        rows += [(unit, unit, rater, value, first, *lengths) for rater, value in values.items()]
    frame = judged(rows, "first_side", "characters_a", "characters_b")
    found = estimates(frame.assign(author_a="vain", author_b="other"), PAIR)
    assert found["prefers_first", "first", None].estimate == 1.0
    assert found["prefers_first", "vain", None].estimate == pytest.approx(0.5)
    assert found["prefers_longer", "long", None].estimate == 1.0
    assert found["prefers_longer", "people", None].estimate == pytest.approx(0.5, abs=0.1)
    own = found["self_preference", "vain", "people"]
    assert own.estimate == pytest.approx(0.5, abs=0.1)
    assert (own.ci_low or 0) > 0
    assert found["b_no_better", "vain", None].estimate == 1.0


def authors(order: str, of_judge: str = "12345") -> dict[Key, JudgementEstimate]:
    """Of authors that people rate in one order and a judge in another, a digit each."""
    units = itertools.product(range(len(order)), range(4), (("p1", order), ("judge", of_judge)))
    rows = (
        (f"{a}-{n}", f"u{n}", rater, digits[a], f"author {a}") for a, n, (rater, digits) in units
    )
    return estimates(judged(rows, "author_a"), RATING)


def test_the_order_of_few_authors_has_an_exact_p() -> None:
    # of the orders of five authors two are as extreme
    for n, p_value in ((5, 2 / 120), (3, 2 / 6)):
        row = authors("12345"[:n])["rho_of_authors", "judge", "people"]
        assert (row.estimate, row.p_value) == pytest.approx((1, p_value))
    assert ("rho_of_authors", "judge", "people") not in authors("12")
    row = authors("12345", "33333")["rho_of_authors", "judge", "people"]
    assert (row.estimate, row.p_value, row.reason) == (None, None, "all authors are alike")


def test_repeats_that_disagree_are_kept_and_counted() -> None:
    rows = judged(
        (unit, unit, "p1", value)
        for unit in range(50)
        for value in ("accept", "accept" if unit % 5 else "reject")
    )
    found = estimates(rows, RIGHT)
    again = found["exact_agreement", "people", "themselves"]
    assert (again.estimate, again.n_judgements) == (0.8, 50)
    assert found["accepted", "people", None].n_judgements == 50
    # one rater has no agreement and a reason
    alone = found["alpha", "people", "people"]
    reason = "one of people judged, and agreement needs two raters"
    assert (alone.estimate, alone.reason) == (None, reason)
    none = found["exact_agreement", "people", "people"]
    assert (none.estimate, none.reason) == (None, "no unit was judged by two of them")


def test_a_judge_is_held_against_itself_in_the_same_order_of_two_answers() -> None:
    """It always takes the first answer: it disagrees with the other order, and never with itself."""
    sides = itertools.product(range(40), "aabb")
    rows = judged(
        ((u, u, "judge", {"a": 1, "b": 5}[side], side) for u, side in sides), "first_side"
    )
    found = estimates(rows, PAIR)
    again = found["exact_agreement", "models", "themselves"]
    assert (again.estimate, again.n_judgements) == (1.0, 80)
    assert found["same_in_both_orders", "judge", None].estimate == 0.0
    once = rows.drop_duplicates(["unit_id", "first_side"])
    assert ("exact_agreement", "models", "themselves") not in estimates(once, PAIR)


def test_all_rejected_is_a_number_and_what_needs_an_accepted_unit_says_so() -> None:
    found = estimates(acceptance({"p1": 0.0, "p2": 0.0, "judge": 0.0}), RIGHT)
    assert found["accepted", "people", None].estimate == 0.0
    precision = found["precision", "judge", "people"]
    assert (precision.estimate, precision.reason) == (None, "nothing was accepted")
    kappa = found["kappa", "people", "people"]
    assert (kappa.estimate is None, kappa.reason is None) == (True, False)


def test_groups_of_units_have_rows_of_their_own() -> None:
    rows = acceptance({"p1": 0.5, "p2": 0.5})
    rows["unit_group"] = np.where(rows["unit_id"].str.endswith("0"), "real", "synthetic")
    rows.loc[rows["unit_group"] == "real", "value"] = "accept"
    measured = measure_judgements(*tables_of(rows, RIGHT), [RIGHT], rarest_users=0.1)
    shares = {r.unit_group: r.estimate for r in measured.estimates if r.measure == "accepted"}
    assert shares["real"] == 1.0
    assert shares["synthetic"] == pytest.approx(0.5, abs=0.1)
    assert (shares[None] or 1.0) < 0.9
