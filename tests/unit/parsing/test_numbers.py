"""The number that a reply gives: one contract of replies, units and what is read."""

import pytest

from fieldwork.parsing.numbers import LENIENT, ParsedNumber, parse_number
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_NUMBER,
    OTHER_UNIT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
    SEVERAL_NUMBERS,
)
from fieldwork.sections.asking import ValueRules
from unit.parsing.test_scales import each

PLAIN = [
    *(("42", 42), ("-5", -5), ("minus 5", -5), ("– 5 °C", 5), ("–5", -5), ("0,125", 0.125)),
    *(("1,234", 1_234), ("1,00,000", 100_000), ("1 234 567", 1_234_567), ("1.234.567", 1_234_567)),
    *(("12.500,50", 12_500.5), ("3,5", 3.5), ("3.142", 3.142), ("1_000_000", 1e6), ("2½", 2.5)),
    *(("1e6", 1e6), ("2.5 × 10⁶", 2.5e6), ("5k", 5e3), ("2.5M", 2.5e6), ("$1.2 million", 1.2e6)),
    *(("$2.5B", 2.5e9), ("$3T", 3e12), ("$5mm", 5e6), ("1.425 billion", 1.425e9)),
    *(("٤٢", 42), ("४२", 42), ("４２", 42), ("答案是42", 42), ("约80", 80), ("42个", 42)),
    *(("About 12,500 people.", 12_500), ("The 21st of 40", 40), ("- 5", 5)),
    ("one of the main reasons is 5", 5),
    ("1. First, 10 dogs\n2. Then, 10 cats", 10),
]
STATED = [
    *(("The answer is 42. My response is based on 3 sources.", 42), ("A: 50", 50)),
    *(("The answer to question 3 is 17.", 17), ("\\boxed{17}, from 3 and 14", 17)),
    ("In 2020 there were 5 cases, so the answer is 7.", 7),
    ("**Step 1:** 5 apples\n**Answer:** 7", 7),
    ("My answer is 7, but it could be 8.", 7),
    ('{"answer": 400, "confidence": 0.8}', 400),
    ("My estimate is 300, so the answer is 320.", 320),
    ("14 pens. She had 24 and gave 10 away, a total of 10 given.", 14),
    ("Rent is 900 and food 300, so the total is 1200.\nHalf of that is 600.\n600", 600),
]
WORKED_OUT = [
    ("4 boxes hold a total of 4 x 6 = 24 pens. She gives 10 away, so 24 - 10 = 14 pens.", 14),
    ("The pens cost a total of 3 x 8 = 24.\nShared by 4 people, each pays 24 / 4 = 6.", 6),
    ("There were 30 pens. 12 were lost and 6 bought, so now there are 24 pens.", 24),
    ("Find the answer: 8 points + 18 points = 26 points", 26),
    ("18 / 3 = 6 potatoes\nShe ate 6 potatoes.", 6),
    ("2d + d = 105.\nDividing both sides by 3, we get d = 35.", 35),
    ("60*2=120 miles.\nAfter 2 hours, the first car will be 120 miles ahead.", 120),
    ("300 + 312 + 150 = 762 M&Ms", 762),
    ("Her change will be $20 - $40 = $-20.", -20),
    ("The price in the third year is $132.3+$6.615 = $138.915.", 138.915),
]
WITH_UNITS = [
    *(
        ("68 kg", "kg", 68),
        ("150 pounds", "kg", 68.0388555),
        ("I would say 22 lb.", "kg", 9.979032),
    ),
    *(("90 minutes", "hours", 1.5), ("100 °F", "°C", 37.77777), ("20 degrees", "°C", 20)),
    *(("68°F (20°C)", "°C", 20), ("200 kWh", "MJ", 720), ("5 GB", "MB", 5000), ("50 m2", "m²", 50)),
    *(("293.15 K", "°C", 20), ("6 months", "years", 0.5), ("34 years", "years old", 34)),
    *(("30 percent", "%", 30), ("5%", "% of people", 5), ("5 people", "# of people", 5)),
    *(("USD 500", "$", 500), ("US$500", "$", 500), ("5 pounds", "£", 5), ("45 euros", "€", 45)),
    *(("$15 an hour", "$ per hour", 15), ("$3,000 monthly", "$ per month", 3000)),
    *(("10 hours", "hours per week", 10), ("30 minutes", "hours per week", 0.5)),
    *(("12.500 $", "$", 12_500), ("€3.000", "€", 3_000), ("$48, 700", "$ per year", 48_700)),
    *(("61, 250.50", "$ per year", 61_250.5), ("80,000 + 10% bonus", "$ per year", 80_000)),
    *(("5 million", "million $", 5), ("$5,000,000", "million $", 5), ("1,200", "million $", 1200)),
    *(("400 (my rent is $1,200)", "$", 400), ("$75, since most people pay $50 to $100.", "$", 75)),
    ("200\n\nExplanation: With 2 kids and a mortgage of $1,500, I save little.", "$", 200),
    ("13 (3 close friends and 10 acquaintances)", "people", 13),
    ("14 hours a week (2 hours a day)", "hours per week", 14),
    ("331.9 million (2021)", "people", 331.9e6),
]
UNREAD = [
    *(("", None, EMPTY), ("no idea", None, NO_NUMBER), ("五", None, NO_NUMBER)),
    *each(("twenty-three", "half a million", "two thirds", "Two."), None, NO_NUMBER),
    *each(("in my 30s", "the 1990s", "192.168.0.1"), "years", NO_NUMBER),
    ("As an AI, I can't provide that.", None, REFUSAL),
    ("I'm sorry, but I can't provide an estimate; my knowledge ends in 2021.", None, REFUSAL),
    *each(("10-20", "between 10 and 20", "100K-200K", "3‑4"), None, RANGE),
    *each(("$10,000-$15,000", "$5-$10", "US$10-US$20", "$10‑20"), "$", RANGE),
    *(("-20--10", "°C", RANGE), ("15°C-20°C", "°C", RANGE), ("5%-10%", "%", RANGE)),
    # a number in another unit, or for another period, is none
    *each(("€5", "EUR 500", "C$500", "₩5000", "50 cents", "500 kr"), "$", OTHER_UNIT),
    *each(("5 days", "12 people", "5 Tonnen", "500克", "10 Pfund"), "kg", OTHER_UNIT),
    *each(("26.85/hr", "18 hourly", "25 / h", "500/week"), "$ per year", OTHER_UNIT),
    *each(("2 days", "10 hours a day", "每天2小时"), "hours per week", OTHER_UNIT),
    *each(("5 hours per weekday", "2 h on weekdays"), "hours per week", OTHER_UNIT),
    *(("200 calories", "kcal", OTHER_UNIT), ("500,000", "million $", OTHER_UNIT)),
    # digits that more belongs to
    *each(("3万", "5 Millionen", "5 hundred", "10^6", "5²"), None, AMBIGUITY),
    *each(("moins 20", "It was GPT-4.", "√16", "1h30"), None, AMBIGUITY),
    *each(("20 below zero", "20 unter null"), "°C", AMBIGUITY),
    *each(("2 and a half", "1 1/2"), None, SEVERAL_NUMBERS),
    *(("4.500 kg", "kg", AMBIGUITY), ("$1.609", "$ per litre", AMBIGUITY)),
    # two numbers
    *each(("Probably 8 or 9.", "3. Actually, 4.", "1/2"), None, SEVERAL_NUMBERS),
    *each(("2 hours 30 minutes", "1. I spend 40 hours on it"), "hours", SEVERAL_NUMBERS),
    *each(("400; 500", "400\n500", "- $400\n- $300"), "$", SEVERAL_NUMBERS),
    *each(("$50? No, $20.", "90,500.40 + $8,000 bonus"), "$", SEVERAL_NUMBERS),
    ("0.45 (45%)", "%", SEVERAL_NUMBERS),
    ("In 2020 it was 5.", None, SEVERAL_NUMBERS),
    ("5 dogs. In all, my answer is 7.", None, SEVERAL_NUMBERS),
    ("I have two dogs and 3 cats.", None, SEVERAL_NUMBERS),
    ("60*2=120 miles, 70*2=140 miles.\nSo 120 and 140 miles.", None, SEVERAL_NUMBERS),
    ("I give 20 to each of my 3 children.", None, SEVERAL_NUMBERS),
]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [*((text, None, value) for text, value in (*PLAIN, *STATED, *WORKED_OUT)), *WITH_UNITS],
)
def test_one_number_is_read_in_the_unit_of_the_question(
    text: str, unit: str | None, value: float
) -> None:
    parsed = parse_number(text, unit=unit)
    assert parsed.value == pytest.approx(value)
    assert parsed.reason is None


@pytest.mark.parametrize(("text", "unit", "reason"), UNREAD)
def test_what_is_not_one_number_has_a_reason(text: str, unit: str | None, reason: str) -> None:
    assert parse_number(text, unit=unit) == ParsedNumber(None, reason)


@pytest.mark.parametrize(
    ("text", "rules", "value"),
    [
        ("In 2020 it was 5.", ValueRules(several_numbers="last"), 5),
        ("5 it was in 2020.", ValueRules(several_numbers="first"), 5),
        ("10-20", LENIENT, 15),
        ("10 to 20 million kg", LENIENT, 15e6),
        ("between 10 and 20 million", LENIENT, 15e6),
        ("100K-200K", LENIENT, 150e3),
        ("10 kg-20 kg", LENIENT, 15),
    ],
)
def test_the_study_says_what_counts(text: str, rules: ValueRules, value: float) -> None:
    assert parse_number(text, rules=rules).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("texts", "reader"),
    [
        (("42", "14 pens. She had 24."), "opening number"),
        (("The answer is 14, of 24.", "We have 24 and 10.\n14"), "stated number"),
        ((text for text, _ in WORKED_OUT), "worked-out number"),
        (("I would say 22 pounds.",), "only number"),
    ],
)
def test_the_reader_of_a_number_is_named(texts: tuple[str, ...], reader: str) -> None:
    assert {parse_number(text).read_by for text in texts} == {reader}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She has 3 x 8 = 24 pens. Of these she", None),
        ("The answer is 14. She had 24 and gave 10", 14),
        ("The answer is 1", None),
    ],
)
def test_a_step_of_an_answer_that_was_cut_off_is_no_answer(text: str, value: float | None) -> None:
    assert parse_number(text, is_truncated=True).value == value
    assert parse_number(text, is_truncated=True, rules=LENIENT).value == value


@pytest.mark.parametrize("text", ["120", "-1", "9" * 400, "1e99", "-" + "9" * 200])
def test_limits_are_those_of_the_question(text: str) -> None:
    assert parse_number(text, lowest=0, highest=100) == ParsedNumber(None, OUT_OF_RANGE)


def test_a_point_before_three_digits_of_a_price_may_be_one_of_decimals() -> None:
    assert parse_number("$12.500", unit="$ per year").value == 12_500
    assert parse_number("$1.609", unit="$ per litre").value is None


def test_a_run_of_digits_without_end_is_no_number() -> None:
    assert parse_number("9" * 308).value is None
