"""Replies of the reading model as statements: JSON in all its dresses, lines, quotations, nonsense."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.memory.statements import (
    NO_STATEMENT,
    NO_TURN,
    NOT_A_TURN,
    NOT_SAID,
    NOT_THE_USER,
    RAN_AWAY,
    read_statements,
)
from unit.memory.conversations import conversation, reply

TALK = conversation("I am a nurse. I own a dog.", "Good for you.", "I like tea.")
NURSE = '{"attribute": "Is a nurse", "kind": "fact", "turns": [1], "confidence": 0.9}'
TEA = '{"attribute": "Likes tea", "kind": "preference", "turns": [3], "confidence": 0.5}'


def stated(text: str, form: str = "statements") -> list[tuple[object, ...]]:
    rows = read_statements(reply(text), TALK, form)  # type: ignore[arg-type]
    assert [row.place for row in rows] == list(range(len(rows)))
    keys = {(row.user_id, row.conversation_id, row.attribute_id) for row in rows}
    assert keys == {("u1", "c1", None)}
    return [(row.text, tuple(row.turns), row.confidence, row.kind, row.reason) for row in rows]


BOTH = [
    ("Is a nurse", (1,), 0.9, "fact", None),
    ("Likes tea", (3,), 0.5, "preference", None),
]


@pytest.mark.parametrize(
    "text",
    [
        f"{NURSE}\n{TEA}",
        f"[{NURSE}, {TEA}]",
        f"```json\n[{NURSE},\n{TEA}]\n```",
        f'{{"attributes": [{NURSE}, {TEA}]}}',
        f"Here you are:\n- {NURSE}\n- {TEA}\nThat is all.",
    ],
)
def test_json_is_read_whatever_stands_around_it(text: str) -> None:
    assert stated(text) == BOTH


def test_a_reply_that_states_nothing_or_runs_away_is_one_row_with_the_reason() -> None:
    for text in ("[]", "```json\n[]\n```", "", "  \n"):
        assert stated(text) == [(None, (), None, None, NO_STATEMENT)]
    ((text, *_, reason),) = stated(json.dumps({"attribute": "x" * 5000, "turns": [1]}))
    assert (len(str(text)), reason) == (1000, RAN_AWAY)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ("[1, 3]", ((1, 3), None)),
        ('"1 and 3"', ((1, 3), None)),
        ("3", ((3,), None)),
        ("[1, 1, 99]", ((1,), None)),
        ("[2]", ((2,), NOT_THE_USER)),
        ("[2, 3]", ((2, 3), None)),
        ("[0]", ((0,), NOT_A_TURN)),
        # more than a column of whole numbers holds
        (f"[{10**23}]", ((0,), NOT_A_TURN)),
        ("[]", ((), NO_TURN)),
        ("true", ((), NO_TURN)),
    ],
)
def test_only_a_turn_of_the_user_is_evidence(
    turns: str, expected: tuple[tuple[int, ...], str | None]
) -> None:
    ((_, read, _, _, reason),) = stated(f'{{"attribute": "Has a dog", "turns": {turns}}}')
    assert (read, reason) == expected


def test_a_confidence_is_a_share_or_a_word_or_a_text_of_it() -> None:
    words = {'"high"': 0.9, '"0.2"': 0.2, '"20 %"': 0.2}
    for confidence, expected in {
        "0.25": 0.25,
        **words,
        "7": None,
        '"nan"': None,
        "true": None,
    }.items():
        text = f'{{"attribute": "Has a dog", "turns": [1], "confidence": {confidence}}}'
        assert stated(text)[0][2] == expected, confidence


def test_quoted_sentences_have_the_turns_in_which_they_were_written() -> None:
    assert stated("1. I am a nurse.\n2. “i like tea”\n3. I fly planes.", "sentences") == [
        ("I am a nurse.", (1,), None, None, None),
        ("I like tea.", (3,), None, None, None),
        ("I fly planes.", (), None, None, NOT_SAID),
    ]


def test_the_probability_of_being_named_first_is_the_confidence_unless_it_is_all_or_nothing() -> (
    None
):
    shares = [("I am a nurse.", 0.75), ("I own a dog.", 0.25), ("I like tea.", 0.0)]
    drawn = read_statements(reply("1. I own a dog.", shares=shares), TALK, "sentences")
    greedy = [("I am a nurse.", 0.0), ("I own a dog.", 1.0)]
    best = read_statements(reply("1. I own a dog.", shares=greedy), TALK, "sentences")
    assert (drawn[0].confidence, best[0].confidence) == (0.25, None)


@given(st.text(alphabet='{}[]",:ae1\n tributnskdco.-', max_size=300))
def test_any_reply_is_rows_with_turns_of_the_user_or_a_reason(text: str) -> None:
    for form in ("statements", "sentences"):
        for row in read_statements(reply(text), TALK, form):  # type: ignore[arg-type]
            assert row.reason or any(turn in (1, 3) for turn in row.turns)
