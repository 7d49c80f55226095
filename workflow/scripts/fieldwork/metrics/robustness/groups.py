"""The table `group_gaps`: are all groups of people that a task is put for answered alike?

Owns the largest difference of accuracy between groups, answers that differ from group to group beside
reruns of one variant, and which options each group is given.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fieldwork.metrics.robustness.group_options import option_rows
from fieldwork.metrics.robustness.group_shuffles import (
    ShuffledValue,
    flips_of_groups,
    shuffled_accuracies,
    shuffled_flips,
    shuffled_value,
)
from fieldwork.metrics.robustness.group_tasks import (
    Block,
    GroupedTasks,
    blocks_of,
    count_items,
    group_row,
    grouped_tasks,
)
from fieldwork.metrics.robustness.pairs import RobustnessSettings, no_letter, read_derivations
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.permutation import random_p_value, require_permutations
from fieldwork.statistics.seeds import generator


def measure_group_gaps(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    variants: Mapping[str, str],
    groups: Mapping[str, str],
    settings: RobustnessSettings,
) -> list[GroupGap]:
    """Rows for each task that is put for two or more groups.

    In order of model, origin, condition, kind, metric, item, option and group. P-values are corrected
    over the options of an origin, for each model, condition and kind. Empty input gives no rows.

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
        tasks = grouped_tasks(derivation, groups)
        if len(tasks.groups) > 1:
            rows += _rows(tasks, settings)
    rows = correct_rows(rows, lambda r: (r.model, r.origin, r.condition, r.kind, r.metric))
    return sorted(rows, key=_order)


def _order(row: GroupGap) -> tuple[str, ...]:
    places = (row.item_id or "", row.option or "", row.group or "")
    return (row.model, row.origin, row.condition, row.kind, row.metric, *places)


def _rows(tasks: GroupedTasks, settings: RobustnessSettings) -> Iterator[GroupGap]:
    blocks = blocks_of(tasks)
    if tasks.derivation.kind == "choice" and all(task.golds for task in tasks.tasks):
        yield from _accuracy_rows(tasks, blocks, settings)
    yield from _flip_rows(tasks, blocks, settings)
    yield from option_rows(tasks, settings)


def _missing_rows(tasks: GroupedTasks, metrics: Sequence[str], reason: str) -> Iterator[GroupGap]:
    for metric in metrics:
        yield replace(group_row(tasks, metric, None, n_items=0, n_answers=0), reason=reason)


def _accuracy_rows(
    tasks: GroupedTasks, blocks: Sequence[Block], settings: RobustnessSettings
) -> Iterator[GroupGap]:
    graded_blocks = [b for b in blocks if all(b.cell.item_id in task.golds for task in tasks.tasks)]
    metrics = ("accuracy_gap", "accuracy_ratio")
    cells = [block.cell for block in graded_blocks]
    reason = no_letter(tasks.tasks, cells) if cells else "no item is answered for all groups"
    if reason:
        yield from _missing_rows(tasks, metrics, reason)
        return
    random = generator(settings.seed, *tasks.random_name("accuracy"))
    accuracies = shuffled_accuracies(
        tasks, graded_blocks, n_permutations=settings.n_permutations, random=random
    )
    n_reruns = sum(len(block.replies) for block in graded_blocks)
    n_items = count_items(graded_blocks)
    for place, group in enumerate(tasks.groups):
        n_answers = n_reruns * int((tasks.places == place).sum())
        value = float(accuracies[0, place])
        row = group_row(tasks, "accuracy", value, n_items=n_items, n_answers=n_answers)
        yield replace(row, group=group)
    highest, lowest = accuracies.max(axis=1), accuracies.min(axis=1)
    gap = shuffled_value(highest - lowest)
    # of groups that are all wrong no one is behind
    ratios = np.divide(lowest, highest, out=np.ones_like(lowest), where=highest > 0)
    n_answers = n_reruns * len(tasks.tasks)
    row = replace(
        group_row(tasks, metrics[0], gap.value, n_items=n_items, n_answers=n_answers),
        group=tasks.groups[int(accuracies[0].argmax())],
        other_group=tasks.groups[int(accuracies[0].argmin())],
    )
    yield _with_test(row, gap, settings)
    is_right = bool(highest[0] > 0)
    yield replace(
        row,
        metric=metrics[1],
        estimate=float(ratios[0]) if is_right else None,
        expected_same=float(ratios[1:].mean()) if is_right else None,
        reason=None if is_right else "no answer of any group is right",
    )


def _with_test(row: GroupGap, value: ShuffledValue, settings: RobustnessSettings) -> GroupGap:
    return replace(
        row,
        expected_same=value.expected_same,
        p_value=value.p_value,
        p_least=random_p_value(0, settings.n_permutations),
        n_permutations=settings.n_permutations,
    )


def _flip_rows(
    tasks: GroupedTasks, blocks: Sequence[Block], settings: RobustnessSettings
) -> Iterator[GroupGap]:
    """Letters that differ between groups, or options in common; both beside reruns of one variant."""
    is_overlap = tasks.derivation.kind == "list"
    name = "overlap" if is_overlap else "flips"
    metrics = (name, f"{name}_rerun", f"excess_{name}")
    if not blocks:
        yield from _missing_rows(tasks, metrics, "no item is answered for all groups")
        return
    repeated_blocks = [block for block in blocks if len(block.replies) > 1]
    if not repeated_blocks:
        n_answers = len(blocks) * len(tasks.tasks)
        share = flips_of_groups(tasks, blocks)
        value = 1 - share if is_overlap else share
        yield group_row(tasks, name, value, n_items=count_items(blocks), n_answers=n_answers)
        reason = "no control: no item is answered twice for each group; raise runs or replicates"
        yield from _missing_rows(tasks, metrics[1:], reason)
        return
    random = generator(settings.seed, *tasks.random_name("flips"))
    flips, reruns = shuffled_flips(
        tasks, repeated_blocks, n_permutations=settings.n_permutations, random=random
    )
    excess = shuffled_value(flips - reruns)
    n_answers = sum(len(block.replies) for block in repeated_blocks) * len(tasks.tasks)
    estimates = (float(flips[0]), float(reruns[0]), excess.value)
    if is_overlap:
        estimates = (1 - estimates[0], 1 - estimates[1], -excess.value)
    for metric, estimate in zip(metrics, estimates, strict=True):
        row = group_row(
            tasks, metric, estimate, n_items=count_items(repeated_blocks), n_answers=n_answers
        )
        is_tested = metric == metrics[2]
        yield _with_test(row, _signed_value(excess, is_overlap), settings) if is_tested else row


def _signed_value(value: ShuffledValue, is_overlap: bool) -> ShuffledValue:
    """Less in common is further apart."""
    return value._replace(expected_same=-value.expected_same) if is_overlap else value
