"""The split of variance against plain loops over pairs, known sources, and input without an answer."""

import dataclasses
import itertools
import math
import random
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from fieldwork.estimates.answer_sets import AnswerSet, ItemAnswers
from fieldwork.metrics.components import cells_of, item_distances, prompt_variance
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import VarianceShare
from fieldwork.records.parsing import Answer
from fieldwork.statistics.user_intervals import likelihood_interval, sample_needed
from unit.metrics.metric_frames import (
    COVERED_BY_72,
    answer_frame,
    asked,
    chosen,
    differ,
    listed,
    mean,
)

Items = Mapping[str, ItemAnswers]


def only(answers: list[Answer]) -> VarianceShare:
    settings = {"n_permutations": 99, "seed": 1, "rarest_users": COVERED_BY_72}
    (row,) = measure_variance(answer_frame(answers), baseline="offline", **settings)
    return row


def by_puppet(answers: ItemAnswers) -> dict[str, list[tuple[str, ...]]]:
    groups = itertools.groupby(answers.answers, lambda one: one.puppet)
    return {puppet: [one.options for one in group] for puppet, group in groups}


def plainly(answers: ItemAnswers) -> tuple[float, float]:
    """Rerun and between of an item, by loops over pairs."""
    own = by_puppet(answers)
    rerun = [
        mean([differ(a, b) for a, b in itertools.combinations(given, 2)])
        for given in own.values()
        if len(given) > 1
    ]
    between = [
        mean([differ(a, b) for a in own[p] for b in own[q]])
        for p, q in itertools.combinations(own, 2)
    ]
    return mean(rerun), mean(between)


def drawn(seed: int, fewest: int) -> Items:
    source = random.Random(seed)
    return {
        item: ItemAnswers(
            sorted(
                AnswerSet(puppet, k, tuple(sorted(source.sample("KLMNO", source.randint(1, 3)))))
                for puppet in "abcd"
                for k in range(source.randint(fewest, 3))
            ),
            0,
        )
        for item in "xyz"
    }


@pytest.mark.parametrize("seed", range(8))
def test_components_are_means_over_pairs(seed: int) -> None:
    items = {k: v for k, v in drawn(seed, 0).items() if v.answers}
    cells = cells_of(items)
    found = item_distances(cells.items.values(), np.ones(len(cells.units)))
    expected = [plainly(answers) for answers in items.values()]
    np.testing.assert_allclose(found.rerun, [rerun for rerun, _ in expected], atol=1e-12)
    np.testing.assert_allclose(found.two_cells, [between for _, between in expected], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_prompt_variance_is_over_pairs_of_other_items_and_puppets(seed: int) -> None:
    items = drawn(seed, 1)
    own = {item: by_puppet(answers) for item, answers in items.items()}
    apart = [
        mean([differ(a, b) for a in own[i][p] for b in own[j][q]])
        for i, j in itertools.permutations("xyz", 2)
        for p, q in itertools.permutations("abcd", 2)
    ]
    inside = mean([plainly(answers)[1] for answers in items.values()])
    assert prompt_variance(cells_of(items)) == pytest.approx(mean(apart) - inside)


@pytest.mark.parametrize(
    ("letters", "share"),
    [({"p": "AA", "q": "BB", "r": "CC"}, 1.0), ({"p": "AB", "q": "AB", "r": "AB"}, -1.0)],
)
def test_ends_of_the_scale(letters: dict[str, str], share: float) -> None:
    row = only(asked(letters))
    # the estimate is unbiased, so that reruns more unlike than puppets take it below zero
    assert row.share_who == pytest.approx(share)
    assert row.var_who == pytest.approx((row.var_answers or 0) * share)


def test_the_interval_is_of_the_jackknifes_pseudo_values_of_the_logarithm() -> None:
    kinds = {"p": "AAB", "q": "BBC", "r": "CCC", "s": "ABC", "t": "AAA"}
    letters = {f"{name}{k}": given for name, given in kinds.items() for k in range(15)}
    row = only(asked(letters))

    def log_ratio(left: Mapping[str, str]) -> float:
        given = [AnswerSet(p, k, (x,)) for p, of in left.items() for k, x in enumerate(of)]
        rerun, between = plainly(ItemAnswers(given, 0))
        return math.log(rerun / between)

    whole = log_ratio(letters)
    without = {
        name: log_ratio({k: v for k, v in letters.items() if k != f"{name}0"}) for name in kinds
    }
    pseudo = np.array([75 * whole - 74 * without[puppet[0]] for puppet in letters])
    interval = likelihood_interval(pseudo)
    assert interval is not None
    assert row.share_who == pytest.approx(1 - math.exp(whole))
    assert row.ci_low == pytest.approx(1 - math.exp(interval.high))
    assert row.ci_high == pytest.approx(1 - math.exp(interval.low))


def source(share: float, puppets: int, reruns: int, seed: int) -> list[Answer]:
    """Answers whose puppets hold `share` of the variance: each keeps a letter of its own so often."""
    draw = random.Random(seed)
    answers: list[Answer] = []
    for item in "wxyz":
        for k in range(puppets):
            own = draw.choice("ABCD")
            # two reruns agree by conviction with chance `share`
            told = (
                own if draw.random() < math.sqrt(share) else draw.choice("ABCD")
                for _ in range(reruns)
            )
            answers += chosen(told, puppet_id=f"p{k:03}", item_id=item)
    return answers


@pytest.mark.parametrize("share", [0.0, 0.25, 0.81])
@pytest.mark.parametrize(("puppets", "reruns"), [(10, 2), (80, 2)])
def test_known_sources(share: float, puppets: int, reruns: int) -> None:
    """20 samples: the mean is near the truth, and at most three intervals miss it."""
    rows = [only(source(share, puppets, reruns, seed)) for seed in range(20)]
    shares = np.array([row.share_who for row in rows])
    assert abs(shares.mean() - share) < 4 * shares.std(ddof=1) / math.sqrt(20)
    if puppets < sample_needed(COVERED_BY_72):
        assert {row.ci_low for row in rows} == {None}
    else:
        assert sum(not (row.ci_low or 0) <= share <= (row.ci_high or 0) for row in rows) <= 3
    found = sum((row.p_value or 0) <= 0.05 for row in rows)
    assert found <= 4 if share == 0 else found >= 12


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (chosen("AB", condition="c"), "this condition has no users"),
        (asked({"p": "AB"}), "no item is answered by two puppets"),
        (asked({"p": "A", "q": "B"}), r"no puppet answers an item twice.*replicates: 2"),
        (asked({"p": "AA", "q": "AA"}), "all answers to an item are the same"),
        (listed(None, None), "none of 2 answers can be read"),
        (
            [*asked({"p": "AA"}), *asked({"p": "A", "q": "B"}, item_id="j")],
            "no item is answered by two puppets of whom one answers it twice",
        ),
    ],
)
def test_no_share_is_null_with_a_reason(answers: list[Answer], reason: str) -> None:
    row = only(answers)
    assert (row.share_who, row.ci_low, row.ci_high, row.p_value) == (None,) * 4
    assert pd.Series([row.reason]).str.match(reason).all()
    numbers = dataclasses.astuple(row)
    assert not any(isinstance(value, float) and math.isnan(value) for value in numbers)


def test_offline_arms_have_their_rerun_variance() -> None:
    row = only(chosen("AABB", condition="offline"))
    assert row.var_rerun == pytest.approx(4 / 6)
    assert (row.var_answers, row.over_baseline, row.n_puppets) == (None, None, 0)
