"""Questions put in other words by a table: casual, in a dialect, without politeness, misspelt.

One contract over the four: what each makes of a text, and what none of them touches.
"""

import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.tasks.variants.casual import put_casual, read_chat_words
from fieldwork.tasks.variants.dialects import put_dialect, read_dialect
from fieldwork.tasks.variants.fragments import put_fragment, read_politeness, split_sentences
from fieldwork.tasks.variants.misspellings import put_misspellings, read_misspellings
from unit.tasks.variants.planted_texts import (
    STEADY,
    TABLES,
    mixed_texts,
    negated_texts,
    protected_texts,
    survive,
)

CHAT_WORDS = read_chat_words(TABLES / "chat_words.csv")
POLITENESS = read_politeness(TABLES / "politeness.csv")
MISSPELLINGS = read_misspellings(TABLES / "misspellings.csv")
DIALECTS = {
    name: read_dialect(TABLES / "dialects.csv", name)
    for name in ("african_american_english", "indian_english")
}
PUT: dict[str, Callable[[str], str]] = {
    "casual": lambda text: put_casual(text, CHAT_WORDS),
    "fragment": lambda text: put_fragment(text, POLITENESS),
    **{name: partial(put_dialect, features=one) for name, one in DIALECTS.items()},
}

TEXTS = {
    "casual": [
        ("Are you sure? Please tell me, because I don't know.", "r u sure pls tell me bc idk"),
        ("My bill is 1,200.50 dollars, too high!", "my bill is 1,200.50 dollars too high"),
        ("What is NASA? And what's DNA?", "whats NASA and whats DNA"),
        ("A. Paris\nB. Rome, of course.", "A. paris\nB. rome of course"),
        ("Solve (2, 3), x, y and $a, b$.", "solve (2, 3), x, y and $a, b$"),
        ('Correct this: "You are, I think, Late."', 'correct this: "You are, I think, Late."'),
        ("See https://x.org/A?b=C. Then go.", "see https://x.org/A?b=C then go"),
        ("It isn’t true; I can't!", "it isnt true i cant"),
        ("Who were you? We're ill.", "who were u we're ill"),
        ("भारत की राजधानी क्या है? बताइए।", "भारत की राजधानी क्या है बताइए"),
        ("你好，请问今天天气怎么样？谢谢。", "你好 请问今天天气怎么样 谢谢"),
        ("ما هي العاصمة؟ شكرا، لك.", "ما هي العاصمة شكرا لك"),
        ("¿Dónde está Perú?", "dónde está perú"),
        ("Я знаю. Где Москва?", "я знаю где москва"),
        ("already plain: yes", "already plain: yes"),
        ("1. First thing.\n2. Next thing.", "1. First thing\n2. next thing"),
        ("", ""),
    ],
    "african_american_english": [
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
    "indian_english": [
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
    "fragment": [
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
}
ASKED = [
    "I have had a fever for a week. What should I take?",
    "A man has pain when he walks. Why is that?",
    *("I am a student of 15 years. What may I drink?", "Thank you."),
    *("Could you survive on Mars?", "  Why is the sky blue?  "),
    *(
        "Translate: “Hello, could you please tell me what it is? Thanks.”",
        "",
        "你好，请问今天天气怎么样？",
    ),
]
"""Texts that are all question, which stay as they are without politeness."""


@pytest.mark.parametrize(
    ("kind", "text", "put"),
    [
        *((kind, *pair) for kind, pairs in TEXTS.items() for pair in pairs),
        *(("fragment", text, text) for text in ASKED),
    ],
)
def test_what_each_kind_makes_of_a_text(kind: str, text: str, put: str) -> None:
    assert PUT[kind](text) == put


@pytest.mark.parametrize("kind", PUT)
@STEADY
@given(text=mixed_texts)
def test_twice_is_once(kind: str, text: str) -> None:
    put = PUT[kind](text)
    assert PUT[kind](put) == put
    if kind == "casual":
        assert put.count("\n") == text.count("\n")
    if kind == "fragment":
        assert "".join(split_sentences(text)) == text
        assert put == text or len(put) < len(text) + len("whether")
        assert any(map(str.isalnum, put)) == any(map(str.isalnum, text)), "something stays"


@STEADY
@given(pair=protected_texts, rate=st.floats(0, 1), seed=st.integers(0, 999))
def test_protected_parts_survive(pair: tuple[str, list[str]], rate: float, seed: int) -> None:
    text, kept = pair
    for put in PUT.values():
        assert survive(kept, put(text))
    misspelt, again = (
        put_misspellings(text, rate, MISSPELLINGS, random.Random(seed)) for _ in range(2)
    )
    assert survive(kept, misspelt)
    assert misspelt == again


@STEADY
@given(pair=negated_texts)
def test_negations_still_negate(pair: tuple[str, list[str]]) -> None:
    """Each stays, at most without its apostrophe in the casual way, or with another case."""
    text, kept = pair
    bare = [word.replace("'", "").replace("’", "") for word in kept]
    assert survive(bare, PUT["casual"](text))
    assert survive([word.casefold() for word in kept], PUT["fragment"](text).casefold())


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


class Table(NamedTuple):
    """How a table is read, its columns, and rows with what is said of them."""

    read: Callable[[Path], Any]
    header: str
    mistakes: dict[str, str]


BAD_TABLES = {
    "casual": Table(
        read_chat_words,
        "phrase,chat",
        {
            "you,": "lacks a phrase",
            "you,u\nYou,yu": "repeats 'you'",
            "be,b": "letter of an option",
            "u,you": "no longer than its phrase",
            "thank you,thanks\nthanks,thx": "'thanks' stands as the chat word",
        },
    ),
    "dialects": Table(
        lambda path: read_dialect(path, "d"),
        "dialect,feature,pattern,replacement,source",
        {
            "d,f,(a,b,s": "row 2: the pattern '\\(a'",
            "d,f,a,\\2,s": "no regular expression",
            "d,f,a*,b,s": "matches an empty text",
            "d,f,a,b,": "row 2 lacks",
            "other,f,a,b,s": "has no dialect 'd'; correct the name, there are other",
        },
    ),
    "politeness": Table(
        read_politeness,
        "place,pattern,replacement",
        {
            "middle,please,": "row 2.* has the place 'middle'",
            "opening,,": "row 2.*the pattern ''",
            "opening,(please,": "row 2.*no regular expression",
            "opening,please,\\g<verb>": "row 2.*no regular expression",
            "closing,(?:please)?,": "row 2.*matches an empty text",
        },
    ),
    "misspellings": Table(
        read_misspellings,
        "word,misspelling",
        {
            "receive,": "row 2 does not hold a word",
            "two words,towords": "row 2 does not hold a word",
            "same,same": "row 2 does not hold a word",
            "without,wihtout": "which negates",
            "form,from\nfrom,fron": "'from' stands as a misspelling of 'form'",
        },
    ),
}


@pytest.mark.parametrize(
    ("kind", "rows"),
    [(kind, rows) for kind, table in BAD_TABLES.items() for rows in table.mistakes],
)
def test_a_bad_table_is_refused(tmp_path: Path, kind: str, rows: str) -> None:
    table, path = BAD_TABLES[kind], tmp_path / "table.csv"
    path.write_text(f"{table.header}\n{rows}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=table.mistakes[rows]) as error:
        table.read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
