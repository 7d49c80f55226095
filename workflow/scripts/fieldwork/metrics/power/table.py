"""The tables of `snakemake power`: power and cost at every size, and the smallest size that will do.

Owns their rows. The caller prices the arms, so that nothing here knows of providers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fieldwork.metrics.claims.families import correction_of
from fieldwork.metrics.power.study import ArmPower, EffectCurve, find_smallest_size
from fieldwork.records.field import FIELD
from fieldwork.records.power import PowerAdvice, PowerRow


class ArmCost(Protocol):
    """Calls and dollars of an arm."""

    @property
    def n_calls(self) -> int:
        """Answers asked for."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars, None with a reason."""

    @property
    def basis(self) -> str:
        """What the tokens are counted from."""

    @property
    def reason(self) -> str | None:
        """Why there is no cost, or what it leaves out."""


class ArmPrices(Protocol):
    """Prices the study's arms at any size."""

    def at(
        self, model: str, task: str, condition: str, *, n_users: int, replicates: int
    ) -> ArmCost:
        """Cost of one arm; without users, `n_users` is the number of reruns."""


class PlannedStudy(NamedTuple):
    """What the study would ask, and what its tests must reach.

    Attributes:
        models: printed names by name.
        conditions: printed names by name of those with users. Real users (`field`) are added to them.
        n_comparisons: conditions that are compared with the baseline, with users or without.
        runs: users or reruns of each task.
        score_task: task whose scores are compared, None where the study has none.
        asked_again: conditions in which a user answers a prompt more than once.
        nests: conditions with the same users, by the one whose users they are.
        settings: section `power` of the config.
        rules: what the study says of its claims, as `ClaimRules` reads it.
        rarest_users: share of users of the rarest kind that intervals cover.
    """

    name: str
    models: Mapping[str, str]
    conditions: Mapping[str, str]
    baseline: str
    n_comparisons: int
    runs: Mapping[str, int]
    score_task: str | None
    asked_again: Sequence[str]
    nests: Mapping[str, Sequence[str]]
    settings: Mapping[str, Any]
    rules: Mapping[str, Any]
    n_permutations: int
    seed: int
    rarest_users: float


class _ComparisonCost(NamedTuple):
    """Cost of a condition's arm, and of the baseline's arm with which it is compared."""

    n_calls: int
    cost_usd: float | None
    n_calls_baseline: int
    cost_baseline_usd: float | None
    basis: str
    reason: str | None

    @property
    def total_usd(self) -> float | None:
        """Both arms together, None where one has no cost."""
        if self.cost_usd is None or self.cost_baseline_usd is None:
            return None
        return self.cost_usd + self.cost_baseline_usd


def power_rows(
    curves: Sequence[EffectCurve], planned_study: PlannedStudy, prices: ArmPrices
) -> Iterator[PowerRow]:
    """A row for each size of each curve, for each model and condition."""
    for curve, arm_power, model, condition in _arms(curves):
        scenario = curve.scenario
        for estimate in arm_power.estimates:
            cost = _comparison_cost(
                curve, model, condition, estimate.n_users, planned_study, prices
            )
            yield PowerRow(
                measure=scenario.measure,
                effect=scenario.effect.label,
                source=scenario.source_label,
                odd_users=scenario.odd_users,
                likeness=scenario.supposed_likeness,
                task=curve.task,
                model=model,
                condition=condition,
                n_users=estimate.n_users,
                replicates=scenario.replicates,
                n_items=curve.n_prompts,
                n_settled=scenario.n_settled,
                family=arm_power.family.name,
                correction=correction_of(arm_power.family.name),
                n_tests=estimate.n_tests,
                power=estimate.power,
                ci_low=estimate.low,
                ci_high=estimate.high,
                n_simulations=estimate.n_simulations,
                n_calls=cost.n_calls,
                cost_usd=cost.cost_usd,
                n_calls_baseline=cost.n_calls_baseline,
                cost_baseline_usd=cost.cost_baseline_usd,
                basis=cost.basis,
                reason=_join_reasons(estimate.reason, cost.reason),
            )


def _arms(curves: Sequence[EffectCurve]) -> Iterator[tuple[EffectCurve, ArmPower, str, str]]:
    """Each curve with the models and conditions of each of its families."""
    for curve in curves:
        for arm_power in curve.arm_powers:
            for model, condition in arm_power.arms:
                yield curve, arm_power, model, condition


def advice_rows(
    curves: Sequence[EffectCurve], planned_study: PlannedStudy, prices: ArmPrices
) -> Iterator[PowerAdvice]:
    """One row for each curve, family, model and condition, in this order."""
    target = planned_study.settings["target"]
    for curve, arm_power, model, condition in _arms(curves):
        scenario, size = curve.scenario, find_smallest_size(arm_power.estimates, target)
        cost = None
        if size.n_users is not None:
            cost = _comparison_cost(curve, model, condition, size.n_users, planned_study, prices)
        yield PowerAdvice(
            measure=scenario.measure,
            effect=scenario.effect.label,
            source=scenario.source_label,
            odd_users=scenario.odd_users,
            likeness=scenario.supposed_likeness,
            likeness_basis=curve.basis or None,
            task=curve.task,
            model=model,
            condition=condition,
            replicates=scenario.replicates,
            n_settled=scenario.n_settled,
            family=arm_power.family.name,
            correction=correction_of(arm_power.family.name),
            n_tests=size.estimate.n_tests,
            target=target,
            n_users=size.n_users,
            n_simulated=size.estimate.n_users if cost else None,
            power=size.estimate.power,
            ci_low=size.estimate.low,
            ci_high=size.estimate.high,
            n_calls=cost.n_calls if cost else None,
            n_calls_baseline=cost.n_calls_baseline if cost else None,
            cost_usd=cost.total_usd if cost else None,
            reason=_join_reasons(size.reason, cost.reason if cost else None),
        )


def _comparison_cost(
    curve: EffectCurve,
    model: str,
    condition: str,
    n_users: int,
    planned_study: PlannedStudy,
    prices: ArmPrices,
) -> _ComparisonCost:
    replicates = curve.scenario.replicates
    basis, reason = "participants", None
    if condition == FIELD:
        n_calls = n_users * curve.n_prompts * replicates
        unit_usd = planned_study.settings["field_cost_usd"]
        usd = None if unit_usd is None else n_users * unit_usd
        if unit_usd is None:
            reason = "no cost of participants: power.field_cost_usd is not set"
    else:
        arm = prices.at(model, curve.task, condition, n_users=n_users, replicates=replicates)
        n_calls, usd, basis, reason = arm.n_calls, arm.cost_usd, arm.basis, arm.reason
    if curve.scenario.measure == "share_who":
        return _ComparisonCost(n_calls, usd, 0, 0.0, basis, reason)
    baseline = prices.at(model, curve.task, planned_study.baseline, n_users=n_users, replicates=1)
    reason = _join_reasons(reason, baseline.reason)
    return _ComparisonCost(n_calls, usd, baseline.n_calls, baseline.cost_usd, basis, reason)


def _join_reasons(*reasons: str | None) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None
