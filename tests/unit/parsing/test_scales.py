"""The point of a scale that a reply gives."""

import csv
import gzip
import io
import re
from itertools import islice

import pytest
from tests.unit.parsing.real_texts import DATA

from fieldwork.parsing.scales import parse_scale
from fieldwork.records.parsing import AMBIGUITY, EMPTY, NO_POINT, OUT_OF_RANGE, RANGE, REFUSAL
from fieldwork.tasks.listed_options import listed_options

LABELS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
NUMBERS = ["1", "2", "3", "4", "5"]


UNSURE = [*LABELS, "Don't know"]
LONG = " Technology has brought people closer and let many work from home." * 4


def point(
    text: str,
    marks: list[str] | None = NUMBERS,
    labels: list[str] = LABELS,
    n_points: int | None = None,
) -> str | None:
    """The number of the point, or why there is none."""
    parsed = parse_scale(text, marks=marks, choices=labels, n_points=n_points)
    if len(parsed.letters) == 1:
        return str("ABCDEFGHIJK".index(parsed.letters[0]) + 1)
    return parsed.reason


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4", "4"),
        ("**4**", "4"),
        ("4/5", "4"),
        ("4 out of 5", "4"),
        ("Four.", "4"),
        ("four out of five", "4"),
        ("4. Agree", "4"),
        ("(4) Agree", "4"),
        ("Agree (4)", "4"),
        ("My rating: 2 (Disagree)", "2"),
        ("I'd say 4 out of 5.", "4"),
        ("On a scale from 1 to 5, I would rate this a 2.", "2"),
        ("(1 = strongly disagree, 5 = strongly agree): 3", "3"),
        ("Rating: 4\n\nOn a scale of 1-5 that is high.", "4"),
        ("My answer is 4 because 1 in 3 people think so.", "4"),
        ("I would not choose 3, I'd pick 5.", "5"),
        ("I strongly agree with this.", "5"),
        ("I neither agree nor disagree.", "3"),
        ("I somewhat agree.", "4"),
        ("<think>Perhaps 3?</think>5", "5"),
        ("٤", "4"),
        ("\uff14", "4"),
    ],
)
def test_numbers_words_and_labels_are_read(text: str, number: str) -> None:
    assert point(text) == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4 - Disagree", AMBIGUITY),
        ("2 or 3", NO_POINT),
        ("\n".join(f"{n}. {label}" for n, label in enumerate(LABELS, 1)), NO_POINT),
        ("3-4", RANGE),
        ("between 3 and 4", RANGE),
        ("3.5", RANGE),
        ("7", OUT_OF_RANGE),
        ("-1", OUT_OF_RANGE),
        ("I don't agree", NO_POINT),
        ("It depends.", NO_POINT),
        ("As an AI, I don't have personal opinions.", REFUSAL),
        ("", EMPTY),
    ],
)
def test_what_is_no_point_has_a_reason(text: str, reason: str) -> None:
    assert point(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "I cannot agree with this statement.",
        "I would not say that I agree.",
        "I don't think that I agree.",
        "I do not think I strongly agree",
        "I'm unable to agree",
        "I hardly agree",
    ],
)
def test_a_label_that_is_denied_is_no_point(text: str) -> None:
    assert point(text) == point(text, None) == NO_POINT


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Agree. I'd say it has at least 2 benefits.", "4"),
        ("In my view, technology has 2 sides, but I agree.", "4"),
        ("I strongly agree. I would say that 3 in 4 people benefit.", "5"),
        ("4\n\nIn my opinion there are 2 reasons: speed and cost.", "4"),
        ("4\n\n1. Speed.\n2. Cost.\n3. Fun.", "4"),
        ("My answer is 4. My choice is based on 2 reasons.", "4"),
        ("My answer is 4, but others may say 2.", "4"),
        ("The average person would say 3, but mine is 5.", "5"),
        ("4. I didn't go with 5 because there are risks.", NO_POINT),
        ("I'd go for a 4. I chose this over 5 because there are risks.", "4"),
        ("I'd rate my agreement with this statement as 4.", "4"),
        ("I would give it a score of 4", "4"),
        ("There are 2 sides to this.", NO_POINT),
        ("4%", NO_POINT),
        ("Rating: 2\n\nMy answer is 4.", "4"),
        ("2\n\nMy answer is 4.", AMBIGUITY),
        ("4, maybe 5", AMBIGUITY),
    ],
)
def test_a_number_of_something_else_is_no_answer(text: str, number: str) -> None:
    assert point(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f"**Agree**\n\n{LONG} Of course, some people disagree.", "4"),
        (f"Disagree.\n\n{LONG} That said, I agree that it has limits.", AMBIGUITY),
        (f"I agree that technology helps.{LONG}", "4"),
        (f"I agree that technology helps.{LONG} All in all, I strongly disagree.", AMBIGUITY),
        (f"While some agree with this, others don't.{LONG}", NO_POINT),
    ],
)
def test_a_long_reply_is_read_by_the_label_that_it_opens_with(text: str, number: str) -> None:
    assert point(text) == number


@pytest.mark.parametrize("text", ["4 out of 10", "I'd give it a 4 out of 7", "3/4", "7/10"])
def test_a_fraction_of_another_number_is_no_point(text: str) -> None:
    assert point(text) == OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1 = strongly disagree, 3 = neutral, 4 = agree, 5 = strongly agree: 4", NO_POINT),
        ("1 (Strongly disagree) to 5 (Strongly agree): 4", "4"),
        ("\n".join(f"{n}. {label}" for n, label in enumerate(LABELS, 1)) + "\n\n4. Agree", "4"),
        ("4 on a 1-5 scale", "4"),
        ("On a 1–5 scale: 4", "4"),
        ("4 (1-5)", "4"),
        ("1-5", NO_POINT),
        ("I cannot provide a rating between 1 and 5.", REFUSAL),
    ],
)
def test_what_describes_the_scale_is_no_answer(text: str, number: str) -> None:
    assert point(text) == number


@pytest.mark.parametrize("text", ["Strongly agree (4)", "Agree (5)", "Definitely agree: 5"])
def test_a_label_beside_another_number_is_no_point(text: str) -> None:
    assert point(text) == AMBIGUITY


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("I disagree. I don't know why people say that.", "2"),
        ("I don't know", "6"),
        ("Don\u2019t know", "6"),
        ("I don't know, maybe 4", NO_POINT),
        ("4/5", "4"),
    ],
)
def test_an_option_beside_the_scale_is_read_as_the_points_are(text: str, number: str) -> None:
    assert point(text, [*NUMBERS, "6"], UNSURE, n_points=5) == number


@pytest.mark.parametrize("text", ["我选择4", "4点", "4です", "4점", "ให้ 4"])
def test_numbers_need_no_spaces_where_a_script_has_none(text: str) -> None:
    assert point(text) == "4"


SEVEN = [
    "Strongly disagree",
    "Disagree",
    "Somewhat disagree",
    "Neither agree nor disagree",
    "Somewhat agree",
    "Agree",
    "Strongly agree",
]


@pytest.mark.parametrize(
    ("text", "labels", "number"),
    [
        # the typical slip where a scale is turned
        ("5 - Strongly agree", LABELS[::-1], AMBIGUITY),
        ("1 (Strongly disagree)", LABELS[::-1], AMBIGUITY),
        ("4 (Strongly agree)", LABELS, AMBIGUITY),
        ("5 (Agree)", LABELS, AMBIGUITY),
        ("5 - agree strongly", LABELS, "5"),
        ("I agree somewhat", SEVEN, "5"),
        ("I slightly agree", SEVEN, NO_POINT),
        ("I do not strongly agree, but I agree.", LABELS, "4"),
    ],
)
def test_a_number_counts_with_the_whole_label(text: str, labels: list[str], number: str) -> None:
    assert point(text, [str(n) for n in range(1, len(labels) + 1)], labels) == number


@pytest.mark.parametrize(
    ("text", "reading"),
    [("A. Strongly agree", AMBIGUITY), ("E. Strongly agree", "5"), ("(E)", "5"), ("E", "5")],
)
def test_a_letter_beside_another_label_is_no_point(text: str, reading: str) -> None:
    assert point(text, None) == reading


DEGREES = {
    "es": ["Nada satisfecho", "Poco satisfecho", "Neutral", "Satisfecho", "Muy satisfecho"],
    "de": ["Nie", "Selten", "Manchmal", "Oft", "Immer"],
    "fr": ["Jamais", "Rarement", "Parfois", "Souvent", "Toujours"],
    "it": ["Per niente", "Poco d'accordo", "Neutro", "D'accordo", "Completamente d'accordo"],
    "zh": ["非常不同意", "不同意", "中立", "同意", "非常同意"],
    "ru": ["Никогда", "Редко", "Иногда", "Часто", "Всегда"],
}


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("es", "No estoy satisfecho", NO_POINT),
        ("es", "No estoy nada satisfecho", NO_POINT),
        ("es", "4 de 5", "4"),
        ("es", "3 o 4", NO_POINT),
        ("es", "En una escala del 1 al 5, diría 4.", NO_POINT),
        ("de", "Nicht oft", NO_POINT),
        ("de", "3 oder 4", NO_POINT),
        ("de", "zwischen 3 und 4", RANGE),
        ("de", "Ich habe 3 Kinder, deshalb 2.", NO_POINT),
        ("de", "Vier.", NO_POINT),
        ("fr", "Pas toujours", NO_POINT),
        ("it", "Non sono completamente d'accordo", NO_POINT),
        ("it", "4 su 5", "4"),
        ("zh", "我同意", "4"),
        ("zh", "我不同意。", "2"),
        ("zh", "我有2个孩子。", NO_POINT),
        ("ru", "Не часто", NO_POINT),
        ("ru", "По шкале от 1 до 5 — 4.", NO_POINT),
        ("ru", "4 балла из 5", "4"),
    ],
)
def test_other_languages_deny_count_and_divide(language: str, text: str, number: str) -> None:
    assert point(text, labels=DEGREES[language]) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("As a mother of 3, I worry about screens.", NO_POINT),
        ("It's not a 5.", NO_POINT),
        ("5 rather than 4", "5"),
        ("4, but not quite 5", "4"),
        ("4. If privacy were better protected, I'd say 5.", NO_POINT),
        ("I'd say 4. Ten years ago I would have said 5.", "4"),
        ("3. Actually 4.", NO_POINT),
        ("4\n5", AMBIGUITY),
        ("Question 1: 4", "4"),
        ("3. New technology makes life better: 4", "4"),
        ("My answer is four.", "4"),
        ("1 = no trust, 5 = complete trust. 4", NO_POINT),
        ("1 2 3 4 5", NO_POINT),
        ("As a mother of 3, I worry. 2", NO_POINT),
        ("I would be happy to strongly agree if it were safe, as that would be best.", NO_POINT),
    ],
)
def test_what_is_counted_or_would_be_said_is_no_answer(text: str, number: str) -> None:
    assert point(text) == number


def test_signs_count_where_a_scale_has_negative_points() -> None:
    marks, labels = ["-2", "-1", "0", "1", "2"], ["Very cold", "Cold", "Neither", "Warm", "Hot"]
    texts = ("I'd say -1.", "minus 1", "\u20131", "Answer: negative 2")
    assert [point(text, marks, labels) for text in texts] == ["2", "2", "2", "1"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("That's a good question.", NO_POINT), ("Good.", "3"), ("My health is good", "3")],
)
def test_everyday_words_are_labels_where_they_stand_alone(text: str, number: str) -> None:
    labels = ["Bad", "Fair", "Good", "Very good", "Excellent"]
    assert point(text, labels=labels) == number


FOUR = ["Strongly disagree", "Disagree", "Agree", "Strongly agree"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("I cannot endorse this. Everyone matters. Therefore, I strongly disagree with it.", "1"),
        (
            "I'm just an AI, I have no personal opinions. I strongly disagree with the statement.",
            "1",
        ),
        ("I cannot give a personal view. There are costs. In conclusion, I would disagree.", "2"),
        ("I'm an AI and hold no views. However, I can tell you that I strongly agree.", "4"),
        ("It is against my rules to take sides. In summary, I strongly agree with it.", "4"),
        ('I cannot form an opinion. If I had to choose, my label would be "Disagree".', "2"),
        ("As an AI I have no opinions, but I would say: Disagree", "2"),
        ("I have no opinions.\n\nMy response: 3\n\nNote: This is hypothetical.", "3"),
        (
            "I cannot take sides. Those who value quiet may disagree, others strongly agree.",
            REFUSAL,
        ),
        ("As an AI I hold no views. Most experts would strongly disagree with it.", NO_POINT),
        ("I understand that some strongly disagree.", NO_POINT),
        ("While I agree with the aim, there is more to say.", NO_POINT),
        ("As an AI, I can neither agree nor disagree.", NO_POINT),
        ("It is polite to listen, even when we disagree with others.", NO_POINT),
        ('The option "Agree" would mean that parks stay open.', NO_POINT),
        ("I would respond with a strong disagree.", NO_POINT),
    ],
)
def test_a_stance_after_a_preface_is_the_speakers_own(text: str, number: str) -> None:
    assert point(text, NUMBERS[:4], FOUR) == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It depends. Therefore, I cannot strongly disagree or agree without more.", NO_POINT),
        ("I would not strongly agree or disagree, as both sides have merit.", NO_POINT),
        ("I cannot judge this. Label: 3) Disagree", AMBIGUITY),
        ("I would strongly disagree with the idea. Label: 2) Disagree", AMBIGUITY),
        ("I'd strongly disagree. Therefore, my answer would be:\n\n3) Disagree", AMBIGUITY),
        ("I have no opinion. Arguments for it:\n\n1. Access: People can come late.\n", REFUSAL),
        ("I have no opinion. Arguments for it:\n\n1", REFUSAL),
        (
            "Arguments for it:\n\n1. Access.\n2. Light.\n\nArguments against it are few\n\n3",
            NO_POINT,
        ),
        ("1. I hold that nobody can say.", NO_POINT),
        ("I wonder what to say: 1. Strongly disagree, 2. Disagree, 3. Agree, 4.", NO_POINT),
        ("The options.\n\n1. Strongly disagree = 1 (the parks stay closed and", NO_POINT),
        ("Some strongly disagree due to noise. 3) Agree: those who agree like parks. 4", NO_POINT),
        ('If you like walks you might choose "Agree"; else another option.', NO_POINT),
    ],
)
def test_what_nobody_stated_is_no_point(text: str, reason: str) -> None:
    assert point(text, NUMBERS[:4], FOUR) == reason


def test_a_last_number_of_an_answer_that_was_cut_off_is_none() -> None:
    text = "There is much to say on this.\n4"
    readings = [
        parse_scale(text, marks=NUMBERS, choices=LABELS, is_truncated=is_truncated).letters
        for is_truncated in (False, True)
    ]
    assert readings == [("D",), ()]


def test_a_stance_is_read_where_letters_mark_the_points_too() -> None:
    text = "I cannot endorse that. Parks belong to all. Therefore, I strongly disagree."
    assert (point(text, None), point("As an AI, I have no opinions.", None)) == ("1", REFUSAL)
    assert point("I would strongly disagree with it.\n\nLabel: Disagree", None) == AMBIGUITY
    assert point("It depends. I cannot agree or disagree with it.", None) == NO_POINT


def test_points_may_count_from_below_0() -> None:
    marks, labels = ["-2", "-1", "0", "1", "2"], ["Very cold", "Cold", "Neither", "Warm", "Hot"]
    assert [point(text, marks, labels) for text in ("-1", "My answer: -2", "0", "+2", "hot")] == [
        *("2", "1", "3", "5", "5")
    ]


def test_ten_is_not_one() -> None:
    marks = [str(n) for n in range(11)]
    labels = ["Not at all", *marks[1:-1], "Completely"]
    assert [
        point(text, marks, labels) for text in ("10", "I say 10/10", "1", "0", "completely")
    ] == [*("11", "11", "2", "1", "11")]


@pytest.mark.parametrize("text", ["null", "None", '{"answer": null}'])
def test_what_a_program_writes_for_nothing_is_no_zero(text: str) -> None:
    marks = [str(n) for n in range(11)]
    assert point(text, marks, ["Not at all", *marks[1:-1], "Completely"]) == NO_POINT


def test_only_the_bare_mark_keeps_to_the_form() -> None:
    strict = [parse_scale(text, marks=NUMBERS, choices=LABELS).strict for text in ("4", "4.", "D")]
    assert strict == ["D", None, None]


def test_a_choice_by_likelihood_is_the_letter_of_its_place() -> None:
    assert point("D") == "4"


def test_any_reply_is_read_in_time() -> None:
    for text in (
        "1 " * 50_000,
        "4-" * 50_000,
        "agree " * 20_000,
        "(" * 100_000,
        "answer " * 30_000,
        "1 = a, " * 20_000,
        "I'd say 4, not " * 10_000,
        "no, 4 of 5 or " * 10_000,
        "非常不同意4" * 20_000,
    ):
        parsed = parse_scale(text, marks=NUMBERS, choices=LABELS)
        assert bool(parsed.reason) == (len(parsed.letters) != 1)


@pytest.mark.skipif(not DATA.is_dir(), reason="the extracts of real data are not here")
def test_real_survey_answers_are_read_by_their_letters() -> None:
    """Every tenth of 6,024 answers to OpinionQA; each that begins with a letter in brackets has it."""
    path = DATA / "mmlu_model_outputs/llmdrift_opinionqa_letter_answers.csv.gz"
    rows = csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode("utf-8")))
    n_marked = n_read = n_without = 0
    for row in islice(rows, 0, None, 10):
        options = listed_options(row["query"])
        parsed = parse_scale(row["answer"], marks=None, choices=options)
        marked = re.match(r"\(([A-Z])\)\. ", row["answer"].strip())
        n_marked += marked is not None
        n_read += bool(parsed.letters)
        n_without += not parsed.letters
        if marked:
            assert parsed.letters == (marked[1],), row["answer"][:80]
    assert n_marked > 400
    assert (n_read + n_without, n_read > 480) == (603, True)
