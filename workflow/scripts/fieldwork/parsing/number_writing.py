"""How one number is written in a reply.

Owns separators, magnitudes, powers, signs, currencies and units of a number, and what only looks like
one: ordinals, names such as COVID-19, decades.
"""

import math
import re
from itertools import islice
from typing import NamedTuple

from fieldwork.parsing.replies import SPACED_LETTER
from fieldwork.parsing.unit_names import ADVERBS, PERIODS, plain_name
from fieldwork.parsing.units import SIGNS, Unit, is_currency, is_known, period_of, unit_of

_MAGNITUDES = {
    **dict.fromkeys(("hundred", "hundreds"), 1e2),
    "dozen": 12.0,
    **dict.fromkeys(("k", "thousand", "thousands", "tsd", "tausend", "mille", "mila", "mil"), 1e3),
    **dict.fromkeys(("grand", "тысяча", "тысячи", "тысяч", "тыс", "ألف", "हज़ार"), 1e3),
    **dict.fromkeys(("lakh", "lakhs", "लाख"), 1e5),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "mio", "mn", "mln"), 1e6),
    **dict.fromkeys(("millón", "milione", "milioni", "milhão", "milhões", "miljoen"), 1e6),
    **dict.fromkeys(("миллион", "миллиона", "миллионов", "млн", "مليون"), 1e6),
    **dict.fromkeys(("crore", "crores", "करोड़"), 1e7),
    **dict.fromkeys(
        ("billion", "billions", "milliarde", "milliarden", "milliard", "milliards"), 1e9
    ),
    **dict.fromkeys(("miliardo", "miliardi", "bilhão", "bilhões", "miljard", "bn", "mrd"), 1e9),
    **dict.fromkeys(("миллиард", "миллиарда", "миллиардов", "млрд", "مليار"), 1e9),
    **dict.fromkeys(
        ("trillion", "trillions", "billionen", "billones", "billón", "tn", "трлн"), 1e12
    ),
    **dict.fromkeys(("trillón", "trillones", "trillionen"), 1e18),
}
_ENGLISH_MAGNITUDES = re.compile(r"(?:k|thousand|million|[btm]n|billion|trillion)s?", re.IGNORECASE)
_SIGN_MAGNITUDES = {
    **dict.fromkeys("千천", 1e3),
    **dict.fromkeys("万萬만", 1e4),
    **dict.fromkeys("億亿억", 1e8),
    **dict.fromkeys("兆조", 1e12),
}
_LETTER_MAGNITUDES = {"m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12}
_DIGITS = (
    # groups of three; India's groups of two; a decimal with point or comma
    r"\d{1,3}(?:[ '’\u202f.,]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?|\.\d+"
)
_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|KRW|CAD|AUD|NZD|HKD|SGD|BRL|MXN|SEK|NOK|DKK|PLN|ZAR|RUB|TWD"
    r"|Rs\.?"
)
_NO_UNIT = (
    r"(?!到|至|から)(?!(?:to|and|or|bis|und|et|in|at|as|a|an|is|on|of|for|with|per|out|by|because|since|oder|ou|e|y|o|à|до"
    rf"|hasta|from|pro|par|por|al|в|maybe|perhaps|every|each|{ADVERBS})\b)"
)
_MAGNITUDE_WORDS = "|".join(sorted(_MAGNITUDES, key=len, reverse=True))
_PERIOD_WORDS = "|".join(sorted(map(re.escape, PERIODS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?:(?P<period>(?:每|毎)(?:天|日|周|週|个?月|年)|週に?|1?日に?(?=\d)|月に(?=\d))(?:大约|约|約)?(?=\d))?"
    rf"(?<!{SPACED_LETTER})(?<![.,^√])"
    # in '5%-10%' and '$5-$10' the hyphen is no sign
    rf"(?P<sign>(?<!\d[{SIGNS}%°])(?<!\d\s[{SIGNS}%°])-(?=[{SIGNS}]?\.?\d))?"
    rf"(?P<currency>(?:US|CA?|AU?|NZ|HK|S|R|MX|NT|TW)?\$|[{SIGNS}]|(?-i:{_CODES})(?=[ ]?\d))?[ ]?"
    rf"(?P<digits>{_DIGITS})"
    r"(?:e(?P<exponent>[+-]?\d{1,2})\b"
    r"|\s?(?:[x×*·]|\\times)\s?10\s?(?:\^|\*\*)\s?\{?(?P<power>[+-]?\d{1,2})\}?"
    r"|(?:\^|\*\*)\{?(?P<raised>[+-]?\d{1,3})\}?)?"
    rf"(?:[ -]?(?P<magnitude>(?:{_MAGNITUDE_WORDS})(?:[ ](?:{_MAGNITUDE_WORDS}))*)\b"
    rf"|(?P<sign_magnitude>[{''.join(_SIGN_MAGNITUDES)}]{{1,3}})"
    r"|(?-i:(?P<letter>(?(currency)[ ]?(?:mm|[mbtMBT])|[ ]?[MB]))(?![\w²³/^&])))?"
    rf"(?:(?:[ ]|-(?=[^\W\d_]))?{_NO_UNIT}(?P<unit>%|[{SIGNS}](?!\d)"
    r"|(?:(?:square|cubic|sq|metric|us|canadian|australian|zealand|kong|singapore|taiwan"
    r"|degrees?|deg|grad|grados|degrés|gradi|graus)\s)?(?:°\s?)?[^\W\d_]+(?![^\W\d_]|\$)(?:\^?[23](?!\w))?|°(?!\w)))?"
    r"(?:\.?\s+(?:pro|par|por|al|à|a\s+la|a|alla|il|в|في|på)\s+"
    rf"(?P<period_abroad>(?:{_PERIOD_WORDS})\b)|\s+(?P<adverb>{ADVERBS})\b"
    r"|\s*(?:/\s*|\b(?:per|an?|each|every)\s+)"
    r"(?:(?:typical|average|normal|single|calendar|given)\s+)?(?P<per>[^\W\d_]+)"
    rf"|\s+on\s+(?P<days>weekdays|weekends))?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_DECADE = re.compile(r"['’]?s\b")
_NO_QUANTITY = re.compile(
    r"[ -](?:figures?|digits?)\b|\s?(?:x|times)\s+(?:my|the|your|their|his|her|our|as|more)\b",
    re.IGNORECASE,
)
"""'Five figures' and 'twice my rent' are no five and no two."""
_NAME_HYPHEN = re.compile(r"[^\W\d_]-\Z")
_UNIT_HYPHEN = re.compile(r"\d\s?(?:°\s?)?[^\W\d_]{1,10}(?:/[^\W\d_]{1,10})?-\Z")
_POINT_AND_THREE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_MEASURES = frozenset(
    (
        "score",
        "scores",
        "point",
        "points",
        "rating",
        "index",
        "ratio",
        "rate",
        "gpa",
        "grade",
        "level",
    )
)
"""Words for what is measured without a unit, and not counted."""
_SHORT_TIMES = ("second", "minute", "hour", "millisecond")


MOST_NUMBERS = 20_000
"""A reply with more does not give one."""


class WrittenNumber(NamedTuple):
    """A number of a reply, or a range: its ends, its place, its magnitude and its unit.

    Attributes:
        has_groups: whether its digits are in groups of three.
        is_clear: whether it can be one number only, unlike '4.500' and '8.125 millones'.
    """

    low: float
    high: float
    start: int
    end: int
    magnitude: float
    unit: Unit | None
    has_groups: bool = False
    is_clear: bool = True


def written_numbers(reply: str, unit: Unit | None) -> list[WrittenNumber]:
    """All numbers of a reply, in order; a range is still two."""
    numbers = (
        _number(match, unit)
        for match in _NUMBER.finditer(reply)
        if not _is_part_of_a_name(reply, match, unit)
    )
    return list(islice(numbers, MOST_NUMBERS + 1))


def _is_part_of_a_name(reply: str, match: re.Match[str], unit: Unit | None) -> bool:
    """Whether a number is an ordinal, a decade ('my 30s'), or belongs to a name such as COVID-19."""
    start, end = match.start("digits"), match.end("digits")
    preceding = reply[max(0, start - 24) : start]
    is_name = (
        _NAME_HYPHEN.search(preceding)
        and not _UNIT_HYPHEN.search(preceding)
        and not match["currency"]
    )
    is_time = unit is not None and unit.name.partition(" ")[0] in _SHORT_TIMES
    is_decade = not is_time and _DECADE.match(reply, end)
    return bool(
        is_name or is_decade or _ORDINAL.match(reply, end) or _NO_QUANTITY.match(reply, end)
    )


def _number(match: re.Match[str], question_unit: Unit | None) -> WrittenNumber:
    magnitude = _magnitude(match)
    unit = _unit(match)
    digits = match["digits"]
    are_thousands, is_clear = False, True
    if _POINT_AND_THREE.fullmatch(digits):
        are_thousands, is_clear = _reading_of_point(
            digits, match["magnitude"], unit or question_unit, question_unit
        )
    value = _decimal(digits.replace(".", "") if are_thousands else digits)
    if match["raised"]:
        value = _power(value, int(match["raised"]))
    value *= magnitude * 10.0 ** int(match["exponent"] or match["power"] or 0)
    value = -value if match["sign"] else value
    has_groups = are_thousands or "," in digits
    start, end = match.span()
    return WrittenNumber(value, value, start, end, magnitude, unit, has_groups, is_clear)


def _unit(match: re.Match[str]) -> Unit | None:
    """The unit of a number; without a word where only a period is named, as in '36k annually'."""
    word = match["currency"] or match["unit"]
    period = match["period"].strip("每毎に1") if match["period"] else None
    per = match["per"] or match["period_abroad"] or match["adverb"] or match["days"] or period
    if not word:
        unit = Unit("", plain_name(per)) if per else None
        return unit if unit and period_of(unit) else None
    return unit_of(plain_name(word))._replace(per=plain_name(per) if per else None)


def _reading_of_point(
    digits: str, magnitude: str | None, unit: Unit | None, question_unit: Unit | None
) -> tuple[bool, bool]:
    """Whether the point of '12.500' separates thousands, and whether that is clear.

    It does for currencies and for what is counted: they have no three decimals. Other quantities may
    have them, but hardly two zeros at their end.
    """
    if magnitude and not _ENGLISH_MAGNITUDES.fullmatch(magnitude):
        return digits.endswith("000"), digits.endswith("000")
    per = (unit.per if unit else None) or (question_unit.per if question_unit else None)
    is_ratio = per is not None and per not in PERIODS
    is_count = unit is not None and question_unit is not None and not is_known(unit.word)
    if question_unit is not None and question_unit.word.casefold() in _MEASURES:
        is_count = False
    is_currency_or_count = unit is not None and (is_currency(unit.word) or is_count)
    if is_currency_or_count and not is_ratio and not magnitude:
        return True, True
    return False, bool(magnitude) or not digits.endswith("00")


def _magnitude(match: re.Match[str]) -> float:
    if match["magnitude"]:
        return math.prod(_MAGNITUDES[word] for word in match["magnitude"].lower().split())
    if match["sign_magnitude"]:
        return math.prod(_SIGN_MAGNITUDES[sign] for sign in match["sign_magnitude"])
    return _LETTER_MAGNITUDES[match["letter"].strip().lower()] if match["letter"] else 1.0


def _power(value: float, exponent: int) -> float:
    try:
        return value**exponent
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _decimal(digits: str) -> float:
    """The value of digits with separators.

    Of points and commas the last kind is the decimal one where both occur. One kind alone separates
    thousands where it occurs several times, or a comma stands previous three digits.
    """
    digits = re.sub(r"[ '’\u202f]", "", digits)
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        thousands = "," if point > comma else "."
    elif comma >= 0:
        is_thousands = digits.count(",") > 1 or re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits)
        thousands = "," if is_thousands else "."
    else:
        thousands = "." if digits.count(".") > 1 else ","
    return float(digits.replace(thousands, "").replace(",", "."))
