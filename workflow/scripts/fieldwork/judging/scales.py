"""The scales of the config: which option an answer is, and what an option is worth."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.judging import Scale


class AnswerScale(NamedTuple):
    """A scale and the ways in which its options are written.

    Attributes:
        readings: other spellings, each with its option.
        labels: what raters read in place of options.
    """

    scale: Scale
    readings: Mapping[str, str]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.scale.name

    @property
    def has_sides(self) -> bool:
        """Whether its options prefer one of two answers; reasons and ratings are of no side."""
        return bool(self.scale.prefers_a or self.scale.prefers_b)

    def option(self, answer: str, place: str) -> str:
        """The option that an answer is.

        Raises:
            StudyError: it is none.
        """
        option = self.readings.get(answer, answer)
        if option not in self.scale.options:
            raise StudyError(
                f"{place}: the answer is no option of the scale {self.name} "
                f"({', '.join(self.scale.options)}); correct the cell, add its spelling to "
                f"judging.scales.{self.name}.readings, or make a scale of its own if the scale changed"
            )
        return option

    def label(self, option: str) -> str:
        """What raters read in place of an option."""
        return self.labels.get(option, option)

    def mirror(self, option: str) -> str:
        """The option that says the same once two sides are exchanged."""
        options = self.scale.options
        return options[len(options) - 1 - options.index(option)]

    def number(self, option: str) -> float | None:
        """What an option is worth; None where options have no order."""
        return self.scale.number(option) if self.scale.is_ordered else None


def scale_of(settings: Mapping[str, Any]) -> Scale:
    """The scale of an entry of `judging.scales`, with its name."""
    return Scale(
        name=settings["name"],
        level=settings["level"],
        options=tuple(settings["options"]),
        accepted=frozenset(settings["accepted"]),
        prefers_a=frozenset(settings["prefers_a"]),
        prefers_b=frozenset(settings["prefers_b"]),
        penalty=settings["penalty"],
    )


def answer_scales(scales: Sequence[Mapping[str, Any]]) -> dict[str, AnswerScale]:
    """The scales by name, with the spellings of their options."""
    return {s["name"]: AnswerScale(scale_of(s), s["readings"], s["labels"]) for s in scales}
