"""The number that a reply gives."""

from typing import Any

import pytest

from fieldwork.parsing.numbers import LENIENT, ParsedNumber, parse_number
from fieldwork.records.parsing import (
    EMPTY,
    NO_NUMBER,
    OTHER_UNIT,
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
    ("text", "value"),
    [
        ("minus 5", -5),
        ("negative twenty", -20),
        ("$2.5B", 2.5e9),
        ("$3T", 3e12),
        ("$5m", 5e6),
        ("5 M", 5e6),
        ("5 Tausend", 5e3),
        ("1 Milliarde", 1e9),
        ("5 millón", 5e6),
        ("5 миллионов", 5e6),
        ("80億", 8e9),
        ("3万", 3e4),
        ("3億5000万", 3.5e8),
        ("10⁶", 1e6),
        ("5²", 25),
        ("10^6", 1e6),
        ("2.5 × 10⁶", 2.5e6),
        ("$10^{6}$", 1e6),
    ],
)
def test_signs_magnitudes_and_powers_count(text: str, value: float) -> None:
    assert parse_number(text).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The number of people in 2020 was 331 million.", 331e6),
        ("My estimate for 2023 is 8 million.", 8e6),
        ("The total is 6 × 7 = 42.", 42),
        ("The answer to question 3 is 17.", 17),
        ("**Step 1:** 5 apples\n**Answer:** 7", 7),
        ("The answer is 42. My response is based on 3 sources.", 42),
        ("My estimate is 300. The figure could be as high as 500.", 300),
        ("My estimate is 300. The actual number was 320.", SEVERAL_NUMBERS),
        ("My estimate is 300, so the answer is 320.", 320),
        ("I'm sorry, but I can't provide an estimate; my knowledge ends in 2021.", REFUSAL),
        ("As of my last update in 2023, I cannot provide an exact figure.", REFUSAL),
        ("It was founded in 1998.", 1998),
    ],
)
def test_what_is_stated_is_told_from_what_is_mentioned(text: str, value: float | str) -> None:
    assert value in parse_number(text)


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


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("68 kg", "kg", 68),
        ("68 kilograms", "kg", 68),
        ("150 pounds", "kg", 68.0388555),
        ("It weighs 5.0 kg, which is 11 pounds.", "kg", 5),
        ("90 minutes", "hours", 1.5),
        ("100 °F", "°C", 37.77777),
        ("30 percent", "%", 30),
        ("USD 500", "$", 500),
        ("12 people", "kg", 12),
        ("200 kWh", "MJ", 720),
        ("5 GB", "MB", 5000),
        ("5 MW", "kW", 5000),
        ("2 hours 30 minutes", "minutes", 150),
        ("2 hours and 30 minutes", "hours", 2.5),
        ("5 feet 10 inches", "inches", 70),
        ("It is 5 kg (11 pounds).", "kg", 5),
        ("5 days", "kg", OTHER_UNIT),
        ("€5", "$", OTHER_UNIT),
        ("EUR 500", "$", OTHER_UNIT),
        ("C$500", "$", OTHER_UNIT),
        ("₩5000", "$", OTHER_UNIT),
        ("50 cents", "$", OTHER_UNIT),
        # in everyday words these are kilocalories
        ("200 calories", "kcal", OTHER_UNIT),
        ("US$500", "$", 500),
    ],
)
def test_units_are_converted_or_left_out(text: str, unit: str, result: Any) -> None:
    parsed = parse_number(text, unit=unit)
    if isinstance(result, str):
        assert parsed == ParsedNumber(None, result)
    else:
        assert parsed.value == pytest.approx(result)


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("10 hours per week", "hours per week", 10),
        ("10 hours", "hours per week", 10),
        ("10 hours a day", "hours per week", 70),
        ("$500", "$ per month", 500),
        ("$500 per year", "$ per month", OTHER_UNIT),
        ("$5", "US$", 5),
        ("5 hours", "US$", OTHER_UNIT),
        ("5%", "% of people", 5),
        ("20 °C", "degrees Celsius", 20),
        ("20 degrees", "°C", 20),
        ("50 F", "°C", 10),
        ("5 pounds", "£", 5),
        ("34 years", "years old", 34),
        ("5 people", "# of people", 5),
        ("5 million", "million $", 5),
        ("two million", "million people", 2),
        ("50 square metres", "m²", 50),
        ("50 m2", "m²", 50),
        ("5 metric tons", "kg", 5000),
        ("60 mph", "km/h", 96.56064),
        ("5 kg", "kg]", 5),
        ("5 kg", "$ (USD", OTHER_UNIT),
    ],
)
def test_the_unit_of_a_question_may_be_several_words(text: str, unit: str, result: Any) -> None:
    parsed = parse_number(text, unit=unit)
    assert (parsed.reason or parsed.value) == (
        result if isinstance(result, str) else pytest.approx(result)
    )


@pytest.mark.parametrize("text", ["9" * 308, "-" + "9" * 200])
def test_a_run_of_digits_without_end_is_no_number(text: str) -> None:
    assert parse_number(text).value is None


@pytest.mark.parametrize("text", ["120", "-1", "9" * 400, "1e99"])
def test_limits_are_those_of_the_question(text: str) -> None:
    assert parse_number(text, lowest=0, highest=100) == ParsedNumber(None, OUT_OF_RANGE)


def test_any_reply_is_read_in_time() -> None:
    for text in (
        "1 " * 30_000,
        "1-" * 30_000,
        "$" * 60_000,
        "one " * 20_000,
        "1.1" * 20_000,
        "1+" * 30_000,
        "answer is " * 20_000,
        "1 hour " * 10_000,
    ):
        parsed = parse_number(text, unit="kg")
        assert (parsed.value is None) != (parsed.reason is None)
