"""The number that a reply gives."""

from time import process_time

import pytest

from fieldwork.parsing.numbers import LENIENT, ParsedNumber, parse_number
from fieldwork.records.parsing import (
    EMPTY,
    NO_NUMBER,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
    SEVERAL_NUMBERS,
    ValueRules,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-5", -5),
        ("About 12,500 people.", 12_500),
        ("1,234", 1_234),
        ("1,00,000", 100_000),
        ("1 234 567", 1_234_567),
        ("1.234.567", 1_234_567),
        ("12.500,50", 12_500.5),
        ("3,5", 3.5),
        ("0,125", 0.125),
        ("1e6", 1e6),
        ("5k", 5_000),
        ("2.5M", 2.5e6),
        ("$1.2 million", 1.2e6),
        ("1,5 Millionen", 1.5e6),
        ("half a million", 5e5),
        ("three point five million", 3.5e6),
        ("twelve thousand five hundred", 12_500),
        ("twenty-three", 23),
        ("٤٢", 42),
        ("४२", 42),
        ("\uff14\uff12", 42),
        ("one of the main reasons is 5", 5),
        ("In 2020 there were 5 cases, so the answer is 7.", 7),
        ("In 2020, about **300** of them", 300),
        ("\\boxed{17}, from 3 and 14", 17),
        ("The 21st of 40", 40),
        ("COVID-19: 7", 7),
        ("1. First, 10 dogs\n2. Then, 10 cats", 10),
        ("12 x 30 = 360", 360),
        ("答案是42", 42),
        ("约80", 80),
        ("42个", 42),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, value: float) -> None:
    assert parse_number(text).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", EMPTY),
        ("no idea", NO_NUMBER),
        ("五", NO_NUMBER),
        ("As an AI, I can't provide that.", REFUSAL),
        ("In 2020 it was 5.", SEVERAL_NUMBERS),
        ("Probably 8 or 9.", SEVERAL_NUMBERS),
        ("10-20", RANGE),
        ("between 10 and 20", RANGE),
        ("two to three", RANGE),
        ("100K-200K", RANGE),
    ],
)
def test_what_is_no_number_has_a_reason(text: str, reason: str) -> None:
    assert parse_number(text) == ParsedNumber(None, reason)


@pytest.mark.parametrize(
    ("text", "rules", "value"),
    [
        ("In 2020 it was 5.", ValueRules("last"), 5),
        ("5 it was in 2020.", ValueRules("first"), 5),
        ("10-20", LENIENT, 15),
        ("10 to 20 million kg", LENIENT, 15e6),
        ("between 10 and 20 million", LENIENT, 15e6),
        ("five to ten", LENIENT, 7.5),
        ("100K-200K", LENIENT, 150e3),
        ("10 kg-20 kg", LENIENT, 15),
    ],
)
def test_the_study_says_what_counts(text: str, rules: ValueRules, value: float) -> None:
    assert parse_number(text, rules=rules).value == pytest.approx(value)


@pytest.mark.parametrize("text", ["9" * 308, "-" + "9" * 200])
def test_a_run_of_digits_without_end_is_no_number(text: str) -> None:
    assert parse_number(text).value is None


@pytest.mark.parametrize("text", ["120", "-1", "9" * 400, "1e99"])
def test_limits_are_those_of_the_question(text: str) -> None:
    assert parse_number(text, lowest=0, highest=100) == ParsedNumber(None, OUT_OF_RANGE)


@pytest.mark.parametrize(
    "part",
    [
        *(
            "1 ",
            "1-",
            "$",
            "one ",
            "1.1",
            "1+",
            "answer is ",
            "1 hour ",
            "(",
            "((",
            "(4",
            "4(",
            "()",
        ),
        *("1,)", "**4** ", "4 ** ", "\\boxed{4} ", "1 kg 2 g ", "½", "4 or 5 ", "so 4 ", "=4"),
    ],
)
def test_any_reply_is_read_in_time(part: str) -> None:
    start = process_time()
    parsed = parse_number(part * (200_000 // len(part)), unit="kg")
    assert (parsed.value is None) != (parsed.reason is None)
    assert process_time() - start < 6
