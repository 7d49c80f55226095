"""What the word behind a number says: the question's unit, another one, or nothing of a unit.

Currencies and percent are known by name and sign, and are never converted; all other units are pint's.
Owns how the text of a question's unit is understood: 'hours per week', '% of people', 'million $'.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from fieldwork.parsing.replies import with_ascii_powers
from fieldwork.parsing.unit_names import (
    CURRENCIES,
    PERCENT,
    PERIODS,
    UNCONVERTIBLE,
    plain_name,
)

if TYPE_CHECKING:
    from pint import UnitRegistry

SIGNS = "$€£¥₹₩₽₺₪฿₫₱₴₦¢"
"""Signs of currencies, of one character."""
_POUNDS = frozenset(("pound", "pounds"))
_TEMPERATURES = {
    **dict.fromkeys(("°c", "c", "celsius", "centigrade"), "degC"),
    **dict.fromkeys(("°f", "f", "fahrenheit"), "degF"),
}
_CALORIES = frozenset(("cal", "cals", "calorie", "calories"))
"""In everyday words as often kilocalories."""
_SHORT_UNIT = re.compile(
    r"[kmc]?g|t|lb|oz|[knmc]?m|ft|mi|yd|h|m?s|[mcd]?l|ha|[kMGT]?W|[kMG]?J|Wh|k?V|Pa|Hz|[kMGT]B"
)
"""Units of one or two letters that are taken for units; others, such as `as` and `do`, are words."""
_WORD = re.compile(r"°?[^\W\d_]+(?:\^-?\d)?")
_NUMBER_OF = re.compile(r"^(?:#(?:\s*of)?|(?:the\s+)?number\s+of|no\.\s+of|in)\s+", re.IGNORECASE)
_MAGNITUDE = re.compile(
    r"\b(?P<name>hundred|thousand|million|billion|trillion)s?\b(?:\s+of)?", re.IGNORECASE
)
_FACTORS = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_PER = re.compile(r"\s*(?:/|\b(?:per|each|an?|pro|par|por)\b)\s*", re.IGNORECASE)
_REST = re.compile(r"\s*(?:\bof\b|\bold\b|\bout\b|\().*$", re.IGNORECASE | re.DOTALL)
_POWERS = {"square": "^2", "sq": "^2", "cubic": "^3"}
_BARE_POWER = re.compile(r"(?<=[^\W\d_])([23])$")


class Unit(NamedTuple):
    """The unit of a question, or of a number in a reply.

    Attributes:
        word: its name or sign, without what stands around it.
        per: what it is counted for, as `week` in 'hours per week'.
        factor: what one of it stands for: a million in 'million $'.
    """

    word: str
    per: str | None = None
    factor: float = 1.0

    @property
    def name(self) -> str:
        """Pint's name of it; empty where it has none."""
        word = pint_name(self.word)
        per = pint_name(self.per) if self.per else ""
        return f"{word} / ({per})" if word and per else word


@cache
def unit_of(text: str) -> Unit:
    """The unit that a text names."""
    text = " ".join(with_ascii_powers(text).split()).strip("[](){}.,;:").replace("° ", "°")
    factor = 1.0
    if _known_sign(text) is not None:
        return Unit(text)
    text = _NUMBER_OF.sub("", text)
    if magnitude := _MAGNITUDE.search(text):
        factor = _FACTORS[magnitude["name"].lower()]
        text = f"{text[: magnitude.start()]} {text[magnitude.end() :]}".strip()
    word, *pers = _PER.split(text, maxsplit=1)
    per = plain_name(pers[0].split()[-1]) if pers and pers[0].split() else None
    return Unit(plain_name(_one_word(word)), per, factor)


def _one_word(text: str) -> str:
    """The unit's own word of several: 'square metres' is metres^2, 'degrees Celsius' Celsius."""
    text = _REST.sub("", text).strip() if _known_sign(text) is None else text
    if _known_sign(text) is not None:
        return text
    words = [_BARE_POWER.sub(r"^\1", word) for word in text.split()] or [""]
    if len(words) > 1:
        first, second = words[0].lower(), words[1]
        if first in _POWERS:
            return second + _POWERS[first]
        if first == "metric" and second.lower().startswith("ton"):
            return "tonnes"
        if plain_name(first).startswith("degree"):
            return second
    return next((word for word in words if is_known(word)), words[0])


def _known_sign(word: str) -> str | None:
    """The sign that a currency or percent is known by here."""
    word = word.casefold()
    return "%" if word in PERCENT else CURRENCIES.get(word)


def is_unit_of(word: str, unit: Unit) -> bool:
    """Whether a word is the unit, in another case, number or spelling."""
    sign, other = _known_sign(word), _known_sign(unit.word)
    if other == "£" and word.casefold() in _POUNDS:
        return True
    if sign is not None or other is not None:
        return sign == other
    if _is_temperature(unit.word):
        is_degree = word.casefold() in ("degree", "degrees", "°")
        return is_degree or _temperature(word) == _temperature(unit.word)
    return (
        word.casefold().removesuffix("s") == unit.word.casefold().removesuffix("s")
        or pint_name(word) == pint_name(unit.word) != ""
    )


def _temperature(word: str) -> str | None:
    return _TEMPERATURES.get(word.casefold())


def _is_temperature(word: str) -> bool:
    return _temperature(word) is not None or word.casefold() in ("k", "kelvin")


@cache
def is_known(word: str) -> bool:
    """Whether a word is a unit at all."""
    return word in UNCONVERTIBLE or _known_sign(word) is not None or bool(pint_name(word))


def is_currency(word: str) -> bool:
    return _known_sign(word) not in (None, "%")


def is_percent(word: str) -> bool:
    return _known_sign(word) == "%"


def is_temperature(unit: Unit) -> bool:
    return _is_temperature(unit.word)


def is_same_per(source: Unit, unit: Unit) -> bool:
    """Whether two units count for the same; so does one that does not say for what."""
    per = period_of(source)
    return per is None or unit.per is None or is_unit_of(per, Unit(unit.per))


def period_of(unit: Unit) -> str | None:
    """What a number counts for, where that is a period or a unit: in '$5 a head' it is neither."""
    return unit.per if unit.per and (unit.per in PERIODS or pint_name(unit.per)) else None


@lru_cache(maxsize=4096)
def value_in(value: float, source: Unit, unit: Unit) -> float | None:
    """A value in the question's unit; None where it is in a unit that cannot be converted.

    A word that is no unit says nothing, and the value is as it is. What counts for another period
    is converted to the question's, and what does not say for which counts for the question's.
    """
    source = source._replace(word=source.word or unit.word, per=period_of(source))
    is_same = is_unit_of(source.word, unit)
    if is_same and is_same_per(source, unit):
        return value
    is_other_temperature = _is_temperature(unit.word) and _temperature(source.word) is not None
    is_unit = is_known(source.word) or is_other_temperature
    if _known_sign(unit.word) or (_known_sign(source.word) and is_unit):
        return None if is_unit or not is_same_per(source, unit) else value
    if is_same or not is_unit:
        return value if is_same_per(source, unit) else _at_rate(value, source, unit)
    # '2 days a week' are no 48 hours a week
    if source.word.casefold() in _CALORIES or (unit.per and _is_long_period(source.word)):
        return None
    value_in_unit = _converted_by_pint(value, source, unit)
    if value_in_unit is None and source.per is None and unit.per:
        return _converted_by_pint(value, source._replace(per=unit.per), unit)
    return value_in_unit


def _is_long_period(word: str) -> bool:
    return pint_name(word) in ("day", "week", "month", "year")


def _at_rate(value: float, source: Unit, unit: Unit) -> float | None:
    """'3 times a day' for times per week."""
    periods = _converted_by_pint(1.0, Unit(unit.per or ""), Unit(source.per or ""))
    return None if periods is None else value * periods


def _converted_by_pint(value: float, source: Unit, unit: Unit) -> float | None:
    names = (
        (_temperature(source.word) or source.name, _temperature(unit.word) or unit.name)
        if _is_temperature(unit.word)
        else (source.name, unit.name)
    )
    if not all(names):
        return None
    from pint.errors import PintError

    try:
        # degrees of temperature have an offset, so the quantity is made of value and unit
        return float(_registry().Quantity(value, names[0]).to(names[1]).magnitude)
    except PintError:
        return None


@cache
def pint_name(word: str) -> str:
    """The name of a unit in pint's registry; empty where it has none.

    In its own case first, as MJ and mJ differ, then in small letters.
    """
    if not _WORD.fullmatch(word):
        return ""
    for spelling in dict.fromkeys((word, word.casefold())):
        plain = spelling.partition("^")[0]
        if len(plain) > 2 or _SHORT_UNIT.fullmatch(plain) or spelling in ("°c", "°f"):
            name = _name_in_registry(_TEMPERATURES.get(spelling, spelling))
            if name:
                return name
    return ""


def _name_in_registry(word: str) -> str:
    from pint.errors import PintError

    try:
        return str(_registry().parse_units(word))
    except (PintError, ValueError, AttributeError, TypeError, AssertionError):
        return ""


@cache
def _registry() -> "UnitRegistry[Any]":
    # takes a second, and only answers with another unit than the question's need it
    from pint import UnitRegistry

    return UnitRegistry()
