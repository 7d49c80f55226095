"""Questions whose answers have a value: points of a scale, and numbers.

Owns what a source and the cells of a row say of them: labels, options beside the scale, reversed items;
units and limits. Messages name the place and the way out.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.readable_texts import look_of
from fieldwork.sections.tasks import NumberForm, ScaleForm

MAX_POINTS = 11
MAX_OPTIONS = 15
"""Of a scale: its points and the options beside them."""

Cell = Callable[[str], str | None]
"""The text of a row's cell, by what the cell holds; None where it is empty."""

_WHOLE, _WHOLE_WITH_POINT = re.compile(r"-?[0-9]{1,6}"), re.compile(r"-?[0-9]{1,6}\.0+")
# a point or comma before the decimals, unless it may stand before thousands; spaces between thousands
_LIMIT = re.compile(r"([-+]?\d+(?:[ \u00a0\u202f]\d{3})*)(?:\.(\d+)|,(\d{1,2}|\d{4,}))?")
_FLAGS = {"": False, "no": False, "false": False, "0": False, "yes": True, "true": True, "1": True}


class ItemScale(NamedTuple):
    """A scale as an item has it: the columns of `Item` with these names."""

    choices: list[str]
    marks: list[str] | None
    points: list[float]


def scale_of(place: str, cell: Cell, choices: Sequence[str], form: ScaleForm) -> ItemScale:
    """The scale of a row.

    Args:
        choices: the row's own options in order, empty for those of the source.

    Raises:
        StudyError: there are no labels, too many, or options beside the scale stand among its points.
    """
    options = [_plain_number(text) for text in choices or (*form.labels, *form.missing_options)]
    missing = set(map(_folded_text, form.missing_options))
    is_missing = [_folded_text(text) in missing for text in options]
    n_points = is_missing.index(True) if True in is_missing else len(options)
    if not all(is_missing[n_points:]):
        raise StudyError(
            f"{place}: the option {options[n_points]!r} of `scale.missing_options` has no "
            "value, but stands before points of the scale; move it behind them"
        )
    if not 2 <= n_points <= MAX_POINTS or len(options) > MAX_OPTIONS:
        raise StudyError(
            f"{place}: a scale has 2 to {MAX_POINTS} points and {MAX_OPTIONS} options at most, but this "
            f"one has labels for {n_points} points; write the labels in order in option_a, "
            f"option_b, … or once for all rows in `scale.labels` of the task's source"
        )
    first = _first_number(options[:n_points], form.first)
    marks = [str(first + n) for n in range(len(options))]
    if form.marks == "numbers":
        _refuse_foreign_marks(place, options, marks)
    points = [float(first + n) for n in range(n_points)]
    if is_reversed(place, cell) != (form.order == "descending"):
        points.reverse()
    return ItemScale(options, marks if form.marks == "numbers" else None, points)


def _plain_number(text: str) -> str:
    """A label as it is; of a number such as 1.0, as programs write it, the whole number."""
    return str(int(float(text))) if _WHOLE_WITH_POINT.fullmatch(text.strip()) else text


def _first_number(labels: Sequence[str], usual: int) -> int:
    """The number of the first point: what labels that are numbers agree on, else the usual one."""
    numbers = {n: label.strip() for n, label in enumerate(labels)}
    starts = {int(text) - n for n, text in numbers.items() if _WHOLE.fullmatch(text)}
    return starts.pop() if len(starts) == 1 else usual


def _folded_text(text: str) -> str:
    """A text without what typography changes: case, blanks, curly apostrophes."""
    plain = unicodedata.normalize("NFKC", text).translate({0x2018: "'", 0x2019: "'"})
    return look_of(plain).casefold()


def _refuse_foreign_marks(place: str, options: Sequence[str], marks: Sequence[str]) -> None:
    """Refuse a label that is the number of another point: an answer of that number would mean both."""
    for option, mark in zip(options, marks, strict=True):
        if option.strip() in set(marks) - {mark}:
            raise StudyError(
                f"{place}: the label {option!r} stands at the point with the number {mark}; correct "
                f"`scale.first` of the task's source, or the label"
            )


def is_reversed(place: str, cell: Cell) -> bool:
    """Whether an item is put the other way round than its battery, so that its values are turned."""
    text = (cell("reversed") or "").strip().casefold().removesuffix(".0")
    if text not in _FLAGS:
        raise StudyError(f"{place}: `reversed` is {text!r}; write yes or no, or leave it empty")
    return _FLAGS[text]


def number_fields(place: str, cell: Cell, form: NumberForm) -> dict[str, Any]:
    """Unit and limits of a number: the row's, else the source's.

    Raises:
        StudyError: a limit is no number, or the lowest is above the highest.
    """
    lowest, highest = (
        value if (value := _limit(place, role, cell(role))) is not None else getattr(form, role)
        for role in ("lowest", "highest")
    )
    if lowest is not None and highest is not None and lowest > highest:
        raise StudyError(
            f"{place}: `lowest` ({lowest:g}) is above `highest` ({highest:g}); swap them, or leave one "
            f"empty"
        )
    return {"unit": cell("unit") or form.unit, "lowest": lowest, "highest": highest}


def _limit(place: str, role: str, text: str | None) -> float | None:
    if text is None:
        return None
    match = _LIMIT.fullmatch(text.strip())
    try:
        value = float(f"{''.join(match[1].split())}.{match[2] or match[3] or 0}" if match else text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise StudyError(
            f"{place}: `{role}` is {text!r}; write a number such as 0 or 2.5, or leave it empty"
        )
    return value


def option_marks(marks: Sequence[str] | None, choices: Sequence[str]) -> Sequence[str]:
    """What stands before each option in the prompt."""
    return marks if marks is not None else ascii_uppercase[: len(choices)]
