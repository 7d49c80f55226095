"""The numbers of a reply, as they are written in digits.

Owns signs, separators, magnitudes and the unit behind a number. Promises that a number which may mean
several ('4.500 kg', '3万', 'two and a half') is known to be unclear, and that ordinals and decades are
none.
"""

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from fieldwork.parsing.replies import SPACED_LETTER
from fieldwork.parsing.units import MAGNITUDES, PERIODS, SIGNS, Unit, plain_name, value_in

MOST_NUMBERS = 20_000
"""A reply with more does not give one."""
_IN_FULL = 10_000
"""From which a number may be in full, where the question's unit is a million or so."""
_FACTORS = MAGNITUDES | {
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mm": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "t": 1e12,
    "tn": 1e12,
}
_SIGN = (
    rf"(?:(?<![^\s(\[{{*_\"'“:=~≈>|{SIGNS}])[-–—]"
    r"|(?:minus|negative|минус|零下|マイナス|负|負|영하)\s?)"
)
"""A hyphen is one at the beginning of a word only: '10-20' is a range."""
_DIGITS = (
    r"\d{1,3}(?:(?:[ '’\u202f.,_]\d{3})+|(?:,\d\d)+,\d{3})(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?|\.\d+"
)
"""Groups of three, or India's of two; a decimal with point or comma."""
_ADVERB = "(?:dai|hour|week|month|year|annual)ly"
_NAME = r"(?:degrees?\s|°\s?)?[^\W\d_]+(?![^\W\d_]|\$)[23]?"
_NO_UNIT = (
    "a|an|and|as|at|because|both|but|by|every|for|from|given|here|if|in|is|are|it|of|on|or|out|per|since"
    "|so|to|total|was|were|which|with|each|maybe|though|while"
    rf"|{_ADVERB}"
)
"""Words right behind a number that name nothing of which it could be the count."""
_UNCLEAR_BEFORE = re.compile(
    r"(?:\b(?:moins|menos|meno)\s*|√\s?\(?|(?<![\d/])(?<!\d\s)\b[^\W\d_]{2,}-)\Z", re.IGNORECASE
)
"""'au moins 20' is no -20, and GPT-4 is a name."""
_UNCLEAR_BEHIND = re.compile(
    r"[ -]?(?:(?:hundred|thousand|[mb]illion|dozen|lakh|crore|grand|tausend|tsd|mi[lo]|mila|mille|mrd"
    r"|mil[lhj]?(?:i[aoóõ]|[oóõ])\w*|тыс|млн|млрд|миллион\w*|миллиард\w*)\b"
    r"|[千万萬億亿兆천만억조]|करोड़|लाख|ألف|مليون|مليار|\^|\*\*\d|[⁄½¼¾]|and\s+a\s+half"
    r"|(?:°\s?[CF]?|degrees?|grad)?\s*(?:below|unter)\b|h\s?\d|m\s?\d\d)",
    re.IGNORECASE,
)
"""What makes another number of the digits before it, and is not worked out here."""
_GROUPS = re.compile(r"(?<=\d)[ '’\u202f_](?=\d{3})")
_POINT_AND_THREE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_COMMA_AND_THREE = re.compile(r"[1-9]\d{0,2},\d{3}")


class WrittenNumber(NamedTuple):
    """A number of a reply.

    Attributes:
        value: as it is written, with its magnitude.
        start, end: its place, with its unit.
        name: of its unit, or of what it counts; None for none.
        per: the period or thing that it is counted for.
        magnitude: what its digits are multiplied by.
        is_clear: whether it can be one number only.
    """

    value: float
    start: int
    end: int
    name: str | None
    per: str | None
    magnitude: float
    is_clear: bool

    def value_for(self, unit: Unit | None) -> float | None:
        """The number in the question's unit; None where it is in another unit, or may be."""
        if unit is None:
            return self.value
        name, per = plain_name(self.name or unit.name), plain_name(self.per or unit.per or "")
        # '2 days a week' are no 48 hours a week
        is_period = name in PERIODS and name != plain_name(unit.name)
        if unit.per and (is_period or per != plain_name(unit.per)):
            return None
        value = value_in(self.value, self.name, unit) if self.name else self.value
        # '5 million' and '5' are the same in 'million $'; '450,000' may be either
        is_in_full = self.magnitude > 1 or abs(self.value) >= unit.factor
        if value is None or is_in_full:
            return value and value / unit.factor
        return None if abs(value) >= _IN_FULL and unit.factor > 1 else value


def written_numbers(reply: str, unit: Unit | None) -> list[WrittenNumber]:
    """The numbers of a reply, in order, and at most one more than `MOST_NUMBERS`."""
    matches = _pattern(unit.name if unit else "").finditer(reply)
    return [_number(reply, match, unit) for match in islice(matches, MOST_NUMBERS + 1)]


@lru_cache(maxsize=256)
def _pattern(unit_name: str) -> re.Pattern[str]:
    """Of a number; a question's unit may be several words."""
    unit = rf"{re.escape(unit_name)}(?![^\W_])|" if unit_name else ""
    # 293 K are no 293 thousand degrees
    thousand = "" if plain_name(unit_name) in ("°C", "°F") else "k|"
    magnitude = rf"{thousand}{'|'.join(MAGNITUDES)}|[mbt]n|(?-i:[MB])|(?(money)(?:mm|[mbt]))"
    return re.compile(
        rf"(?<!{SPACED_LETTER})(?<![\d.,^])(?P<sign>{_SIGN}(?=[{SIGNS}.\d]))?"
        rf"(?:(?P<money>(?:[a-z]{{1,2}})?[{SIGNS}]|(?-i:[A-Z]{{3}}|Rs\.?)(?=\s?\d))\s?)?"
        rf"(?P<digits>{_DIGITS})(?![.,]?\d|(?:st|nd|rd|th)\b|['’]?s\b|x\b)"
        r"(?:(?:e|\s?[x×*·]\s?10\s?\^\s?\{?)(?P<power>[+-]?\d{1,2})\b\}?)?"
        rf"(?P<factor>(?:[ -]?(?P<magnitude>{magnitude})(?![^\W_]|&))?)"
        rf"(?:[ -]?(?!(?:{_NO_UNIT})\b)(?P<name>{unit}%|[{SIGNS}](?!\d)|{_NAME}|°))?"
        rf"(?:\s?(?:/\s?|\b(?:per|an?|each|every)\s|\bon\s(?=week)|\b(?={_ADVERB}\b))(?P<per>[^\W\d_]+))?",
        re.IGNORECASE,
    )


def _number(reply: str, match: re.Match[str], unit: Unit | None) -> WrittenNumber:
    digits = _GROUPS.sub("", match["digits"])
    is_point = _POINT_AND_THREE.fullmatch(digits) is not None and not match["magnitude"]
    are_thousands = is_point and unit is not None and unit.is_money and unit.has_period
    may_be_either = is_point and (unit is not None or digits.endswith("00")) and not are_thousands
    is_unclear = (
        may_be_either
        or _UNCLEAR_BEFORE.search(reply, max(0, match.start() - 24), match.start())
        or _UNCLEAR_BEHIND.match(reply, match.end("factor"))
    )
    magnitude = _FACTORS[match["magnitude"].lower()] if match["magnitude"] else 1.0
    value = _decimal(digits.replace(".", "") if are_thousands else digits)
    value *= magnitude * 10.0 ** int(match["power"] or 0) * (-1 if match["sign"] else 1)
    return WrittenNumber(
        value,
        *match.span(),
        name=match["money"] or match["name"],
        per=match["per"],
        magnitude=magnitude,
        is_clear=not is_unclear,
    )


def _decimal(digits: str) -> float:
    """The value of digits with points and commas.

    Where both occur, the last kind is the decimal one. One kind alone separates thousands where it
    occurs several times, or a comma stands before three digits.
    """
    if "." in digits and "," in digits:
        thousands = "," if digits.rfind(".") > digits.rfind(",") else "."
    elif "," in digits:
        is_grouped = digits.count(",") > 1 or _COMMA_AND_THREE.fullmatch(digits)
        thousands = "," if is_grouped else "."
    else:
        thousands = "." if digits.count(".") > 1 else ","
    return float(digits.replace(thousands, "").replace(",", "."))
