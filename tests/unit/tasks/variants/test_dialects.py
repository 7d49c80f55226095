"""Features of dialects: each where it fits, sourced, and a negation stays one."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given

from fieldwork.errors import StudyError
from fieldwork.tasks.variants.dialects import put_dialect, read_dialect
from unit.tasks.variants.planted_texts import STEADY, TABLES, mixed_texts, protected_texts, survive

PATH = TABLES / "dialects.csv"
DIALECTS = {
    name: read_dialect(PATH, name) for name in ("african_american_english", "indian_english")
}
AFRICAN_AMERICAN = DIALECTS["african_american_english"]
INDIAN = DIALECTS["indian_english"]


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("Which of these is not a metal?", "Which of these ain't a metal?"),
        ("Which is NOT a metal?", "Which is NOT a metal?"),
        ("It doesn't help those people.", "It don't help them people."),
        ("They are working and she is a doctor.", "They working and she a doctor."),
        ("He is very tired.", "He very tired."),
        ("There are many causes.", "There's many causes."),
        ("She wants to know if you all agree.", "She want to know if y'all agree."),
        ("They haven't been there.", "They ain't been there."),
        ("I don't have any money.", "I don't have no money."),
        ("We were there.", "We was there."),
        ("He is always late.", "He be always late."),
        ("We are about to leave.", "We finna leave."),
        ("Is it not true? What is it?", "Is it not true? What is it?"),
        ("Are there any left?", "Are there any left?"),
        ("He is something else.", "He is something else."),
    ],
)
def test_african_american_english(text: str, put: str) -> None:
    assert put_dialect(text, AFRICAN_AMERICAN) == put


@pytest.mark.parametrize(
    ("text", "put"),
    [
        (
            "I know the answer and they need help.",
            "I am knowing the answer and they are needing help.",
        ),
        ("What are you doing?", "What you are doing?"),
        ("Where do you live?", "Where you live?"),
        ("Is it safe to eat?", "It is safe to eat?"),
        ("Which of the following is true?", "Which of following is true?"),
        ("You will come, won't you?", "You will come, isn't it?"),
        ("Give me advice about work.", "Give me advices about work."),
        ("Explain what it is.", "Explain what is it."),
        ("Do not go. Is not this it?", "Do not go. Is not this it?"),
        (
            "What do you know? As you know, I have been ill.",
            "What you know? As you are knowing, I have been ill.",
        ),
        ("Can this drug help?", "Can this drug help?"),
    ],
)
def test_indian_english(text: str, put: str) -> None:
    assert put_dialect(text, INDIAN) == put


def test_every_feature_has_its_number_and_its_rating() -> None:
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in DIALECTS:
        features = {row["feature"] for row in rows if row["dialect"] == name}
        assert 6 <= len(features) <= 15
    for row in rows:
        assert re.fullmatch(r"eWAVE 3\.0 feature \d{1,3}, [A-Z][\w ]+: [AB]", row["source"])


@pytest.mark.parametrize("name", DIALECTS)
@STEADY
@given(text=mixed_texts)
def test_twice_is_once(name: str, text: str) -> None:
    put = put_dialect(text, DIALECTS[name])
    assert put_dialect(put, DIALECTS[name]) == put


@pytest.mark.parametrize("name", DIALECTS)
@STEADY
@given(pair=protected_texts)
def test_protected_parts_survive(name: str, pair: tuple[str, list[str]]) -> None:
    text, kept = pair
    assert survive(kept, put_dialect(text, DIALECTS[name]))


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("subject", ["He", "They", "The cells", "I"])
@pytest.mark.parametrize(
    "verb",
    ["is not", "isn't", "are not", "aren’t", "does not", "doesn't", "has not", "don't", "never"],
)
@pytest.mark.parametrize("rest", ["seen it", "any help", "working", "know anything", "a doctor"])
def test_a_negation_stays_one(name: str, subject: str, verb: str, rest: str) -> None:
    put = put_dialect(f"{subject} {verb} {rest}.", DIALECTS[name])
    assert re.search(r"\b(?:not|never|ain't|don't|isn't|\w+n['’]t)\b", put)


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("subject", ["He", "They", "The cells", "I"])
@pytest.mark.parametrize("rest", ["is here", "are working", "does help", "knows any", "was seen"])
def test_no_negation_comes_up(name: str, subject: str, rest: str) -> None:
    put = put_dialect(f"{subject} {rest}.", DIALECTS[name])
    assert not re.search(r"\b(?:not|no|never|nothing|nobody|ain't|\w+n['’]t)\b", put)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("d,f,(a,b,s", "row 2: the pattern '\\(a'"),
        ("d,f,a,\\2,s", "no regular expression"),
        ("d,f,a*,b,s", "matches an empty text"),
        ("d,f,a,b,", "row 2 lacks"),
        ("other,f,a,b,s", "has no dialect 'd'; correct the name, there are other"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, row: str, complaint: str) -> None:
    path = tmp_path / "dialects.csv"
    path.write_text(f"dialect,feature,pattern,replacement,source\n{row}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=complaint) as error:
        read_dialect(path, "d")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
