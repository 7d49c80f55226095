"""The unit that a question asks for, and what a number of a reply is in it.

Money, shares and counts are compared by name; other units are pint's, by their English names and signs.
Promises that a number in a unit which cannot be converted, or for another period, has no value.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pint import UnitRegistry

SIGNS = "$€£¥₹₩₽₺₪฿₫₱₴₦¢"
"""Signs of currencies, of one character."""
_SPELLINGS = {
    "$": ("us$", "usd", "dollar", "us dollar", "american dollar", "buck"),
    "€": ("eur", "euro"),
    "£": ("gbp", "pound", "quid"),
    "¥": ("jpy", "yen"),
    "₹": ("inr", "rupee", "rs"),
    "%": ("percent", "per cent", "pct"),
    "°C": ("c", "celsius", "centigrade"),
    "°F": ("f", "fahrenheit"),
    "hour": ("h", "hr", "hourly"),
    "day": ("daily",),
    "week": ("wk", "weekly"),
    "month": ("mo", "monthly"),
    "year": ("yr", "yearly", "annually", "annum"),
}
PERIODS = ("hour", "day", "week", "month", "year")
_NAMES = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings}
MAGNITUDES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_MAGNITUDE = re.compile(rf"\b({'|'.join(MAGNITUDES)})s?\b(?:\s+of\b)?", re.IGNORECASE)
_NO_NAME = re.compile(
    r"^\s*(?:#(?:\s*of\b)?|(?:the\s+)?number\s+of\b|in\b)|\bdegrees?(?=\s)|\s(?:of|old|out)\b.*|[()\[\]{}].*",
    re.IGNORECASE | re.DOTALL,
)
"""What stands beside the name of a unit: 'number of people', '% of people', 'degrees Celsius'."""
_PER = re.compile(r"/|\b(?:per(?!\s?cent)|each|an?)\b", re.IGNORECASE)


class Unit(NamedTuple):
    """The unit of a question.

    Attributes:
        name: as the question writes it, without what stands beside it.
        per: the period or thing that it is counted for, as `week` in 'hours per week'.
        factor: what one of it stands for: a million in 'million $'.
    """

    name: str
    per: str | None = None
    factor: float = 1.0

    @property
    def is_money(self) -> bool:
        return plain_name(self.name) in set(SIGNS)

    @property
    def has_period(self) -> bool:
        """Whether it is for a period or for nothing; '$ per litre' has more decimals."""
        return self.per is None or plain_name(self.per) in PERIODS

    @property
    def is_share(self) -> bool:
        return plain_name(self.name) == "%"


def unit_of(text: str) -> Unit:
    """The unit that the text of a question's unit names."""
    magnitude = _MAGNITUDE.search(text)
    factor = MAGNITUDES[magnitude[1].lower()] if magnitude else 1.0
    name, *pers = _PER.split(_MAGNITUDE.sub("", text), maxsplit=1)
    per = " ".join(pers).split()
    return Unit(_NO_NAME.sub("", name).strip(), per[-1] if per else None, factor)


def plain_name(word: str) -> str:
    """One name for the spellings of a unit: without case, which tells short ones apart, and plural."""
    word = " ".join(word.replace("° ", "°").replace("^", "").split())
    small = word.casefold()
    stem = small.removesuffix("s")
    return _NAMES.get(small) or _NAMES.get(stem) or (stem if len(small) > 2 else word)


def value_in(value: float, name: str, unit: Unit) -> float | None:
    """A value with the name of a unit behind it, in the question's unit; None where it is in another."""
    spellings = plain_name(name), plain_name(unit.name)
    is_degree = spellings[0] in ("degree", "°") and spellings[1] in ("°C", "°F")
    if spellings[0] == spellings[1] or is_degree:
        return value
    # in everyday words calories are as often kilocalories
    if unit.is_money or unit.is_share or spellings[0] in ("cal", "calorie"):
        return None
    from pint.errors import PintError

    try:
        return float(
            _registry().Quantity(value, _pint_name(name)).to(_pint_name(unit.name)).magnitude
        )
    except (PintError, ValueError, AttributeError, TypeError, AssertionError):
        return None


def _pint_name(name: str) -> str:
    """The spelling that pint knows, as case tells MJ from mJ: as it is written, else in small letters."""
    name = _NAMES.get(name.casefold(), name)
    return name if name in _registry() else name.casefold()


@cache
def _registry() -> "UnitRegistry[Any]":
    # takes a second, and only answers with another unit than the question's need it
    from pint import UnitRegistry

    return UnitRegistry()
