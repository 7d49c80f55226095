"""Numbers with units: conversion, periods and other languages."""

from typing import Any

import pytest

from fieldwork.parsing.numbers import ParsedNumber, parse_number
from fieldwork.records.parsing import OTHER_UNIT, SEVERAL_NUMBERS


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


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        *((text, "hours per week", 14) for text in ("2 Stunden pro Tag", "2 heures par jour")),
        *((text, "hours per week", 14) for text in ("2 horas al día", "2 h/jour", "2 часа в день")),
        *(
            (text, "hours per week", 14)
            for text in ("每天2小时", "2 hours every day", "2 Std. pro Tag")
        ),
        ("about 5 hours daily", "hours per week", 35),
        ("an hour a day", "hours per week", 7),
        ("30 minutes", "hours per week", 0.5),
        ("1 hour 30 minutes", "hours per week", 1.5),
        ("1h30", "hours per week", 1.5),
        ("1h30m", "minutes", 90),
        ("1 hr 30 min", "minutes", 90),
        ("1m78", "cm", 178),
        ("3 dollars and 50 cents", "$", 3.5),
        ("3 times a day", "times per week", 21),
        ("2 days a week", "hours per week", OTHER_UNIT),
        ("5 hours per weekday", "hours per week", OTHER_UNIT),
        ("2 hours on weekdays", "hours per week", OTHER_UNIT),
        ("3 evenings a week", "hours per week", OTHER_UNIT),
        ("8 hours a day for 5 days", "hours per week", SEVERAL_NUMBERS),
        ("36k annually", "$ per month", OTHER_UNIT),
        ("$3,000 monthly", "$ per month", 3000),
        ("$36,000 yearly ($3,000 monthly)", "$ per month", 3000),
        ("$15 an hour", "$ per hour", 15),
    ],
)
def test_what_counts_for_another_period_is_converted(
    text: str, unit: str, result: float | str
) -> None:
    parsed = parse_number(text, unit=unit)
    assert (parsed.reason or parsed.value) == (
        result if isinstance(result, str) else pytest.approx(result)
    )


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        *((text, "kg", 0.5) for text in ("500 Gramm", "500 gramos", "500克", "500 граммов")),
        *((text, "kg", 5000) for text in ("5 Tonnen", "5吨", "5 тонн", "5 toneladas")),
        *((text, "kg", 70) for text in ("70 kilos", "70公斤左右", "70 кг")),
        *((text, "years", 0.5) for text in ("6 Monate", "6 mois", "6 meses", "6个月", "6 месяцев")),
        *((text, "$", OTHER_UNIT) for text in ("500元", "5万円", "500 kr", "500 zł", "NT$500")),
        *((text, "$", OTHER_UNIT) for text in ("A$500", "500 Canadian dollars", "Rs. 50,000")),
        *((text, "$", OTHER_UNIT) for text in ("50 thousand naira", "500 bitcoin")),
        ("150万美元", "$", 1.5e6),
        ("10 Pfund", "kg", OTHER_UNIT),
        ("4割", "%", OTHER_UNIT),
        ("5 basis points", "%", OTHER_UNIT),
        *((text, "°C", 20) for text in ("20 Grad", "20 Grad Celsius", "20 deg C", "20度", "68° F")),
        ("293.15 K", "°C", 20),
    ],
)
def test_units_are_known_in_other_languages(text: str, unit: str, result: float | str) -> None:
    parsed = parse_number(text, unit=unit)
    assert (parsed.reason or parsed.value) == (
        result if isinstance(result, str) else pytest.approx(result)
    )
