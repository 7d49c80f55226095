"""What the text of a unit and the word behind a number say."""

import pytest

from fieldwork.parsing.units import Unit, is_known, is_unit_of, unit_of, value_in


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("kg", Unit("kg")),
        ("hours per week", Unit("hours", "week")),
        ("km/h", Unit("km", "h")),
        ("% of people", Unit("%")),
        ("number of people", Unit("people")),
        ("years old", Unit("years")),
        ("degrees Celsius", Unit("Celsius")),
        ("million $", Unit("$", None, 1e6)),
        ("thousands of people", Unit("people", None, 1e3)),
        ("m²", Unit("m^2")),
        ("square metres", Unit("metres^2")),
        ("US dollars", Unit("US dollars")),
    ],
)
def test_the_unit_of_a_question_is_its_own_word(text: str, unit: Unit) -> None:
    assert unit_of(text) == unit


def test_case_tells_megajoules_from_millijoules() -> None:
    assert value_in(1, Unit("MJ"), Unit("kJ")) == pytest.approx(1000)
    assert value_in(1, Unit("mJ"), Unit("kJ")) == 1


@pytest.mark.parametrize("word", ["people", "as", "hours/", "#", "", "kg]"])
def test_other_words_are_no_units(word: str) -> None:
    assert not is_known(word)
    assert value_in(5, Unit(word), Unit("kg")) == 5


def test_dollars_of_other_countries_are_other_units() -> None:
    assert is_unit_of("USD", Unit("$"))
    assert not is_unit_of("CAD", Unit("$"))
    assert value_in(5, Unit("CAD"), Unit("$")) is None
