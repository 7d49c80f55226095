"""Orders of models offline and in practice: published figures, plain cases, nothing to compare."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.practice.orders import WayOrder, compare_orders
from fieldwork.metrics.practice.ways import WayScores, lead_interval, read_ways
from fieldwork.records.practice import PracticeOrder

SURFACES = (
    Path(__file__).resolve().parents[5]
    / "shared/data/surfaces/interface_audit_accuracy_5benchmarks.csv"
)


Ways = dict[str, WayScores]


def both(offline: Ways, way: Ways) -> WayOrder:
    return compare_orders(offline, way, n_permutations=99, random=np.random.default_rng(1))


def compare(offline: Ways, way: Ways) -> PracticeOrder:
    return both(offline, way).order


def single(*scores: float) -> Ways:
    """Models a, b, c with one run each."""
    return {chr(97 + k): WayScores((score,)) for k, score in enumerate(scores)}


ORDERS = {
    "aa-omniscience": (0.0028, 1, 0),
    "bbq": (0.3024, 5, 2),
    "elephant-flip": (0.2667, 6, 4),
    "metabench-hellaswag": (0.0663, 4, 0),
    "metabench-mmlu": (0.8397, 10, 0),
}
"""The p-value, and of 21 pairs of systems those that turn, and those beyond the chance of five runs."""


@pytest.mark.skipif(not SURFACES.exists(), reason="no real extracts at ../shared/data")
def test_of_seven_systems_one_order_is_shown_and_few_turns_are_beyond_chance() -> None:
    table = pd.read_csv(SURFACES).rename(columns={"surface": "way", "accuracy": "score"})
    found = {}
    for benchmark, runs in table.groupby("benchmark"):
        ways = read_ways(runs)
        order = compare(ways["api"], ways["interface"])
        p_value = round(order.p_value or 0, 4)
        found[benchmark] = (p_value, order.n_discordant, order.n_beyond_chance)
    assert found == ORDERS


def test_a_turned_pair_is_named_with_the_one_ahead_offline_first() -> None:
    order, turns = both(single(0.5, 0.7, 0.9), single(0.8, 0.3, 0.4))
    assert [(p.model, p.other) for p in turns] == [("b", "a"), ("c", "a")]
    first = turns[0]
    assert (first.lead, first.way_lead) == (pytest.approx(0.2), pytest.approx(-0.5))
    assert first.is_beyond_chance is None
    assert (order.n_discordant, order.n_tied, order.n_pairs) == (2, 0, 3)
    assert order.rho == pytest.approx(-0.5)
    assert order.difference == pytest.approx(-0.2)


def test_a_turn_is_beyond_chance_only_if_both_leads_are() -> None:
    sure, unsure = WayScores((0.80, 0.81, 0.79)), WayScores((0.4, 0.8, 0.9))
    low, middle = WayScores((0.50, 0.51, 0.49)), WayScores((0.64, 0.65, 0.66))
    offline = {"a": sure, "b": low, "c": WayScores((0.1, 0.1, 0.2))}
    for way_a, verdict in ((low, True), (unsure, False)):
        way = {"a": way_a, "b": sure, "c": offline["c"]}
        (pair,) = both(offline, way).turns
        assert (pair.model, pair.other, pair.is_beyond_chance) == ("a", "b", verdict)
    assert both({**offline, "b": middle}, way).turns[0].is_beyond_chance is False


@pytest.mark.parametrize(
    ("offline", "way", "words"),
    [
        (single(), single(), "offline 0, that way 0, both 0"),
        (single(0.5, 0.6), single(0.6, 0.5), "both 2, and 3 are needed"),
        (single(0.5, 0.5, 0.5), single(0.1, 0.2, 0.3), "all models score alike"),
    ],
)
def test_where_there_is_no_order_a_reason_says_so(offline: Ways, way: Ways, words: str) -> None:
    order = compare(offline, way)
    assert (order.rho, order.p_value, order.ci_low) == (None, None, None)
    assert words in (order.reason or "")


def test_nine_models_have_an_interval_and_ten_random_orders() -> None:
    random = np.random.default_rng(4)
    offline = {f"m{k}": WayScores((float(random.random()),)) for k in range(10)}
    way = {m: WayScores((side.mean + 0.2 * random.random(),)) for m, side in offline.items()}
    order = compare(offline, way)
    assert (order.ci_low or 1) < (order.rho or 0) <= (order.ci_high or 0)
    assert order.n_permutations == 99


def test_the_same_users_are_paired_and_others_are_not() -> None:
    """Two models asked by the same users, who differ far more than the models' leads do."""
    random = np.random.default_rng(1)
    scores = 0.5 + 0.2 * random.normal(size=120) + 0.01 * random.normal(size=(2, 120))
    scores[0] += 0.02
    names, others = (tuple(f"{letter}{k:03}" for k in range(120)) for letter in "pq")
    first, second = (WayScores(tuple(s.tolist()), "puppet", names) for s in scores)
    paired = lead_interval(first, second)
    apart = lead_interval(first, second._replace(names=others))
    assert paired
    assert apart
    assert 0.015 < paired.low < paired.high < 0.025
    assert apart.low < 0 < apart.high


def test_leads_of_reruns_cover_their_truth() -> None:
    random = np.random.default_rng(7)
    held = []
    for _ in range(400):
        sides = [
            WayScores(tuple(random.normal(c, s, size=5))) for c, s in ((0.6, 0.02), (0.5, 0.04))
        ]
        interval = lead_interval(sides[0], sides[1])
        assert interval is not None
        held.append(interval.low <= 0.1 <= interval.high)
    assert 0.92 < np.mean(held) < 0.98


def test_repeats_of_an_item_are_averaged() -> None:
    rows = [("a", "raw", "q1", 1.0), ("a", "raw", "q1", 0.0), ("a", "raw", "q2", 1.0)]
    frame = pd.DataFrame(rows, columns=["model", "way", "item", "score"])
    assert read_ways(frame) == {"raw": {"a": WayScores((0.5, 1.0), "item", ("q1", "q2"))}}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"model": ["a"], "score": [1.0]}, "there is no column way"),
        ({"model": ["a"], "way": ["raw"], "score": [np.inf]}, "a score is no number"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(frame: dict[str, list[object]], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        read_ways(pd.DataFrame(frame))
