"""The tables that set the offline scores of a study's models beside every other way of asking them.

Owns which runs are a way: each condition other than the baseline, the field among them, and each variant
of a task, under any condition. Promises rows in one order, whatever the order of the runs.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.metrics.accuracy import READERS, runs_by_arm
from fieldwork.metrics.practice.drops import Drops, explain_drop
from fieldwork.metrics.practice.orders import TurnedPair, WayOrder, compare_orders
from fieldwork.metrics.practice.ways import ModelScores, WayScores, scores_of_runs
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.permutation import require_permutations
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.shapley import Combination
from fieldwork.statistics.user_intervals import RAREST_USERS

METRICS = ("em_flexible", "em_strict")


class Way(NamedTuple):
    """A task and a condition under which models are asked."""

    task: str
    condition: str


class PracticeTables(NamedTuple):
    """Rows of the tables `practice` and `practice_turns`."""

    orders: list[PracticeOrder]
    turns: list[PracticeTurn]


def origin_of(task: str, variants: Mapping[str, str]) -> str:
    """The task that a variant was derived from, through any number of steps; another is its own.

    Raises:
        StudyError: variants are derived from one another in a circle.
    """
    lineage = [task]
    while lineage[-1] in variants:
        lineage.append(variants[lineage[-1]])
        if lineage[-1] in lineage[:-1]:
            raise StudyError(
                f"tasks: {' of '.join(lineage)} is a circle; derive one of them from another task"
            )
    return lineage[-1]


def measure_practice(
    runs: Sequence[RunAccuracy],
    *,
    variants: Mapping[str, str],
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> PracticeTables:
    """A row for each way of asking a task's questions, and one for each pair of models that it turns.

    P-values are corrected over the ways of a task and metric.

    Args:
        variants: the task that each variant is derived from.
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations, or variants in a circle.
    """
    require_permutations(n_permutations)
    orders: list[PracticeOrder] = []
    turns: list[PracticeTurn] = []
    for metric in METRICS:
        ways = _read_ways(runs, READERS[metric])
        for task, way in _practice_ways(ways, variants, baseline):
            order = compare_orders(
                ways.get(Way(task, baseline), {}),
                ways[way],
                n_permutations=n_permutations,
                random=generator(seed, "practice", metric, task, *way),
                rarest_users=rarest_users,
            )
            orders.append(_order_row(task, metric, way, baseline, order))
            turns += [_turn_row(task, metric, way, pair) for pair in order.turns]
    orders = correct_rows(orders, lambda row: (row.task, row.metric))
    return PracticeTables(
        sorted(orders, key=_place),
        sorted(turns, key=lambda row: (*_place(row), row.model, row.other)),
    )


def _place(row: PracticeOrder | PracticeTurn) -> tuple[str, str, str, str]:
    return row.task, row.metric, row.way_task, row.condition


def _read_ways(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> dict[Way, dict[str, WayScores]]:
    """Scores by way and model; a way without any counted run is there, without a model."""
    ways: dict[Way, dict[str, WayScores]] = {}
    for arm, arm_runs in runs_by_arm(runs).items():
        models = ways.setdefault(Way(arm.task, arm.condition), {})
        scores = scores_of_runs(arm_runs, read)
        if scores:
            models[arm.model] = scores
    return ways


def _practice_ways(
    ways: Collection[Way], variants: Mapping[str, str], baseline: str
) -> Iterator[tuple[str, Way]]:
    """Each way other than offline, with the task whose offline score it is set beside."""
    for way in sorted(ways):
        task = origin_of(way.task, variants)
        if way != Way(task, baseline):
            yield task, way


def _order_row(task: str, metric: str, way: Way, baseline: str, order: WayOrder) -> PracticeOrder:
    verdicts = [pair.is_beyond_chance for pair in order.turns]
    test = order.test
    return PracticeOrder(
        task=task,
        metric=metric,
        way_task=way.task,
        condition=way.condition,
        baseline=baseline,
        rho=order.rho,
        ci_low=order.interval.low if order.interval else None,
        ci_high=order.interval.high if order.interval else None,
        p_value=test.p_value if test else None,
        p_holm=None,
        p_least=test.p_least if test else None,
        n_permutations=test.n_permutations if test else None,
        difference=order.difference,
        n_models=len(order.models),
        n_pairs=order.pairs.total,
        n_tied=order.pairs.n_tied,
        n_discordant=order.pairs.discordant,
        n_beyond_chance=verdicts.count(True),
        n_judged=len(verdicts) - verdicts.count(None),
        reason=order.reason,
    )


def _turn_row(task: str, metric: str, way: Way, pair: TurnedPair) -> PracticeTurn:
    reasons = [
        f"no interval {place}: too few runs or users, or all score alike"
        for place, interval in (("offline", pair.interval), ("that way", pair.way_interval))
        if interval is None
    ]
    return PracticeTurn(
        task=task,
        metric=metric,
        way_task=way.task,
        condition=way.condition,
        model=pair.model,
        other=pair.other,
        lead=pair.lead,
        lead_low=_low(pair.interval),
        lead_high=_high(pair.interval),
        way_lead=pair.way_lead,
        way_low=_low(pair.way_interval),
        way_high=_high(pair.way_interval),
        is_beyond_chance=pair.is_beyond_chance,
        reason="; ".join(reasons) or None,
    )


def _low(interval: Interval | None) -> float | None:
    return interval.low if interval else None


def _high(interval: Interval | None) -> float | None:
    return interval.high if interval else None


def measure_drops(
    runs: Sequence[RunAccuracy],
    *,
    variants: Mapping[str, str],
    steps: Mapping[str, Sequence[str]],
    controls: Collection[str],
    baseline: str,
) -> list[PracticeDrop]:
    """A row for each variant of the harshest way, for the mean over the models and for each model.

    A variant is a step by which a task was derived, or a condition other than the baseline.

    Args:
        steps: names of the steps from the origin to each variant; one without any is left out.
        controls: conditions that only ask the baseline again, which are no variants.
    """
    rows: list[PracticeDrop] = []
    for metric in METRICS:
        ways = _read_ways(runs, READERS[metric])
        tasks = {origin_of(way.task, variants) for way in ways}
        for task in sorted(tasks):
            names = {
                way: frozenset(steps.get(way.task, ())) | ({way.condition} - {baseline})
                for way in ways
                if origin_of(way.task, variants) == task
                and way.condition not in controls
                and (way.task == task or steps.get(way.task))
            }
            drops = explain_drop(_combine({way: ways[way] for way in names}, names))
            rows += _drop_rows(task, metric, drops) if drops else []
    return sorted(
        rows, key=lambda r: (r.task, r.metric, r.model is not None, r.model or "", r.variant)
    )


def _combine(
    ways: Mapping[Way, ModelScores], names: Mapping[Way, Combination]
) -> dict[Combination, ModelScores]:
    """Scores by combination. The same steps in another order are another task: the first one counts."""
    combinations: dict[Combination, ModelScores] = {}
    for way in sorted(ways):
        combinations.setdefault(names[way], ways[way])
    return combinations


def _drop_rows(task: str, metric: str, drops: Drops) -> Iterator[PracticeDrop]:
    for part in drops.parts:
        yield PracticeDrop(
            task=task,
            metric=metric,
            model=part.model,
            variant=part.variant,
            harshest=" + ".join(sorted(drops.harshest)),
            total_drop=part.total_drop,
            drop=part.drop,
            ci_low=_low(part.interval),
            ci_high=_high(part.interval),
            share=part.share,
            n_models=len(drops.models),
            n_combinations=2 ** len(drops.harshest),
            reason=part.reason,
        )
