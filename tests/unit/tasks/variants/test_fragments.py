"""Questions without their politeness: what goes, and that what is asked stays."""

from pathlib import Path

import pytest
from hypothesis import given

from fieldwork.errors import StudyError
from fieldwork.tasks.variants.fragments import put_fragment, read_politeness, split_sentences
from unit.tasks.variants.planted_texts import (
    STEADY,
    TABLES,
    mixed_texts,
    negated_texts,
    protected_texts,
    survive,
)

POLITENESS = read_politeness(TABLES / "politeness.csv")


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("Hi there! Could you please tell me what entropy is? Thanks a lot.", "What entropy is?"),
        ("hello, i was wondering if ice floats?", "whether ice floats?"),
        ("Please write a poem.", "Write a poem."),
        ("I would like to know how bees fly.", "How bees fly."),
        ("Can you explain why it rains, please?", "Explain why it rains?"),
        ("What is the capital of France?", "Capital of France?"),
        ("Which of the following statements is NOT true?", "Which statement is NOT true?"),
        ("Which of the following are acids?", "Which are acids?"),
        ("I am a student. I have a question. Why is the sky blue?", "Why is the sky blue?"),
        ("I'm preparing for my biology exam. What do enzymes do?", "What do enzymes do?"),
        ("Why? I need this for school. Thank you in advance!", "Why? I need this for school."),
        (
            "Sorry to bother you, but why do cats purr? Any help is appreciated.",
            "Why do cats purr?",
        ),
    ],
)
def test_politeness_goes(text: str, put: str) -> None:
    assert put_fragment(text, POLITENESS) == put


@pytest.mark.parametrize(
    "text",
    [
        "I have had a fever for a week. What should I take?",
        "A man has pain when he walks. Why is that?",
        "I am a student of 15 years. What may I drink?",
        "Thank you.",
        "Please!",
        "Hello",
        "Could you survive on Mars?",
        "Can you use a hammer on glass?",
        "  Why is the sky blue?  ",
        "Translate: “Hello, could you please tell me what it is? Thanks.”",
        "Say this back. Hello. Then stop.",
        "",
        "你好，请问今天天气怎么样？",
        "`please` does what?",
    ],
)
def test_what_is_asked_stays(text: str) -> None:
    assert put_fragment(text, POLITENESS) == text


@STEADY
@given(text=mixed_texts)
def test_twice_is_once_and_something_stays(text: str) -> None:
    put = put_fragment(text, POLITENESS)
    assert put_fragment(put, POLITENESS) == put
    assert put == text or len(put) < len(text) + len("whether")
    assert any(map(str.isalnum, put)) == any(map(str.isalnum, text))


@STEADY
@given(pair=protected_texts)
def test_protected_parts_survive(pair: tuple[str, list[str]]) -> None:
    text, kept = pair
    assert survive(kept, put_fragment(text, POLITENESS))


@STEADY
@given(pair=negated_texts)
def test_negations_survive(pair: tuple[str, list[str]]) -> None:
    text, kept = pair
    folded = [part.casefold() for part in kept]
    assert survive(folded, put_fragment(text, POLITENESS).casefold())


@STEADY
@given(text=mixed_texts)
def test_sentences_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("middle,please,", "has the place 'middle'"),
        ("opening,,", "the pattern ''"),
        ("opening,(please,", "no regular expression"),
        ("opening,please,\\g<verb>", "no regular expression"),
        ("closing,(?:please)?,", "matches an empty text"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, row: str, complaint: str) -> None:
    path = tmp_path / "politeness.csv"
    path.write_text(f"place,pattern,replacement\n{row}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=complaint) as error:
        read_politeness(path)
    assert f"{path}: row 2" in str(error.value)
    assert "\n" not in str(error.value)
