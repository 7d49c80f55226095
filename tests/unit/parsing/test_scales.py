"""The point of a scale that a reply gives: contracts of replies and what is read."""

import csv
import gzip
import io
import re
from itertools import islice
from typing import Any

import pytest
from tests.unit.parsing.real_texts import DATA

from fieldwork.parsing.scales import parse_scale
from fieldwork.records.parsing import AMBIGUITY, EMPTY, NO_POINT, OUT_OF_RANGE, RANGE, REFUSAL
from fieldwork.tasks.listed_options import listed_options

LABELS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
FOUR = ["Strongly disagree", "Disagree", "Agree", "Strongly agree"]
SEVEN = [*LABELS[:2], "Somewhat disagree", LABELS[2], "Somewhat agree", *LABELS[3:]]
HEALTH = ["Bad", "Fair", "Good", "Very good", "Excellent"]
SATISFACTION = ["Nada satisfecho", "Poco satisfecho", "Neutral", "Satisfecho", "Muy satisfecho"]
CHINESE = ["非常不同意", "不同意", "中立", "同意", "非常同意"]
TEMPERATURE = ["Very cold", "Cold", "Neither", "Warm", "Hot"]
NUMBERS = ["1", "2", "3", "4", "5"]
BELOW_0 = ["-2", "-1", "0", "1", "2"]
TO_10 = [str(n) for n in range(11)]
ENDS = ["Not at all", *TO_10[1:-1], "Completely"]
LINES = "\n".join(f"{n}. {label}" for n, label in enumerate(LABELS, 1))
LONG = " Technology has brought people closer and let many work from home." * 4


def each(texts: tuple[str, ...], *reading: Any) -> list[tuple[Any, ...]]:
    """Texts that are read alike."""
    return [(text, *reading) for text in texts]


def point(
    text: str,
    marks: list[str] | None = NUMBERS,
    labels: list[str] = LABELS,
    n_points: int | None = None,
) -> str | None:
    """The number of the point, or why there is none."""
    parsed = parse_scale(text, marks=marks, choices=labels, n_points=n_points)
    if len(parsed.letters) == 1:
        assert parsed.read_by is not None
        return str("ABCDEFGHIJK".index(parsed.letters[0]) + 1)
    return parsed.reason


NUMBER_READINGS = [
    *each(("4", "**4**", "4/5", "4 out of 5", "4. Agree", "(4) Agree", "4点", "D"), "4"),
    *each(("4 (1-5)", "4 on a 1-5 scale", "On a 1–5 scale: 4", "4です", "٤", "４"), "4"),
    *each(("Agree (4)", "I'd say 4 out of 5.", "I would give it a score of 4"), "4"),
    ("<think>Perhaps 3?</think>5", "5"),
    ("My rating: 2 (Disagree)", "2"),
    ("On a scale from 1 to 5, I would rate this a 2.", "2"),
    ("Rating: 4\n\nOn a scale of 1-5 that is high.", "4"),
    ("My answer is 4 because 1 in 3 people think so.", "4"),
    ("4\n\nIn my opinion there are 2 reasons: speed and cost.", "4"),
    ("4\n\n1. Speed.\n2. Cost.\n3. Fun.", "4"),
    ("My answer is 4. My choice is based on 2 reasons.", "4"),
    ("My answer is 4, but others may say 2.", "4"),
    ("I'd go for a 4. I chose this over 5 because there are risks.", "4"),
    ("I'd say 4. Ten years ago I would have said 5.", "4"),
    ("5 rather than 4", "5"),
    ("4.\n\nIt saves time.", "4"),
    ("1.- Pensar el tema.\n2.- Dibujar.", NO_POINT),
    ("4, but not quite 5", "4"),
    (f"{LINES}\n\n4. Agree", "4"),
    # what counts something, explains the scale or is denied is no point
    *each(("There are 2 sides to this.", "As a mother of 3, I worry.", "4%"), NO_POINT),
    *(
        (text, NO_POINT)
        for text in ("It's not a 5.", "1-5", "1 2 3 4 5", "2 or 3", "4, maybe 5", LINES)
    ),
    *each(("3. Actually 4.", "Four.", "As a mother of 3, I worry. 2"), NO_POINT),
    ("4. I didn't go with 5 because there are risks.", NO_POINT),
    ("4. If privacy were better protected, I'd say 5.", NO_POINT),
    ("1 = strongly disagree, 3 = neutral, 4 = agree, 5 = strongly agree: 4", NO_POINT),
    ("1 = no trust, 5 = complete trust. 4", NO_POINT),
    ("Ich habe 3 Kinder, deshalb 2.", NO_POINT),
    ("I cannot provide a rating between 1 and 5.", REFUSAL),
    # two points, and none of this scale
    *each(("4 - Disagree", "Strongly agree (4)", "Definitely agree: 5"), AMBIGUITY),
    *each(("2\n\nMy answer is 4.", "Rating: 2\n\nMy answer is 4."), AMBIGUITY),
    *each(("3-4", "between 3 and 4", "3.5"), RANGE),
    *each(("7", "-1", "4 out of 10", "I'd give it a 4 out of 7", "3/4"), OUT_OF_RANGE),
    *(("", EMPTY), ("It depends.", NO_POINT), ("As an AI, I have no personal opinions.", REFUSAL)),
]
LABEL_READINGS = [
    *(("I strongly agree with this.", "5"), ("I neither agree nor disagree.", "3")),
    *(("I somewhat agree.", "4"), ("I do not strongly agree, but I agree.", "4")),
    ("Agree. I'd say it has at least 2 benefits.", "4"),
    ("In my view, technology has 2 sides, but I agree.", "4"),
    ("I strongly agree. I would say that 3 in 4 people benefit.", "5"),
    ("I disagree. I don't know why people say that.", "2"),
    (f"**Agree**\n\n{LONG} Of course, some people disagree.", "4"),
    (f"I agree that technology helps.{LONG}", "4"),
    (f"Disagree.\n\n{LONG} That said, I agree that it has limits.", AMBIGUITY),
    (f"I agree that technology helps.{LONG} All in all, I strongly disagree.", AMBIGUITY),
    (f"While some agree with this, others don't.{LONG}", NO_POINT),
    *each(("I cannot agree with this.", "I do not think I strongly agree"), NO_POINT),
    *each(("I would not say that I agree.", "I don't think that I agree."), NO_POINT),
    *each(("I'm unable to agree", "I hardly agree", "I don't agree"), NO_POINT),
    ("I would be happy to strongly agree if it were safe, as that would be best.", NO_POINT),
]
STANCES = [
    ("I cannot endorse this. Everyone matters. Therefore, I strongly disagree with it.", "1"),
    ("I'm just an AI, I have no personal opinions. I strongly disagree with the statement.", "1"),
    ("I cannot give a personal view. There are costs. In conclusion, I would disagree.", "2"),
    ("I'm an AI and hold no views. However, I can tell you that I strongly agree.", "4"),
    ("It is against my rules to take sides. In summary, I strongly agree with it.", "4"),
    ('I cannot form an opinion. If I had to choose, my label would be "Disagree".', "2"),
    ("As an AI I have no opinions, but I would say: Disagree", "2"),
    ("I have no opinions.\n\nMy response: 3\n\nNote: This is hypothetical.", "3"),
    ("I cannot take sides. Those who value quiet may disagree, others strongly agree.", REFUSAL),
    ("As an AI I hold no views. Most experts would strongly disagree with it.", NO_POINT),
    ("I understand that some strongly disagree.", NO_POINT),
    ("While I agree with the aim, there is more to say.", NO_POINT),
    ("As an AI, I can neither agree nor disagree.", NO_POINT),
    ("It is polite to listen, even when we disagree with others.", NO_POINT),
    ('The option "Agree" would mean that parks stay open.', NO_POINT),
    ("I would respond with a strong disagree.", NO_POINT),
    # what nobody stated
    ("It depends. Therefore, I cannot strongly disagree or agree without more.", NO_POINT),
    ("I would not strongly agree or disagree, as both sides have merit.", NO_POINT),
    ("I cannot judge this. Label: 3) Disagree", AMBIGUITY),
    ("I would strongly disagree with the idea. Label: 2) Disagree", AMBIGUITY),
    ("I'd strongly disagree. Therefore, my answer would be:\n\n3) Disagree", AMBIGUITY),
    ("I have no opinion. Arguments for it:\n\n1. Access: People can come late.\n", REFUSAL),
    ("I have no opinion. Arguments for it:\n\n1", REFUSAL),
    ("For it:\n\n1. Access.\n2. Light.\n\nArguments against it are few\n\n3", NO_POINT),
    ("1. I hold that nobody can say.", NO_POINT),
    ("I wonder what to say: 1. Strongly disagree, 2. Disagree, 3. Agree, 4.", NO_POINT),
    ("The options.\n\n1. Strongly disagree = 1 (the parks stay closed and", NO_POINT),
    ("Some strongly disagree due to noise. 3) Agree: those who agree like parks. 4", NO_POINT),
    ('If you like walks you might choose "Agree"; else another option.', NO_POINT),
]
OTHER_SCALES = [
    # the typical slip where a scale is turned
    *each(("5 - Strongly agree", "1 (Strongly disagree)"), LABELS[::-1], AMBIGUITY),
    # a word of degree beside a label makes another label of it
    *each(("I agree somewhat", "I slightly agree"), SEVEN, NO_POINT),
    *(("Somewhat agree", SEVEN, "5"), ("I agree strongly", LABELS, NO_POINT)),
    # everyday words are labels where they stand alone
    *(("That's a good question.", HEALTH, NO_POINT), ("Good.", HEALTH, "3")),
    ("My health is good", HEALTH, "3"),
    # other languages: a label that opens the reply
    *each(("No estoy satisfecho", "No estoy nada satisfecho"), SATISFACTION, NO_POINT),
    *(("Satisfecho.", SATISFACTION, "4"), ("3 o 4", SATISFACTION, NO_POINT)),
    *(("同意", CHINESE, "4"), ("不同意。", CHINESE, "2"), ("我有2个孩子。", CHINESE, NO_POINT)),
]


@pytest.mark.parametrize(
    ("text", "marks", "labels", "reading"),
    [
        *(
            (text, NUMBERS, LABELS, reading)
            for text, reading in (*NUMBER_READINGS, *LABEL_READINGS)
        ),
        *((text, NUMBERS[:4], FOUR, reading) for text, reading in STANCES),
        *(
            (text, [str(n + 1) for n in range(len(labels))], labels, reading)
            for text, labels, reading in OTHER_SCALES
        ),
        *each(("I'd say -1.", "minus 1", "–1", "-1"), BELOW_0, TEMPERATURE, "2"),
        *(("My answer: -2", BELOW_0, TEMPERATURE, "1"), ("+2", BELOW_0, TEMPERATURE, "5")),
        *each(("10", "I say 10/10", "completely"), TO_10, ENDS, "11"),
        *(("1", TO_10, ENDS, "2"), ("0", TO_10, ENDS, "1")),
        # what a program writes for nothing is no zero
        *each(("null", "None", '{"answer": null}'), TO_10, ENDS, NO_POINT),
        # letters mark the points
        *(("A. Strongly agree", None, LABELS, AMBIGUITY), ("E. Strongly agree", None, LABELS, "5")),
        *(("(E)", None, LABELS, "5"), ("E", None, LABELS, "5")),
        ("I cannot endorse that. Therefore, I strongly disagree.", None, LABELS, "1"),
        ("As an AI, I have no opinions.", None, LABELS, REFUSAL),
        ("I would strongly disagree with it.\n\nLabel: Disagree", None, LABELS, AMBIGUITY),
        ("It depends. I cannot agree or disagree with it.", None, LABELS, NO_POINT),
    ],
)
def test_one_stated_point_is_read(
    text: str, marks: list[str] | None, labels: list[str], reading: str
) -> None:
    assert point(text, marks, labels) == reading


@pytest.mark.parametrize(
    ("text", "number"),
    [("I don't know", "6"), ("Don’t know", "6"), ("I don't know, maybe 4", NO_POINT), ("4/5", "4")],
)
def test_an_option_beside_the_scale_is_read_as_the_points_are(text: str, number: str) -> None:
    assert point(text, [*NUMBERS, "6"], [*LABELS, "Don't know"], n_points=5) == number


def test_a_last_number_of_an_answer_that_was_cut_off_is_none() -> None:
    text = "There is much to say on this.\n4"
    readings = [
        parse_scale(text, marks=NUMBERS, choices=LABELS, is_truncated=is_truncated).letters
        for is_truncated in (False, True)
    ]
    assert readings == [("D",), ()]


def test_only_the_bare_mark_keeps_to_the_form() -> None:
    parsed = [parse_scale(text, marks=NUMBERS, choices=LABELS) for text in ("4", "4.", "D", "3-4")]
    assert [(scale.strict, scale.read_by) for scale in parsed] == [
        *(("D", "bare number"), (None, "stated point"), (None, "bare letter"), (None, "range")),
    ]


@pytest.mark.skipif(not DATA.is_dir(), reason="the extracts of real data are not here")
def test_real_survey_answers_are_read_by_their_letters() -> None:
    """Of 6,024 answers to OpinionQA every thirtieth: one that begins with a letter in brackets has it."""
    path = DATA / "mmlu_model_outputs/llmdrift_opinionqa_letter_answers.csv.gz"
    rows = csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode("utf-8")))
    n_marked = n_read = n_without = 0
    for row in islice(rows, 0, None, 30):
        options = listed_options(row["query"])
        parsed = parse_scale(row["answer"], marks=None, choices=options)
        marked = re.match(r"\(([A-Z])\)\. ", row["answer"].strip())
        n_marked += marked is not None
        n_read += bool(parsed.letters)
        n_without += not parsed.letters
        if marked:
            assert parsed.letters == (marked[1],), row["answer"][:80]
    assert n_marked > 130
    assert (n_read + n_without, n_read > 155) == (201, True)
