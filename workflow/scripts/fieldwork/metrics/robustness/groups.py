"""The table `group_gaps`: are all groups of people that a task is put for answered alike?

Owns the largest difference of accuracy between groups, answers that differ from group to group beside
reruns of one variant, and which options each group is given.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.group_shuffles import (
    flips_of_groups,
    shuffled_accuracies,
    shuffled_flips,
)
from fieldwork.metrics.robustness.replies import (
    CELL,
    Derivation,
    TaskReplies,
    cells_of_rows,
    no_letter,
    read_derivations,
    side_by_side,
)
from fieldwork.records.columns import row_of
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.arrays import Counts, Floats, Indices
from fieldwork.statistics.fisher import fisher_test_of_groups
from fieldwork.statistics.permutation import (
    p_value_of_first,
    random_p_value,
    require_permutations,
)


class GroupedTasks(NamedTuple):
    """Variants of one task, and the groups that they are about, in alphabetical order.

    Attributes:
        places: the place in `groups` of each task, shape (tasks,).
        left_out: items that could not be put for every group.
    """

    derivation: Derivation
    tasks: tuple[TaskReplies, ...]
    groups: tuple[str, ...]
    places: Indices
    left_out: frozenset[str]

    def names(self, *purpose: str) -> tuple[str, ...]:
        """What tells its random numbers from others."""
        return self.derivation.names("groups", *purpose)

    def replies(self, column: str) -> pd.DataFrame:
        """What all tasks answer with the same rerun, one column a task; as in `TaskReplies`."""
        replies = side_by_side(self.tasks, column)
        return replies[~replies.index.isin(self.left_out, level="item_id")]


def measure_group_gaps(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    variants: Mapping[str, str],
    groups: Mapping[str, str],
    settings: ChanceSettings,
) -> list[GroupGap]:
    """Rows for each task that is put for two or more groups.

    In order of model, origin, condition, kind, metric, item, option and group. Empty input gives no rows.

    Args:
        items: of the tasks, with a column `task`.
        variants: by a variant, the task that it is put otherwise.
        groups: by a variant, the group that it is about.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(settings.n_permutations)
    rows: list[GroupGap] = []
    for derivation in read_derivations(answers, items, variants):
        tasks = tuple(task for task in derivation.variants if task.task in groups)
        names = tuple(sorted({groups[task.task] for task in tasks}))
        if len(names) > 1:
            places = np.array([names.index(groups[task.task]) for task in tasks], dtype=np.int64)
            left_out = frozenset[str]().union(*(task.left_out for task in tasks))
            rows += _rows(GroupedTasks(derivation, tasks, names, places, left_out), settings)
    return sorted(rows, key=_order)


def _order(row: GroupGap) -> tuple[str, ...]:
    places = (row.item_id or "", row.option or "", row.group or "")
    return (row.model, row.origin, row.condition, row.kind, row.metric, *places)


def _rows(tasks: GroupedTasks, settings: ChanceSettings) -> Iterator[GroupGap]:
    if tasks.derivation.arm.kind == "choice" and all(task.golds for task in tasks.tasks):
        yield from _accuracy_rows(tasks, settings)
    yield from _flip_rows(tasks, settings)
    yield from _option_rows(tasks, settings)


def _row(tasks: GroupedTasks, metric: str, **columns: Any) -> GroupGap:
    arm = tasks.derivation.arm
    return row_of(
        GroupGap,
        model=arm.model,
        origin=arm.task,
        condition=arm.condition,
        kind=arm.kind,
        metric=metric,
        n_left_out=len(tasks.left_out),
        n_groups=len(tasks.groups),
        **({"n_items": 0, "n_answers": 0} | columns),
    )


def _test_columns(values: Floats, *, is_overlap: bool = False) -> dict[str, Any]:
    """Of the values of all shuffles, the observed one first: the test that it is no larger.

    Args:
        is_overlap: less in common is further apart.
    """
    sign, n = -1 if is_overlap else 1, len(values) - 1
    return {
        "estimate": sign * float(values[0]),
        "expected_same": sign * float(values[1:].mean()),
        "p_value": p_value_of_first(values),
        "p_least": random_p_value(0, n),
        "n_permutations": n,
    }


# ---- right letters -----------------------------------------------------------------------------------


def _accuracy_rows(tasks: GroupedTasks, settings: ChanceSettings) -> Iterator[GroupGap]:
    metrics = ("accuracy_gap", "accuracy_ratio")
    grades = tasks.replies("is_right").dropna()
    reason: str | None = "no item is answered for all groups"
    if len(grades):
        reason = no_letter(tasks.tasks, cells_of_rows(grades))
    if reason:
        yield from (_row(tasks, metric, reason=reason) for metric in metrics)
        return
    of_tasks = shuffled_accuracies(
        grades,
        n_permutations=settings.n_permutations,
        random=settings.random(*tasks.names("accuracy")),
    )
    members = np.equal.outer(tasks.places, np.arange(len(tasks.groups))).astype(np.float64)
    accuracies = of_tasks @ (members / members.sum(axis=0))
    n_items = grades.index.get_level_values("item_id").nunique()
    for place, group in enumerate(tasks.groups):
        yield _row(
            tasks,
            "accuracy",
            group=group,
            estimate=float(accuracies[0, place]),
            n_items=n_items,
            n_answers=len(grades) * int((tasks.places == place).sum()),
        )
    highest, lowest = accuracies.max(axis=1), accuracies.min(axis=1)
    basis = {
        "group": tasks.groups[int(accuracies[0].argmax())],
        "other_group": tasks.groups[int(accuracies[0].argmin())],
        "n_items": n_items,
        "n_answers": grades.size,
    }
    yield _row(tasks, metrics[0], **basis, **_test_columns(highest - lowest))
    # of groups that are all wrong no one is behind
    ratios = np.divide(lowest, highest, out=np.ones_like(lowest), where=highest > 0)
    of_ratio: dict[str, Any] = {
        "estimate": float(ratios[0]),
        "expected_same": float(ratios[1:].mean()),
    }
    if not highest[0] > 0:
        of_ratio = dict.fromkeys(of_ratio) | {"reason": "no answer of any group is right"}
    yield _row(tasks, metrics[1], **basis, **of_ratio)


# ---- letters that differ, or options in common -------------------------------------------------------


def _flip_rows(tasks: GroupedTasks, settings: ChanceSettings) -> Iterator[GroupGap]:
    """Both between groups and beside reruns of one variant."""
    is_overlap = tasks.derivation.arm.kind == "list"
    name = "overlap" if is_overlap else "flips"
    metrics = (name, f"{name}_rerun", f"excess_{name}")
    replies = tasks.replies("options")
    if replies.empty:
        reason = "no item is answered for all groups"
        yield from (_row(tasks, metric, reason=reason) for metric in metrics)
        return
    repeated_replies = replies[replies.groupby(level=CELL).transform("size") > 1]
    counted_replies = replies if repeated_replies.empty else repeated_replies
    basis = {
        "n_items": counted_replies.index.get_level_values("item_id").nunique(),
        "n_answers": counted_replies.size,
    }
    if repeated_replies.empty:
        flips = flips_of_groups(replies, tasks.places)
        yield _row(tasks, name, estimate=1 - flips if is_overlap else flips, **basis)
        reason = "no control: no item is answered twice for each group; raise runs or replicates"
        yield from (_row(tasks, metric, reason=reason) for metric in metrics[1:])
        return
    of_groups, of_reruns = shuffled_flips(
        repeated_replies,
        tasks.places,
        n_permutations=settings.n_permutations,
        random=settings.random(*tasks.names("flips")),
    )
    for metric, value in zip(metrics, (of_groups[0], of_reruns[0]), strict=False):
        yield _row(tasks, metric, estimate=float(1 - value if is_overlap else value), **basis)
    excess = _test_columns(of_groups - of_reruns, is_overlap=is_overlap)
    yield _row(tasks, metrics[2], **excess, **basis)


# ---- options ------------------------------------------------------------------------------------------


def _option_rows(tasks: GroupedTasks, settings: ChanceSettings) -> Iterator[GroupGap]:
    """Shares of each option of the items that every group answers, and the largest difference."""
    for item, option, n_named, n_answers in _option_counts(tasks):
        shares = n_named / n_answers
        place = {"item_id": item, "option": option, "n_items": 1}
        for group, share, n in zip(tasks.groups, shares.tolist(), n_answers.tolist(), strict=True):
            yield _row(tasks, "option_share", **place, group=group, estimate=share, n_answers=n)
        highest, lowest = int(shares.argmax()), int(shares.argmin())
        random = settings.random(*tasks.names("option"), item, option)
        yield _row(
            tasks,
            "option_gap",
            **place,
            group=tasks.groups[highest],
            other_group=tasks.groups[lowest],
            estimate=float(shares[highest] - shares[lowest]),
            n_answers=int(n_answers.sum()),
            **fisher_test_of_groups(n_named, n_answers, random=random)._asdict(),
        )


def _option_counts(tasks: GroupedTasks) -> Iterator[tuple[str, str, Counts, Counts]]:
    """By item and option, how many answers of each group name it, and how many there are."""
    by_task = [task.independent() for task in tasks.tasks]
    for item in sorted({item for replies in by_task for item in replies} - tasks.left_out):
        counters = [Counter[str]() for _ in tasks.groups]
        sizes = np.zeros(len(tasks.groups), dtype=np.int64)
        for replies, place in zip(by_task, tasks.places.tolist(), strict=True):
            counters[place].update(o for reply in replies.get(item, ()) for o in reply)
            sizes[place] += len(replies.get(item, ()))
        for option in sorted(set().union(*counters)) if sizes.all() else ():
            yield item, option, np.array([counter[option] for counter in counters]), sizes
