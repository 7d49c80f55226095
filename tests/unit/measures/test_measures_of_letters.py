"""The entropy of letters: of those drawn, and of the probabilities that answers state."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import question
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, chosen

SETTINGS = EstimateSettings("offline", 1, ("history",), rarest_users=0.3)
EVEN, SURE, HALF = (0.25,) * 4, (1.0, 0.0, 0.0, 0.0), (0.5, 0.5, 0.0, 0.0)


def stating(
    *shares: Sequence[float], condition: str = "history", users: bool = True, **names: Any
) -> list[Answer]:
    """An answer by letter of each user, or call, that states its probabilities."""
    return [
        dataclasses.replace(
            answer,
            replicate=0 if users else k,
            option_probabilities=[
                {"option": letter, "probability": p}
                for letter, p in zip("ABCD", of_letters, strict=True)
            ],
        )
        for k, of_letters in enumerate(shares)
        for answer in chosen(
            ["ABCD"[int(np.argmax(of_letters))]],
            condition=condition, puppet_id=f"u{k:03}" if users else None, **names,
        )
    ]  # fmt: skip


def offline(*shares: Sequence[float], **names: Any) -> list[Answer]:
    return stating(*shares, condition="offline", users=False, **names)


def drawn(answers: Sequence[Answer]) -> list[Answer]:
    return [dataclasses.replace(answer, option_probabilities=None) for answer in answers]


def estimates(answers: Sequence[Answer], item: str | None = None) -> dict[str, Estimate]:
    rows = estimate_question(question("letters"), answer_frame(answers), SETTINGS)
    return {row.condition: row for row in rows if row.item_id == item}


def test_probabilities_take_the_place_of_letters_and_a_stated_baseline_is_exact() -> None:
    # each of the users is sure of a letter, or as unsure as the baseline
    users = stating(*[(0.9, 0.1, 0.0, 0.0), (0.1, 0.9, 0.0, 0.0)] * 20)
    rows = estimates([*users, *offline(HALF, HALF)])
    assert rows["offline"].is_stated
    assert (rows["offline"].value, rows["offline"].ci_low, rows["offline"].ci_high) == (1, 1, 1)
    history = rows["history"]
    # 40 users of all: the jackknife adds what as many lack on average
    assert history.value == pytest.approx(1.0, abs=0.02)
    assert (history.n_equal, history.n_units, history.is_stated) == (40, 40, True)
    # two crowds that weigh up: leaving out one user says nothing of how others would
    assert history.p_value is None
    assert (history.reason or "").startswith("no interval and no test")
    assert estimates(drawn([*users, *offline(HALF, HALF)]))["history"].n_equal == 2


def test_users_who_all_state_the_same_differ_from_a_baseline_that_states_other() -> None:
    rows = estimates([*stating(*[HALF] * 12), *offline(SURE, SURE)])
    assert (rows["history"].difference, rows["history"].p_value) == (1, 2.0**-11)
    same = estimates([*stating(*[HALF] * 12), *offline(HALF, HALF)])
    assert (same["history"].difference, same["history"].p_value) == (0, 1)


def test_users_who_are_alike_and_less_sure_than_the_baseline_are_more_varied() -> None:
    random = np.random.default_rng(1)
    users = random.dirichlet([30.0] * 4, size=40)
    rows = estimates([*stating(*users), *offline(SURE, SURE)])
    history = rows["history"]
    assert history.value == pytest.approx(2.0, abs=0.02)
    assert history.difference == history.value
    assert history.p_value is not None
    assert history.p_value < 1e-6


def test_few_users_lack_nothing_on_average() -> None:
    random = np.random.default_rng(2)
    values = [
        estimates(stating(*random.dirichlet([2.0, 1.0, 0.5, 0.5], size=8)))["history"].value
        for _ in range(60)
    ]
    mean = np.array([2.0, 1.0, 0.5, 0.5]) / 4
    truth = -math.fsum(p * math.log2(p) for p in mean)
    assert np.mean([value or 0.0 for value in values]) == pytest.approx(truth, abs=0.03)


@pytest.mark.parametrize("lost", ["a user's", "the baseline's", "unlisted"])
def test_where_an_answer_states_less_all_conditions_count_as_drawn(lost: str) -> None:
    users, baseline = stating(*[HALF] * 12), offline(HALF, HALF)
    if lost == "unlisted":
        users[0] = dataclasses.replace(users[0], unlisted_share=0.01)
    elif lost == "a user's":
        users[0] = drawn(users[:1])[0]
    else:
        baseline[0] = drawn(baseline[:1])[0]
    rows = estimates([*users, *baseline])
    assert rows == estimates(drawn([*users, *baseline]))
    assert not rows["history"].is_stated


def test_one_question_of_two_without_probabilities_is_said() -> None:
    items = [
        answer
        for item in ("a", "b")
        for answer in (*stating(*[HALF] * 12, item_id=item), *offline(HALF, HALF, item_id=item))
    ]
    half = [drawn([answer])[0] if answer.item_id == "b" else answer for answer in items]
    row = estimates(half)["history"]
    assert not row.is_stated
    assert "count as drawn: 12 here and 2 under offline" in (row.reason or "")
    assert estimates(half, "a") == estimates(items, "a")


def test_real_users_do_not_make_letters_of_probabilities() -> None:
    answers = [*stating(*[HALF] * 12), *offline(HALF, HALF)]
    field = drawn(stating(*[SURE] * 12, condition=FIELD))
    rows = estimates([*answers, *field])
    assert rows["history"] == estimates(answers)["history"]
    assert not rows[FIELD].is_stated


def test_a_baseline_that_was_asked_once_is_not_exact() -> None:
    items = [
        answer
        for item in ("a", "b", "c")
        for answer in (*stating(*[HALF] * 12, item_id=item), *offline(HALF, item_id=item))
    ]
    assert estimates(items)["offline"].ci_low is None
