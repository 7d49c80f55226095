"""The tables of `snakemake power`: power and cost at every size, and the smallest size that will do.

Owns their rows. What an arm costs is asked of whoever knows, so that nothing here knows of providers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from fieldwork.metrics.power.study import Curve, smallest
from fieldwork.records.field import FIELD
from fieldwork.records.power import PowerAdvice, PowerRow


class Cost(Protocol):
    """What an arm takes."""

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


class Costs(Protocol):
    """Whoever knows what the study's arms cost at a size."""

    def at(self, model: str, task: str, condition: str, *, n_users: int, replicates: int) -> Cost:
        """One arm; where nobody asks, `n_users` is the number of reruns."""


class Asked(NamedTuple):
    """What would be asked.

    Attributes:
        conditions: to be set beside the baseline; real users (`field`) come on top.
        field_cost_usd: of a participant, None where it is not known.
    """

    models: Sequence[str]
    conditions: Sequence[str]
    baseline: str
    alpha: float
    target: float
    field_cost_usd: float | None


class _Both(NamedTuple):
    """The arm of a condition, and the baseline's that it is compared with."""

    n_calls: int
    cost_usd: float | None
    n_calls_baseline: int
    cost_baseline_usd: float | None
    basis: str
    reason: str | None

    @property
    def usd(self) -> float | None:
        """Both together."""
        if self.cost_usd is None or self.cost_baseline_usd is None:
            return None
        return self.cost_usd + self.cost_baseline_usd


def power_rows(curves: Sequence[Curve], asked: Asked, costs: Costs) -> Iterator[PowerRow]:
    """Every size of every curve, for each model and condition."""
    for curve in curves:
        setup = curve.setup
        for model in asked.models:
            for condition in (*asked.conditions, FIELD):
                for point in curve.points:
                    both = _both(curve, model, condition, point.n_users, asked, costs)
                    yield PowerRow(
                        design=setup.design,
                        effect=setup.effect.label,
                        source=setup.source,
                        task=curve.task,
                        model=model,
                        condition=condition,
                        n_users=point.n_users,
                        replicates=setup.replicates,
                        n_items=curve.n_items,
                        n_tests=setup.n_tests,
                        alpha_per_test=asked.alpha / setup.n_tests,
                        power=point.power,
                        ci_low=point.low,
                        ci_high=point.high,
                        n_simulations=point.n_simulations,
                        n_calls=both.n_calls,
                        cost_usd=both.cost_usd,
                        n_calls_baseline=both.n_calls_baseline,
                        cost_baseline_usd=both.cost_baseline_usd,
                        basis=both.basis,
                        reason=_joined(point.reason, both.reason),
                    )


def advice_rows(curves: Sequence[Curve], asked: Asked, costs: Costs) -> Iterator[PowerAdvice]:
    """One row for each curve, model and condition, in this order."""
    for curve in curves:
        reached = smallest(curve.points, asked.target)
        for model in asked.models:
            for condition in (*asked.conditions, FIELD):
                both = None
                if reached.n_users is not None:
                    both = _both(curve, model, condition, reached.n_users, asked, costs)
                yield PowerAdvice(
                    design=curve.setup.design,
                    effect=curve.setup.effect.label,
                    source=curve.setup.source,
                    task=curve.task,
                    model=model,
                    condition=condition,
                    replicates=curve.setup.replicates,
                    n_tests=curve.setup.n_tests,
                    target=asked.target,
                    n_users=reached.n_users,
                    n_simulated=reached.point.n_users if both else None,
                    power=reached.point.power,
                    ci_low=reached.point.low,
                    ci_high=reached.point.high,
                    n_calls=both.n_calls if both else None,
                    n_calls_baseline=both.n_calls_baseline if both else None,
                    cost_usd=both.usd if both else None,
                    reason=_joined(reached.reason, both.reason if both else None),
                )


def _both(
    curve: Curve, model: str, condition: str, n_users: int, asked: Asked, costs: Costs
) -> _Both:
    replicates = curve.setup.replicates
    basis, reason = "participants", None
    if condition == FIELD:
        n_calls = n_users * curve.n_items * replicates
        paid = asked.field_cost_usd
        usd = None if paid is None else n_users * paid
        reason = "no power.field_cost_usd, what a participant costs" if paid is None else None
    else:
        arm = costs.at(model, curve.task, condition, n_users=n_users, replicates=replicates)
        n_calls, usd, basis, reason = arm.n_calls, arm.cost_usd, arm.basis, arm.reason
    if curve.setup.design == "who":
        return _Both(n_calls, usd, 0, 0.0, basis, reason)
    blank = costs.at(model, curve.task, asked.baseline, n_users=n_users, replicates=1)
    return _Both(n_calls, usd, blank.n_calls, blank.cost_usd, basis, _joined(reason, blank.reason))


def _joined(*reasons: str | None) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None


def by_effect(
    advice: Sequence[PowerAdvice],
) -> Mapping[tuple[str, str, int], list[PowerAdvice]]:
    """Rows of one task by design, effect and replicates, in their order."""
    found: dict[tuple[str, str, int], list[PowerAdvice]] = {}
    for row in advice:
        found.setdefault((row.design, row.effect, row.replicates), []).append(row)
    return found
