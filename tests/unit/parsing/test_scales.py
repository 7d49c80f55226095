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


def point(text: str, marks: list[str] | None = NUMBERS, labels: list[str] = LABELS) -> str | None:
    """The number of the point, or why there is none."""
    parsed = parse_scale(text, marks=marks, choices=labels)
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
        ("2 or 3", AMBIGUITY),
        ("\n".join(f"{n}. {label}" for n, label in enumerate(LABELS, 1)), AMBIGUITY),
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
