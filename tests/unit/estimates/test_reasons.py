"""Why something is missing, in the words that readers of the page and of the tables meet."""

import dataclasses

import pytest

from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, list_estimates, listed

ALIKE = "leaving out an answer never changes the value"
ONE, SETTLED = "no interval: there is one answer", f"no interval: {ALIKE}"
BY_CHANCE = f"no test: {ALIKE} under offline, and fewer than 100 answers may be alike by chance"
FEW = (
    "no interval: 3 users answer, and 39 are needed to cover kinds of users as rare as 0.125 "
    "(metrics.rarest_users)"
)
ELSEWHERE = "no difference: no prompt is answered both here and under offline"
NO_MOVERS = (
    "no interval of the difference: one side is always alike, and on the other fewer than 6 differ from "
    "the rest"
)


def answers(letters: str, condition: str, *, users: bool = False) -> list[Answer]:
    """A list of one option a letter, a dot for none."""
    rows = listed(*[None if o == "." else o for o in letters], condition=condition)
    named = [dataclasses.replace(r, puppet_id=f"p{r.replicate}", replicate=0) for r in rows]
    return named if users else rows


@pytest.mark.parametrize(
    ("own", "users", "baseline", "of_prompt", "of_mean"),
    [
        ("..", False, "aab", *["none of 2 answers gives an option"] * 2),
        ("aab", False, "", None, ELSEWHERE),
        ("aa", False, "", SETTLED, f"{SETTLED}; {ELSEWHERE}"),
        ("aa", False, "aab", SETTLED, f"no interval and no test: {ALIKE}"),
        ("aab", False, "aa", None, BY_CHANCE),
        ("a", False, "a", ONE, f"{ONE}; {BY_CHANCE}"),
        ("abb", True, "aab", FEW, FEW),
        ("aaa", True, "aab", FEW, f"{FEW}; {BY_CHANCE}"),
        ("ab" + "a" * 38, True, "a" * 100, None, NO_MOVERS),
        ("aab" * 20, True, "aab", None, None),
    ],
)
def test_a_prompt_and_a_mean(
    own: str, users: bool, baseline: str, of_prompt: str | None, of_mean: str | None
) -> None:
    rows = list_estimates(
        answer_frame(answers(own, "c", users=users) + answers(baseline, "offline"))
    )
    reasons = {
        r.item_id: r.reason for r in rows if (r.condition, r.measure) == ("c", "entropy_bits")
    }
    assert reasons == {"i": of_prompt, None: of_mean}
