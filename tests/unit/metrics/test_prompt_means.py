"""Means over prompts: against the cells' table and closed forms, whole puppets, and empty input."""

import dataclasses
from statistics import mean

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from fieldwork.metrics.heterogeneity import measure_heterogeneity
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.records.metrics import PromptMean
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import COVERED_BY_72, answer_frame, chosen, listed


def measure(answers: list[Answer]) -> list[PromptMean]:
    return measure_prompt_means(
        answer_frame(answers), baseline="offline", seed=1, rarest_users=COVERED_BY_72
    )


def width(row: PromptMean) -> float:
    return (row.ci_high or 0.0) - (row.ci_low or 0.0)


def of(rows: list[PromptMean], condition: str = "c", metric: str = "entropy_bits") -> PromptMean:
    (row,) = (r for r in rows if (r.condition, r.metric) == (condition, metric))
    return row


def drawn(
    condition: str, n: int, *, n_options: int = 8, n_items: int = 3, seed: int = 1
) -> list[Answer]:
    """Lists of three; the puppets are named but where nobody asks."""
    random = np.random.default_rng([seed, n_options, n])
    rows = [
        row
        for item in range(n_items)
        for row in listed(
            *[
                random.choice([*"abcdefgh"][:n_options], 3, replace=False).tolist()
                for _ in range(n)
            ],
            condition=condition,
            item_id=f"i{item}",
        )
    ]
    if condition == "offline":
        return rows
    return [dataclasses.replace(r, puppet_id=f"p{r.replicate}", replicate=0) for r in rows]


@pytest.mark.parametrize(("here", "there"), [(20, 20), (30, 12), (12, 30)])
def test_the_mean_is_that_of_the_cells(here: int, there: int) -> None:
    answers = drawn("c", here) + drawn("offline", there, n_options=5)
    cells = measure_heterogeneity(answer_frame(answers), seed=1, rarest_users=COVERED_BY_72)
    rows = measure(answers)
    for metric in ("entropy_bits", "one_minus_top5_share"):
        means = {
            condition: mean(
                r.estimate or 0.0 for r in cells if (r.condition, r.metric) == (condition, metric)
            )
            for condition in ("c", "offline")
        }
        row = of(rows, metric=metric)
        assert row.mean == pytest.approx(means["c"])
        assert row.difference == pytest.approx(means["c"] - means["offline"])
        assert (row.n_items, row.n_equal) == (3, min(here, there))
        assert (row.n_units, row.n_units_baseline, row.unit) == (here, there, "puppet")


@pytest.mark.parametrize("metric", ["entropy_bits", "one_minus_top5_share"])
def test_the_interval_of_one_prompt_is_that_of_its_cell(metric: str) -> None:
    """Its longer side is on the same side: few odd users make it uneven."""
    odd = [
        dataclasses.replace(r, items=["x", "y", "z"]) if r.puppet_id in ("p1", "p2", "p3") else r
        for r in drawn("c", 80, n_options=7, n_items=1)
    ]
    answers = odd + drawn("offline", 80, n_options=7, n_items=1)
    cells = measure_heterogeneity(answer_frame(answers), seed=1, rarest_users=COVERED_BY_72)
    (cell,) = (r for r in cells if (r.condition, r.metric) == ("c", metric))
    row = of(measure(answers), metric=metric)
    assert (row.ci_low, row.ci_high) == pytest.approx((cell.ci_low, cell.ci_high))


def test_puppets_who_always_answer_alike_count_once() -> None:
    """The same answers to every prompt say no more than those to one."""
    one = [r for r in drawn("c", 80) + drawn("offline", 80) if r.item_id == "i0"]
    copies = [dataclasses.replace(r, item_id=f"i{k}") for r in one for k in range(4)]
    alone, repeated = of(measure(one)), of(measure(copies))
    assert repeated.mean == pytest.approx(alone.mean)
    assert repeated.ci_low == pytest.approx(alone.ci_low)
    assert alone.ci_low is not None
    # responses of nobody are new draws at each prompt, and do say more
    before, after = (of(measure(rows), "offline") for rows in (one, copies))
    assert width(after) < 0.6 * width(before)


def test_a_difference_is_found_and_corrected_over_the_conditions() -> None:
    answers = drawn("c", 72) + drawn("d", 72, n_options=5) + drawn("offline", 30, n_options=5)
    rows = measure(answers)
    c, d = of(rows), of(rows, "d")
    assert c.p_value is not None
    assert c.p_holm == pytest.approx(2 * c.p_value)
    assert c.p_holm < 0.001 < (d.p_holm or 0)
    assert (c.difference_low or 0) > 0
    assert c.n_higher == 3
    assert (d.difference_low or 0) < 0 < (d.difference_high or 0)


def test_few_users_are_tested_and_have_no_interval() -> None:
    row = of(measure(drawn("c", 30) + drawn("offline", 30, n_options=5)))
    assert row.difference is not None
    assert row.p_value is not None
    assert (row.ci_low, row.ci_high, row.difference_low, row.difference_high) == (None,) * 4
    assert row.reason == (
        "no interval: 30 users answer, and 72 are needed to cover kinds of users as rare as 0.0686 "
        "(metrics.rarest_users)"
    )


def test_the_interval_follows_the_users_who_are_few() -> None:
    """Four odd users of eighty: more is above the mean than below it."""
    odd = [
        dataclasses.replace(r, items=["x", "y", "z"]) if r.puppet_id in ("p1", "p2", "p3") else r
        for r in drawn("c", 80, n_options=3)
    ]
    row = of(measure(odd + drawn("offline", 20, n_options=3)))
    assert (row.ci_high or 0) - (row.mean or 0) > 1.2 * ((row.mean or 0) - (row.ci_low or 0)) > 0


def test_the_error_is_that_of_the_delta_method() -> None:
    here = listed(*[["a"]] * 140, *[["b"]] * 60)
    there = listed(*[["a"]] * 180, *[["b"]] * 20, condition="offline")
    row = of(measure(here + there))
    # of two options with shares p and 1 - p the entropy has the slope log2((1 - p) / p)
    variance = sum(np.log2((1 - p) / p) ** 2 * p * (1 - p) / 200 for p in (0.7, 0.9))
    reach = ((row.difference_high or 0) - (row.difference_low or 0)) / 2
    assert reach == pytest.approx(1.966 * np.sqrt(variance), rel=0.03)


@pytest.mark.parametrize(
    ("answers", "reason", "has_mean"),
    [
        (listed(None, None), "no answer gives an option", False),
        (listed(["a"], ["b"]), "no prompt is answered both here and under the baseline", False),
        (
            listed(["a"], ["a"]) + listed(["a"], ["b"], condition="offline"),
            "no interval and no test: leaving out an answer never changes",
            True,
        ),
        (
            listed(["a"], ["a"], ["b"]) + listed(["a"], ["a"], condition="offline"),
            "no test: leaving out an answer of the baseline",
            True,
        ),
        (
            listed(["a"]) + listed(["a"], ["b"], condition="offline"),
            "no interval and no test",
            True,
        ),
    ],
)
def test_what_cannot_be_given_is_null_with_a_reason(answers, reason: str, has_mean: bool) -> None:
    row = of(measure(answers))
    assert row.reason is not None
    assert row.reason.startswith(reason)
    assert (row.mean is not None) is has_mean
    assert (row.p_value, row.p_holm, row.difference_low) == (None, None, None)


def test_a_baseline_that_always_answers_alike_is_tested_where_it_answers_often() -> None:
    """As a model does at temperature 0."""
    settled = [
        r
        for item in range(3)
        for r in listed(*[["a", "b", "c"]] * 40, condition="offline", item_id=f"i{item}")
    ]
    row = of(measure(drawn("c", 80) + settled))
    assert row.p_value is not None
    assert row.p_value < 1e-6
    # the whole error is that of the users
    assert (row.difference_high, row.difference_low) == pytest.approx(
        ((row.ci_high or 0) - np.log2(3), (row.ci_low or 0) - np.log2(3))
    )
    changed = [dataclasses.replace(settled[0], items=["a", "b", "d"]), *settled[1:]]
    other = of(measure(drawn("c", 80) + changed))
    assert row.difference == pytest.approx(other.difference, abs=0.1)
    # few answers may be alike by chance
    few = of(measure(drawn("c", 80) + [r for r in settled if r.replicate < 20]))
    assert few.p_value is None
    assert "fewer than 100 answers may be alike by chance" in (few.reason or "")


def test_three_odd_users_beside_a_settled_baseline_have_no_interval() -> None:
    settled = [
        r
        for item in range(3)
        for r in listed(*[["a", "b", "c"]] * 80, condition="offline", item_id=f"i{item}")
    ]
    users = [
        dataclasses.replace(r, condition="c", puppet_id=f"p{r.replicate}", replicate=0)
        for r in settled
    ]
    odd = [
        dataclasses.replace(r, items=["a", "b", "z"]) if r.puppet_id in ("p1", "p2", "p3") else r
        for r in users
    ]
    row = of(measure(odd + settled))
    # 240 answers of the baseline would hardly all be alike if one in 27 were of this kind there too
    assert row.p_value is not None
    assert (row.difference_low, row.difference_high) == (None, None)
    assert "fewer than 6 differ from the rest" in (row.reason or "")


def test_the_baseline_has_a_mean_and_no_test() -> None:
    row = of(measure(drawn("offline", 9) + drawn("c", 9)), "offline")
    assert row.mean is not None
    assert row.ci_low is not None
    assert (row.difference, row.p_value) == (None, None)
    assert row.reason == "the baseline is not compared with itself"


def test_prompts_like_these_have_the_wider_interval() -> None:
    rows = measure(drawn("c", 80, n_items=9) + drawn("offline", 20, n_items=9, n_options=5))
    row, offline = of(rows), of(rows, "offline")
    for low, high, prompts_low, prompts_high in (
        (row.ci_low, row.ci_high, row.prompts_low, row.prompts_high),
        (offline.ci_low, offline.ci_high, offline.prompts_low, offline.prompts_high),
        (
            row.difference_low,
            row.difference_high,
            row.prompts_difference_low,
            row.prompts_difference_high,
        ),
    ):
        assert None not in (low, high, prompts_low, prompts_high)
        assert (prompts_low or 0.0) < (low or 0.0) < (high or 0.0) < (prompts_high or 0.0)
    assert (row.prompts_reason, offline.prompts_difference_low) == (None, None)


def test_copies_of_a_prompt_add_no_variance_of_prompts() -> None:
    one = [r for r in drawn("c", 80) + drawn("offline", 80) if r.item_id == "i0"]
    row = of(measure([dataclasses.replace(r, item_id=f"i{k}") for r in one for k in range(9)]))
    # the error of people alone, at the degrees of freedom of 9 prompts instead of 80 puppets
    assert (row.prompts_high or 0.0) - (row.prompts_low or 0.0) == pytest.approx(
        width(row) * student.ppf(0.975, 8) / student.ppf(0.975, 79), rel=0.05
    )


def test_the_interval_for_prompts_like_these_is_that_over_prompts_where_people_do_not_matter() -> (
    None
):
    """Many answers to prompts that differ much: Student's t over the prompts."""
    random = np.random.default_rng(5)
    answers = [
        row
        for item in range(9)
        for condition in ("c", "offline")
        for row in listed(
            *[[f"o{k}"] for k in random.integers(0, 2 ** (1 + item), 300)],
            condition=condition,
            item_id=f"i{item}",
        )
    ]
    row = of(measure(answers))
    cells = measure_heterogeneity(answer_frame(answers), seed=1, rarest_users=COVERED_BY_72)
    bits = [r.estimate or 0.0 for r in cells if (r.condition, r.metric) == ("c", "entropy_bits")]
    interval = ttest_1samp(bits, 0.0).confidence_interval(0.95)
    assert (row.prompts_low, row.prompts_high) == pytest.approx(tuple(interval), abs=0.01)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (drawn("c", 9) + drawn("offline", 9), "3 prompts, and 9 are needed"),
        (drawn("c", 9, n_items=1) + drawn("offline", 9, n_items=1), "1 prompt, and 9 are needed"),
        (listed(["a"], ["a"]) + listed(["a"], ["b"], condition="offline"), "none for these"),
    ],
)
def test_few_prompts_say_nothing_of_others(answers: list[Answer], reason: str) -> None:
    row = of(measure(answers))
    assert (row.prompts_low, row.prompts_high) == (None, None)
    assert (row.prompts_difference_low, row.prompts_difference_high) == (None, None)
    assert reason in (row.prompts_reason or "")


@pytest.mark.parametrize("answers", [[], chosen("AB")])
def test_without_lists_there_are_no_rows(answers: list[Answer]) -> None:
    assert measure(answers) == []
