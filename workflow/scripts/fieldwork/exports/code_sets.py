"""Codes of texts that repeat: a number and a label for each, the same in all files of an export."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

MOST_CODES = 65_536
"""Stata's limit. A set with more has no codes, and its variables are texts."""
LONGEST_LABEL = 120
"""Bytes: SPSS's limit for the label of a value."""

NO_TEXT = "(empty)"
"""The label of an empty value."""


class CodeSet(NamedTuple):
    """Codes from 1, in the order of the values.

    Attributes:
        labels: printed names, whole; two values never have the same one.
    """

    values: Sequence[str]
    labels: Sequence[str]

    @property
    def codes(self) -> dict[str, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values, 1)}

    def value_labels(self) -> dict[int, str]:
        """The label of each code, as short as programs need it; two codes never have the same one.

        R takes two codes with one label for one value, and SPSS drops blanks at the end of a label.
        """
        labels: dict[int, str] = {}
        uses: set[str] = set()
        for code, whole_label in enumerate(self.labels, 1):
            label = cut_text(without_nul(whole_label), LONGEST_LABEL).strip() or NO_TEXT
            labels[code] = next(one for one in _marked_labels(label, code) if one not in uses)
            uses.add(labels[code])
        return labels

    def n_cut(self) -> int:
        """How many labels programs do not show whole."""
        return sum(
            label != whole_label
            for label, whole_label in zip(self.value_labels().values(), self.labels, strict=True)
        )


def code_set(
    known_values: Iterable[str], values: Iterable[str], labels: Mapping[str, str]
) -> CodeSet | None:
    """The codes of some values; None where there are too many.

    Args:
        known_values: what the study or the type of a column knows, first and in this order.
        labels: names that the config gives to values.
    """
    ordered_values = [*dict.fromkeys([*known_values, *sorted(set(values))])]
    if len(ordered_values) > MOST_CODES:
        return None
    names = [labels.get(value, value) or NO_TEXT for value in ordered_values]
    times = Counter(names)
    return CodeSet(
        ordered_values,
        [
            name if times[name] == 1 else f"{name} ({value})"
            for name, value in zip(names, ordered_values, strict=True)
        ],
    )


def _marked_labels(label: str, number: int) -> Iterator[str]:
    """A label, and then it with a number at its end, no longer than labels may be."""
    yield label
    for n in count(number):
        mark = f" ({n})"
        yield cut_text(label, LONGEST_LABEL - len(mark)) + mark


def without_nul(text: str) -> str:
    """A text with U+FFFD for each NUL, at which programs written in C end it."""
    return text.replace("\0", "\ufffd")


def cut_text(text: str, n_bytes: int) -> str:
    """A text of at most so many bytes of UTF-8, with … where something is cut off."""
    content = text.encode()
    if len(content) <= n_bytes:
        return text
    mark = "…"
    return content[: n_bytes - len(mark.encode())].decode(errors="ignore") + mark
