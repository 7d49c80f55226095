"""Which letters of a reply are an option's, and which of several claims counts."""

import pytest

from fieldwork.parsing.choices import parse_choice
from fieldwork.records.parsing import AMBIGUITY, NO_LETTER

TEN = "ABCDEFGHIJ"
CITIES = ("Paris", "Rome", "Berlin", "Madrid")


def letter(text: str, letters: str = TEN, choices: tuple[str, ...] = ()) -> str | None:
    return parse_choice(text, letters=letters, choices=choices).letter


# ---- a closing statement wins -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        *("138°F is the closest.", "H is true, so G is false."),
        *("If H is true, then B is true. So C is correct.", "A is correct only if B is false."),
        *("Statement (A) is true, and (B) is closest.", "Of these, (C) fits best."),
        "Option H is the best of the lot.",
        "Let A be the event. Then A = 3 and I is the identity.",
    ],
)
@pytest.mark.parametrize(
    "closing",
    [
        *("The answer is (D).", "Therefore, the answer is (D)."),
        *("The final answer is: $\\boxed{(D)}$", "Answer: D", "\n\n**D**", "答案是D。"),
    ],
)
def test_a_closing_statement_wins_over_every_claim_before_it(claim: str, closing: str) -> None:
    assert letter(f"{claim} {closing}") == "D"


def test_a_closing_statement_of_a_letter_that_the_item_lacks_leaves_none() -> None:
    assert letter("First, (B) seemed right. The answer is (K).") is None
    assert letter("B is correct. The answer is (E).", "ABCD") is None


# ---- letters that are no option's ---------------------------------------------------------------------


def test_roman_numbers_are_options_only_where_the_options_do_not_count_them() -> None:
    romans = ("i only", "ii only", "i and ii", "iii")
    assert letter("The answer is (i) only.", "ABCDEFGHIJ", romans) != "I"
    assert letter("(i) and (ii) hold, so the answer is (C).", TEN, romans) == "C"


@pytest.mark.parametrize("options", ["ABCD", TEN])
def test_reading_does_not_lean_to_a_letter(options: str) -> None:
    """What is read for one letter is read for all of them."""
    forms = (
        *("The answer is ({}).", "{}", "**{}.** Rome", "({}) is the correct answer."),
        "Weighing these, the strongest argument should be ({}).",
        *("All of the statements are true except ({}).", "So the only option left is ({})."),
        *("Hence, statement {} best explains it.", "This is an example of ({})."),
    )
    for form in forms:
        assert [letter(form.format(letter_), options) for letter_ in options] == list(options), form


# ---- joined letters: one rule -------------------------------------------------------------------------

JOINED_LETTERS = (
    "(ACG)", "(A, C, G)", "(A), (C), (G)", "A, C and G", "A, C, G", "A and C", "A or C", "A/C",
    "(A) and (C)", "(A) or (C)", "both (A) and (C)", "either A or C", "AC", "ACG",
)  # fmt: skip


@pytest.mark.parametrize("several", JOINED_LETTERS)
@pytest.mark.parametrize(
    "statement",
    ["The answer is {}.", "Answer: {}", "The correct options are {}.", "I choose {}.", "答案是{}"],
)
def test_of_joined_letters_a_statement_gives_the_first(statement: str, several: str) -> None:
    assert letter(statement.format(several)) == "A"


@pytest.mark.parametrize("several", JOINED_LETTERS)
def test_without_a_statement_joined_letters_are_ambiguous(several: str) -> None:
    choice = parse_choice(several, letters=TEN)
    assert (choice.letter, choice.reason) == (None, AMBIGUITY)
    for form in ("{} are correct.", "Options {} are correct."):
        assert letter(form.format("(A) and (C)")) is None


def test_letters_run_together_follow_the_alphabet() -> None:
    assert letter("The answer is (CDE).") == "C"
    assert letter("The answer is (FACE).") is None
    assert parse_choice("DAB", letters=TEN).reason == NO_LETTER


# ---- option texts -------------------------------------------------------------------------------------


def test_a_letter_that_belongs_to_the_word_after_it_is_none() -> None:
    assert letter("B. subtilis is a bacterium.", "ABCD", CITIES) is None
    assert letter("B. because it is old", "ABCD", CITIES) == "B"


DISCUSSION = "The first law holds in a closed system. It says nothing of the second one. " * 6


@pytest.mark.parametrize(
    "closing",
    [
        *("So the most likely one is C.", "None of the options fits but C."),
        *("None of the options fits but (C).", "Not every option can hold; only (C) does."),
        *("Only C is consistent with this.", "We are left with C.", "That gives (C)."),
        *("C is most likely.", "**C**", "(C)", "C.", "Option C.", "$C$"),
    ],
)
@pytest.mark.parametrize("gap", [" ", "\n\n"], ids=["same line", "own line"])
def test_a_letter_at_the_close_of_a_long_reply(closing: str, gap: str) -> None:
    assert letter(DISCUSSION.rstrip() + gap + closing) == "C"


@pytest.mark.parametrize(
    "closing",
    [
        *("So none of the options (A, B, C, D) describes it.", "This is not (C)."),
        *("The second law gives C = 3.", "So much for vitamin C."),
    ],
)
def test_a_close_that_states_no_letter(closing: str) -> None:
    assert letter(DISCUSSION + closing) is None


def test_an_option_that_closes_a_list_of_options_is_none() -> None:
    facts = ("The sky is blue by day.", "The sea is deep and salty.", "Fish can not fly very far.")
    assert letter(" ".join(facts), "ABC", facts) is None
    assert letter(DISCUSSION + facts[1], "ABC", facts) == "B"
    services = ("Integrity", "Secrecy", "Privacy")
    assert letter("The protocol provides integrity, but not secrecy.", "ABC", services) is None


@pytest.mark.parametrize("letters", ["", "AA"])
def test_letters_must_be_distinct(letters: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        letter("A", letters)


def test_a_small_letter_that_is_the_text_of_an_option_is_no_letter() -> None:
    assert letter("The answer is b.", "ABCD", ("x", "b", "c", "d")) == "B"
    assert letter("The answer is b.", "ABCD", ("b", "c", "d", "x")) == "A"
