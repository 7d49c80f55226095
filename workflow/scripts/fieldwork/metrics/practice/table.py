"""The tables that set the offline scores of a study's models beside every other way of asking them.

Owns which runs are a way: each condition other than the baseline, the field among them, and each variant
of a task, under any condition. Promises rows in one order, whatever the order of the runs.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.metrics.accuracy import READERS, runs_by_arm
from fieldwork.metrics.practice.drops import explain_drop
from fieldwork.metrics.practice.orders import compare_orders
from fieldwork.metrics.practice.ways import ModelScores, WayScores, scores_of_runs
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn
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
            order, turned_pairs = compare_orders(
                ways.get(Way(task, baseline), {}),
                ways[way],
                n_permutations=n_permutations,
                random=generator(seed, "practice", metric, task, *way),
                rarest_users=rarest_users,
                baseline=baseline,
                names={
                    "task": task,
                    "metric": metric,
                    "way_task": way.task,
                    "condition": way.condition,
                },
            )
            orders.append(order)
            turns += turned_pairs
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
            combinations = _combine({way: ways[way] for way in names}, names)
            rows += explain_drop(combinations, task=task, metric=metric)
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
