"""Shifts of options: Newcombe's published intervals, who counts, the family, and empty sides."""

import dataclasses
import random

import pytest

from fieldwork.metrics.shifts import measure_shifts
from fieldwork.records.metrics import Shift
from fieldwork.records.parsing import Answer
from fieldwork.statistics.fisher import Margins, fisher_p
from unit.metrics.metric_frames import answer_frame, listed


def measure(*answers: list[Answer]) -> list[Shift]:
    rows = [row for part in answers for row in part]
    return measure_shifts(answer_frame(rows), baseline="offline")


def of(rows: list[Shift], answer: str, item: str = "i", condition: str = "c") -> Shift:
    (row,) = (r for r in rows if (r.answer, r.item_id, r.condition) == (answer, item, condition))
    return row


def puppets(*responses: list[str] | None, **where: str) -> list[Answer]:
    """Each response by a puppet of its own."""
    return [
        dataclasses.replace(answer, puppet_id=f"p{k}", replicate=0)
        for k, answer in enumerate(listed(*responses, **where))
    ]


def test_shares_shift_and_test_of_an_option() -> None:
    rows = measure(
        listed(*[["Tesla", "Ford"]] * 9, ["Ford"], condition="offline"),
        puppets(*[["Tesla"]] * 3, *[["Ford", "Ford"]] * 7),
    )
    tesla = of(rows, "Tesla")
    assert (tesla.n_named_baseline, tesla.n_baseline, tesla.n_named, tesla.n_answers) == (
        9,
        10,
        3,
        10,
    )
    assert (tesla.baseline_share, tesla.share) == (0.9, 0.3)
    assert tesla.shift == pytest.approx(-0.6)
    assert (tesla.ci_low, tesla.ci_high) == pytest.approx((-0.8090, -0.1705), abs=5e-5)
    assert tesla.p_value == pytest.approx(fisher_p(3, Margins(12, 10, 10)))
    assert (tesla.n_family, tesla.unit, tesla.reason) == (2, "puppet", None)


def test_the_family_is_the_whole_task_and_no_other_arm() -> None:
    one = measure(listed(["a"], ["b"]), listed(["a"], ["c"], condition="offline"))
    more = measure(
        listed(["a"], ["b"]),
        listed(["a"], ["c"], condition="offline"),
        listed(["x"], item_id="j"),
        listed(["y"], condition="offline", item_id="j"),
        listed(["z"], condition="d"),
    )
    assert {row.n_family for row in one} == {3}
    assert {row.condition: row.n_family for row in more} == {"c": 5, "d": 3}


REFUSED = "no answer to i can be read"


@pytest.mark.parametrize(
    ("here", "there", "answers", "reason"),
    [
        (listed(None, None), listed(["a"], condition="offline"), ["a"], REFUSED),
        (listed(["a"]), [], ["a"], f"{REFUSED} under the baseline condition offline"),
        (listed(None), listed(None, condition="offline"), [None], REFUSED),
    ],
)  # fmt: skip
def test_an_empty_side_is_null_with_a_reason(here, there, answers, reason: str) -> None:
    rows = measure(here, there)
    assert [row.answer for row in rows] == answers
    for row in rows:
        assert (row.shift, row.ci_low, row.ci_high, row.p_value) == (None,) * 4
        assert row.reason is not None
        assert row.reason.startswith(reason)
        assert row.n_family == 0


def test_a_source_that_stays_gives_few_false_alarms_and_one_that_moves_is_found() -> None:
    draw = random.Random(5)

    def answers(share: float, condition: str) -> list[Answer]:
        return [
            row
            for item in range(30)
            for row in listed(
                *[["a" if draw.random() < share else "b"] for _ in range(40)],
                condition=condition,
                item_id=f"i{item}",
            )
        ]

    rows = measure(answers(0.6, "offline"), answers(0.6, "same"), answers(0.1, "moved"))
    found = {
        c: sum((r.p_value or 1) < 0.05 / r.n_family for r in rows if r.condition == c)
        for c in ("same", "moved")
    }
    assert found["same"] == 0
    assert found["moved"] > 40
    held = [r for r in rows if r.condition == "moved" and r.answer == "a"]
    assert sum((r.ci_low or 0) <= -0.5 <= (r.ci_high or 0) for r in held) >= 26
