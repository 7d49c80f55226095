"""Which letter a reply states, strictly and flexibly."""

import pytest

from fieldwork.parsing.choices import ParsedChoice, parse_choice

CITIES = ("Paris", "Rome", "Berlin", "Madrid")


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("B", "B"),
        (" B", "B"),
        ("B\n", "B"),
        ("\tD ", "D"),
        ("B.", None),
        ("b", None),
        ("(B)", None),
        ("E", None),
        ("AB", None),
        ("", None),
        (None, None),
        ("The", None),
        ("Ｂ", None),
        ("<think>x</think>B", None),
    ],
)
def test_strict_is_a_bare_letter(text: str | None, strict: str | None) -> None:
    assert parse_choice(text).strict == strict


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "b",
        "B.",
        "(B)",
        "(b)",
        "[B]",
        "**B**",
        "**B.**",
        "*(B)*",
        "`B`",
        '"B"',
        "$B$",
        "Ｂ",
        "（Ｂ）",
        "B. Rome",
        "B) Rome",
        "(B) Rome",
        "(B). Rome",
        "B: Rome",
        "B - Rome",
        "**B. Rome**",
        "**B** Rome",
        "- (B) Rome",
        "Option B",
        "option B: Rome",
        "Answer: B",
        "Answer:B",
        "Answer: (B) Rome",
        "**Answer:** B",
        "**Answer: B**",
        "ANSWER: B",
        "Answer B",
        "Final Answer: B",
        "### Final answer\n\nB",
        "### Answer: B",
        "The answer is B",
        "The answer is (B).",
        "The answer is: **B**",
        "The answer is option B.",
        "The answer to this question is B.",
        "The correct answer is B) Rome.",
        "The correct answer is:\n\n(B) Rome",
        "The correct answer is:\n\n**B. Rome**",
        "The best choice would be B.",
        "The correct option is (b).",
        "Correct option: B",
        "So the answer must be B!",
        "I choose B.",
        "I would go with option B because of its age.",
        "My answer: B, since Rome is old.",
        "B is the correct answer.",
        "Option B is correct.",
        "(B) is the best choice",
        "B is correct because Rome is old.",
        "\\boxed{B}",
        "Thus $\\boxed{\\text{B}}$.",
        "The final answer is $\\boxed{B}$",
        "The answer is \\((B)\\).",
        "<answer>B</answer>",
        '{"answer": "B"}',
        '```json\n{"reasoning": "A is not old", "answer": "B"}\n```',
        "{'choice': 'B', 'why': 'A good one'}",
        '{"final_answer": "(B)"}',
        "Rome is old.\n\nB",
        "Rome is old.\nAnswer - B",
        "B\n\nRome is the oldest of them. Paris is younger.",
        "B. Rome\n\nOption A is wrong, C and D are younger.",
        "<think>It is A. The answer is A.</think>B",
        "The answer is A. Wait, that is wrong. The answer is B.",
        "First I thought the answer is C, but in fact the answer is B.",
        "The answer is not A. The answer is B.",
        "The answer is B, not A.",
        "The answer is not A but B.",
        "I don't think the answer is A; the answer is B.",
        "The answer is B. Option A is incorrect.",
        "A good question. The answer is B.",
        "The answer is B and not C.",
        "Therefore, Rome (B) is the oldest.",
        "Rome is old, so it must be (B).",
        "I think it's B.",
        "It's B",
        "I'd say B.",
        "Probably B",
        "B because Rome is old",
        "Therefore, B.",
        "Final: B",
        "Correct: B",
        "Ans. B",
        "> B",
        "Not A. Not C. B.",
        "The answer is A. Actually no, it's B.",
        "选B",
        "答案是B",
        "答案：B",
        "正确答案是（B）。",
        "答えはBです",
        "정답: B",
        "Die richtige Antwort ist B.",
        "Antwort: B",
        "La respuesta correcta es la B.",
        "La réponse est (B).",
        "La risposta è B",
        "A resposta correta é B.",
        "Правильный ответ: B",
        "الإجابة: B",
        "Answer: B\n\nQuestion: Which is the youngest?\nAnswer: C",
        "The answer is (B).\n\nNow, combining all the answers:\nThe answer is (A).",
        "Rome",
        "Rome.",
        "The answer is Rome.",
        "It is Rome, I think.",
        "Final answer: \\boxed{\\text{Rome}}",
    ],
)
def test_flexible_finds_b(text: str) -> None:
    assert parse_choice(text, choices=CITIES).letter == "B"


@pytest.mark.parametrize(
    ("text", "letters", "letter"),
    [
        ("A", "AB", "A"),
        ("Answer: A", "AB", "A"),
        ("The answer is A.", "ABCD", "A"),
        ("The answer is A because Paris is old.", "ABCD", "A"),
        ("The answer is A) Paris", "ABCD", "A"),
        ("A. Paris", "ABCD", "A"),
        ("The answer is (J).", "ABCDEFGHIJ", "J"),
        ("The answer is I.", "ABCDEFGHIJ", "I"),
        ("I think it is hard. The answer is (I)", "ABCDEFGHIJ", "I"),
        ("Since I hold and II fails, the answer is G. I only.", "ABCDEFGHIJ", "G"),
        ("The answer is (B", "ABCD", "B"),
        ("The closest match is (D. None of them).", "ABCD", "D"),
        ("The answer is (D) False, False.", "ABCD", "D"),
        ("The rate is 3, which corresponds to option C. That is all.", "ABCD", "C"),
    ],
)
def test_other_letters(text: str, letters: str, letter: str) -> None:
    assert parse_choice(text, letters=letters).letter == letter


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "empty"),
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>The answer is B", "empty"),
        ("A or B", "ambiguous"),
        ("It could be option A, or option C.", "ambiguous"),
        ("A. Paris\nC. Berlin", "ambiguous"),
        ("I'm sorry, but I can't answer that.", "refused"),
        ("As an AI language model, I don't have personal opinions.", "refused"),
        ("I am unable to answer this question, as I cannot calculate.", "refused"),
        ("A good question, which I like a lot.", "no letter found"),
        ("I like it.", "no letter found"),
        ("The answer is a matter of taste.", "no letter found"),
        ("The answer is A matter of taste.", "no letter found"),
        ("The answer is 42.", "no letter found"),
        ("The answer is E.", "no letter found"),
        ("The answer is not A.", "no letter found"),
        ("Option A is incorrect.", "no letter found"),
        ("A: no. B: yes. C: no. D: no.", "no letter found"),
        ("So A is a set and B is another, and so on.", "no letter found"),
        ("It depends. Some may choose (A), while others may choose (B).", "no letter found"),
        ("To find the answer we look at vitamin C and hepatitis B.", "no letter found"),
        ("Plan B failed", "no letter found"),
        ("The", "no letter found"),
        ("This question depends on personal opinion.", "no letter found"),
    ],
)
def test_no_letter_has_a_reason(text: str | None, reason: str) -> None:
    assert parse_choice(text) == ParsedChoice(None, None, reason)


@pytest.mark.parametrize(
    ("text", "choices", "letter"),
    [
        ("Yes", ("Yes", "No"), "A"),
        (
            "[No]\n\nIt can be divided by 3, as its digits add up to 21. Yes, they do.",
            ("Yes", "No"),
            "B",
        ),
        (
            "We divide by 2, by 3 and by 5.\n\nSo: [Yes], 101 is a prime number, no doubt.",
            ("Yes", "No"),
            "A",
        ),
        ("[No]. I looked again, and nothing divides it.\n[Yes]", ("Yes", "No"), "A"),
        ("I was to say [Yes] or [No], and cannot tell which of them it is.", ("Yes", "No"), None),
        (
            "See [Yes](http://127.0.0.1/yes) and the long text that follows it here.",
            ("Yes", "No"),
            None,
        ),
        (
            "It follows from the work of others [1], as everyone in the field knows.",
            ("1", "2"),
            None,
        ),
        ("No.", ("Yes", "No"), "B"),
        ("not wrong", ("wrong", "not wrong"), "B"),
        ("It is wrong.", ("wrong", "not wrong"), "A"),
        ("Paris or Rome", CITIES, None),
        ("It is not Paris.", CITIES, None),
        ("It is not Paris, it is Rome.", CITIES, "B"),
        ("The answer is \\boxed{4}.", ("2", "4", "14"), "B"),
        ("The answer is 14.", ("2", "4", "14"), "C"),
        ("So it is \\boxed{\\frac{\\sqrt{2}}{4}}.", ("1/4", "sqrt(2)/4"), "B"),
        ("One hundred", ("One", "One hundred"), "B"),
        ("Rome", ("Rome", "rome"), None),
    ],
)
def test_text_of_one_choice(text: str, choices: tuple[str, ...], letter: str | None) -> None:
    assert parse_choice(text, letters="ABCD"[: len(choices)], choices=choices).letter == letter


@pytest.mark.parametrize("letters", ["", "AA"])
def test_letters_must_be_distinct(letters: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        parse_choice("A", letters=letters)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is A or B.", "A"),
        ("The answer is (B), (A), and (D).", "B"),
        ("The answer is (C, A).", "C"),
        ("The answer is (D).\nThe answer is (B).\nThe answer is (A).", "D"),
        ("The answer is (D).\n\nFinal Answer: The answer is (A).", "D"),
        ("The answer is (D).\nThe answer is (J).\nThe answer is (A).", "D"),
        ("The answer is B. Wait, 3 + 4 is 7, so the answer is C.", "C"),
        ("The answer is B. No, the answer is C.", "C"),
    ],
)
def test_of_letters_named_together_the_first_counts_and_a_correction_wins(
    text: str, letter: str
) -> None:
    assert parse_choice(text).letter == letter
