"""How one number is written: signs, separators, magnitudes, ranges and fractions."""

import pytest

from fieldwork.parsing.numbers import parse_number
from fieldwork.records.parsing import NO_NUMBER, OTHER_UNIT, RANGE, SEVERAL_NUMBERS


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
    ("text", "unit", "result"),
    [
        *((text, "$", RANGE) for text in ("$10,000-$15,000", "$5-$10", "US$10-US$20", "5$-10$")),
        *((text, "$", RANGE) for text in ("$1.5M-$2M", "$20/month-$30/month", "$10‑20")),
        ("€5-€10", "€", RANGE),
        ("15°C-20°C", "°C", RANGE),
        ("-20--10", "°C", RANGE),
        ("5%-10%", "%", RANGE),
        ("entre el 10% y el 15%", "%", RANGE),
        ("от 10 до 15%", "%", RANGE),
        ("每周大约10到15小时", "hours per week", RANGE),
        ("3‑4 hours", "hours per week", RANGE),
        ("$-500", "$", -500),
        ("–5 °C", "°C", -5),
        ("—5 °C", "°C", -5),
        ("about –20 °C", "°C", -20),
        ("‑20", "°C", -20),
        ("20 below", "°C", -20),
        ("20 unter null", "°C", -20),
        ("5 below average", "°C", 5),
        # a hyphen and a space begin an item of a list
        ("- 5", None, 5),
    ],
)
def test_a_hyphen_is_a_sign_or_makes_a_range(
    text: str, unit: str | None, result: float | str
) -> None:
    assert result in parse_number(text, unit=unit)


@pytest.mark.parametrize(
    ("text", "unit", "result"),
    [
        ("12.500 $", "$", 12_500),
        ("$12.500", "$", 12_500),
        ("€3.000", "€", 3_000),
        ("2.977", "people", 2_977),
        ("8.000 millones de personas", "people", 8e9),
        ("1.425 billion", "people", 1.425e9),
        ("1.425 millones", "people", SEVERAL_NUMBERS),
        ("$3.459 per gallon", "$ per gallon", 3.459),
        ("1.609 km", "km", 1.609),
        ("4.500 kg", "kg", SEVERAL_NUMBERS),
        ("3.142", None, 3.142),
        ("2.977", "score", 2.977),
        ("1.4 mil millones", "people", 1.4e9),
        ("2 mil milhões", "people", 2e9),
        ("14億2千万", "people", 1.42e9),
        ("5천만", "people", 5e7),
        ("1억 2천만", "people", 1.2e8),
        ("$2tn", "$", 2e12),
        ("$5mm", "$", 5e6),
        ("1_000_000", None, 1e6),
        ("2½ hours", "hours per week", 2.5),
        ("1½", None, 1.5),
        ("½ hour", "hours per week", 0.5),
        ("½", "%", SEVERAL_NUMBERS),
        ("1 1/2 hours", "hours per week", 1.5),
        ("45 out of 100", "%", 45),
        ("45/100", "%", 45),
        ("192.168.0.1", None, NO_NUMBER),
        ("2023-05-01", None, NO_NUMBER),
        ("√16", None, NO_NUMBER),
        ("in my 30s", "years", NO_NUMBER),
        ("the 1990s", "years", NO_NUMBER),
        ("30s", "minutes", 0.5),
        ("2x my rent", "$", NO_NUMBER),
        ("$500,000", "million $", 0.5),
        ("500,000", "million $", OTHER_UNIT),
        ("1,200", "million $", 1200),
    ],
)
def test_separators_and_parts_of_a_number(text: str, unit: str | None, result: float | str) -> None:
    assert result in parse_number(text, unit=unit)
