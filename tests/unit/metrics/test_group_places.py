"""First places by group: published counts, sources with a known truth, and nothing to count."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.group_places import (
    COLUMNS,
    count_first_places,
    model_first_places,
    read_rankings,
)
from fieldwork.parsing.rankings import rank_names

HIRING = (
    Path(__file__).resolve().parents[4]
    / "shared/data/hiring/bloomberg_resume_rankings_gpt35_2jobs.parquet"
)
with_data = pytest.mark.skipif(not HIRING.exists(), reason="no real extracts at ../shared/data")
HR, ANALYST = "HR specialist", "financial analyst"


@cache
def rankings(job: str) -> pd.DataFrame:
    """The thousand published runs of a job."""
    replies = pd.read_parquet(HIRING)
    replies = replies[(replies["job"] == job) & replies["collection"].isin(["main", "rebalance"])]
    rows = [
        (reply.file, name, group, number, document, place)
        for reply in replies.itertuples()
        for number, (name, group, document, place) in enumerate(
            zip(
                reply.names,
                reply.groups,
                reply.resumes,
                rank_names(reply.response, reply.names),
                strict=True,
            ),
            start=1,
        )
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


@with_data
@pytest.mark.parametrize(
    ("job", "counts", "ratio"),
    [
        (HR, "H_W 181 A_W 148 W_W 138 B_W 130 B_M 106 H_M 103 A_M 98 W_M 96", 0.53),
        (ANALYST, "A_W 172 A_M 146 W_W 132 H_W 129 H_M 124 W_M 121 B_W 100 B_M 76", 0.44),
    ],
)
def test_first_places_are_the_published_ones(job: str, counts: str, ratio: float) -> None:
    places = count_first_places(rankings(job))
    assert " ".join(f"{count.level} {count.n_first}" for count in places.counts) == counts
    assert places.impact_ratio == pytest.approx(ratio, abs=0.005)
    assert places.is_below_four_fifths
    assert (places.n_runs, places.n_without) == (1000, 0)
    # of eight groups that nobody prefers, the smallest rate is 22 % below the largest
    assert places.expected_ratio == pytest.approx(0.776, abs=0.005)
    assert places.p_ratio == pytest.approx(1 / 2000)


@with_data
@pytest.mark.parametrize(("job", "share"), [(HR, 0.451), (ANALYST, 0.409)])
def test_the_first_listed_is_first_far_too_often(job: str, share: float) -> None:
    (first, *_) = count_first_places(rankings(job), "position").counts
    assert (first.level, first.share) == ("1", pytest.approx(share))
    assert first.n_expected == 125
    assert first.interval.low > 0.375


@with_data
@pytest.mark.parametrize(
    ("job", "shares"), [(HR, (0.042, 0.593, 0.365)), (ANALYST, (0.034, 0.428, 0.538))]
)
def test_position_and_document_say_more_than_the_group(
    job: str, shares: tuple[float, float, float]
) -> None:
    model = model_first_places(rankings(job))
    assert [test.covariate for test in model.tests] == ["group", "position", "document"]
    assert [test.share for test in model.tests] == [pytest.approx(s, abs=5e-4) for s in shares]
    assert [test.freedom for test in model.tests] == [7, 7, 7]
    assert all((test.p_value or 0.0) < 1e-7 for test in model.tests)
    assert model.reason is None


# ---- sources with a known truth ----------------------------------------------------------------------

GROUP_ODDS = {"a": 0.0, "b": 0.5, "c": -0.4, "d": 0.0}
POSITION_ODDS = {1: 0.0, 2: -0.5, 3: -1.0, 4: -1.0}


def simulate(
    n_runs: int, random: np.random.Generator, group_odds: dict[str, float] = GROUP_ODDS
) -> pd.DataFrame:
    """Positions matter, documents do not; groups and documents are dealt to positions at random."""
    rows = []
    for run in range(n_runs):
        groups = random.permutation([*group_odds]).tolist()
        documents = random.permutation(["u", "v", "w", "x"]).tolist()
        utilities = [group_odds[g] + POSITION_ODDS[k] for k, g in enumerate(groups, start=1)]
        order = np.argsort(-(np.array(utilities) + random.gumbel(size=4)))
        places = np.argsort(order) + 1
        rows += [
            (f"r{run:04}", f"n{k}", groups[k], k + 1, documents[k], int(places[k]))
            for k in range(4)
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_coefficients_cover_their_truth() -> None:
    random = np.random.default_rng(1)
    truths = {level: odds for level, odds in GROUP_ODDS.items() if level != "a"}
    truths |= {str(level): odds for level, odds in POSITION_ODDS.items() if level > 1}
    held = []
    for _ in range(60):
        for effect in model_first_places(simulate(200, random)).effects:
            assert effect.interval is not None
            low, high = effect.interval
            held.append(low <= truths.get(effect.level, 0.0) <= high)
    assert 0.92 < np.mean(held) < 0.98


def test_groups_that_do_not_matter_are_shown_as_seldom_as_promised() -> None:
    """Though the position does, and groups lie unevenly over positions by chance."""
    random, alike = np.random.default_rng(2), dict.fromkeys("abcd", 0.0)
    p_values = []
    for _ in range(150):
        tests = model_first_places(simulate(120, random, alike), ("group", "position")).tests
        p_values.append([test.p_value or 0.0 for test in tests])
    level, power = (np.array(p_values) < 0.05).mean(axis=0)
    assert 0.01 < level < 0.11
    assert power > 0.85


def test_the_model_of_one_covariate_is_that_of_the_counts() -> None:
    """With every level once a run the maximum of the likelihood has the observed shares."""
    frame = simulate(400, np.random.default_rng(3))
    counts = {c.level: c.n_first for c in count_first_places(frame).counts}
    model = model_first_places(frame, ("group",))
    assert {e.level: e.estimate for e in model.effects} == {
        level: pytest.approx(math.log(n / counts["a"]), abs=1e-5)
        for level, n in counts.items()
        if level != "a"
    }
    log_likelihood = sum(n * math.log(n / 400) for n in counts.values())
    assert model.log_likelihood == pytest.approx(log_likelihood)
    assert model.chance_log_likelihood == pytest.approx(-400 * math.log(4))
    assert model.tests[0].share == pytest.approx(1)


def test_rows_in_any_order_give_the_same() -> None:
    frame = simulate(50, np.random.default_rng(4))
    turned = frame.sample(frac=1, random_state=1)
    assert count_first_places(turned) == count_first_places(frame)
    assert model_first_places(turned) == model_first_places(frame)


# ---- little or odd to count --------------------------------------------------------------------------


def small(places: list[list[float | None]]) -> pd.DataFrame:
    """Two groups, one option each; a run is the places of the two."""
    rows = [
        (f"r{run}", f"n{k}", "ab"[k], k + 1 if run % 2 else 2 - k, "u", place)
        for run, pair in enumerate(places)
        for k, place in enumerate(pair)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_a_run_that_names_nobody_is_left_out_and_counted() -> None:
    places = count_first_places(small([[1, 2], [None, None], [None, 1]]))
    assert (places.n_runs, places.n_without) == (2, 1)
    assert [(c.level, c.n_first, c.n_listed) for c in places.counts] == [("a", 1, 2), ("b", 1, 2)]


def test_no_run_at_all_gives_no_counts_and_no_model() -> None:
    frame = small([[None, None]])
    places = count_first_places(frame)
    assert (places.counts, places.p_value, places.impact_ratio, places.n_without) == (
        (),
        None,
        None,
        1,
    )
    assert places.is_below_four_fifths is None
    with pytest.raises(StudyError, match="no reply names any"):
        model_first_places(frame)


def test_a_group_that_is_never_first_has_no_interval() -> None:
    model = model_first_places(small([[1, 2]] * 6))
    assert "never first is group b" in (model.reason or "")
    assert all(effect.interval is None for effect in model.effects)
    assert count_first_places(small([[1, 2]] * 6)).impact_ratio == 0


def test_covariates_that_go_together_cannot_be_told_apart() -> None:
    frame = small([[1, 2], [1, 2], [2, 1], [2, 1], [1, 2], [2, 1]])
    frame["document"] = frame["group"].map({"a": "u", "b": "v"})
    model = model_first_places(frame)
    assert "go together" in (model.reason or "")
    group = model.tests[0]
    assert (group.statistic, group.freedom, group.p_value) == (pytest.approx(0, abs=1e-6), 0, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(columns="document"), "there is no column document"),
        (lambda f: f.assign(position=1), "run r0 has two options with one position"),
        (lambda f: f.assign(place=1), "run r0 has two options with one place"),
        (lambda f: f.iloc[1:], "run r0 has one option"),
    ],
)
def test_what_is_no_ranking_is_refused(change: object, words: str) -> None:
    assert callable(change)
    with pytest.raises(StudyError, match=words):
        read_rankings(change(small([[1, 2], [2, 1]])))
