"""Codes of texts that repeat: a number and a label for each, the same in all files of an export."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

MOST_CODES = 65_536
"""Stata's limit. A set with more has no codes, and its variables are texts."""
LONGEST_LABEL = 120
"""Bytes: SPSS's limit for the label of a value."""


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
        """The label of each code, as short as programs need it."""
        return {code: cut_text(label, LONGEST_LABEL) for code, label in enumerate(self.labels, 1)}


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
    names = [labels.get(value, value) or "(empty)" for value in ordered_values]
    times = Counter(names)
    return CodeSet(
        ordered_values,
        [
            name if times[name] == 1 else f"{name} ({value})"
            for name, value in zip(names, ordered_values, strict=True)
        ],
    )


def cut_text(text: str, n_bytes: int) -> str:
    """A text of at most so many bytes of UTF-8, with … where something is cut off."""
    content = text.encode()
    if len(content) <= n_bytes:
        return text
    mark = "…"
    return content[: n_bytes - len(mark.encode())].decode(errors="ignore") + mark
