"""Tests between conditions: the values they move, chance levels, and input that allows none."""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind, ttest_rel

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.arms.tests import StudyArm, measure_arm_tests
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.arms import ArmTest
from fieldwork.records.parsing import Answer
from fieldwork.statistics.user_intervals import RAREST_USERS
from unit.metrics.metric_frames import answer_frame, asked, chosen, item_frame, question

ITEMS = ("i", "j", "k")
ARMS = [StudyArm("offline", 0), *(StudyArm(f"h{n}", n) for n in (1, 5, 10))]


class Call(NamedTuple):
    """Who is asked what, and the random numbers of the answer."""

    condition: str
    puppet: str
    random: np.random.Generator
    seed: int = 0


Source = Callable[[Call], str]


def simulate_answers(
    source: Source,
    *,
    conditions: Sequence[str] = ("h1", "h5", "h10"),
    n_puppets: int = 8,
    replicates: int = 2,
    seed: int = 1,
) -> list[Answer]:
    """Letters of puppets to three items, and twelve offline ones."""
    random = np.random.default_rng(seed)
    answers: list[Answer] = []
    puppets = [f"p{p}" for p in range(n_puppets)]
    for condition, puppet, item in itertools.product(conditions, puppets, ITEMS):
        letters = [source(Call(condition, puppet, random, seed)) for _ in range(replicates)]
        answers += chosen(letters, condition=condition, puppet_id=puppet, item_id=item)
    for item in ITEMS:
        answers += chosen(random.choice(list("AB"), 12), condition="offline", item_id=item)
    return answers


def noise(call: Call) -> str:
    """Nothing matters."""
    return str(call.random.choice(list("AB")))


def drift(call: Call) -> str:
    """The longer the history, the more often C."""
    return "C" if call.random.random() < int(call.condition[1:]) / 12 else noise(call)


def habits(call: Call) -> str:
    """With one conversation each puppet has a letter of its own, with more none."""
    if call.condition == "h1":
        return "ABCD"[int(call.puppet[1:]) % 4]
    return str(call.random.choice(list("ABCD")))


def measure(
    answers: Sequence[Answer],
    *,
    arms: Sequence[StudyArm] = ARMS,
    trend: bool = True,
    gold: str | None = "A",
    rarest_users: float = RAREST_USERS,
) -> dict[tuple[str, str, str], ArmTest]:
    frame = answer_frame(answers)
    items = item_frame(*(question(item, gold=gold) for item in ITEMS)).assign(task="t")
    runs = [dataclasses.asdict(row) for row in measure_runs(frame, items)]
    columns = ["model", "task", "condition", "puppet_id", "n_items", "em_strict"]
    settings = {"arms": arms, "trend": trend, "baseline": "offline", "rarest_users": rarest_users}
    rows = measure_arm_tests(
        frame, pd.DataFrame(runs, columns=None if runs else columns), **settings
    )
    return {(row.measure, row.condition, row.other): row for row in rows}


def value(rows: Mapping[tuple[str, str, str], ArmTest], measure_name: str) -> ArmTest:
    """The one row of a measure."""
    (row,) = (row for (name, *_), row in rows.items() if name == measure_name)
    return row


@pytest.mark.parametrize("missing", [0, 5])
@pytest.mark.parametrize("lists", [False, True])
def test_differences_are_those_of_the_variance_table(missing: int, lists: bool) -> None:
    answers = simulate_answers(habits, conditions=("h1", "h5"), n_puppets=6)
    if lists:
        nothing = {"kind": "list", "letter": None, "letter_strict": None}
        answers = [
            dataclasses.replace(a, items=[str(a.letter), "x", f"y{a.replicate}"], **nothing)
            for a in answers
        ]
    del answers[3 : 3 + missing]
    frame, rows = answer_frame(answers), measure(answers, trend=False)
    table = measure_variance(frame, baseline="offline", n_permutations=9, seed=1)
    shares = {row.condition: row for row in table}
    for name in ("share_who", "var_answers"):
        difference = getattr(shares["h1"], name) - getattr(shares["h5"], name)
        assert rows[name, "h1", "h5"].estimate == pytest.approx(difference)


def test_distance_from_the_baseline_and_score_by_hand() -> None:
    answers = [
        *chosen("AAAB", condition="offline"),
        *asked(dict.fromkeys("pqr", "AA"), condition="h1"),
        *asked(dict.fromkeys("pqr", "CB"), condition="h5"),
    ]
    rows = measure(answers, trend=False)
    # A differs from a quarter of the baseline's answers, C from all and B from three quarters; half of
    # what two puppets differ by under a condition comes off, and of the baseline's it cancels
    expected = 0.25 - 0 / 2 - ((1 + 0.75) / 2 - 0.5 / 2)
    assert value(rows, "from_baseline").estimate == pytest.approx(expected)
    assert value(rows, "em_strict").estimate == pytest.approx(1.0)
    slope = value(measure(answers, trend=True), "from_baseline")
    assert slope.estimate == pytest.approx(-expected)
    assert (slope.test, slope.condition, slope.other) == ("trend", "h1", "h5")


def test_a_trend_goes_by_ranks_of_what_was_asked_for() -> None:
    def third(call: Call) -> str:
        return {"h1": "A", "h5": "B", "h10": "C"}[call.condition]

    answers = [a for a in simulate_answers(third) if a.condition != "offline"]
    answers += [a for i in ITEMS for a in chosen("AAAAB", condition="offline", item_id=i)]
    row = value(measure(answers), "from_baseline")
    # distances 0.2, 0.8, 1 at ranks 0, 1, 2
    assert row.estimate == pytest.approx(0.4)
    assert (row.n_puppets, row.n_puppets_other, row.n_items, row.unit) == (8, 8, 3, "within puppet")


@pytest.mark.parametrize("paired", [True, False])
def test_scores_have_the_p_value_of_scipy_and_an_interval_near(paired: bool) -> None:
    answers = simulate_answers(drift, conditions=("h1", "h5"), n_puppets=40)
    if not paired:
        offline = [a for a in answers if a.condition == "offline"]
        named = [dataclasses.replace(a, puppet_id=f"{a.condition}{a.puppet_id}") for a in answers]
        named = [a for a in named if a.puppet_id not in ("h5p0", "h5p1", "h5p2")]
        answers = [a for a in named if a.condition != "offline"] + offline
    row = value(measure(answers, trend=False, rarest_users=0.2), "em_strict")
    few = value(measure(answers, trend=False, rarest_users=0.05), "em_strict")
    marks = answer_frame(answers).assign(mark=[a.letter == "A" for a in answers])
    means = marks.groupby(["condition", "puppet_id"], sort=False)["mark"].mean()
    sides = [means[condition].tolist() for condition in ("h1", "h5")]
    test = ttest_rel(*sides) if paired else ttest_ind(*sides, equal_var=False)
    assert few.p_value == pytest.approx(test.pvalue)
    # the interval over users has its say, too
    assert test.pvalue <= (row.p_value or 0) < 0.02
    low, high = test.confidence_interval(0.95)
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high), abs=0.15 * (high - low))
    assert few.ci_low is None
    assert "100 are needed" in (few.reason or "")


@pytest.mark.parametrize("trend", [True, False])
def test_false_positives_stay_at_their_level(trend: bool) -> None:
    hits: dict[str, int] = {}
    for seed in range(30):
        for row in measure(simulate_answers(noise, seed=seed), trend=trend).values():
            hits[row.measure] = hits.get(row.measure, 0) + ((row.p_holm or 1) <= 0.05)
    # of 30 data sets, with Holm over the pairs: two are expected, seven are past the 99.9 % point
    assert max(hits.values()) < 7


def favourites(chance: float) -> Source:
    """A puppet's letter is its favourite with this chance, the same for all items; shares stay."""

    def source(call: Call) -> str:
        own = "AB"[int(np.random.default_rng([call.seed, int(call.puppet[1:])]).integers(2))]
        return own if call.random.random() < chance else noise(call)

    return source


def test_a_measure_is_tested_where_another_differs() -> None:
    """Shares of letters are alike; six puppets have favourites, of 30 others each answer is new.

    Exchanging puppets would find a difference in a third of the studies.
    """
    hits = dict.fromkeys(("var_answers", "from_baseline", "em_strict"), 0)
    for seed in range(30):
        few = simulate_answers(favourites(1.0), conditions=("h1",), n_puppets=6, seed=seed)
        many = simulate_answers(noise, conditions=("h5",), n_puppets=30, seed=seed + 99)
        many = [
            dataclasses.replace(a, puppet_id=f"x{a.puppet_id}") for a in many if a.condition == "h5"
        ]
        rows = measure(few + many, trend=False)
        for name in hits:
            hits[name] += (value(rows, name).p_value or 1.0) <= 0.05
    assert max(hits.values()) < 7


@pytest.mark.parametrize(
    ("source", "measure_name", "sign"),
    [(drift, "from_baseline", 1), (drift, "em_strict", -1), (habits, "share_who", -1)],
)
def test_an_effect_is_found(source: Source, measure_name: str, sign: int) -> None:
    row = value(measure(simulate_answers(source, n_puppets=16)), measure_name)
    assert (row.p_value or 1) <= 0.01
    assert np.sign(row.estimate) == sign


def test_pairs_are_corrected_by_holm_for_each_measure() -> None:
    rows = measure(simulate_answers(habits), trend=False)
    assert {key[1:] for key in rows} == set(itertools.combinations(("h1", "h5", "h10"), 2))
    for name in ("share_who", "var_answers"):
        of = sorted((r for k, r in rows.items() if k[0] == name), key=lambda r: r.p_value or 0)
        assert of[0].p_holm == pytest.approx(min(1, 3 * (of[0].p_value or 0)))
        assert all((r.p_holm or 0) >= (r.p_value or 0) for r in of)


def without(*cells: str, n_replicates: int = 2) -> list[Answer]:
    """Answers but for those of some conditions and items, and later ones of all puppets but one."""
    return [
        a
        for a in simulate_answers(noise)
        if not {a.condition, f"{a.condition}{a.item_id}"} & {*cells}
        and (a.replicate < n_replicates or a.puppet_id in (None, "p1"))
    ]


ONCE = simulate_answers(noise, replicates=1)
FINALLY = simulate_answers(lambda call: "C" if call.condition == "h10" else "A")


@pytest.mark.parametrize(
    ("answers", "measure_name", "reason"),
    [
        (ONCE, "share_who", "no puppet answers an item twice"),
        (
            simulate_answers(noise, n_puppets=1),
            "var_answers",
            "1 puppet answers under all conditions",
        ),
        (simulate_answers(lambda _: "A"), "share_who", "all answers to an item are the same"),
        (without("offline"), "from_baseline", "no item has two answers of the baseline"),
        (
            without("h1i", "h5j", "h10k"),
            "var_answers",
            "no item has an answer under all conditions",
        ),
    ],
)
def test_why_there_is_no_value(answers: list[Answer], measure_name: str, reason: str) -> None:
    row = value(measure(answers), measure_name)
    assert (row.estimate, row.ci_low, row.p_value, row.p_holm) == (None,) * 4
    assert reason in (row.reason or "")
    assert "no run with gold letters" in (value(measure(ONCE, gold=None), "em_strict").reason or "")


def test_no_trend_where_all_ask_for_the_same() -> None:
    arms = [StudyArm(name, 1) for name in ("h1", "h5", "h10")]
    row = value(measure(simulate_answers(noise), arms=arms), "from_baseline")
    assert row.estimate is None
    assert "all conditions ask for the same" in (row.reason or "")
    assert measure([]) == {}


@pytest.mark.parametrize(
    ("answers", "measure_name", "reason"),
    [
        (simulate_answers(noise, n_puppets=2), "em_strict", "a condition has 2 puppets"),
        (without(n_replicates=1), "share_who", "a single puppet answers twice"),
        (FINALLY, "from_baseline", "leaving out a puppet never changes it"),
    ],
)
def test_why_a_value_has_no_test(answers: list[Answer], measure_name: str, reason: str) -> None:
    row = value(measure(answers), measure_name)
    assert row.estimate is not None
    assert (row.ci_low, row.ci_high, row.p_value, row.p_holm) == (None,) * 4
    assert reason in (row.reason or "")
