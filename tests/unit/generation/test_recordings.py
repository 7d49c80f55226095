"""Recorded answers as responses: matched to items and users, numbered, and nothing invented."""

from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.recordings.answers import RecordedAnswer
from fieldwork.generation.recordings import RecordedArm, recorded_responses
from fieldwork.records.generation import Response
from fieldwork.records.tasks import Item

QUESTIONS = {"q1": "Is the earth round at all?", "q2": "Is water wet, would you say?"}
PROMPT = "{}\nA. yes\nB. no\n\nAnswer with only a single letter."
ITEMS = [
    Item(name, "choice", text, PROMPT.format(text), ["yes", "no"], "A", None, "test")
    for name, text in QUESTIONS.items()
]
ARM = RecordedArm(
    model="gpt",
    task="quiz",
    condition="offline",
    recording="old",
    recorded_model=None,
    has_user=False,
    rows={},
    temperature=1.0,
    first=0,
    runs=2,
    match="id",
    wording="same",
)


def answer(item: str | None = "q1", text: str | None = "A", **more: Any) -> RecordedAnswer:
    nothing = dict.fromkeys(RecordedAnswer._fields)
    values = {"source": f"f.csv: {item} {text} {more}", "item": item, "text": text, "options": []}
    return RecordedAnswer(**{**nothing, **values, "fields": {}, **more})


def rows_of(*answers: RecordedAnswer, **arm: Any) -> list[Response]:
    return list(recorded_responses(answers, ITEMS, ARM._replace(**arm)))


def test_a_row_has_only_what_the_file_says() -> None:
    (row,) = rows_of(answer(source="f.csv: row 2"))
    assert (row.item_id, row.replicate, row.text, row.outcome) == ("q1", 0, "A", "ok")
    assert (row.dispatch, row.source, row.defects) == ("recorded", "f.csv: row 2", [])
    unsaid = ("ledger_key", "attempts", "cost_usd", "input_tokens", "latency_s", "returned_model")
    unsaid += ("temperature_sent", "context_id", "puppet_id")
    assert {getattr(row, name) for name in unsaid} == {None}


@pytest.mark.parametrize(
    ("text", "reason", "outcome"),
    [
        ("A", "stop", "ok"),
        ("A", "max_tokens", "truncated"),
        ("", None, "empty"),
        ("", "content_filter", "filtered"),
        (None, None, "failed"),
    ],
)
def test_outcomes(text: str | None, reason: str | None, outcome: str) -> None:
    (row,) = rows_of(answer(text=text, finish_reason=reason))
    assert row.outcome == outcome


def test_users_are_puppets_and_blank_answers_are_not() -> None:
    answers = [answer(), answer(user="anna"), answer("q2", user="ben"), answer("other", user="ben")]
    found = rows_of(*answers, condition="people", has_user=True)
    people = [(row.item_id, row.puppet_id, row.replicate) for row in found]
    assert people == [("q1", "anna", 0), ("q2", "ben", 0)]
    assert [row.puppet_id for row in rows_of(*answers)] == [None]


def test_repeats_are_numbered_by_name_or_as_they_come() -> None:
    unnamed = rows_of(answer(text="A"), answer(text="B"), answer("q2", text="C"))
    assert [row.replicate for row in unnamed] == [0, 1, 0]
    named = rows_of(*(answer(text=name, replicate=name) for name in ("10", "9")))
    assert {row.text: row.replicate for row in named} == {"9": 0, "10": 1}


def test_a_control_has_the_repeats_after_those_of_its_twin() -> None:
    answers = [answer(text=str(n), replicate=str(n)) for n in range(5)]
    assert [row.text for row in rows_of(*answers)] == ["0", "1"]
    again = rows_of(*answers, condition="again", first=2)
    assert [(row.text, row.replicate) for row in again] == [("2", 2), ("3", 3)]
    sentence = r"has 5 answers of gpt without a user, and again begins with"
    with pytest.raises(StudyError, match=sentence):
        rows_of(*answers, condition="again", first=5)


def test_questions_are_matched_by_their_wording() -> None:
    spaced = answer("0", question=" is the  EARTH round at all? ")
    wrapped = answer("1", prompt=f"Here is an example.\n\nQ: {QUESTIONS['q2']}\nA:")
    rows = rows_of(spaced, wrapped, answer("2", question="Is it so?"), match="question")
    assert [row.item_id for row in rows] == ["q1", "q2"]


def test_another_wording_is_refused_or_told(caplog: pytest.LogCaptureFixture) -> None:
    other = answer("q2", prompt="Water: wet?", source="f.csv: row 9")
    answers = [answer(prompt=ITEMS[0].prompt), other]
    sentence = r"1 of 2 answers are to a prompt of another wording.*row 9"
    with pytest.raises(StudyError, match=sentence):
        rows_of(*answers)
    assert len(rows_of(*answers, wording="any")) == 2
    assert "another wording" in caplog.text


TWICE = [answer(replicate="1", source="row 2"), answer(replicate="1", source="row 3")]


@pytest.mark.parametrize(
    ("answers", "settings", "message"),
    [
        ([answer(model="a"), answer(model="b")], {}, r"answers of several models \(a, b\)"),
        ([answer(model="a")], {"recorded_model": "b"}, r"has no answer of 'b'; its models are a"),
        ([answer("x")], {}, r"is to an item of tasks\.quiz; its items are such as x"),
        ([answer(user="anna")], {}, r"is one without a user that belongs to the condition offline"),
        ([answer()], {"has_user": True}, r"is one with a user that belongs to"),
        ([answer(temperature=0.0)], {}, r"recorded at temperature 0, and conditions\.offline\.t"),
        (TWICE, {}, r"row 2 and row 3 are both repeat '1' of item 'q1'"),
        ([answer(replicate="1"), answer()], {}, r"has none, and other rows have"),
    ],
)
def test_recordings_that_match_nothing(
    answers: list[RecordedAnswer], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message) as refusal:
        rows_of(*answers, **settings)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(("recordings.old", "models.gpt"))
