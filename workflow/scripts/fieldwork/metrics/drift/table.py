"""The table `drift`: each later wave beside the first one, and what may be said of it.

Owns which wave is compared with which, and how the study's level is spent. Promises that what is said of
a wave does not depend on waves after it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.estimates.reasons import join_reasons
from fieldwork.metrics.drift.calls import (
    NO_ANSWERS,
    MeasureKind,
    WavePair,
    measures_of,
    pair_of,
    returned_models,
)
from fieldwork.metrics.drift.changes import Change, ShufflePlan, change_of
from fieldwork.records.columns import row_of
from fieldwork.records.drift import Drift
from fieldwork.statistics.families import LEVEL, holm_by_family
from fieldwork.statistics.stratified import MOST_DRAWS, DrawPlan


class WavePlan(NamedTuple):
    """The waves of a study, and how often it is going to look.

    Attributes:
        waves: by condition, the name of its wave; names are in order of time.
        series: by condition, the name of what it is a wave of.
        looks: waves after the first one that share the level.
    """

    waves: Mapping[str, str]
    series: Mapping[str, str]
    looks: int
    seed: int

    @property
    def level(self) -> float:
        """Of one look: all together claim something in at most `LEVEL` of studies without a change.

        Looks that share the first wave depend on one another. Bonferroni's bound holds however they do:
        the chance of any false claim is at most the sum of the chances of each look. It is a spending of
        the level in equal parts (Lan and DeMets 1983), fixed before the first look, whose bounds do not
        use how looks depend. The price is power: a change has to be clearer than for one look alone.
        """
        return LEVEL / self.looks

    def look_of(self, condition: str) -> int:
        """Place of a condition's wave among all waves of the study."""
        return sorted(set(self.waves.values())).index(self.waves[condition])

    def conditions(self) -> list[list[str]]:
        """The conditions of each series, in order of their waves."""
        members: dict[str, list[str]] = {}
        for condition in sorted(self.waves, key=lambda name: (self.waves[name], name)):
            members.setdefault(self.series[condition], []).append(condition)
        return [members[name] for name in sorted(members)]


class _WaveComparison(NamedTuple):
    """A row without its test, and the calls to test."""

    row: Drift
    measure: MeasureKind
    pair: WavePair | None


def measure_drift(calls: pd.DataFrame, plan: WavePlan) -> list[Drift]:
    """A row for each model, task, wave after the first with answers, and measure, in this order.

    P-values are corrected over all tests of a look that could show a change, which are known without
    their outcome (Tarone 1990). Without calls there are no rows.

    Args:
        calls: as `read_calls_of_waves` makes them.
    """
    comparisons = [
        comparison
        for (model, task), frame in calls.groupby(["model", "task"], sort=True)
        for comparison in _comparisons(str(model), str(task), frame, plan)
    ]
    n_tests = Counter(c.row.look for c in comparisons if c.pair is not None)
    rows = [_tested_row(c, plan, n_tests[c.row.look]) for c in comparisons]
    rows.sort(key=lambda row: (row.model, row.task, row.condition, row.measure))
    return judge(rows, plan)


def _comparisons(
    model: str, task: str, frame: pd.DataFrame, plan: WavePlan
) -> Iterator[_WaveComparison]:
    measures = list(measures_of(frame))
    sides = {str(name): side for name, side in frame.groupby("condition", sort=True)}
    for conditions in plan.conditions():
        first = next((name for name in conditions if name in sides), None)
        for condition in conditions:
            if condition == first or len(conditions) < 2:
                continue
            row = _empty_row(model, task, condition, first, sides, plan)
            for measure in measures:
                reason, pair = row.reason, None
                if first is not None and condition in sides:
                    pair = pair_of(sides[first], sides[condition], measure)
                    if not pair.values:
                        reason = (
                            f"no item of {plan.waves[first]} has a value of {measure.name} again in "
                            f"{plan.waves[condition]}"
                        )
                        pair = None
                yield _WaveComparison(
                    replace(row, measure=measure.name, reason=reason), measure, pair
                )


def _empty_row(
    model: str,
    task: str,
    condition: str,
    first: str | None,
    sides: Mapping[str, pd.DataFrame],
    plan: WavePlan,
) -> Drift:
    wave = plan.waves[condition]
    return row_of(
        Drift,
        model=model,
        task=task,
        condition=condition,
        wave=wave,
        first_wave=plan.waves[first] if first else None,
        first_condition=first,
        look=plan.look_of(condition),
        measure="accuracy",
        **dict.fromkeys(("n_items", "n_answers", "n_first_answers"), 0),
        returned_models=returned_models(sides[condition]) if condition in sides else None,
        first_returned_models=returned_models(sides[first]) if first else None,
        reason=None if condition in sides else f"{NO_ANSWERS} {wave}",
    )


def _tested_row(comparison: _WaveComparison, plan: WavePlan, n_tests: int) -> Drift:
    row, measure, pair = comparison
    if pair is None:
        return row
    names = ("drift", row.model, row.task, row.condition, row.first_condition or "", row.measure)
    shuffle_plan = ShufflePlan(plan.seed, names, DrawPlan(plan.level, n_tests))
    return changed_row(row, change_of(pair, measure.form, shuffle_plan), pair)


def changed_row(row: Drift, change: Change, pair: WavePair) -> Drift:
    """A row with its values and its test, not corrected."""
    few_draws = None
    if change.test and change.is_capped and change.test.n_permutations == MOST_DRAWS:
        few_draws = f"{MOST_DRAWS:,} permutations are fewer than the tests of this look ask for"
    return replace(
        row,
        first_value=change.first_value,
        value=change.value,
        **change.change.columns("change"),
        **(change.test._asdict() if change.test else {}),
        n_items=pair.n_items,
        n_answers=int(pair.is_later.sum()),
        n_first_answers=int((~pair.is_later).sum()),
        reason=join_reasons(change.change.reason, few_draws),
    )


def judge(rows: Sequence[Drift], plan: WavePlan) -> list[Drift]:
    """Rows with the verdicts of their looks, each corrected over its own tests alone."""
    can_show = [
        row.look <= plan.looks and row.p_least is not None and row.p_least <= plan.level
        for row in rows
    ]
    p_holms = holm_by_family(
        [row.p_value if is_in else None for row, is_in in zip(rows, can_show, strict=True)],
        [row.look for row in rows],
    )
    return [
        replace(
            row,
            p_holm=p_holm,
            level=plan.level if row.look <= plan.looks else None,
            has_moved=None if p_holm is None else p_holm <= plan.level,
            reason=join_reasons(row.reason, _no_verdict(row, plan) if p_holm is None else None),
        )
        for row, p_holm in zip(rows, p_holms, strict=True)
    ]


def _no_verdict(row: Drift, plan: WavePlan) -> str | None:
    if row.p_value is None:
        return None
    if row.look > plan.looks:
        return f"no verdict: look {row.look} is beyond the {plan.looks} that share the level"
    return (
        f"no verdict: with these answers no p-value is below {row.p_least:.2g}, and the level of a look "
        f"is {plan.level:.2g}"
    )
