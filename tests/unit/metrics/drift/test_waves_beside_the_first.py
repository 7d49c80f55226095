"""Waves beside the first one: values, tests, verdicts of a look, and what has none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from fieldwork.metrics.drift.calls import lacks_answers
from fieldwork.metrics.drift.table import judge
from unit.metrics.drift.waves_of_calls import (
    FIRST,
    PLAN,
    SECOND,
    by_measure,
    calls,
    calls_with,
    measure,
)

ITEMS = [f"i{k:02}" for k in range(20)]
RIGHT = dict.fromkeys(ITEMS, "A")


def test_a_fall_of_accuracy_has_mcnemars_p_value() -> None:
    fallen = RIGHT | dict.fromkeys(ITEMS[:12], "B")
    row = by_measure(measure([*calls("w40", RIGHT), *calls("w41", fallen)]))["accuracy"]
    assert (row.first_wave, row.wave, row.look) == (FIRST, SECOND, 1)
    assert (row.first_value, row.value, row.change) == pytest.approx((1.0, 0.4, -0.6))
    assert row.p_value == pytest.approx(binomtest(0, 12).pvalue)
    assert row.n_permutations == 0
    # accuracy and letters alone could show a change
    assert row.p_holm == pytest.approx(2 * binomtest(0, 12).pvalue)
    assert row.level == pytest.approx(0.05 / 4)
    assert row.has_moved is True
    assert (row.ci_low or 0) < -0.6 < (row.ci_high or 0) < 0
    assert (row.n_items, row.n_answers, row.n_first_answers) == (20, 20, 20)


def test_unreadable_letters_are_wrong_and_refusals_no_failures_of_format() -> None:
    now = RIGHT | dict.fromkeys(ITEMS[:8], "?") | dict.fromkeys(ITEMS[8:14], "!")
    rows = by_measure(measure([*calls("w40", RIGHT), *calls("w41", now)]))
    values = {name: row.value for name, row in rows.items()}
    assert values["accuracy"] == pytest.approx(0.3)
    assert values["format_failures"] == pytest.approx(0.4)
    assert values["refusals"] == pytest.approx(0.3)


def test_options_that_are_replaced_are_a_distance_beyond_chance() -> None:
    random = np.random.default_rng(1)

    def lists(condition: str, first: str) -> list[dict[str, Any]]:
        names = [first, *(f"o{k}" for k in range(1, 9))]
        replies = {
            i: [random.choice(names, 4, replace=False) for _ in "0123456789"] for i in ITEMS[:6]
        }
        nothing = {"kind": "list", "gold": None, "letter": None}
        return [row | nothing for row in calls_with("items", condition, replies)]

    rows = measure([*lists("w40", "o0"), *lists("w41", "new"), *lists("w42", "o0")])
    moved, same = by_measure(rows)["options"], by_measure(rows, "w42")["options"]
    assert (moved.has_moved, moved.first_value) == (True, None)
    assert (moved.n_permutations or 0) > 1999
    assert moved.change == pytest.approx(0.06, abs=0.03)
    assert (same.has_moved, same.n_permutations) == (False, 1999)
    assert same.change == pytest.approx(0, abs=0.03)
    assert (same.value or 0) > 0.02
    assert "it is a distance" in (same.reason or "")


def test_a_letter_that_takes_over_shows_with_one_answer_a_question() -> None:
    letters = {item: "BCD"[k % 3] for k, item in enumerate(ITEMS)}
    takes_over = by_measure(
        measure([*calls("w40", letters), *calls("w41", dict.fromkeys(ITEMS, "D"))])
    )["letters"]
    assert takes_over.has_moved is True
    # as many of each letter as before, to other questions: no letter is preferred
    turned = dict(zip(ITEMS, [*letters.values()][::-1], strict=True))
    same = by_measure(measure([*calls("w40", letters), *calls("w41", turned)]))["letters"]
    assert (same.value, same.has_moved) == (pytest.approx(0), False)


def test_times_have_medians_and_no_verdict() -> None:
    random = np.random.default_rng(2)

    waves: dict[str, dict[str, list[float | None]]] = {
        wave: {item: [factor * float(np.exp(random.normal(1, 0.3)))] for item in ITEMS}
        for wave, factor in (("w40", 1), ("w41", 1), ("w42", 3))
    }
    waves["w41"]["i00"], waves["w42"]["i01"] = [1623.0], [None]
    rows = measure(row for wave in waves for row in calls_with("latency_s", wave, waves[wave]))
    same, slower = by_measure(rows)["latency"], by_measure(rows, "w42")["latency"]
    assert 2 * (same.value or 9.0) < (slower.value or 0.0) < 2 * 5
    assert (slower.n_items, slower.n_answers) == (19, 19)
    # a slow hour makes all calls of a wave slow, and is no change of the model
    assert (same.has_moved, slower.has_moved, slower.p_value, slower.ci_low) == (None,) * 4
    assert "near in time" in (slower.reason or "")


def test_calls_of_a_batch_have_no_time() -> None:
    live, later = (calls_with("latency_s", wave, {"i": [3.0]}) for wave in ("w40", "w41"))
    rows = by_measure(measure([*live, *(row | {"dispatch": "batch"} for row in later)]))
    assert rows["latency"].value is None
    assert rows["latency"].reason == f"no item of {FIRST} has a value of latency again in {SECOND}"
    assert "latency" not in by_measure(measure([*calls("w40", RIGHT), *calls("w41", RIGHT)]))


def test_waves_are_compared_on_what_both_answer() -> None:
    first = calls("w40", {"a": "AAB", "b": "AA", "gone": "BBBB"})
    second = calls("w41", {"a": "AB", "b": "BB", "new": "BBBB"})
    row = by_measure(measure([*first, *second]))["accuracy"]
    assert (row.first_value, row.value) == pytest.approx((5 / 6, 1 / 4))
    assert (row.n_items, row.n_answers, row.n_first_answers) == (2, 4, 5)


def test_a_wave_without_answers_has_rows_that_say_so() -> None:
    rows = measure([*calls("w40", RIGHT), *calls("w42", RIGHT)])
    absent = [row for row in rows if row.condition == "w41"]
    assert {row.reason for row in absent} == {f"no answers in {SECOND}"}
    assert all(lacks_answers(row) and row.value is None for row in absent)
    assert by_measure(rows, "w42")["accuracy"].look == 2
    # the first wave is the first with answers
    rows = measure([*calls("w41", RIGHT), *calls("w42", RIGHT)])
    assert {row.first_wave for row in rows} == {SECOND}
    assert by_measure(rows, "w40")["accuracy"].look == 0
    assert by_measure(rows, "w42")["accuracy"].first_value == 1.0


def test_a_look_beyond_those_planned_has_no_verdict() -> None:
    fallen = dict.fromkeys(ITEMS, "B")
    rows = measure(
        [*calls("w40", RIGHT), *calls("w41", RIGHT), *calls("w42", fallen)], PLAN._replace(looks=1)
    )
    late = by_measure(rows, "w42")["accuracy"]
    assert (late.level, late.p_holm, late.has_moved) == (None, None, None)
    assert late.p_value is not None
    assert "beyond the 1" in (late.reason or "")


def test_what_could_show_nothing_has_no_verdict_and_costs_the_others_nothing() -> None:
    few = {"a": "A", "b": "A"}
    row = by_measure(measure([*calls("w40", few), *calls("w41", {"a": "B", "b": "B"})]))["accuracy"]
    assert (row.p_value, row.p_least, row.has_moved) == (0.5, 0.5, None)
    assert (row.reason or "").endswith("no p-value is below 0.5, and the level of a look is 0.013")


def test_verdicts_are_corrected_over_a_look_alone() -> None:
    row = by_measure(measure([*calls("w40", RIGHT), *calls("w41", RIGHT)]))["length"]
    rows = [
        replace(row, look=look, p_value=p, p_least=1e-9, reason=None)
        for look, p in ((1, 0.004), (1, 0.02), (2, 0.01), (2, 0.5))
    ]
    judged = judge(rows, PLAN)
    assert [r.p_holm for r in judged] == pytest.approx([0.008, 0.02, 0.02, 0.5])
    assert [r.has_moved for r in judged] == [True, False, False, False]


def test_the_level_is_kept_where_nothing_changes() -> None:
    random = np.random.default_rng(6)
    claims = 0
    for _ in range(30):
        shares = dict(zip(ITEMS, random.dirichlet([0.6, 0.3, 0.2], size=8), strict=False))
        rows = []
        for wave in ("w40", "w41", "w42"):
            letters = {i: "".join(random.choice([*"ABC"], 4, p=p)) for i, p in shares.items()}
            rows += calls(wave, letters)
        claims += any(row.has_moved for row in measure(rows))
    # 2 of 4 looks: 2.5 % of studies at most, so that 5 of 30 have a chance below 0.1 %
    assert claims < 5
