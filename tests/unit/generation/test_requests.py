"""Plans: who is asked what, and how often."""

import pytest

from fieldwork.errors import StudyError
from fieldwork.generation.requests import ContextRef, plan_requests

BLANK = ContextRef(None, None, None)
ANNA = ContextRef("c-anna", "anna", None)
BERT = ContextRef("c-bert", "bert", None)
RETRIEVED = ContextRef("c-anna-q2", "anna", "q2")


def plan(*contexts: ContextRef, items: tuple[str, ...] = ("q1", "q2"), n: int = 1) -> list[str]:
    return [
        f"{r.item_id} {r.context_id} {r.puppet_id} {r.replicate}"
        for r in plan_requests(items, contexts, n)
    ]


@pytest.mark.parametrize(
    ("contexts", "n", "expected"),
    [
        pytest.param([], 3, [], id="no context, no request"),
        pytest.param(
            [BLANK],
            2,
            ["q1 None None 0", "q1 None None 1", "q2 None None 0", "q2 None None 1"],
            id="offline: reruns of every item",
        ),
        pytest.param(
            [ANNA, BERT],
            1,
            ["q1 c-anna anna 0", "q2 c-anna anna 0", "q1 c-bert bert 0", "q2 c-bert bert 0"],
            id="a context serves all items, one context after the other",
        ),
        pytest.param(
            [RETRIEVED, BERT],
            1,
            ["q2 c-anna-q2 anna 0", "q1 c-bert bert 0", "q2 c-bert bert 0"],
            id="a context made for an item serves that one alone",
        ),
        pytest.param(
            [RETRIEVED], 3, [f"q2 c-anna-q2 anna {i}" for i in range(3)], id="replicates from 0"
        ),
    ],
)
def test_plan(contexts: list[ContextRef], n: int, expected: list[str]) -> None:
    assert plan(*contexts, n=n) == expected


def test_some_items_are_asked_less_often() -> None:
    planned = plan_requests(["q1", "q2"], [ANNA], 3, first=2, fewer={"q2": 1})
    assert [(r.item_id, r.replicate) for r in planned] == [
        ("q1", 2),
        ("q1", 3),
        ("q1", 4),
        ("q2", 2),
    ]


def test_a_second_arm_is_numbered_on_after_the_first() -> None:
    first, again = (plan_requests(["q1"], [BLANK], 3, first=first) for first in (0, 3))
    assert [r.replicate for r in [*first, *again]] == [0, 1, 2, 3, 4, 5]


def test_more_requests_than_a_study_may_ask_are_refused_before_they_are_made() -> None:
    with pytest.raises(
        StudyError, match=r"tasks\.\*\.runs: one task and condition has 60,000,000 requests"
    ):
        plan_requests([f"q{n}" for n in range(60)], [BLANK], 1_000_000)
