"""What the word behind a number says: the question's unit, another one, or nothing of a unit.

Currencies and percent are known by name and sign, and are never converted; all other units are pint's.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pint import UnitRegistry

_SAME = {
    **dict.fromkeys(("%", "percent", "pct", "prozent", "pourcent"), "%"),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "€"),
    **dict.fromkeys(("£", "gbp"), "£"),
    **dict.fromkeys(("¥", "jpy", "yen"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupee", "rupees"), "₹"),
}
_TEMPERATURES = {"°c": "degC", "°f": "degF", "celsius": "degC", "fahrenheit": "degF"}
_SHORT_UNITS = frozenset(
    [
        "g",
        "kg",
        "mg",
        "t",
        "lb",
        "oz",
        "m",
        "km",
        "cm",
        "mm",
        "ft",
        "mi",
        "yd",
        "h",
        "s",
        "ms",
        "l",
        "ml",
        "cl",
    ]
)
"""Units of one or two letters that are taken for units; others, such as `as` and `do`, are words."""


def is_unit_of(word: str, unit: str) -> bool:
    """Whether a word is the unit, in another case, number or spelling."""
    word, unit = word.casefold(), unit.casefold()
    if _SAME.get(word, word) == _SAME.get(unit, unit):
        return True
    return (
        word.removesuffix("s") == unit.removesuffix("s")
        or _pint_name(word) == _pint_name(unit) != ""
    )


def known_unit(word: str) -> bool:
    """Whether a word is a unit at all."""
    return word.casefold() in _SAME or bool(_pint_name(word.casefold()))


def value_in(value: float, word: str, unit: str) -> float | None:
    """A value given in one unit, in another; None where it cannot be converted."""
    if {word.casefold(), unit.casefold()} & _SAME.keys():
        return None
    names = _pint_name(word.casefold()), _pint_name(unit.casefold())
    if not all(names):
        return None
    from pint.errors import PintError

    try:
        # degrees of temperature have an offset, so the quantity is made of value and unit
        return float(_registry().Quantity(value, names[0]).to(names[1]).magnitude)
    except PintError:
        return None


@cache
def _pint_name(word: str) -> str:
    """The name of a unit in pint's registry; empty where it has none."""
    word = _TEMPERATURES.get(word, word)
    if len(word) <= 2 and word not in _SHORT_UNITS:
        return ""
    from pint.errors import PintError

    try:
        return str(_registry().parse_units(word))
    except (PintError, ValueError, AttributeError, TypeError):
        return ""


@cache
def _registry() -> "UnitRegistry[Any]":
    # takes a second, and only answers with another unit than the question's need it
    from pint import UnitRegistry

    return UnitRegistry()
