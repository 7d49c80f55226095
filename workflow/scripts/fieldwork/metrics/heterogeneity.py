"""How varied the answers to list items are, at an equal number of responses.

Owns unique options, top-5 share and entropies of a cell (model, task, condition, item), their
intervals over responses, and the share of responses that name each option. Promises that the order
of the rows and the other cells of a study do not move a bit of a cell's values, except through the
number of responses all conditions of an item are brought to.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.resampling import (
    Counts,
    Floats,
    Indices,
    Interval,
    generator,
    rarefaction_table,
    sampled_counts,
    student_quantile,
    subsample_indices,
    wilson_interval,
)
from fieldwork.metrics.richness import chao2, chao_shen_bits, miller_madow_bits, plug_in_bits
from fieldwork.records.metrics import Heterogeneity, ItemShare

TOP = 5
N_SUBSAMPLES = 200
METRICS = (
    "unique_items",
    "top5_share",
    "one_minus_top5_share",
    "entropy_bits",
    "chao2_items",
    "miller_madow_bits",
    "chao_shen_bits",
)
WITHOUT_INTERVAL = ("unique_items", "chao2_items", "miller_madow_bits", "chao_shen_bits")
"""Metrics for which no interval keeps what it promises; docs/methods.md has the figures."""
UNIT = "response"
NO_SPREAD = "no interval: leaving out a response never changes the value"
NO_INTERVAL = "no interval: none is reliable for this metric (docs/methods.md)"

_NOTHING = 1e-9
"""Widths below this are rounding."""

_KEYS = ["model", "task", "condition", "item_id"]


class _Plan(NamedTuple):
    seed: int
    confidence: float


class _Name(NamedTuple):
    model: str
    task: str
    condition: str
    item_id: str


class _Group(NamedTuple):
    """The conditions that are brought to one number of responses."""

    model: str
    task: str
    item_id: str


class _Cell(NamedTuple):
    name: _Name
    responses: list[tuple[str, ...]]
    n_unread: int

    def group(self) -> _Group:
        return _Group(self.name.model, self.name.task, self.name.item_id)


class _Errors(NamedTuple):
    """Standard errors."""

    top5_share: float
    entropy_bits: float


class _Estimate(NamedTuple):
    value: float
    interval: Interval | None


def measure_heterogeneity(
    answers: pd.DataFrame, *, seed: int, confidence: float = 0.95
) -> list[Heterogeneity]:
    """The metrics of `METRICS` for each cell of the list items, with jackknife intervals where reliable.

    All conditions of a model, task and item are brought to the smallest number of readable
    responses among them; a condition that has none is left out of that minimum and gets NULL.
    Rows are in order of model, task, condition, item and metric; empty input gives no rows.

    Raises:
        StudyError: a confidence that is no share.
    """
    plan = _Plan(seed, confidence)
    _check(plan)
    cells = _cells(answers)
    equal = _equal_sizes(cells)
    return [row for cell in cells for row in _measure(cell, equal.get(cell.group(), 0), plan)]


def measure_item_shares(answers: pd.DataFrame) -> list[ItemShare]:
    """Share of readable responses that name each option, with 95 % Wilson intervals.

    Options nobody names in a cell have no row there; commonest options come first.
    """
    return [row for cell in _cells(answers) for row in _item_shares(cell)]


def _check(plan: _Plan) -> None:
    if not 0 < plan.confidence < 1:
        raise StudyError(
            f"confidence is {plan.confidence}: give a share between 0 and 1, like 0.95"
        )


def _cells(answers: pd.DataFrame) -> list[_Cell]:
    if answers.empty:
        return []
    lists = answers[answers["kind"] == "list"]
    read: dict[_Name, list[tuple[str, int, tuple[str, ...]]]] = {}
    unread: Counter[_Name] = Counter()
    columns = [*_KEYS, "outcome", "items", "puppet_id", "replicate"]
    for row in lists[columns].itertuples(index=False, name=None):
        name, options = _Name(*row[:4]), _options(row[5])
        responses = read.setdefault(name, [])
        if options:
            responses.append((row[6] if isinstance(row[6], str) else "", int(row[7]), options))
        elif row[4] != "failed":
            unread[name] += 1
    return [_Cell(name, _independent(read[name]), unread[name]) for name in sorted(read)]


def _independent(responses: list[tuple[str, int, tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """The first readable response of each puppet, or all where nobody asks."""
    seen: set[str] = set()
    chosen: list[tuple[str, ...]] = []
    for puppet, _, options in sorted(responses):
        if not puppet or puppet not in seen:
            chosen.append(options)
            seen.add(puppet)
    # sorted responses make every later draw independent of the order of the rows
    return sorted(chosen)


def _options(value: Any) -> tuple[str, ...]:
    """Distinct options in alphabetical order; none for NULL, which pandas gives as None or NaN."""
    if not isinstance(value, (np.ndarray, list, tuple)):
        return ()
    return tuple(sorted({str(option) for option in value}))


def _equal_sizes(cells: Sequence[_Cell]) -> dict[_Group, int]:
    sizes: dict[_Group, int] = {}
    for cell in cells:
        if cell.responses:
            key = cell.group()
            sizes[key] = min(len(cell.responses), sizes.get(key, len(cell.responses)))
    return sizes


def _measure(cell: _Cell, n_equal: int, plan: _Plan) -> Iterator[Heterogeneity]:
    estimates = _estimates(cell, n_equal, plan) if cell.responses else {}
    for metric in METRICS:
        found = estimates.get(metric)
        interval = found.interval if found else None
        yield Heterogeneity(
            model=cell.name.model,
            task=cell.name.task,
            condition=cell.name.condition,
            item_id=cell.name.item_id,
            metric=metric,
            estimate=found.value if found else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            n_responses=len(cell.responses),
            n_equal=n_equal,
            n_unread=cell.n_unread,
            unit=UNIT,
            reason=_reason(cell, metric, found),
        )


def _reason(cell: _Cell, metric: str, found: _Estimate | None) -> str | None:
    if found is None:
        return f"none of {cell.n_unread} responses gives an option"
    if found.interval is not None:
        return None
    if metric in WITHOUT_INTERVAL:
        return NO_INTERVAL
    return "no interval: there is one response" if len(cell.responses) == 1 else NO_SPREAD


def _estimates(cell: _Cell, n_equal: int, plan: _Plan) -> dict[str, _Estimate]:
    indicator = indicator_of(cell.responses)
    counts = indicator.sum(axis=0, keepdims=True)
    unique = float(rarefaction_table(len(indicator), n_equal)[counts].sum())
    samples = subsamples(len(indicator), n_equal, generator(plan.seed, "subsample", *cell.name))
    totals = sampled_counts(samples[:, :n_equal], indicator)
    top5, entropy = float(top5_share(totals).mean()), float(plug_in_bits(totals).mean())
    errors = _errors(samples, n_equal, indicator)
    most = n_equal * max(len(response) for response in cell.responses)
    reach = student_quantile(len(indicator) - 1, plan.confidence)
    found = {
        "unique_items": _Estimate(unique, None),
        "top5_share": _estimate(top5, reach * errors.top5_share, Interval(0.0, 1.0)),
        "entropy_bits": _estimate(
            entropy, reach * errors.entropy_bits, Interval(0.0, math.log2(most))
        ),
        "chao2_items": _Estimate(float(chao2(totals, n_equal).mean()), None),
        "miller_madow_bits": _Estimate(float(miller_madow_bits(totals).mean()), None),
        "chao_shen_bits": _Estimate(float(chao_shen_bits(totals).mean()), None),
    }
    found["one_minus_top5_share"] = _complement(found["top5_share"])
    return found


def _estimate(value: float, half: float, bounds: Interval) -> _Estimate:
    """An interval without width would say that nothing is uncertain."""
    if not half > _NOTHING:
        return _Estimate(value, None)
    low, high = max(bounds.low, value - half), min(bounds.high, value + half)
    return _Estimate(value, Interval(min(low, value), max(high, value)))


def _complement(share: _Estimate) -> _Estimate:
    if share.interval is None:
        return _Estimate(1 - share.value, None)
    return _Estimate(1 - share.value, Interval(1 - share.interval.high, 1 - share.interval.low))


def indicator_of(responses: Sequence[tuple[str, ...]]) -> Counts:
    """Which response names which option: shape (responses, options), options alphabetical."""
    columns = {name: k for k, name in enumerate(sorted({n for r in responses for n in r}))}
    indicator = np.zeros((len(responses), len(columns)), dtype=np.int64)
    for row, response in enumerate(responses):
        indicator[row, [columns[name] for name in response]] = 1
    return indicator


def subsamples(population: int, n_equal: int, random: np.random.Generator) -> Indices:
    """Random orders of the responses; the first `n_equal` of each are a subsample."""
    if n_equal == population:
        return np.arange(population, dtype=np.int64)[None, :]
    keep = n_equal + 1  # one more: who comes in when another is left out
    return subsample_indices(population, keep, n_subsamples=N_SUBSAMPLES, random=random)


def _errors(samples: Indices, n_equal: int, indicator: Counts) -> _Errors:
    """Jackknife standard errors over the responses (Quenouille 1956, Tukey 1958)."""
    population = len(indicator)
    moved = influences(samples, n_equal, indicator)
    variance = (population - 1) / population * ((moved - moved.mean(axis=0)) ** 2).sum(axis=0)
    return _Errors(*(math.sqrt(value) for value in variance))


def influences(samples: Indices, n_equal: int, indicator: Counts) -> Floats:
    """How far top-5 share and entropy move without each response: shape (responses, 2).

    Leaving a response out of an order moves only the subsamples that hold it: the next in order comes
    in. The same orders serve all responses, so that the noise of subsampling cancels. Zeros of one
    response, without which nothing is left.
    """
    population = len(indicator)
    moved = np.zeros((population, 2))
    if population == 1:
        return moved
    for order in samples:
        taken = indicator[order[:n_equal]]
        total = taken.sum(axis=0, keepdims=True)
        coming = indicator[order[n_equal:]].sum(axis=0, keepdims=True)
        without = total - taken + coming
        moved[order[:n_equal], 0] += top5_share(without) - top5_share(total)
        moved[order[:n_equal], 1] += plug_in_bits(without) - plug_in_bits(total)
    moved /= len(samples)
    return moved


def top5_share(counts: Counts) -> Floats:
    """Share of the mentions that the five commonest options hold, for each row of counts."""
    top = counts if counts.shape[1] <= TOP else np.partition(counts, -TOP, axis=1)[:, -TOP:]
    share: Floats = top.sum(axis=1) / counts.sum(axis=1)
    return share


def _item_shares(cell: _Cell) -> Iterator[ItemShare]:
    total = len(cell.responses)
    named = Counter(option for response in cell.responses for option in response)
    for option, count in sorted(named.items(), key=_commonest_first):
        interval = wilson_interval(count, total)
        yield ItemShare(
            model=cell.name.model,
            task=cell.name.task,
            condition=cell.name.condition,
            item_id=cell.name.item_id,
            answer=option,
            n_named=count,
            n_responses=total,
            share=count / total,
            ci_low=interval.low,
            ci_high=interval.high,
        )


def _commonest_first(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]
