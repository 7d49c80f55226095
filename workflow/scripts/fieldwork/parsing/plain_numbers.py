"""Special forms of numbers rewritten in plain decimals: 1 1/2, 1h30, 45 out of 100, –5, 20 below zero.

Promises that what only looks like a number (dates, versions, roots) is none afterwards.
"""

import re

from fieldwork.parsing.units import SIGNS, Unit, is_currency, is_percent, is_temperature

_NO_NUMBER = "…"
_UNDERSCORE = re.compile(r"(?<=\d)_(?=\d{3}(?!\d))")
_COMMA_AND_SPACE = re.compile(rf"(\A[{SIGNS}\s]*\d{{1,3}}),\s(?=\d{{3}}(?:\.\d\d?)?(?![\d,]))")
_POINTS_OR_DATE = re.compile(
    r"(?<![\w.,])(?:√\s?\(?\d[\d.,]{0,20}|\d+(?:\.\d+){2,}|\d{4}-\d\d-\d\d|\d\d?/\d\d?/\d{2,4})(?!\w)"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_DASH = re.compile(rf"(?:^|(?<=[^\d%°\s]\s))[–—](?=[{SIGNS}]?\d)", re.MULTILINE)
"""A dash right before a number is its sign, where no number stands before it."""
_MIXED_FRACTION = re.compile(r"(?<![\d.,/])(\d{1,3})[ ](\d)\s?[/⁄]\s?([2-9])(?![\d/])")
_BARE = re.compile(r"(?<![\d.,/⁄])(\d)⁄(\d)(?!\d)")
_EQUAL_PARTS = re.compile(
    r"(?<![\d.,/])(\d{1,3}(?:[.,]\d+)?)\s?(?:/|out\s+of(?:\s+every)?)\s?100(?![\d.,]\d|\d|%)",
    re.IGNORECASE,
)
_HOURS_AND_MINUTES = re.compile(
    r"(?<=\d)\s?h\s?(?:([0-5]\d)(?:\s?m(?:in)?)?|([1-9])\s?m(?:in)?)\b", re.IGNORECASE
)
_METRES_AND_CENTIMETRES = re.compile(r"(?<=\d)\s?m(\d\d)\b")
_KELVIN = re.compile(r"(?<=\d)\s?°?K\b")
_BELOW_ZERO = re.compile(
    r"(?<![\d.,-])(?=\d[\d.,]{0,9}\s?(?:°\s?[CF]?|degrees?|grad|degrés|grados|gradi|graus|градус\w*)?"
    r"(?:\s+celsius)?\s+(?:below(?:\s+zero)?(?=\W*(?:$|[\n.,;!)]))|unter\s+null|sous\s+zéro"
    r"|bajo\s+cero|sotto\s+zero|abaixo\s+de\s+zero|ниже\s+нуля))",
    re.IGNORECASE,
)


def with_plain_numbers(reply: str, unit: Unit | None) -> str:
    """The reply with such forms in plain decimals, as far as the question's unit allows them."""
    reply = _POINTS_OR_DATE.sub(_as_thousands, _UNDERSCORE.sub("", reply))
    reply = _MIXED_FRACTION.sub(_as_decimal, _DASH.sub("-", reply))
    reply = _HOURS_AND_MINUTES.sub(lambda match: f" h {match[1] or match[2]} min", reply)
    reply = _METRES_AND_CENTIMETRES.sub(r" m \1 cm", reply)
    if unit is not None and is_currency(unit.word):
        reply = _COMMA_AND_SPACE.sub(r"\1,", reply)
    if unit is not None and is_percent(unit.word):
        return _EQUAL_PARTS.sub(r"\1%", reply)
    if unit is not None and is_temperature(unit):
        reply = _BELOW_ZERO.sub("-", _KELVIN.sub(" kelvin", reply))
    return _BARE.sub(lambda match: _quotient(0, match[1], match[2]) or match.group(), reply)


def _as_thousands(match: re.Match[str]) -> str:
    return match.group() if _THOUSANDS.fullmatch(match.group()) else _NO_NUMBER


def _as_decimal(match: re.Match[str]) -> str:
    return _quotient(int(match[1]), match[2], match[3]) or match.group()


def _quotient(whole: int, numerator: str, denominator: str) -> str | None:
    """A whole number and a fraction; None for what is no proper fraction."""
    if not 0 < int(numerator) < int(denominator):
        return None
    return f"{whole + round(int(numerator) / int(denominator), 4):.15g}"
