"""Heterogeneity against enumeration, closed forms, and what must not move it."""

import dataclasses
import itertools
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork import tables
from fieldwork.metrics.heterogeneity import (
    METRICS,
    NO_INTERVAL,
    NO_SPREAD,
    WITHOUT_INTERVAL,
    measure_heterogeneity,
    measure_item_shares,
)
from fieldwork.records.metrics import Heterogeneity
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import COVERED_BY_72, answer_frame, chosen, listed

POPULATION = ("abc", "ab", "ad", "efgh", "a", "bei", "cdj")
RESPONSES = st.lists(st.sets(st.sampled_from("abcdefghij"), min_size=1), min_size=1, max_size=12)


def measure(answers: list[Answer], seed: int = 1) -> list[Heterogeneity]:
    return measure_heterogeneity(answer_frame(answers), seed=seed, rarest_users=COVERED_BY_72)


def by_metric(rows: list[Heterogeneity], condition: str = "c") -> dict[str, Heterogeneity]:
    return {row.metric: row for row in rows if row.condition == condition}


def entropy(responses: tuple[str, ...]) -> float:
    counts = Counter(option for response in responses for option in set(response))
    total = counts.total()
    return -sum(n / total * math.log2(n / total) for n in counts.values())


def top5(responses: tuple[str, ...]) -> float:
    counts = Counter(option for response in responses for option in set(response))
    return sum(n for _, n in counts.most_common(5)) / counts.total()


def test_hand_computed_cell() -> None:
    # mentions: a 4, b 2, c 1, d 1 of 8
    found = by_metric(measure(listed("ab", "abc", "a", "ad")))
    assert found["unique_items"].estimate == 4.0
    assert found["entropy_bits"].estimate == pytest.approx(1.75)
    assert found["top5_share"].estimate == 1.0
    assert found["one_minus_top5_share"].estimate == 0.0
    assert {row.n_equal for row in found.values()} == {4}


def test_top5_share_counts_five_options() -> None:
    # a 3, b to e 1 each, and two of f, g, h: 7 of 10 mentions
    found = by_metric(measure(listed("abcd", "aef", "agh")))
    assert found["top5_share"].estimate == pytest.approx(0.7)
    assert found["one_minus_top5_share"].estimate == pytest.approx(0.3)


@pytest.mark.parametrize("size", range(1, len(POPULATION) + 1))
def test_values_at_equal_n_are_means_over_all_subsets(size: int) -> None:
    rows = measure(listed(*POPULATION) + listed(*["x"] * size, condition="small"), seed=3)
    found = by_metric(rows)
    subsets = list(itertools.combinations(POPULATION, size))
    unique = [len(set("".join(subset))) for subset in subsets]
    assert found["unique_items"].n_equal == size
    assert found["unique_items"].estimate == pytest.approx(sum(unique) / len(unique), abs=1e-12)
    for metric, value in (("entropy_bits", entropy), ("top5_share", top5)):
        values = [value(subset) for subset in subsets]
        mean = sum(values) / len(values)
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        # 200 seeded subsamples: four standard errors
        tolerance = 1e-12 + 4 * spread / math.sqrt(200)
        assert found[metric].estimate == pytest.approx(mean, abs=tolerance)


def test_repeats_within_a_response_count_once() -> None:
    once, twice = measure(listed("ab", "cd")), measure(listed("abb", "cdc"))
    assert once == twice


def test_refusals_are_counted_apart_and_move_nothing() -> None:
    plain = measure(listed("ab", "cd", "ef"))
    refused = measure(listed("ab", None, "cd", (), "ef"))
    assert [dataclasses.replace(row, n_unread=0) for row in refused] == plain
    assert {row.n_unread for row in refused} == {2}
    assert {row.n_responses for row in refused} == {3}


def test_failed_responses_are_no_data() -> None:
    failed = [dataclasses.replace(row, outcome="failed") for row in listed(None)]
    assert {row.n_unread for row in measure(listed("ab") + failed)} == {0}


def test_a_condition_of_refusals_is_null_and_does_not_pull_the_others_down() -> None:
    rows = measure(listed("ab", "cd", "ef") + listed(None, None, condition="silent"))
    silent, spoken = by_metric(rows, "silent"), by_metric(rows)
    assert {row.n_equal for row in spoken.values()} == {3}
    assert list(silent) == list(METRICS)
    for row in silent.values():
        assert (row.estimate, row.ci_low, row.ci_high) == (None, None, None)
        assert row.reason == "none of 2 responses gives an option"


@pytest.mark.parametrize(
    ("responses", "reason"),
    [
        (["abcde"], "no interval: there is one response"),
        (["abcde"] * 4, NO_SPREAD),
    ],
)
def test_one_class_has_an_estimate_without_interval(responses: list[str], reason: str) -> None:
    found = by_metric(measure(listed(*responses)))
    assert found["unique_items"].estimate == 5.0
    assert found["entropy_bits"].estimate == pytest.approx(math.log2(5))
    for metric, row in found.items():
        expected = NO_INTERVAL if metric in WITHOUT_INTERVAL else reason
        assert (row.ci_low, row.ci_high, row.reason) == (None, None, expected)


def test_one_option_has_no_entropy() -> None:
    # log2 n - (n log2 n) / n is not zero in the last bit for n = 10, 11, 48, ...
    for n in range(1, 60):
        assert by_metric(measure(listed(*"a" * n)))["entropy_bits"].estimate == 0.0


@pytest.mark.parametrize("answers", [[], chosen("AB")])
def test_no_list_answers_give_no_rows(answers: list[Answer]) -> None:
    assert measure(answers) == []
    assert measure_item_shares(answer_frame(answers)) == []


def test_an_empty_frame_without_columns_gives_no_rows() -> None:
    assert measure_heterogeneity(pd.DataFrame(), seed=0) == []
    assert measure_item_shares(pd.DataFrame()) == []


@pytest.mark.parametrize("order", range(3))
def test_row_order_and_puppet_names_move_no_bit(order: int) -> None:
    answers = listed(*POPULATION * 12, None) + listed("ab", "cd", "efg", condition="d")
    expected = measure([dataclasses.replace(a, puppet_id=f"{k:02}") for k, a in enumerate(answers)])
    assert by_metric(expected)["entropy_bits"].ci_low is not None
    names = random.Random(order).sample(range(1000), len(answers))
    shuffled = [
        dataclasses.replace(a, puppet_id=f"p{k}") for k, a in zip(names, answers, strict=True)
    ]
    random.Random(order).shuffle(shuffled)
    assert measure(shuffled) == expected


def test_intervals_over_users_need_many_of_them() -> None:
    """Offline answers keep Student's t; users have an interval from 72 on, with ends of their own."""
    responses = POPULATION * 11
    nobody = by_metric(measure(listed(*responses)))["entropy_bits"]
    few, many = (
        by_metric(
            measure(
                [
                    dataclasses.replace(a, puppet_id=f"p{k}")
                    for k, a in enumerate(listed(*responses[:n]))
                ]
            )
        )["entropy_bits"]
        for n in (71, 77)
    )
    assert (few.ci_low, few.ci_high) == (None, None)
    assert few.reason is not None
    assert few.reason.startswith("no interval: 71 users answer, and 72")
    assert many.reason is None
    assert many.estimate == nobody.estimate
    assert many.ci_low == pytest.approx(nobody.ci_low, abs=0.05)
    assert many.ci_low != nobody.ci_low


def test_another_model_and_another_item_move_no_bit() -> None:
    answers = listed(*POPULATION) + listed("ab", "cd", "efg", condition="d")
    more = answers + listed("yz", "z", model="a") + listed("yz", item_id="h")
    expected = measure(answers)
    assert [row for row in measure(more) if row.model == "m" and row.item_id == "i"] == expected


def test_cells_have_random_numbers_of_their_own() -> None:
    """Equal answers under two names: equal exact values, other subsamples."""
    twins = listed(*POPULATION, condition="c") + listed(*POPULATION, condition="d")
    rows = measure(twins + listed("x", "y", "z", condition="small"))
    c, d = by_metric(rows, "c"), by_metric(rows, "d")
    assert c["unique_items"].estimate == d["unique_items"].estimate
    assert c["entropy_bits"].ci_low != d["entropy_bits"].ci_low
    assert c["entropy_bits"].estimate != d["entropy_bits"].estimate


def test_the_seed_moves_estimates_below_full_n_only() -> None:
    assert measure(listed(*POPULATION), seed=1) == measure(listed(*POPULATION), seed=2)
    few = listed(*POPULATION) + listed("x", "y", "z", condition="small")
    one, two = (by_metric(measure(few, seed=seed))["entropy_bits"] for seed in (1, 2))
    assert one.estimate != two.estimate


@settings(max_examples=40, deadline=None)
@given(responses=RESPONSES, other=st.integers(1, 12))
def test_bounds(responses: list[set[str]], other: int) -> None:
    answers = [sorted(r) for r in responses]
    rows = measure(listed(*answers) + listed(*["x"] * other, condition="other"))
    found = by_metric(rows)
    options = len({option for response in responses for option in response})
    value = {metric: row.estimate for metric, row in found.items()}
    assert None not in value.values()
    assert 0 <= value["entropy_bits"] <= math.log2(options) + 1e-9
    assert 1 - 1e-9 <= value["unique_items"] <= options + 1e-9
    assert 0 <= value["top5_share"] <= 1
    assert value["one_minus_top5_share"] == 1 - value["top5_share"]
    if other >= len(responses):
        assert value["unique_items"] == options
    for row in rows:
        if row.ci_low is not None:
            assert row.ci_low <= row.estimate <= row.ci_high
            assert row.reason is None
        else:
            assert row.ci_high is None
            assert row.reason is not None


@settings(max_examples=25, deadline=None)
@given(responses=RESPONSES)
def test_rarefied_options_grow_with_n(responses: list[set[str]]) -> None:
    answers = [sorted(r) for r in responses]
    curve = []
    for size in range(1, len(answers) + 1):
        rows = measure(listed(*answers) + listed(*["x"] * size, condition="other"))
        curve.append(by_metric(rows)["unique_items"].estimate)
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(curve))
    assert curve[0] == pytest.approx(sum(map(len, answers)) / len(answers))


def test_the_interval_is_as_wide_as_the_estimate_varies() -> None:
    """Coverage of the known entropy of a two-option source: near 95 of 100 in 60 fixed samples."""
    truth = -(0.3 * math.log2(0.3) + 0.7 * math.log2(0.7))
    held = 0
    for sample in range(60):
        source = random.Random(sample)
        answers = listed(*("a" if source.random() < 0.3 else "b" for _ in range(150)))
        row = by_metric(measure(answers, seed=sample))["entropy_bits"]
        assert row.ci_low is not None
        assert row.ci_high is not None
        held += row.ci_low <= truth <= row.ci_high
        assert 0.02 < row.ci_high - row.ci_low < 0.25
    assert 52 <= held <= 60


def test_two_crowds_have_a_wider_interval_of_the_entropy() -> None:
    """Where half name what others do not, leaving out one answer says next to nothing of its error."""
    row = by_metric(measure(listed(*["abcde"] * 41, *["fghij"] * 39)))["entropy_bits"]
    assert row.estimate == pytest.approx(math.log2(10), abs=0.001)
    assert (row.ci_high or 0) - (row.ci_low or 0) > 0.05


@pytest.mark.parametrize("n", [10, 40])
def test_intervals_of_lists_hold_the_expected_value(n: int) -> None:
    """Five of 30 options, the k-th with weight 1 / k ** 1.5: 100 fixed samples, truth from 600."""
    draw = np.random.default_rng(n)
    weights = -1.5 * np.log(np.arange(1, 31))
    keys = weights + draw.gumbel(size=(600, n, 30))
    lists = [["".join(chr(65 + k) for k in r) for r in s] for s in np.argsort(-keys)[:, :, :5]]
    truth = {
        "entropy_bits": sum(entropy(tuple(sample)) for sample in lists) / 600,
        "top5_share": sum(top5(tuple(sample)) for sample in lists) / 600,
    }
    answers = [a for k in range(100) for a in listed(*lists[k], item_id=f"{k:03}")]
    for metric, expected in truth.items():
        rows = [row for row in measure(answers) if row.metric == metric]
        held = sum((r.ci_low or 0) <= expected <= (r.ci_high or 0) for r in rows)
        # 95 of 100, give or take two errors of 2.2
        assert 90 <= held <= 100


def test_the_estimates_at_fewer_responses_keep_their_width() -> None:
    """Subsampling for the estimate averages noise out, so fewer responses may not double the width.

    The interval belongs to the mean over subsamples; that of a single subsample of a tenth of the
    responses would be about three times as wide.
    """
    source = random.Random(5)
    wide = [source.sample("abcdefghijklmnop", 5) for _ in range(200)]
    full = by_metric(measure(listed(*wide)))["entropy_bits"]
    rows = measure(listed(*wide) + listed(*["x"] * 20, condition="other"))
    few = by_metric(rows)["entropy_bits"]
    assert few.n_equal == 20
    assert None not in (full.ci_low, full.ci_high, few.ci_low, few.ci_high)
    assert few.ci_high - few.ci_low < 2 * (full.ci_high - full.ci_low)


def test_a_puppet_counts_once() -> None:
    """The first readable response of each puppet, whatever its repeats say."""
    first = [dataclasses.replace(a, puppet_id=f"p{k}") for k, a in enumerate(listed("ab", "cd"))]
    again = [dataclasses.replace(a, replicate=5, items=["z"]) for a in first]
    refused = [dataclasses.replace(first[0], replicate=-1, items=None)]
    plain = [dataclasses.replace(row, n_unread=1) for row in measure(first)]
    assert measure([*again, *refused, *first]) == plain


def test_the_interval_is_the_jackknife_over_responses() -> None:
    responses = ("abcde", "abfgh", "acfij", "bcdfk", "aelmn")
    row = by_metric(measure(listed(*responses)))["entropy_bits"]
    left_out = [entropy(responses[:k] + responses[k + 1 :]) for k in range(5)]
    mean = sum(left_out) / 5
    error = math.sqrt(4 / 5 * sum((value - mean) ** 2 for value in left_out))
    assert row.ci_low == pytest.approx(entropy(responses) - 2.7764 * error, abs=1e-4)
    assert row.estimate == pytest.approx(entropy(responses))


def test_what_has_no_reliable_interval_has_none() -> None:
    row = by_metric(measure(listed(*POPULATION)))["unique_items"]
    assert (row.ci_low, row.ci_high, row.reason) == (None, None, NO_INTERVAL)


def test_frames_from_a_table_measure_the_same(tmp_path: Path) -> None:
    answers = [*listed(*POPULATION, None), *chosen("AB", condition="c2")]
    tables.write_rows(tmp_path / "answers.parquet", answers, Answer)
    frame = tables.read_frame(tmp_path / "answers.parquet", Answer)
    rows = measure_heterogeneity(frame, seed=1, rarest_users=COVERED_BY_72)
    assert rows == measure(answers)
    tables.write_rows(tmp_path / "out.parquet", rows, Heterogeneity)
    assert tables.read_arrow(tmp_path / "out.parquet").num_rows == 4


def test_item_shares_by_hand() -> None:
    rows = measure_item_shares(answer_frame(listed("ab", "a", None, "acb", "a")))
    assert [(r.answer, r.n_named, r.n_responses, r.share) for r in rows] == [
        ("a", 4, 4, 1.0),
        ("b", 2, 4, 0.5),
        ("c", 1, 4, 0.25),
    ]
    # 2 of 4, z = 1.959964: centre 0.5, half width z sqrt(1/16 + z²/64) / (1 + z²/4)
    assert (rows[1].ci_low, rows[1].ci_high) == pytest.approx((0.150039, 0.849961), abs=1e-6)
    assert rows[0].ci_high == 1.0
