"""Plans: who is asked what, and how often."""

import pytest

from fieldwork.errors import StudyError
from fieldwork.generation.requests import ContextRef, plan_requests

BLANK = ContextRef(None, None, None)
ANNA = ContextRef("c-anna", "anna", None)
BERT = ContextRef("c-bert", "bert", None)
RETRIEVED = ContextRef("c-anna-q2", "anna", "q2")


@pytest.mark.parametrize(
    ("contexts", "n", "expected"),
    [
        ([], 3, []),
        # reruns of every item
        ([BLANK], 2, ["q1 None None 0", "q1 None None 1", "q2 None None 0", "q2 None None 1"]),
        # a context serves all items, one context after the other
        (
            [ANNA, BERT],
            1,
            ["q1 c-anna anna 0", "q2 c-anna anna 0", "q1 c-bert bert 0", "q2 c-bert bert 0"],
        ),
        # a context made for an item serves that one alone
        ([RETRIEVED, BERT], 1, ["q2 c-anna-q2 anna 0", "q1 c-bert bert 0", "q2 c-bert bert 0"]),
        ([RETRIEVED], 3, [f"q2 c-anna-q2 anna {i}" for i in range(3)]),
    ],
)
def test_plan(contexts: list[ContextRef], n: int, expected: list[str]) -> None:
    planned = plan_requests(("q1", "q2"), contexts, n)
    found = [f"{r.item_id} {r.context_id} {r.puppet_id} {r.replicate}" for r in planned]
    assert found == expected


def test_some_items_are_asked_less_often_and_a_second_arm_is_numbered_on() -> None:
    planned = plan_requests(["q1", "q2"], [ANNA], 3, first=2, fewer={"q2": 1})
    found = [(r.item_id, r.replicate) for r in planned]
    assert found == [("q1", 2), ("q1", 3), ("q1", 4), ("q2", 2)]


def test_more_requests_than_a_study_may_ask_are_refused_before_they_are_made() -> None:
    sentence = r"tasks\.\*\.runs: one task and condition has 60,000,000 requests"
    with pytest.raises(StudyError, match=sentence):
        plan_requests([f"q{n}" for n in range(60)], [BLANK], 1_000_000)
