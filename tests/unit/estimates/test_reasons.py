"""Why something is missing, in the words that readers of the page and of the tables meet."""

import dataclasses

import pytest

from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, list_means, list_prompts, listed

ALIKE = "leaving out an answer never changes the value"
FEW = (
    "no interval: 3 users answer, and 39 are needed to cover kinds of users as rare as 0.125 "
    "(metrics.rarest_users)"
)
NO_PROMPTS = "no interval for prompts like these: "


def baseline(*lists: str) -> list[Answer]:
    return listed(*lists, condition="offline")


def users(*lists: str) -> list[Answer]:
    return [
        dataclasses.replace(row, puppet_id=f"p{row.replicate}", replicate=0)
        for row in listed(*lists)
    ]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (listed(None, None), "none of 2 answers gives an option"),
        (
            listed(*"aab"),
            "no difference: no prompt is answered both here and under offline",
        ),
        (listed("a", "a") + baseline("a", "b"), f"no interval and no test: {ALIKE}"),
        (
            listed("a", "a", "b") + baseline("a", "a"),
            f"no test: {ALIKE} under offline, and fewer than 100 answers may be alike by chance",
        ),
        (
            listed("a") + baseline("a"),
            "no interval: there is one answer; "
            f"no test: {ALIKE} under offline, and fewer than 100 answers may be alike by chance",
        ),
        (users(*"abb") + baseline(*"abb"), FEW),
        (
            users(*["a"] * 3) + baseline("a", "b"),
            f"{FEW}; no test: {ALIKE} under offline, and fewer than 100 answers may be alike by chance",
        ),
        (users(*"aab" * 20) + baseline("a", "b", "b"), None),
        (users(*"ab", *"a" * 38) + baseline(*["a"] * 100), "no interval of the difference: one side is "
         "always alike, and on the other fewer than 6 differ from the rest"),
        (listed(*"abb") + baseline(*"aab"), None),
    ],
)  # fmt: skip
def test_a_mean_over_prompts(answers: list[Answer], reason: str | None) -> None:
    (row,) = (
        row
        for row in list_means(answer_frame(answers))
        if (row.condition, row.measure) == ("c", "entropy_bits")
    )
    assert row.reason == reason


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (listed(None), "none of 1 answers gives an option"),
        (listed("ab"), "no interval: there is one answer"),
        (listed("ab", "ab"), f"no interval: {ALIKE}"),
        (users(*"abb"), FEW),
        (listed("ab", "ac", "ad", "a"), None),
    ],
)
def test_a_prompt(answers: list[Answer], reason: str | None) -> None:
    rows = {row.measure: row.reason for row in list_prompts(answer_frame(answers))}
    assert rows["entropy_bits"] == reason
    if "gives" not in (reason or ""):
        assert rows["unique_items"] == (
            "no interval: none is reliable for this measure (docs/methods.md)"
        )


@pytest.mark.parametrize(
    ("n_prompts", "lists", "reason"),
    [
        (1, "ab", "1 prompt, and 9 are needed"),
        (8, "ab", "8 prompts, and 9 are needed"),
        (9, "aa", "there is none for these"),
        (9, "ab", None),
    ],
)
def test_prompts_like_these(n_prompts: int, lists: str, reason: str | None) -> None:
    answers = [row for k in range(n_prompts) for row in listed(*lists, item_id=f"i{k}")]
    reasons = {row.prompts_reason for row in list_means(answer_frame(answers))}
    assert len(reasons) == 1
    (text,) = reasons
    assert text is reason is None or (text or "").startswith(NO_PROMPTS + (reason or ""))
