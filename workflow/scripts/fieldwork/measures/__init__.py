"""The measures of a study: a file a question that a reader asks. A new file is a new question.

Owns the list of them, and what a declaration may not say.
"""

import importlib
import pkgutil
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import get_type_hints

from fieldwork.errors import StudyError
from fieldwork.estimates.declaration import Measure, ReaderQuestion, Source
from fieldwork.records.answer_form import FormReading
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import LETTER_KINDS

ROW_TYPES: Mapping[Source, type] = {
    "answers": Answer,
    "answers/forms": FormReading,
    "accuracy_runs": RunAccuracy,
}
"""Of the tables that measures take something of."""


def question_names() -> list[str]:
    """Names of the questions: of the files in this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def question(name: str) -> ReaderQuestion:
    """A question by the name of its file, whose other files are not read.

    Raises:
        StudyError: the file declares none.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    declaration = getattr(module, "QUESTION", None)
    if not isinstance(declaration, ReaderQuestion):
        raise StudyError(
            f"workflow/scripts/fieldwork/measures/{name}.py declares no QUESTION; add one, as the files "
            f"beside it do, or move the file"
        )
    return declaration


@cache
def questions() -> Mapping[str, ReaderQuestion]:
    """All questions by name."""
    return {name: question(name) for name in question_names()}


@cache
def measures() -> Mapping[str, Measure]:
    """All measures by name."""
    return {name: m for one in questions().values() for name, m in one.names.items()}


def claimed_measures() -> list[str]:
    """Names of the tests that the page may claim, those against the field included."""
    return [
        name
        for measure in measures().values()
        for name in (measure.name if measure.is_claimed else None, measure.beside_field)
        if name
    ]


def effect_unit(measure: Measure) -> str:
    """The unit of an effect that `power` supposes, of which a measure's test is to see something."""
    if measure.of != "options":
        return "standard deviations"
    return "bits" if measure.unit == "bits" else "bits of entropy"


def require_measures(margins: Collection[str]) -> None:
    """Refuse declarations that cannot hold.

    Args:
        margins: names that `metrics.margins` may have.

    Raises:
        StudyError: two measures have one name, a measure takes what its table lacks, sets what the engine
            would not heed, or has an unknown margin.
    """
    for problem in _problems(margins):
        raise StudyError(f"workflow/scripts/fieldwork/measures/{problem}")


def _problems(margins: Collection[str]) -> Iterator[str]:
    files: dict[str, str] = {}
    for name, declaration in questions().items():
        for measure in declaration.measures:
            first = files.setdefault(measure.name, name)
            n_namesakes = sum(other.name == measure.name for other in declaration.measures)
            if first != name or n_namesakes > 1:
                yield (
                    f"{name}.py: there are two measures named {measure.name}, one of them in {first}.py; "
                    f"rename one"
                )
            if problem := _misfit(measure, declaration):
                yield f"{name}.py: {problem}"
            if measure.margin is not None and measure.margin not in margins:
                yield (
                    f"{name}.py: the margin {measure.margin} of {measure.name} is no metrics.margins; "
                    f"take one of {', '.join(margins)}, or none"
                )


def _misfit(measure: Measure, declaration: ReaderQuestion) -> str | None:
    """What of a measure its question's table cannot give, or the engine would not heed."""
    numbers = _number_columns(ROW_TYPES[declaration.source])
    if measure.of != "options" and measure.of not in numbers:
        return (
            f"{measure.name} takes the column {measure.of}, and {declaration.source} has no numbers of "
            f"that name; take `options` or one of {', '.join(numbers)}"
        )
    if (measure.noun == "run") != (declaration.source == "accuracy_runs"):
        return (
            f"{measure.name} counts each {measure.noun} of {declaration.source}; its noun is `run` where "
            "the source is accuracy_runs, and there alone"
        )
    if measure.of != "options" and measure.is_by_item:
        return f"{measure.name} takes numbers, which have no row a prompt; leave out is_by_item"
    if measure.of == "options" and declaration.source != "answers":
        return f"{measure.name} takes options, which {declaration.source} lacks; its source is `answers`"
    if measure.of == "options" and not (measure.statistic or measure.exact):
        return f"{measure.name} takes options and has no statistic; give it one"
    if measure.exact and not (declaration.kinds and LETTER_KINDS.isdisjoint(declaration.kinds)):
        return (
            f"{measure.name} is exact, which takes counts, and letters may have probabilities; give it "
            'a statistic, or its question kinds=("list",)'
        )
    if measure.of == "options" and declaration.has_groups:
        return f"{measure.name} takes options, which have no row a group; leave out has_groups"
    return None


def _number_columns(row_type: type) -> list[str]:
    """Columns with numbers or with true and false, in alphabetical order."""
    numeric = (int, float, bool, int | None, float | None, bool | None)
    return sorted(name for name, hint in get_type_hints(row_type).items() if hint in numeric)
