"""How the findings write a number: shares, points, intervals, p-values, counts.

Promises that a value too small for the digits printed is not said to be nothing: a p-value never
reads 0, and a minus is a minus sign.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

NOTHING = "–"
"""A cell without a number."""


def p_cell(p: float | None) -> str:
    """`0.012`, `<0.001`, or a dash where there is no test."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def percent(share: float, *, digits: int = 0) -> str:
    """`12 %`; a negative share has a minus sign."""
    return f"{number_text(100 * share, digits)} %"


def points(shift: float, *, digits: int = 0) -> str:
    """A difference of two shares: `+28 points`."""
    return f"{signed_number(100 * shift, digits)} points"


def signed_number(value: float, digits: int) -> str:
    """A difference, with its sign."""
    text = number_text(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def number_text(value: float, digits: int) -> str:
    """A number whose minus is a minus sign, and whose 0 has none; a half is rounded up, as in figures."""
    # twelve digits, so that the half of 100 × 0.575 is one
    exact = Decimal(f"{value:.12g}")
    text = (
        str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)) if exact.is_finite() else "–"
    )
    return text.removeprefix("-") if not float(text) else text.replace("-", "−")


def number_cell(value: float | None, digits: int, scale: float = 1) -> str:
    """A number, or a dash where there is none."""
    return NOTHING if value is None else number_text(scale * value, digits)


def interval_cell(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    digits: int,
    scale: float = 1,
    is_difference: bool = False,
) -> str:
    """An estimate and its interval: `16 (12…20)`, `16 (none)`; a dash without an estimate."""
    if value is None:
        return NOTHING
    text = (signed_number if is_difference else number_text)(scale * value, digits)
    if low is None or high is None:
        return f"{text} (none)"
    return f"{text} ({number_text(scale * low, digits)}…{number_text(scale * high, digits)})"


class NumberStyle(NamedTuple):
    """How the page prints a measure.

    Attributes:
        words: what it is called.
        digits: behind the point.
        scale: what its values are multiplied by.
        unit: behind its values, in a sentence.
        is_difference: whether it has a sign.
    """

    words: str = ""
    digits: int = 0
    scale: float = 1
    unit: str = ""
    is_difference: bool = False

    @property
    def as_difference(self) -> "NumberStyle":
        """The same of a difference, which has a sign."""
        return self._replace(is_difference=True)

    def number(self, value: float | None) -> str:
        """A number, or a dash."""
        return number_cell(value, self.digits, self.scale)

    def amount(self, value: float) -> str:
        """A number with its unit."""
        return f"{self.number(value)} {self.unit}"

    def interval(self, value: float | None, low: float | None, high: float | None) -> str:
        """An estimate with its interval, or a dash."""
        return interval_cell(
            value,
            low,
            high,
            digits=self.digits,
            scale=self.scale,
            is_difference=self.is_difference,
        )


HUNDREDTHS = NumberStyle(digits=2)
THOUSANDTHS = NumberStyle(digits=3)
PERCENT = NumberStyle(scale=100)
TENTHS_OF_PERCENT = NumberStyle(digits=1, scale=100)


def count_phrase(n: int, noun: str) -> str:
    """`1 prompt`, `9 prompts`, `1,440 answers`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def join_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
