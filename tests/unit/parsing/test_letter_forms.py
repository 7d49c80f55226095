"""Letters in other forms: small ones, ticks and boxes, bold, JSON, look-alikes of other alphabets."""

import pytest

from fieldwork.parsing.choices import parse_choice
from fieldwork.records.parsing import AMBIGUITY

CITIES = ("Lyon", "Marseille", "Paris", "Nice")


def letter(text: str, choices: tuple[str, ...] = CITIES) -> str | None:
    return parse_choice(text, choices=choices).letter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ANSWER: b", "B"),
        ("ANSWER: a", "A"),
        ("The answer is b.", "B"),
        ("The answer is a.", "A"),
        ("The answer is b. It is a large city.", "B"),
        ('{"answer": "c"}', "C"),
        ('{"answer": "c", "reason": "it is large"}', "C"),
        ("答案：b", "B"),
        ("正确答案是c。", "C"),
        ("ANSWER: None of the above", None),
        ("ANSWER: I don't know", None),
        # articles, other words and lists
        ("The answer is a", None),
        ("The answer is a city.", None),
        ("ANSWER: a good one", None),
        ("ANSWER: a, b or c", None),
        ("I would pick B — a safe choice.", "B"),
    ],
)
def test_a_small_letter_counts_alone_after_a_word_that_announces_it(
    text: str, expected: str | None
) -> None:
    assert letter(text) == expected


def test_a_small_letter_that_is_the_text_of_an_option_is_no_letter() -> None:
    assert letter("The answer is b.", ("x", "b", "c", "d")) == "B"
    assert letter("The answer is b.", ("b", "c", "d", "x")) == "A"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: C (not D)", "C"),
        ("Answer: C (but not D)", "C"),
        ("Answer: P(A)", None),
        ("Answer: rules out C, leaving D", "D"),
        ("Answer: eliminates A and B, leaving C", "C"),
        ("Answer: rules out A, B and D", None),
        ("It leaves C or D.", None),
    ],
)
def test_one_letter_is_left_where_others_are_ruled_out(text: str, expected: str | None) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C ✅", "C"),
        ("✅ C", "C"),
        ("Answer: C ✔️", "C"),
        ("❌ A) Lyon\n❌ B) Marseille\n✅ C) Paris\n❌ D) Nice", "C"),
        ("A) Lyon ✗\nB) Marseille ✗\nC) Paris ✓\nD) Nice ✗", "C"),
        ("A) Lyon\nB) Marseille\n**C) Paris**\nD) Nice", "C"),
        ("- [ ] A) Lyon\n- [ ] B) Marseille\n- [x] C) Paris\n- [ ] D) Nice", "C"),
        ('{"A": false, "B": false, "C": true, "D": false}', "C"),
        # a statement beside the marks wins
        ("❌ A) Lyon\n✅ B) Marseille\n\nThe answer is (D).", "D"),
    ],
)
def test_the_one_option_with_a_mark_is_the_answer(text: str, expected: str) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "A) Lyon ✓\nB) Marseille ✓\nC) Paris ✗\nD) Nice ✗",
        "**A) Lyon**\n**B) Marseille**\n**C) Paris**",
        "A) Lyon\nB) Marseille\nC) Paris",
    ],
)
def test_several_options_with_the_same_mark_are_ambiguous(text: str) -> None:
    assert parse_choice(text, choices=CITIES)[1:3] == (None, AMBIGUITY)


@pytest.mark.parametrize(
    "text",
    ['{"A": true, "B": true, "C": false}', "- [ ] A) Lyon\n- [ ] B) Marseille"],
)
def test_marks_that_single_no_option_out_give_none(text: str) -> None:
    assert letter(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ответ: С", "C"),
        ("Ответ: В", "B"),
        ("Απάντηση: Α", "A"),
        ("Η απάντηση είναι Β.", "B"),
        # a word, and the third letter of the Russian alphabet
        ("Ответ: В Париже", None),
        ("А) первый\nБ) второй\nОтвет: В", None),
    ],
)
def test_letters_that_look_alike_count_where_their_alphabet_has_no_options(
    text: str, expected: str | None
) -> None:
    assert letter(text) == expected
