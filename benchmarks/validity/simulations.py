"""The harness of every part: data sets are drawn, read, and summed up with their errors of simulation.

A part is a list of simulations. Each says what it is drawn from and yields lines: of each estimator what
the data sets gave, and what would have been true. Bias, coverage and level are counted here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.05
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Outcome:
    """A row of results.csv: one estimator, one source, one size; empty where it does not apply."""

    part: str
    estimator: str
    source: str
    size: str
    sets: int
    truth: float | None
    mean: float | None
    bias: float | None
    bias_error: float | None
    sd: float | None
    n_intervals: int
    coverage: float | None
    coverage_error: float | None
    false_positives: float | None
    false_positive_error: float | None


class Line(NamedTuple):
    """What the data sets say of one estimator; NULL estimates, intervals and p-values are left out.

    Attributes:
        claims: in the place of p-values, whether each data set claims something.
        place: part, source and size, where they are not those of the simulation.
        coverage, level: counted out over all outcomes, without an error of simulation.
    """

    estimator: str
    truth: float | None = None
    estimates: Sequence[float | None] = ()
    intervals: Iterable[Bounds | None] = ()
    p_values: Sequence[float | None] = ()
    claims: Sequence[float] = ()
    place: Mapping[str, str] = {}
    coverage: float | None = None
    level: float | None = None


Lines = Iterator[Line]


def line_of(
    estimator: str,
    rows: Sequence[Any],
    truth: float | None = None,
    *,
    value: str = "",
    interval: str = "",
    p_value: str = "",
    **more: Any,
) -> Line:
    """The line of a table's rows, one a data set, from the columns named; `interval` is before `_low`."""
    return Line(
        estimator,
        truth,
        [getattr(row, value) for row in rows] if value else (),
        [(getattr(row, f"{interval}_low"), getattr(row, f"{interval}_high")) for row in rows]
        if interval
        else (),
        [getattr(row, p_value) for row in rows] if p_value else (),
        **more,
    )


def columns_of(data_sets: Iterable[Mapping[Any, Any]]) -> dict[Any, list[Any]]:
    """The values of each name over the data sets that have it."""
    columns: dict[Any, list[Any]] = {}
    for values in data_sets:
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    return columns


class Sets(NamedTuple):
    """How many data sets are drawn, and by what."""

    n: int
    random: np.random.Generator
    seed: int

    def each(self, make: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What `make` gives of every data set; its last argument is the generator."""
        return [make(*arguments, self.random) for _ in range(self.n)]


class Simulation(NamedTuple):
    """Data sets of one source at one size.

    Attributes:
        lines: takes the arguments and the sets.
        seeds: tell its random numbers from those of others.
        fewer: this many times fewer data sets than asked for, as each of them is large.
    """

    part: str
    lines: Callable[..., Iterable[Line]]
    arguments: tuple[Any, ...] = ()
    source: str = ""
    size: str = ""
    seeds: tuple[int, ...] = ()
    fewer: float = 1

    def outcomes(self, n_sets: int, seed: int) -> Iterator[Outcome]:
        """Rows of the results, from a number of data sets and a seed."""
        random = np.random.default_rng([seed, *self.seeds])
        sets = Sets(max(1, int(n_sets // self.fewer)), random, seed)
        place = {"part": self.part, "source": self.source, "size": self.size}
        for line in self.lines(*self.arguments, sets):
            yield _outcome(line, **place | line.place)


def _outcome(line: Line, part: str, source: str, size: str) -> Outcome:
    values = np.array([value for value in line.estimates if value is not None], dtype=np.float64)
    intervals = [bounds or (None, None) for bounds in line.intervals]
    p_values = [1 - claim for claim in line.claims] or line.p_values
    held = [
        low <= line.truth <= high
        for low, high in intervals
        if low is not None and high is not None and line.truth is not None
    ]
    has_bias = line.truth is not None and len(values) > 1
    sd = float(values.std(ddof=1)) if len(values) > 1 else None
    rejected_share, rejected_error = _share([p <= LEVEL for p in p_values if p is not None])
    held_share, held_error = _share(held)
    return Outcome(
        part=part,
        estimator=line.estimator,
        source=source,
        size=size,
        sets=max(len(line.estimates), len(p_values), len(intervals)),
        truth=line.truth,
        mean=float(values.mean()) if len(values) else None,
        bias=float(values.mean()) - line.truth if has_bias else None,
        bias_error=sd / math.sqrt(len(values)) if has_bias else None,
        sd=sd,
        n_intervals=len(held),
        coverage=held_share if line.coverage is None else line.coverage,
        coverage_error=held_error if line.coverage is None else 0.0,
        false_positives=rejected_share if line.level is None else line.level,
        false_positive_error=rejected_error if line.level is None else 0.0,
    )


def _share(flags: Sequence[bool]) -> tuple[float | None, float | None]:
    """Of true ones, with its error of simulation; None of nothing."""
    if not flags:
        return None, None
    share = sum(flags) / len(flags)
    return share, math.sqrt(share * (1 - share) / len(flags))
