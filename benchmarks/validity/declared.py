"""Every measure that is declared in `fieldwork/measures`, on the same sources.

A new declaration is simulated without a new line here: its kinds say what the answers are, its measures
what is put into them, and the formulas themselves, at many data sets, what is true of options.
Intervals and tests of lists that were tried and are not used stand at the end.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from populations import LETTERS, LISTED, Floats, Ints, Zipf, answer_table, draw_lists, named
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of, line_of
from sources import GROUPS, SOURCES, Side, Source

from fieldwork.estimates.declaration import EqualSize, Measure, ReaderQuestion
from fieldwork.estimates.table import estimate_question
from fieldwork.measures import questions
from fieldwork.measures.lists import top5_share
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.user_intervals import unit_interval

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
            n_items = side.levels.shape[1]
            counts: dict[str, Any] = {
                "n_items": n_items,
                "n_stated": n_items,
                "unlisted_share": 0.0,
            }
            return frame.assign(run=0, is_counted=True, **counts, **runs)
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


# ---- of lists, what was tried and is not used ----------------------------------------------------------

RECENTRED_SETS, RESAMPLES = 1000, 300


def _unique(counts: Ints) -> Floats:
    n_options: Floats = (counts > 0).sum(axis=1).astype(np.float64)
    return n_options


MEASURES = {"unique_items": _unique, "entropy_bits": plug_in_bits, "top5_share": top5_share}


def _recentred(source: Zipf, n: int, sets: Sets) -> Lines:
    """A bootstrap whose values are moved to the estimate; of a count the jackknife, too."""
    weights = np.broadcast_to(source.log_weights(), (n, source.n_options))
    intervals = columns_of(sets.each(_recentred_intervals, weights))
    lists = draw_lists(np.broadcast_to(weights, (RECENTRED_SETS, *weights.shape)), sets.random)
    many = named(lists, source.n_options)
    for (measure, how), bounds in intervals.items():
        truth = float(MEASURES[measure](many).mean())
        yield Line(f"discarded: {measure}, one prompt, {how}", truth, intervals=bounds)


def _recentred_intervals(
    weights: Floats, random: np.random.Generator
) -> dict[tuple[str, str], Bounds | None]:
    n, indicator = len(weights), np.zeros(weights.shape, dtype=np.int64)
    np.put_along_axis(indicator, draw_lists(weights, random), 1, axis=1)
    counts = indicator.sum(axis=0, keepdims=True)
    drawn = random.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ indicator
    intervals: dict[tuple[str, str], Bounds | None] = {}
    for name, measure in MEASURES.items():
        values = measure(drawn)
        low, high = np.quantile(values, [0.025, 0.975]) + measure(counts)[0] - values.mean()
        intervals[name, "recentred bootstrap"] = float(low), float(high)
    moves = _unique(counts - indicator) - _unique(counts)
    of_moves = unit_interval(float(_unique(counts)[0]), moves, rarest_users=None)
    return intervals | {("unique_items", "jackknife"): of_moves}


def _sign_flips(source: Source, sets: Sets) -> Lines:
    """Exact two-sided p-values of mean differences over prompts."""
    sides = source.sides(sets.n, sets.random)
    lists = [side.options(LISTED, N_LISTED, sets.random) for side in sides]
    users, others = (
        plug_in_bits(named(side.reshape(-1, side.shape[2], LISTED), N_LISTED)) for side in lists
    )
    differences = (users - others).reshape(sets.n, -1)
    signs = np.array(list(product((-1, 1), repeat=source.prompts)))
    observed = np.abs(differences.sum(axis=1, keepdims=True))
    p_values = (np.abs(differences @ signs.T) >= observed - 1e-9).mean(axis=1).tolist()
    yield Line("discarded: entropy_bits, difference, sign flips over prompts", p_values=p_values)


SIMULATIONS = (
    *(
        Simulation(
            "lists", _recentred, (source, n), source.name(), f"n {n}",
            (source.n_options, int(source.exponent * 10), n),
        )
        for source, n in product((Zipf(60, 1.5), Zipf(200, 1.0), Zipf(30, 0.5)), (10, 40, 100))
    ),
    *(
        Simulation(
            "lists", _sign_flips, (source,), f"lists, {source.name}", source.size,
            (*repr(source).encode(),),
        )
        for source in (Source("no effect"), Source("few odd users", odd=0.125))
    ),
)  # fmt: skip
