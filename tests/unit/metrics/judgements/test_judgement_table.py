"""Estimates recover what is planted, claim nothing where nothing is, and say why they are missing."""

import math

import numpy as np
import pandas as pd
import pytest
from judgement_frames import estimates, tables_of
from scipy.stats import t as student

from fieldwork.metrics.judgements.alternative_annotators import alternative_annotators
from fieldwork.metrics.judgements.judges import judge_rows
from fieldwork.metrics.judgements.prediction_powered import prediction_powered_rows
from fieldwork.metrics.judgements.sample import sample_of
from fieldwork.metrics.judgements.table import measure_judgements
from fieldwork.sections.judging import Scale

RATING = Scale(name="rating", level="interval", options=[*"12345"])
RIGHT = Scale(name="right", options=["accept", "unsure", "reject"], accepted=["accept"])
PAIR = Scale(
    name="pair",
    level="interval",
    options=[*"12345"],
    prefers_a=["1", "2"],
    prefers_b=["4", "5"],
)
JUDGES = {"kind judge": 0.6, "fair judge": 0.0}


def planted_ratings(
    seed: int, n_users: int = 60, units_of_user: int = 4, n_people: int = 6, **inflation: float
) -> pd.DataFrame:
    """Three of the people rate each unit, and every judge does, higher by its inflation."""
    generator = np.random.default_rng(seed)
    judges = inflation or JUDGES
    rows = []
    for user in range(n_users):
        worth_of_user = generator.normal(3, 0.5)
        for unit in range(units_of_user):
            worth = worth_of_user + generator.normal(0, 0.6)
            for person in generator.choice(n_people, size=3, replace=False):
                rows.append((user, unit, f"p{person}", "person", worth + generator.normal(0, 0.6)))
            for judge, higher in judges.items():
                value = worth + higher + generator.normal(0, 0.6)
                rows.append((user, unit, judge, "model", value))
    frame = pd.DataFrame(rows, columns=["user", "unit", "rater", "rater_kind", "rating"])
    return pd.DataFrame(
        {
            "unit_id": frame["user"].astype(str) + "/" + frame["unit"].astype(str),
            "user_id": "u" + frame["user"].astype(str),
            "rater": frame["rater"],
            "rater_kind": frame["rater_kind"],
            "value": frame["rating"].round().clip(1, 5).astype(int).astype(str),
        }
    )


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
            assert row.ci_low is not None
            assert row.ci_high is not None
            n_covered += row.ci_low <= value <= row.ci_high
            n_claimed += judge == "fair judge" and not row.ci_low <= 0 <= row.ci_high
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
    assert rho is not None
    assert ceiling is not None
    assert rho == pytest.approx(ceiling, abs=0.1)
    noise = found["rho", "noise", "people"]
    assert noise.estimate == pytest.approx(0, abs=0.15)


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
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert saved.estimate is not None
        n_covered += row.ci_low <= mean <= row.ci_high
        n_saved.append(saved.estimate)
    assert n_covered >= 0.8 * n_studies
    # 48 units were rated by people; the judge's are worth a fair part of them again
    assert 5 < np.median(n_saved) < 100


def rated_by_few(seed: int, n_rated: int, n_users: int, *, has_users: bool) -> pd.DataFrame:
    """A person rates some of the units; a judge rates all, half a step higher. People's mean is 3."""
    generator = np.random.default_rng(seed)
    worth = generator.normal(size=n_users)
    noise = generator.normal(size=(2, n_users))
    numbers = np.clip(np.rint([3 + 0.6 * worth + noise[0], 3.5 + 0.6 * worth + noise[1]]), 1, 5)
    rows = [
        (f"{unit}", "p1" if place == 0 else "judge", ("person", "model")[place], str(int(number)))
        for place in (0, 1)
        for unit, number in enumerate(numbers[place])
        if place == 1 or unit < n_rated
    ]
    frame = pd.DataFrame(rows, columns=["unit_id", "rater", "rater_kind", "value"])
    return frame.assign(user_id="u" + frame["unit_id"]) if has_users else frame


def test_the_interval_of_peoples_mean_hangs_on_the_few_units_that_people_rated() -> None:
    n_rated, n_users = 5, 30
    few = rated_by_few(0, n_rated, n_users, has_users=True)
    row, _ = prediction_powered_rows(sample_of(*tables_of(few, RATING), RATING, 0.05), "judge")
    assert row.ci_low is None
    assert f"{n_rated} users have units that count here, and 100 are needed" in (row.reason or "")
    n_covered, n_studies = 0, 60
    for seed in range(n_studies):
        few = rated_by_few(seed, n_rated, n_users, has_users=False)
        row, _ = prediction_powered_rows(sample_of(*tables_of(few, RATING), RATING, 0.05), "judge")
        n_covered += row.ci_low is not None and row.ci_low <= 3 <= (row.ci_high or 0)
    # 95 % are expected; the degrees of freedom of all units gave 88 %
    assert n_covered >= 0.92 * n_studies


def test_a_correlation_counts_the_users_whose_units_several_people_rated() -> None:
    generator = np.random.default_rng(0)
    raters = [("p1", "person", 150), ("p2", "person", 15), ("judge", "model", 150)]
    rows = pd.DataFrame(
        [
            (str(unit), f"u{unit}", rater, kind, str(generator.integers(1, 6)))
            for rater, kind, n_units in raters
            for unit in range(n_units)
        ],
        columns=["unit_id", "user_id", "rater", "rater_kind", "value"],
    )
    found = estimates(rows, RATING, rarest_users=0.05)
    for measure in ("rho", "rho_of_people"):
        row = found[measure, "judge", "people"]
        assert row.estimate is not None
        assert (row.n_units, row.n_owners, row.n_raters, row.ci_low) == (15, 15, 2, None)
        assert "15 users have units that count here, and 100 are needed" in (row.reason or "")


def test_a_judge_that_says_what_all_people_say_may_stand_in_for_each() -> None:
    raters = [("p1", "person"), ("p2", "person"), ("p3", "person"), ("judge", "model")]
    rows = pd.DataFrame(
        [
            (str(unit), f"u{unit}", rater, kind, "accept" if unit % 2 else "reject")
            for unit in range(60)
            for rater, kind in [*raters, *([("p4", "person")] if unit < 10 else [])]
        ],
        columns=["unit_id", "user_id", "rater", "rater_kind", "value"],
    )
    winning = estimates(rows, RIGHT)["winning_rate", "judge", "people"]
    # the fourth person has too few units for a test, and is no defeat of the judge
    assert (winning.estimate, winning.n_raters, winning.n_units) == (1.0, 3, 60)
    assert winning.reason == "no interval: people are compared, not users"
    worst = rows.assign(value=rows["value"].where(rows["rater"] != "judge", "unsure"))
    assert estimates(worst, RIGHT)["winning_rate", "judge", "people"].estimate == 0.0


def test_units_of_one_user_do_not_stand_for_many() -> None:
    """A judge that fails one of ten users, and so a tenth of the units."""
    raters = [("p1", "person"), ("p2", "person"), ("judge", "model")]
    rows = pd.DataFrame(
        [
            (f"{user}/{unit}", f"u{user}", rater, kind, "accept")
            for user in range(10)
            for unit in range(12)
            for rater, kind in raters
        ],
        columns=["unit_id", "user_id", "rater", "rater_kind", "value"],
    )
    is_lost = (rows["rater"] == "judge") & (rows["user_id"] == "u3")
    rows["value"] = rows["value"].where(~is_lost, "reject")
    sample = sample_of(*tables_of(rows, RIGHT), RIGHT, 0.1)
    test, _ = alternative_annotators(sample, "judge")
    assert test.p_value is not None
    assert test.p_value < 0.001
    # a mean of .1 less the penalty, over an error of .1, at 9 degrees of freedom
    assert test.p_by_user == pytest.approx(student.cdf(-1.0, 9), abs=1e-3)
    assert not test.is_replaceable


def acceptance(shares: dict[str, tuple[str, float]], n_users: int = 80) -> pd.DataFrame:
    generator = np.random.default_rng(11)
    return pd.DataFrame(
        [
            (f"{user}/{unit}", f"u{user}", rater, kind, value)
            for user in range(n_users)
            for unit in range(3)
            for rater, (kind, share) in shares.items()
            for value in ["accept" if generator.random() < share else "reject"]
        ],
        columns=["unit_id", "user_id", "rater", "rater_kind", "value"],
    )


def test_acceptance_and_over_selection_are_those_planted() -> None:
    rows = acceptance({"p1": ("person", 0.2), "p2": ("person", 0.2), "eager": ("model", 0.6)})
    found = estimates(rows, RIGHT, rarest_users=0.1)
    accepted = [found["accepted", side, None] for side in ("people", "models")]
    for row, share in zip(accepted, (0.2, 0.6), strict=True):
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert row.ci_low < share < row.ci_high
    over = found["over_selection", "eager", "people"]
    # people's verdict needs both of them: a share of .04 of all units, of .06 of those with a verdict
    assert over.estimate is not None
    assert over.estimate > 5
    kappa = found["kappa", "models", "people"]
    assert kappa.estimate == pytest.approx(0, abs=0.1)
    assert kappa.largest is not None
    assert kappa.largest < 0.4


def test_place_and_length_and_own_answers_are_counted_where_they_decide() -> None:
    generator = np.random.default_rng(2)
    rows = []
    for unit in range(300):
        lengths = generator.integers(100, 1_000, size=2)
        first = "ab"[unit % 2]
        people = generator.choice([*"12345"])
        rows.append((unit, "p1", "person", people, first, *lengths))
        rows.append((unit, "first", "model", "1" if first == "a" else "5", first, *lengths))
        rows.append(
            (unit, "long", "model", "1" if lengths[0] > lengths[1] else "5", first, *lengths)
        )
        rows.append((unit, "vain", "model", "2", first, *lengths))
    columns = [
        "unit_id",
        "rater",
        "rater_kind",
        "value",
        "first_side",
        "characters_a",
        "characters_b",
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(author_a="vain", author_b="other")
    frame["unit_id"] = frame["unit_id"].astype(str)
    frame["user_id"] = frame["unit_id"]
    found = estimates(frame, PAIR)
    assert found["prefers_first", "first", None].estimate == 1.0
    assert found["prefers_first", "vain", None].estimate == pytest.approx(0.5)
    assert found["prefers_longer", "long", None].estimate == 1.0
    assert found["prefers_longer", "people", None].estimate == pytest.approx(0.5, abs=0.1)
    own = found["self_preference", "vain", "people"]
    assert own.estimate == pytest.approx(0.5, abs=0.1)
    assert own.ci_low is not None
    assert own.ci_low > 0
    assert found["b_no_better", "vain", None].estimate == 1.0


def authors(order: dict[str, int], of_judge: dict[str, int]) -> pd.DataFrame:
    """Answers of some authors, rated by people in one order and by a judge in another."""
    return pd.DataFrame(
        [
            (f"{author}-{unit}", f"u{unit}", author, rater, kind, str(ranks[author]))
            for author in order
            for unit in range(4)
            for rater, kind, ranks in (("p1", "person", order), ("judge", "model", of_judge))
        ],
        columns=["unit_id", "user_id", "author_a", "rater", "rater_kind", "value"],
    )


def test_the_order_of_few_authors_has_an_exact_p() -> None:
    ranks = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    row = estimates(authors(ranks, ranks), RATING)["rho_of_authors", "judge", "people"]
    # two of the 120 orders of five authors are as extreme
    assert (row.estimate, row.p_value) == (pytest.approx(1), pytest.approx(2 / 120))
    three = {name: ranks[name] for name in "abc"}
    row = estimates(authors(three, three), RATING)["rho_of_authors", "judge", "people"]
    assert row.p_value == pytest.approx(2 / 6)
    two = {name: ranks[name] for name in "ab"}
    assert ("rho_of_authors", "judge", "people") not in estimates(authors(two, two), RATING)
    flat = estimates(authors(ranks, dict.fromkeys(ranks, 3)), RATING)
    row = flat["rho_of_authors", "judge", "people"]
    assert (row.estimate, row.p_value, row.reason) == (None, None, "all authors are alike")


def test_repeats_that_disagree_are_kept_and_counted() -> None:
    rows = pd.DataFrame(
        [
            (str(unit), "p1", "person", value)
            for unit in range(50)
            for value in ("accept", "accept" if unit % 5 else "reject")
        ],
        columns=["unit_id", "rater", "rater_kind", "value"],
    )
    found = estimates(rows, RIGHT)
    again = found["exact_agreement", "people", "themselves"]
    assert (again.estimate, again.n_judgements) == (0.8, 50)
    assert found["accepted", "people", None].n_judgements == 50


def test_a_judge_is_held_against_itself_in_the_same_order_of_two_answers() -> None:
    """It always takes the first answer: it disagrees with the other order, and never with itself."""
    rows = pd.DataFrame(
        [
            (str(unit), "judge", "model", "1" if side == "a" else "5", side)
            for unit in range(40)
            for _ in range(2)
            for side in ("a", "b")
        ],
        columns=["unit_id", "rater", "rater_kind", "value", "first_side"],
    )
    found = estimates(rows, PAIR)
    again = found["exact_agreement", "models", "themselves"]
    assert (again.estimate, again.n_judgements) == (1.0, 80)
    assert found["same_in_both_orders", "judge", None].estimate == 0.0
    once = rows.drop_duplicates(["unit_id", "first_side"])
    assert ("exact_agreement", "models", "themselves") not in estimates(once, PAIR)


def test_one_rater_has_no_agreement_and_a_reason() -> None:
    rows = acceptance({"p1": ("person", 0.5)})
    found = estimates(rows, RIGHT)
    alone = found["alpha", "people", "people"]
    assert alone.estimate is None
    assert alone.reason == "one of people judged, and agreement needs two raters"
    none = found["exact_agreement", "people", "people"]
    assert (none.estimate, none.reason) == (None, "no unit was judged by two of them")


def test_all_rejected_is_a_number_and_what_needs_an_accepted_unit_says_so() -> None:
    rows = acceptance({"p1": ("person", 0.0), "p2": ("person", 0.0), "judge": ("model", 0.0)})
    found = estimates(rows, RIGHT)
    assert found["accepted", "people", None].estimate == 0.0
    precision = found["precision", "judge", "people"]
    assert (precision.estimate, precision.reason) == (None, "nothing was accepted")
    kappa = found["kappa", "people", "people"]
    assert kappa.estimate is None
    assert kappa.reason is not None


def test_groups_of_units_have_rows_of_their_own() -> None:
    rows = acceptance({"p1": ("person", 0.5), "p2": ("person", 0.5)})
    rows["unit_group"] = np.where(rows["unit_id"].str.endswith("0"), "real", "synthetic")
    rows.loc[rows["unit_group"] == "real", "value"] = "accept"
    measured = measure_judgements(*tables_of(rows, RIGHT), [RIGHT], rarest_users=0.1)
    shares = {
        row.unit_group: row.estimate for row in measured.estimates if row.measure == "accepted"
    }
    assert shares["real"] == 1.0
    assert shares["synthetic"] == pytest.approx(0.5, abs=0.1)
    assert not math.isclose(shares[None] or 0, 1.0)
