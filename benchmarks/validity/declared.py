"""Every measure that is declared in `fieldwork/measures`, on the same sources.

A new declaration is simulated without a new line here: its kinds say what the answers are, its measures
what is put into them, and the formulas themselves, at many data sets, what is true of options.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from populations import LETTERS, LISTED, Floats, answer_table, named
from simulations import Lines, Sets, Simulation, line_of
from sources import GROUPS, SOURCES, Side, Source

from fieldwork.estimates.declaration import EqualSize, Measure, ReaderQuestion
from fieldwork.estimates.table import estimate_question
from fieldwork.measures import questions
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts

N_LISTED, FIRST_PROMPT = 60, "00000"
TRUTH_PARTS, TRUTH_SETS = 10, 2000
LARGEST = 20
"""A number that the mean of a run hardly ever is above: of shares it is 1."""


OF_PROMPT = {"{}, one prompt": ("value", "ci", "")}
OVER_PROMPTS = {
    "{}, mean": ("value", "ci", ""),
    "{}, difference": ("difference", "difference", "p_value"),
}
LIKE_THESE = {
    "{}, mean, prompts like these": ("value", "prompts", ""),
    "{}, difference, prompts like these": ("difference", "prompts_difference", ""),
    "discarded: {}, difference, interval for these prompts": ("difference", "difference", ""),
}
"""Lines, and the columns that each reads: value, ends of the interval, p-value."""


def simulations(name: str) -> Iterator[Simulation]:
    """Every source that concerns a question, by its name."""
    question = questions()[name]
    for of_options in (True, False):
        measures = [m for m in question.measures if (m.of == "options") == of_options]
        answers = Answers(name, dataclasses.replace(question, measures=measures), of_options)
        for source in SOURCES if measures else ():
            if answers.concern(source):
                yield Simulation(
                    name, _simulate, (answers, source), f"{answers.noun(source)}, {source.name}",
                    source.size, (*repr((name, source)).encode(),),
                )  # fmt: skip


def measure_name(estimator: str) -> str:
    """The measure of a line."""
    return estimator.removeprefix("discarded: ").partition(", ")[0]


class Answers(NamedTuple):
    """Answers to a question, of which all measures take options, or all take numbers."""

    name: str
    question: ReaderQuestion
    of_options: bool

    def concern(self, source: Source) -> bool:
        """Whether the table has rows about a source, other than it has of another one."""
        like_these = any(m.is_for_other_prompts for m in self.question.measures)
        return (
            (source.reference != FIELD or "field" in self.question.references)
            and (source.reference != GROUPS or (self.question.has_groups and not self.of_options))
            and (source.numbers == "skewed" or not self.of_options)
            and (not source.is_drawn_anew or like_these)
        )

    @property
    def of_runs(self) -> bool:
        """Whether a number is that of a whole run, and a share."""
        return self.question.source == "accuracy_runs"

    @property
    def kind(self) -> str:
        """Of the prompts: lists where the question has them."""
        kinds = self.question.kinds or ("list",)
        return "list" if "list" in kinds else kinds[0]

    def noun(self, source: Source) -> str:
        """What a source gives."""
        if not self.of_options:
            return f"{source.numbers} {'scores' if self.of_runs else 'numbers'}"
        return "letters" if self.kind in LETTER_KINDS else "lists"

    @property
    def n_named(self) -> int:
        """Options of an answer."""
        return 1 if self.kind in LETTER_KINDS else LISTED

    @property
    def n_options(self) -> int:
        """Options there are."""
        return len(LETTERS) if self.kind in LETTER_KINDS else N_LISTED

    def table(self, side: Side, numbers: str, random: np.random.Generator) -> pd.DataFrame:
        """One side of a source, as the question's table has answers."""
        options = side.options(self.n_named, self.n_options, random)[:, :, :, None]
        drawn = options[..., 0] if self.kind in LETTER_KINDS else options
        frame = answer_table(drawn, side.condition, puppets=side.group is not None)
        if side.group:
            frame["puppet_id"] = side.group + frame["puppet_id"]
        columns = sorted({m.of for m in self.question.measures} - {"options"})
        if self.of_runs:
            frame = frame[frame["item_id"] == FIRST_PROMPT]
            runs = {
                c: side.numbers(numbers, random).mean(axis=1).ravel() / LARGEST for c in columns
            }
            return frame.assign(run=0, n_items=side.levels.shape[1], is_counted=True, **runs)
        for column in columns:
            frame[column] = side.numbers(numbers, random).ravel()
        return frame.assign(kind=self.kind, is_truncated=False)

    def truths(self, source: Source, random: np.random.Generator) -> Floats:
        """Of each measure, the users' and the others' value at equal n: shape (measures, 2)."""
        if not self.of_options:
            means = np.array([source.mean_numbers] * len(self.question.measures))
            return means / (LARGEST if self.of_runs else 1)
        n = min(source.users, source.others)
        small = source._replace(prompts=1, users=n, others=n)
        parts = [
            [self._values(side, random) for side in small.sides(TRUTH_SETS, random)]
            for _ in range(TRUTH_PARTS)
        ]
        sides: Floats = np.mean(parts, axis=0)
        if not source.effect:
            sides[:] = sides.mean(axis=0)
        return sides.T

    def _values(self, side: Side, random: np.random.Generator) -> list[float]:
        """Means of the measures over many prompts."""
        options = side.options(self.n_named, self.n_options, random)[:, 0]
        counts, n = named(options, self.n_options), options.shape[1]
        return [float(np.mean(_values_of(m, counts, n))) for m in self.question.measures]


def _values_of(measure: Measure, counts: Counts, n: int) -> Floats | list[float]:
    if measure.exact:
        return [measure.exact(EqualSize(row, n, n)) for row in counts]
    assert measure.statistic
    return measure.statistic(counts)


def _simulate(answers: Answers, source: Source, sets: Sets) -> Lines:
    frame = pd.concat(
        answers.table(side, source.numbers, sets.random)
        for side in source.sides(sets.n, sets.random)
    )
    users = frame["puppet_id"].dropna().unique()
    groups = [{"participant_id": user, "variable": "side", "group": user[0]} for user in users]
    rows = estimate_question(answers.question, frame, source.settings(), pd.DataFrame(groups))
    truths = answers.truths(source, sets.random).tolist()
    for measure, (users_value, others_value) in zip(answers.question.measures, truths, strict=True):
        of_measure = [
            r for r in rows if r.measure == measure.name and r.condition == source.condition
        ]
        for form, (value, interval, p_value), chosen in _forms(measure, source, of_measure):
            if chosen:
                truth = users_value if value == "value" else users_value - others_value
                yield line_of(
                    form.format(measure.name), chosen, truth,
                    value=value, interval=interval, p_value=p_value,
                )  # fmt: skip


def _forms(
    measure: Measure, source: Source, rows: Sequence[Estimate]
) -> Iterator[tuple[str, tuple[str, str, str], list[Estimate]]]:
    """The lines of a measure with their columns and rows, one a data set."""
    means = [
        row
        for row in rows
        if row.item_id is None and row.versus == source.reference and row.group in (None, "0")
    ]
    if not source.is_drawn_anew:
        of_prompt = [row for row in rows if row.item_id == FIRST_PROMPT]
        yield from ((form, columns, of_prompt) for form, columns in OF_PROMPT.items())
        yield from ((form, columns, means) for form, columns in OVER_PROMPTS.items())
    elif measure.is_for_other_prompts:
        yield from ((form, columns, means) for form, columns in LIKE_THESE.items())
