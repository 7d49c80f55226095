"""Which of several numbers is the answer."""

import pytest

from fieldwork.parsing.numbers import parse_number
from fieldwork.records.parsing import OTHER_UNIT, REFUSAL, SEVERAL_NUMBERS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The number of people in 2020 was 331 million.", SEVERAL_NUMBERS),
        ("My estimate for 2023 is 8 million.", 8e6),
        ("The total is 6 × 7 = 42.", 42),
        ("The answer to question 3 is 17.", 17),
        ("**Step 1:** 5 apples\n**Answer:** 7", 7),
        ("The answer is 42. My response is based on 3 sources.", 42),
        ("My estimate is 300. The figure could be as high as 500.", 300),
        ("My estimate is 300. The actual number was 320.", 300),
        ("My estimate is 300, so the answer is 320.", 320),
        ("I'm sorry, but I can't provide an estimate; my knowledge ends in 2021.", REFUSAL),
        ("As of my last update in 2023, I cannot provide an exact figure.", REFUSAL),
        ("It was founded in 1998.", 1998),
    ],
)
def test_what_is_stated_is_told_from_what_is_mentioned(text: str, value: float | str) -> None:
    assert value in parse_number(text)


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("200\n\nExplanation: With 2 kids and a mortgage of $1,500, I save little.", "$", 200),
        ("45\n\nIn 2021, 38% said so.", "%", 45),
        ("10. I work 40 hours per week.", "hours per week", 10),
        ("I work 40 hours per week, so I'd say 10.", "hours per week", 10),
        ("400 (my rent is $1,200)", "$", 400),
        ("400 - my rent is $1,200", "$", 400),
        ("**400**\n\nMy rent is **$1,200**.", "$", 400),
        ("75\n\nMost people pay between $50 and $100.", "$", 75),
        ("$75, since most people pay $50 to $100.", "$", 75),
        ("400\n\nI'm 45.", "$", 400),
        ("13 (3 close friends and 10 acquaintances)", "people", 13),
        ("14 hours a week (2 hours a day)", "hours per week", 14),
        ("45% (+/- 3%)", "%", 45),
        ("0.45 (45%)", "%", SEVERAL_NUMBERS),
        ("68°F (20°C)", "°C", 20),
        ("€18 (about $20)", "$", 20),
        ("€300. My rent is $1,200.", "$", OTHER_UNIT),
        ("3. Actually, 4.", None, SEVERAL_NUMBERS),
        ("$50? No, $20.", "$", SEVERAL_NUMBERS),
        ("42, with 2 kids", "years", 42),
        ("45%, compared to 30% in 2011", "%", SEVERAL_NUMBERS),
        ("400; 500", "$", SEVERAL_NUMBERS),
        ("400\n500", "$", SEVERAL_NUMBERS),
        ("- $400\n- $300", "$", SEVERAL_NUMBERS),
        ("2. I would pay 10 dollars", "$", 10),
        ("5 dogs. In all, my answer is 7.", None, SEVERAL_NUMBERS),
        ("1. I would spend 40 hours on it", "hours", SEVERAL_NUMBERS),
    ],
)
def test_a_number_that_opens_the_reply_is_the_answer(
    text: str, unit: str | None, result: float | str
) -> None:
    assert result in parse_number(text, unit=unit)


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("My answer is $400 because my rent is $1,200.", "$", 400),
        ("The answer is $400, but for some people it would be $800.", "$", 400),
        ("My answer is 7, but it could be 8.", None, 7),
        ("Answer: 7 (out of 10)", None, 7),
        ("My guess is $400 but it could be $500", "$", 400),
        ("I'd pay 20% more, which is $120.", "$", OTHER_UNIT),
        ("As a 45-year-old nurse with 2 kids, I'd say 200.", "$", 200),
        ("I'd say 10, or I'd say 12. I work 40 hours.", "hours", SEVERAL_NUMBERS),
        ("My estimate is 45%, while 30% is typical.", "%", 45),
        ("$1,500 + $600 = $2,100", "$", 2100),
        ("Rent $1,500 + food $600 = $2,100", "$", 2100),
        ("2 hours a day, so 14 hours per week", "hours per week", 14),
        ("Me and my 3 kids, so 4.", "people", 4),
        ("10 or 15%", "%", SEVERAL_NUMBERS),
        ("5 x 8 hours", "hours", SEVERAL_NUMBERS),
        ("1/2 hour", "hours", SEVERAL_NUMBERS),
        ("I'd say 3 in 10, or 30%.", "%", 30),
        ("x = 3, y = 4", None, SEVERAL_NUMBERS),
        ('{"answer": 400, "confidence": 0.8}', "$", 400),
        ('{"low": 300, "high": 500, "estimate": 400}', "$", 400),
        ('{"age": 45, "value": 400}', "$", 400),
        ('{"min": 300, "max": 500}', "$", SEVERAL_NUMBERS),
    ],
)
def test_a_statement_holds_the_first_number_behind_its_word(
    text: str, unit: str | None, result: float | str
) -> None:
    assert result in parse_number(text, unit=unit)


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("8.1 billion in 2024.", "people", 8.1e9),
        ("331.9 million (2021)", "people", 331.9e6),
        ("As of 2023, 8 billion", "people", 8e9),
        ("331,449,281 as of April 1, 2020", "people", 331_449_281),
        ("43 (born in 1980)", "years", 43),
        ("As of my last update in 2021, there were 195 countries.", None, 195),
        # without a unit the year may be the answer
        ("It was built in 1889 by 300 workers.", None, SEVERAL_NUMBERS),
        ("Built in 1989.", "people", 1989),
    ],
)
def test_a_year_beside_the_number_is_a_date(
    text: str, unit: str | None, result: float | str
) -> None:
    assert result in parse_number(text, unit=unit)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 boxes hold a total of 4 x 6 = 24 pens. She gives 10 away, so 24 - 10 = 14 pens.", 14),
        ("Rent is 900 and food 300, so the total is 1200.\nHalf of that is 600.\n600", 600),
        ("The pens cost a total of 3 x 8 = 24.\nShared by 4 people, each pays 24 / 4 = 6.", 6),
        ("In 5 days she reads 5 x 12 = 60 pages, 10 of them twice.\nA: 50", 50),
        ("There were 30 pens. 12 were lost and 6 bought, so now there are 24 pens.", 24),
        ("They have 20 + 6 = 26 pens. Each of the 2 children gets 26 / 2 = 13 pens.", 13),
        ("14 pens. She had 24 and gave 10 away, a total of 10 given.", 14),
        ("She had a total of 24 pens and gave 10 away. The answer is 14.", 14),
        ("Find the answer: 8 points + 18 points = 26 points", 26),
        ("They eat 120 apples + 120 apples = 240 apples in 30 days.", 240),
        ("18 / 3 = 6 potatoes\nShe ate 6 potatoes.", 6),
        ("2d + d = 105.\nDividing both sides by 3, we get d = 35.", 35),
        ("60*2=120 miles.\nAfter 2 hours, the first car will be 120 miles ahead.", 120),
        ("48 / 4 = 12 fourth-grade boys.", 12),
        ("300 + 312 + 150 = 762 M&Ms", 762),
        # what is worked with further, or divided up, is no answer
        ("60*2=120 miles, 70*2=140 miles.\nSo 120 and 140 miles.", SEVERAL_NUMBERS),
        ("I give 20 to each of my 3 children.", SEVERAL_NUMBERS),
        ("My rent is 900 and I pay 300 for food.", SEVERAL_NUMBERS),
        ("400\n500", SEVERAL_NUMBERS),
    ],
)
def test_what_is_worked_out_last_is_the_answer(text: str, value: float | str) -> None:
    assert value in parse_number(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("26.85/hr", OTHER_UNIT),
        ("18 per hour", OTHER_UNIT),
        ("18 hourly", OTHER_UNIT),
        ("25 / h", OTHER_UNIT),
        ("500/week", OTHER_UNIT),
        ("$48, 700", 48_700),
        ("61, 250.50", 61_250.5),
        ("48, 49", SEVERAL_NUMBERS),
        ("90,500.40 + $8,000 bonus", SEVERAL_NUMBERS),
        ("65,000 base, $8,000 bonus", SEVERAL_NUMBERS),
        ("80,000 + 10% bonus", 80_000),
        ("104k", 104_000),
        ("I have 2 kids and pay $400", 400),
    ],
)
def test_money_is_read_as_people_type_it(text: str, result: float | str) -> None:
    assert result in parse_number(text, unit="$ per year")


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
