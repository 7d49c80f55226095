"""How a measure is declared: what it takes of an answer, its formula, and how it reads.

A file of `fieldwork/measures` declares a question that a reader asks, and the measures that answer it.
All else is the engine's: which answers count, equal n, users left out, intervals, tests and reasons. Read
while Snakemake parses the workflow, so it imports no scientific package.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from fieldwork.records.tasks import ItemKind

if TYPE_CHECKING:
    from fieldwork.statistics.arrays import Counts, Floats, Mentions

Statistic = Callable[["Mentions"], "Floats"]
"""From mentions, shape (samples, options), to one value a sample."""

Source = Literal["answers", "answers/forms", "accuracy_runs"]
"""The tables that answers are read from; in the last one a row is a whole run, which is a unit.

Where a unit is one number, differences are tested by dealing the units anew to both sides.
"""

Reference = Literal["baseline", "controls", "field"]
"""What conditions are compared with: one without a user, the same asked again, real users."""


class EqualSize(NamedTuple):
    """How often each option is named, shape (options,), and from how many answers to how many."""

    counts: "Counts"
    n_answers: int
    n_equal: int


def share_bounds(_: int) -> tuple[float, float]:
    """Of a share, which no number of mentions changes."""
    return 0.0, 1.0


def entropy_bounds(n_mentions: int) -> tuple[float, float]:
    """Of an entropy in bits: each mention another option."""
    return 0.0, math.log2(n_mentions)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number that a study says of answers.

    Attributes:
        name: as `claims` and the tables have it.
        title: heading of its column.
        words: what the page calls what it measures, where that is not the title.
        meaning: its formula in words, for the data dictionary.
        of: what it takes of an answer: `options`, or a column with a number, of which it is the mean.
        statistic: of options alone.
        exact: its value at equal n without subsamples, where there is a formula; then it has no interval.
        bounds: what its value can reach with at most so many mentions, of numbers 1; None for no bounds.
        noun: what is counted: an answer, or a whole run.
        is_stated: whether it is made of probabilities that answers state; without any it has no rows.
        absence: what one lacks that has no value, to complete "no answer ...".
        is_by_item: whether each prompt has a row, too.
        is_over_items: whether the mean over prompts has one.
        is_tested: whether its difference is tested.
        is_claimed: whether that test stands on the page, and in `claims`.
        beside_field: what its test against the field is called in `claims`; None without one.
        is_for_other_prompts: whether there is an interval for prompts like these.
        directions: words for a difference above 0 and below.
        margin: name of its margin in `metrics.margins`.
        unit, scale, digits: how a difference is printed: times `scale`, with so many digits.
    """

    name: str
    title: str
    meaning: str
    words: str = ""
    of: str = "options"
    statistic: Statistic | None = None
    exact: Callable[[EqualSize], float] | None = None
    bounds: Callable[[int], tuple[float, float]] | None = None
    noun: Literal["answer", "run"] = "answer"
    is_stated: bool = False
    absence: str = "gives an option"
    is_by_item: bool = False
    is_over_items: bool = True
    is_tested: bool = False
    is_claimed: bool = False
    beside_field: str | None = None
    is_for_other_prompts: bool = False
    directions: tuple[str, str] = ("higher", "lower")
    margin: str | None = None
    unit: str = ""
    scale: float = 1.0
    digits: int = 2


@dataclass(frozen=True)
class ReaderQuestion:
    """A question that a reader asks, with the measures that answer it.

    Attributes:
        title: heading of its section on the page, and of its table in the report.
        sentence: what is asked and how to read the numbers, in one or two sentences.
        source: the table with what the measures take.
        kinds: kinds of items whose answers count; None for all.
        references: what conditions are compared with.
        has_groups: whether groups of participants have rows, too.
    """

    title: str
    sentence: str
    measures: Sequence[Measure]
    source: Source = "answers"
    kinds: Sequence[ItemKind] | None = None
    references: Sequence[Reference] = ("baseline", "controls")
    has_groups: bool = False
    names: Mapping[str, Measure] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", {measure.name: measure for measure in self.measures})
