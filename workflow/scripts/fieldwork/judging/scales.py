"""Which option of a scale an answer is."""

from fieldwork.errors import StudyError
from fieldwork.sections.judging import Scale


def option_of(scale: Scale, answer: str, place: str) -> str:
    """The option that an answer is, in any spelling that the scale reads.

    Raises:
        StudyError: it is none.
    """
    option = scale.readings.get(answer, answer)
    if option not in scale.options:
        raise StudyError(
            f"{place}: the answer is no option of the scale {scale.name} "
            f"({', '.join(scale.options)}); correct the cell, add its spelling to "
            f"judging.scales.{scale.name}.readings, or make a scale of its own if the scale changed"
        )
    return option
