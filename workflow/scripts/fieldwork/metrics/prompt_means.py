"""Heterogeneity of a task as a whole: means over its prompts, and their difference from the baseline's.

Owns the mean entropy and top-5 share over the prompts that a condition and the baseline both answer,
their intervals and the test of the difference. A puppet answers several prompts, so that it is left
out with all its answers; where nobody asks, every response is a draw of its own. The prompts are
those of the task and are not resampled.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from fieldwork.metrics.answer_sets import Arm, ItemAnswers, Options, read_answer_sets
from fieldwork.metrics.heterogeneity import (
    indicator_of,
    influences,
    subsamples,
    top5_share,
)
from fieldwork.metrics.permutation import holm
from fieldwork.metrics.resampling import (
    Floats,
    Interval,
    generator,
    sampled_counts,
)
from fieldwork.metrics.richness import plug_in_bits
from fieldwork.records.metrics import PromptMean

METRICS = ("one_minus_top5_share", "entropy_bits")
_NOTHING = 1e-9
"""Errors below this are rounding."""


class _Plan(NamedTuple):
    baseline: str
    seed: int
    confidence: float


class PromptValues(NamedTuple):
    """A prompt's two metrics under one condition, and what each answer does to them.

    `values` has shape (2,), `moved` (answers, 2): how far leaving the answer out moves the metrics,
    less its mean. `puppets` are in the order of `moved`, empty texts where nobody asks.
    """

    values: Floats
    moved: Floats
    puppets: list[str]


class Means(NamedTuple):
    """Means over prompts of the two `METRICS`, variances and degrees of freedom, each of shape (2,)."""

    values: Floats
    variances: Floats
    freedom: Floats


class _Test(NamedTuple):
    interval: Interval
    p_value: float


def measure_prompt_means(
    answers: pd.DataFrame, *, baseline: str, seed: int, confidence: float = 0.95
) -> list[PromptMean]:
    """Two metrics for each model, task and condition with list items, the baseline's own included.

    Every prompt is at the smallest number of independent readable answers among the conditions that
    have any, as in `heterogeneity`. In order of model, task, condition and metric; empty input gives
    no rows.
    """
    plan = _Plan(baseline, seed, confidence)
    arms = _list_arms(answers)
    equal = _equal_sizes(arms)
    prompts = _values(arms, equal, seed)
    rows: list[PromptMean] = []
    for arm in arms:
        offline = prompts.get(arm._replace(condition=baseline), {})
        sizes = [equal[arm._replace(condition=item)] for item in prompts[arm] if item in offline]
        rows += _rows(arm, prompts[arm], offline, min(sizes, default=0), plan)
    return sorted(_corrected(rows), key=lambda r: (r.model, r.task, r.condition, r.metric))


def measure_prompts(answers: pd.DataFrame, *, seed: int) -> dict[Arm, dict[str, PromptValues]]:
    """The two metrics of every prompt with list items, by model, task and condition.

    At the sizes of `measure_prompt_means`, and so with its values.
    """
    arms = _list_arms(answers)
    return _values(arms, _equal_sizes(arms), seed)


def _list_arms(answers: pd.DataFrame) -> dict[Arm, dict[str, ItemAnswers]]:
    return {a: items for a, items in read_answer_sets(answers).items() if a.kind == "list"}


def _values(
    arms: Mapping[Arm, Mapping[str, ItemAnswers]], equal: Mapping[Arm, int], seed: int
) -> dict[Arm, dict[str, PromptValues]]:
    return {
        arm: {
            item: _prompt(arm, item, given, equal[arm._replace(condition=item)], seed)
            for item, given in items.items()
            if given.given
        }
        for arm, items in arms.items()
    }


def _equal_sizes(arms: Mapping[Arm, Mapping[str, ItemAnswers]]) -> dict[Arm, int]:
    """Fewest independent answers by model, task and item; the item stands in the condition's place."""
    sizes: dict[Arm, int] = {}
    for arm, items in arms.items():
        for item, given in items.items():
            if given.given:
                key, size = arm._replace(condition=item), len(_independent(given))
                sizes[key] = min(size, sizes.get(key, size))
    return sizes


def _independent(answers: ItemAnswers) -> list[tuple[Options, str]]:
    """The first answer of each puppet, or all where nobody asks, with who gave it."""
    seen: set[str] = set()
    chosen: list[tuple[Options, str]] = []
    for given in answers.given:
        if not given.puppet or given.puppet not in seen:
            chosen.append((given.options, given.puppet))
            seen.add(given.puppet)
    return sorted(chosen)


def _prompt(arm: Arm, item: str, answers: ItemAnswers, n_equal: int, seed: int) -> PromptValues:
    chosen = _independent(answers)
    indicator = indicator_of([options for options, _ in chosen])
    names = (arm.model, arm.task, arm.condition, item)
    # the numbers of `heterogeneity`, so that the mean is that of its table
    orders = subsamples(len(indicator), n_equal, generator(seed, "subsample", *names))
    totals = sampled_counts(orders[:, :n_equal], indicator)
    values = np.array([1 - top5_share(totals).mean(), plug_in_bits(totals).mean()])
    moved = influences(orders, n_equal, indicator)
    return PromptValues(values, moved - moved.mean(axis=0), [puppet for _, puppet in chosen])


def _rows(
    arm: Arm,
    own: Mapping[str, PromptValues],
    offline: Mapping[str, PromptValues],
    n_equal: int,
    plan: _Plan,
) -> Iterator[PromptMean]:
    shared = [item for item in own if item in offline]
    here, there = [own[item] for item in shared], [offline[item] for item in shared]
    means = (mean_over(here), mean_over(there)) if shared else None
    missing = None if shared else _no_prompt(own, plan.baseline)
    for place, metric in enumerate(METRICS):
        alone = _tested(means[0], None, place, plan) if means else None
        both = _tested(*means, place, plan) if means and arm.condition != plan.baseline else None
        higher = [
            a.values[place] > b.values[place] + _NOTHING for a, b in zip(here, there, strict=True)
        ]
        compared = means is not None and arm.condition != plan.baseline
        yield PromptMean(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=plan.baseline,
            metric=metric,
            mean=float(means[0].values[place]) if means else None,
            ci_low=alone.interval.low if alone else None,
            ci_high=alone.interval.high if alone else None,
            difference=_difference(means, place) if compared else None,
            difference_low=both.interval.low if both else None,
            difference_high=both.interval.high if both else None,
            p_value=both.p_value if both else None,
            p_holm=None,
            n_higher=sum(higher) if compared else None,
            n_items=len(shared),
            n_equal=n_equal,
            n_units=_units(here),
            n_units_baseline=_units(there),
            unit="puppet" if any(any(p.puppets) for p in here) else "response",
            reason=missing or _why_none(arm, alone, both, plan.baseline),
        )


def _no_prompt(own: Mapping[str, PromptValues], baseline: str) -> str:
    if not own:
        return "no answer gives an option"
    return f"no prompt is answered both here and under the baseline condition {baseline}"


def _why_none(arm: Arm, alone: _Test | None, both: _Test | None, baseline: str) -> str | None:
    if alone is None:
        return "no interval and no test: leaving out an answer never changes the value"
    if arm.condition == baseline:
        return "the baseline is not compared with itself"
    if both is None:
        return "no test: leaving out an answer of the baseline never changes the value"
    return None


def _difference(means: tuple[Means, Means] | None, place: int) -> float | None:
    return float(means[0].values[place] - means[1].values[place]) if means else None


def _units(prompts: Sequence[PromptValues]) -> int:
    puppets = {puppet for prompt in prompts for puppet in prompt.puppets} - {""}
    return len(puppets) or min((len(prompt.puppets) for prompt in prompts), default=0)


def mean_over(prompts: Sequence[PromptValues]) -> Means:
    """Means over prompts, and the jackknife's variances of them over whole puppets.

    A response that nobody asked for is a cluster of its own.
    """
    clusters: dict[tuple[str, int, int], Floats] = {}
    for number, prompt in enumerate(prompts):
        for place, (puppet, moved) in enumerate(zip(prompt.puppets, prompt.moved, strict=True)):
            key = (puppet, -1, -1) if puppet else ("", number, place)
            clusters[key] = clusters.get(key, np.zeros(2)) + moved / len(prompts)
    sums = np.array(list(clusters.values()))
    # answers of one prompt, or puppets, around their mean: one degree of freedom goes with each mean
    means = 1 if any(puppet for puppet, _, _ in clusters) else len(prompts)
    freedom = len(sums) - means
    variances = (sums**2).sum(axis=0) * freedom / len(sums)
    values = np.mean([prompt.values for prompt in prompts], axis=0)
    return Means(values, variances, np.full(2, float(freedom)))


def _tested(mean: Means, other: Means | None, place: int, plan: _Plan) -> _Test | None:
    """Student's t of a mean, or of its difference from another, with Welch's degrees of freedom.

    None where one of them has no error: that would say that nothing is uncertain.
    """
    sides = [mean] if other is None else [mean, other]
    errors = [(float(s.variances[place]), float(s.freedom[place])) for s in sides]
    if any(not variance > _NOTHING**2 or freedom < 1 for variance, freedom in errors):
        return None
    variance = math.fsum(v for v, _ in errors)
    freedom = variance**2 / math.fsum(v**2 / f for v, f in errors)
    value = float(mean.values[place] - (other.values[place] if other else 0.0))
    error = math.sqrt(variance)
    half = float(student.ppf(0.5 + plan.confidence / 2, freedom)) * error
    p_value = float(2 * student.sf(abs(value) / error, freedom))
    return _Test(Interval(value - half, value + half), p_value)


def _corrected(rows: Sequence[PromptMean]) -> list[PromptMean]:
    """Holm's correction over the conditions of a task, for each metric by itself."""
    families: dict[tuple[str, str, str], list[PromptMean]] = {}
    for row in rows:
        families.setdefault((row.model, row.task, row.metric), []).append(row)
    done: list[PromptMean] = []
    for family in families.values():
        tested = [row for row in family if row.p_value is not None]
        corrected = holm([row.p_value for row in tested if row.p_value is not None])
        done += [replace(row, p_holm=p) for row, p in zip(tested, corrected, strict=True)]
        done += [row for row in family if row.p_value is None]
    return done
