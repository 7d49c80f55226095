"""How the findings say a number: shares, points, intervals, p-values, counts.

Promises that what cannot be seen at the digits shown is not said to be nothing: a p-value never
reads 0, and a minus is a minus sign.
"""

import re
from collections.abc import Sequence

from fieldwork.records.field import FIELD

LEVEL = 0.05
"""Corrected p-values below this are told as a difference."""


# Markdown's signs and HTML's; an underscore within a word is none
_SIGNS = re.compile(r"[\\`*\[\]]|~~|(?<![^\W_])_+|_+(?![^\W_])|^[#>+=-]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_NUMBERED = re.compile(r"^(\d+)(?=[.)])")


def literal(text: str) -> str:
    """A label, an option or a name as a page of Markdown shows it just as it is, in one line."""
    plain = _ENTITY.sub("&amp;", " ".join(text.split())).replace("<", "&lt;")
    plain = _SIGNS.sub(lambda sign: "".join(f"\\{letter}" for letter in sign[0]), plain)
    return _NUMBERED.sub(r"\1\\", plain)


def p_text(p: float) -> str:
    """`p = 0.012`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def percent(share: float, *, digits: int = 0) -> str:
    """`12 %`; a negative share has a minus sign."""
    return f"{_signless(100 * share, digits)} %"


def points(shift: float) -> str:
    """A difference of two shares: `+28 points`."""
    return f"{signed(100 * shift, digits=0)} points"


def signed(value: float, *, digits: int) -> str:
    """A difference, its sign always told."""
    text = _signless(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def _signless(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text.replace("-", "−")


def percent_interval(low: float | None, high: float | None, *, digits: int = 0) -> str:
    """`95 % interval 8 to 16 %`, or that there is none."""
    if low is None or high is None:
        return "no interval"
    return f"95 % interval {_signless(100 * low, digits)} to {percent(high, digits=digits)}"


def points_interval(low: float | None, high: float | None, *, digits: int = 0) -> str:
    """`95 % interval −57 to −19 points`, or that there is none."""
    if low is None or high is None:
        return "no interval"
    return f"95 % interval {_signless(100 * low, digits)} to {_signless(100 * high, digits)} points"


def interval(low: float | None, high: float | None, *, digits: int = 2) -> str:
    """`95 % interval 0.11 to 0.23`, or that there is none."""
    if low is None or high is None:
        return "no interval"
    return f"95 % interval {_signless(low, digits)} to {_signless(high, digits)}"


def unit_of(condition: str, unit: str) -> str:
    """What one unit of a condition is called: the field's `puppet` is a participant."""
    return "participant" if condition == FIELD and unit == "puppet" else unit


def counted(n: int, noun: str) -> str:
    """`1 prompt`, `9 prompts`, `1,440 answers`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
