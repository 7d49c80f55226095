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
        "138°F is the closest.",
        "So 138°F is the closest value to what we computed.",
        "H is true, so G is false.",
        "If H is true, then B is true. So C is correct.",
        "A is correct only if B is false.",
        "Statement (A) is true, and (B) is closest.",
        "Of these, (C) fits best.",
        "Option H is the best of the lot.",
        "Let A be the event. Then A = 3 and I is the identity.",
    ],
)
@pytest.mark.parametrize(
    "closing",
    [
        "The answer is (D).",
        "Therefore, the answer is (D).",
        "The final answer is: $\\boxed{(D)}$",
        "Answer: D",
        "\n\n**D**",
        "答案是D。",
    ],
)
def test_a_closing_statement_wins_over_every_claim_before_it(claim: str, closing: str) -> None:
    assert letter(f"{claim} {closing}") == "D"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is (B). Wait, that is wrong: C is correct.", "C"),
        ("The answer is (B). (C) is also true of some cases.", "B"),
        ("The answer is (B). Option C is not correct.", "B"),
        ("The answer is (A) or (B), but (B) is better.", "B"),
    ],
)
def test_a_verdict_wins_over_a_statement_only_where_it_corrects_one(
    text: str, expected: str
) -> None:
    assert letter(text) == expected


def test_a_closing_statement_of_a_letter_that_the_item_lacks_leaves_none() -> None:
    assert letter("First, (B) seemed right. The answer is (K).") is None
    assert letter("B is correct. The answer is (E).", "ABCD") is None


# ---- letters that are no option's ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        # units and variables
        "138°F is the closest.",
        "138 F is the closest.",
        "The current is 5 A",
        "So we get the current I = 5 A.",
        "A = 30000(1.05)^5",
        "The amount is A = 30000(1.",
        "The solution is A = 30000(1.05)^10 = 48866.",
        "We have A = 30000(1.05)^10.\nA = 48866",
        "Let A be the event. Then P(A) = 0.3 and A is the complement of B.",
        "H is true, so G follows.",
        "So A is a subset of B, and B ∩ C is empty.",
        "The answer is A(t) = 3t.",
        # parts of a question
        "(a) The force is 20 N.\n(b) The work is 40 J.",
        "We solve it in parts.\n(a) The force is 20 N.",
        "(a) First, compute the force.\nThen the work is 40 J.",
        "The answers are (a) 12 m/s and (b) 3 s.",
        # tables
        "| A | B | A and B |\n|---|---|---|\n| T | F | F |\n| F | F | F |",
        "A | B | C\n1 | 2 | 3",
        "A. 12 | 13 | 14",
        # words
        "Vitamin C is the best.",
        "The answer is (BAD).",
        "The answer is BAD.",
        "I think A good meal helps.",
        # Roman numbers
        "I. True\nII. False\nSo only the first holds.",
    ],
)
def test_other_letters_are_no_option(text: str) -> None:
    assert letter(text) is None


def test_roman_numbers_are_options_only_where_the_options_do_not_count_them() -> None:
    romans = ("i only", "ii only", "i and ii", "iii")
    assert letter("The answer is (i) only.", "ABCDEFGHIJ", romans) != "I"
    assert letter("(i) and (ii) hold, so the answer is (C).", TEN, romans) == "C"


@pytest.mark.parametrize("options", ["ABCD", TEN])
def test_reading_does_not_lean_to_a_letter(options: str) -> None:
    """What is read for one letter is read for all of them."""
    forms = (
        "The answer is ({}).",
        "{}",
        "**{}.** Rome",
        "({}) is the correct answer.",
        "Weighing these, the strongest argument should be ({}).",
        "All of the statements are true except ({}).",
        "So the only option left is ({}).",
        "Hence, statement {} best explains it.",
        "This is an example of ({}).",
    )
    for form in forms:
        assert [letter(form.format(letter_), options) for letter_ in options] == list(options), form


# ---- letters stated in other words --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The strongest argument should be (B).", "B"),
        ("The conclusion that follows would then be (E).", "E"),
        ("All of the statements are true except (D).", "D"),
        ("All the options describe a tax, except for option (D).", "D"),
        ("Every one of them is a mammal except D.", "D"),
        ("None of the options fits but (C).", "C"),
        ("Given this, B fits best.", "B"),
        ("So the only one left is B.", "B"),
        ("We can rule out A, C and D, which leaves B.", "B"),
        ("This points to C as the answer.", "C"),
        ("I think C is the answer.", "C"),
        ("My reasoning leads me to D.", "D"),
        ("Therefore, option C is our answer.", "C"),
        ("Thus (C) follows.", "C"),
        ("The scenario best illustrates (F) operant conditioning.", "F"),
        ("The defendant's best defense is (C) that he was not there.", "C"),
        ("None of (A), (B) or (C) holds.\n\nTherefore, the most consistent answer is:\n\nD", "D"),
        ("Some people choose A. I would choose B.", "B"),
        ("因此，选项C是正确的。", "C"),
        ("所以答案为（D）", "D"),
        ("正解はCです。", "C"),
        ("Donc la bonne réponse est C.", "C"),
        ("Also ist Antwort C richtig.", "C"),
        ("Por lo tanto, la opción correcta es la D.", "D"),
        ("Следовательно, верный ответ — C.", "C"),
    ],
)  # fmt: skip
def test_letters_stated_in_other_words(text: str, expected: str) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It is not (B).",
        "None of the statements (A), (B), or (C) must hold.",
        "Since (A), (B), (C), and (D) are all true, none is false.",
        "Neither (A) nor (B) is right.",
        "We can rule out (A) and (C).",
    ],
)
def test_denied_letters_are_none(text: str) -> None:
    assert letter(text) is None


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


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        # a number is compared whole
        ("The answer is $-17$.", ("17", "-4", "3", "8"), None),
        ("The answer is $-17$.", ("17", "-17", "3", "8"), "B"),
        ("The answer is −17.", ("17", "-17", "3", "8"), "B"),
        ("The result is 398.4.", ("4", "398", "3", "8"), None),
        ("The answer is 12-17.", ("17", "12", "3", "8"), None),
        ("It is 17.5 km.", ("17", "5", "3", "8"), None),
        ("The answer is 3/17.", ("17", "3", "3/17", "8"), "C"),
        ("The answer is 1,700.", ("17", "700", "1,700", "1"), "C"),
        # a text that is taken back is none
        ("The closest is 398.25, which is not correct.", ("398.25", "400", "3", "8"), None),
        ("The closest option is 400, but that is not correct.", ("398.25", "400", "3", "8"), None),
        ("The answer is not listed; the value is 17.", ("17", "5", "3", "8"), None),
        ("It is not Rome.", CITIES, None),
        # what a last sentence says that something is
        ("Therefore, f(8) is 30.", ("24", "30", "32", "36"), "B"),
        ("So it equals 30.", ("24", "30", "32", "36"), "B"),
        # numbers as words, units, LaTeX
        ("Therefore there are \\boxed{5} such integers.", ("None", "One", "Four", "Five"), "D"),
        ("The final answer is $\\boxed{50\\%}$.", ("0", "10%", "25%", "50%"), "D"),
        ("It takes \\(\\boxed{\\frac{36}{7}}\\) days.", ("4 days", "5 days", "6 days", "36/7 days"), "D"),
        ("The answer is \\boxed{12}.", ("12 km", "13 km", "14 km", "15 km"), "A"),
        ("The answer is **Rome**.", CITIES, "B"),
        ("The answer is Paris or Rome.", CITIES, None),
    ],
)  # fmt: skip
def test_option_texts(text: str, choices: tuple[str, ...], expected: str | None) -> None:
    assert letter(text, "ABCD", choices) == expected


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("(b) Rome", CITIES, "B"),
        ("b) Rome", CITIES, "B"),
        ("B) is correct: Rome.", CITIES, "B"),
        ("(a) 12 m/s", ("10 m/s", "12 m/s", "14 m/s", "16 m/s"), "B"),
        ("A. It rains.\nThe rest is dry.", CITIES, "A"),
    ],
)
def test_lettered_lines_are_compared_with_the_options(
    text: str, choices: tuple[str, ...], expected: str
) -> None:
    assert letter(text, "ABCD", choices) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C is closest to 5. However the answer is (D).", "D"),
        ("If G is true then H is true. The answer is (C).", "C"),
        ("(A) is true. (B) is true. (C) is false. The answer is (C).", "C"),
        ("Option A is correct in some sense. The answer is (E).", "E"),
        ("I first believed the answer is (A). The answer is (C).", "C"),
        ("Originally, we thought that the answer is (A). The answer is (C).", "C"),
        ("Vitamin C is correct here. The answer is (D).", "D"),
        ("Statement I is correct. Statement II is correct. The answer is (J).", "J"),
        ("5 C is the closest charge. Die Antwort ist (D).", "D"),
        ("138°F is closest.\n\nAnswer: (D) 138°F", "D"),
        ("138°F is closest.\n\n(D)", "D"),
        ("F is the closest. We conclude that (D) is right.", "D"),
        ("The answer is (D) since A is correct for other cases.", "D"),
        ("Answer: D\nWhy not B? B is the best-known but not the best.", "D"),
        ("The answer is (D). Let me double check: H is true and G is true, fine.", "D"),
    ],
)
def test_a_claim_before_or_after_a_statement_changes_nothing(text: str, expected: str) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Part (a) asks for x. Part (b) asks for y.",
        "(a) is easy: x = 3.\n(b) then y = 4.\n(c) so z = 5.",
        "a) 3\nb) 4\nc) 5",
        "From (a) we know x. From (b), y follows.",
        "Step (a): add. Step (b): divide. Result 17.",
        "A = P(1 + r)^t",
        "$A = 30000(1.05)^5$",
        "\\[ A = 30000(1.05)^5 \\]",
        "The answer is A = 5.",
        "(A) = 3",
        "Set A = {1,2}, B = {3}. So A is larger.",
        "Let A be a matrix. Thus A is invertible.",
        "The concentration of [A] is 3 M and [B] is 4 M.",
        "A → B, B → C. Therefore, A → C.",
        "| A | 12 |\n| B | 13 |",
        "A  B  C\n1  2  3",
        "A 12 13 14\nB 15 16 17",
        "Point A is at the origin. Point B is at (1, 2).",
        "Blood type B is most common.",
        "Company A is the best.",
        "A: What is it?\nB: It is a dog.",
    ],
)
def test_parts_formulas_and_tables_are_no_option(text: str) -> None:
    assert letter(text) is None


def test_a_letter_that_belongs_to_the_word_after_it_is_none() -> None:
    assert letter("B. subtilis is a bacterium.", "ABCD", CITIES) is None
    assert letter("B. because it is old", "ABCD", CITIES) == "B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The most suitable one appears to be (C).", "C"),
        ("This leaves us with (D).", "D"),
        ("It follows that (E) holds.", "E"),
        ("We select (G).", "G"),
        ("The statement that is false is (C).", "C"),
        ("Everything applies except for C.", "C"),
        ("Each of these is a mammal other than (B).", "B"),
        ("The odd one out is (B).", "B"),
        ("Only (D) satisfies all conditions.", "D"),
        ("Only D satisfies all conditions.", "D"),
        ("Of the options, only C fits.", "C"),
        ("Not (A), not (B), not (C); hence (D).", "D"),
        ("(A), (B) and (C) are wrong, so it is (D).", "D"),
        ("Options A and B can be eliminated. Option C remains.", "C"),
        ("The answer cannot be (A) or (B). It must be (C).", "C"),
        ("It isn't A; it's C.", "C"),
        ("Ich entscheide mich für C.", "C"),
        ("La risposta corretta è la C.", "C"),
        ("A resposta certa é a letra C.", "C"),
        ("Правильный вариант — C.", "C"),
        ("คำตอบคือ C", "C"),
        ("उत्तर C है।", "C"),
        ("الإجابة الصحيحة هي C", "C"),
        ("Het juiste antwoord is C.", "C"),
        ("Poprawna odpowiedź to C.", "C"),
        ("Rätt svar är C.", "C"),
        ("Doğru cevap C.", "C"),
        ("Đáp án là C.", "C"),
    ],
)
def test_letters_stated_in_still_other_words_and_languages(text: str, expected: str) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The answer isn't (A).",
        "It can't be (B).",
        "(C) is not the answer.",
        "Neither A nor B.",
        "I would not choose C.",
        "I'd eliminate B and D first.",
        "(B) is tempting but wrong.",
        "(B) seems quite plausible, but is not correct.",
        "One might pick (B), but that would be a mistake.",
        "Some people would choose (B).",
        "I first thought that the answer is (B).",
    ],
)
def test_letters_that_are_taken_back_are_none(text: str) -> None:
    assert letter(text) is None


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("The answer is 0.17.", ("17", "5", "3", "8"), None),
        ("The answer is .17.", ("17", "5", "3", "8"), None),
        ("The answer is 17/2.", ("17", "5", "3", "8"), None),
        ("The answer is 2^17.", ("17", "5", "3", "8"), None),
        ("The answer is 17x.", ("17", "5", "3", "8"), None),
        ("The answer is ±17.", ("17", "-17", "3", "8"), None),
        ("The answer is $\\pm 17$.", ("17", "-17", "3", "8"), None),
        ("The answer is 17 or -17.", ("17", "-17", "3", "8"), None),
        ("x ≠ 17", ("17", "5", "3", "8"), None),
        ("x > 17", ("17", "5", "3", "8"), None),
        ("x -> 17", ("17", "5", "3", "8"), "A"),
        ("x = 17", ("17", "5", "3", "8"), "A"),
        ("The answer is 1 700.", ("17", "700", "1", "8"), None),
        ("It is 400, which isn't listed.", ("398.25", "400", "3", "8"), None),
        ("The closest is 398.25, but it's not an option.", ("398.25", "400", "3", "8"), None),
        ("We get 400. None of the options match.", ("398.25", "400", "3", "8"), None),
        ("The answer is Romeo.", CITIES, None),
        ("It isn't Rome.", CITIES, None),
        ("It is neither Rome nor Paris.", CITIES, None),
        ("I would rule out Rome.", CITIES, None),
        ("Rome would be incorrect.", CITIES, None),
        ("Paris is nice, but the answer is Rome.", CITIES, "B"),
        ("Not Paris, not Berlin, not Madrid: Rome.", CITIES, "B"),
        ("The answer is $\\frac{1}{2}$.", ("1", "2", "1/2", "12"), "C"),
        ("The answer is 17 km.", ("17 m", "17 km", "3", "8"), "B"),
        ("The answer is True, False.", ("True, True", "False, False", "True, False", "False, True"), "C"),
        ("The answer is untrue.", ("true", "false", "unknown", "both"), None),
    ],
)  # fmt: skip
def test_option_texts_are_whole_and_not_denied(
    text: str, choices: tuple[str, ...], expected: str | None
) -> None:
    assert letter(text, "ABCD", choices) == expected


DISCUSSION = "The first law holds in a closed system. It says nothing of the second one. " * 6


@pytest.mark.parametrize(
    "closing",
    [
        "So the most likely one is C.",
        "None of the options fits but C.",
        "None of the options fits but (C).",
        "Not every option can hold; only (C) does.",
        "Only C is consistent with this.",
        "We are left with C.",
        "That gives (C).",
        "C is most likely.",
        "**C**",
        "(C)",
        "C.",
        "Option C.",
        "$C$",
    ],
)
@pytest.mark.parametrize("gap", [" ", "\n\n"], ids=["same line", "own line"])
def test_a_letter_at_the_close_of_a_long_reply(closing: str, gap: str) -> None:
    assert letter(DISCUSSION.rstrip() + gap + closing) == "C"


@pytest.mark.parametrize(
    "closing",
    [
        "So none of the options (A, B, C, D) describes it.",
        "This is not (C).",
        "The second law gives C = 3.",
        "It was found by Dr. C.",
        "People may choose C.",
        "So much for vitamin C.",
    ],
)
def test_a_close_that_states_no_letter(closing: str) -> None:
    assert letter(DISCUSSION + closing) is None


def test_an_option_that_closes_a_list_of_options_is_none() -> None:
    statements = (
        "The sky is blue by day.",
        "The sea is deep and salty.",
        "Fish can not fly very far.",
    )
    assert letter(" ".join(statements), "ABC", statements) is None
    assert letter(DISCUSSION + statements[1], "ABC", statements) == "B"
    services = ("Integrity", "Secrecy", "Privacy")
    text = "The protocol provides integrity, but not secrecy."
    assert letter(text, "ABC", services) is None
