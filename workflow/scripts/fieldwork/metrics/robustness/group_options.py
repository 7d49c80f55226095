"""Which options each group is given: shares by group, and the largest difference of each option."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.robustness.group_tasks import GroupedTasks, group_row
from fieldwork.metrics.robustness.pairs import RobustnessSettings, independent_replies
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.fisher import fisher_test_of_groups
from fieldwork.statistics.seeds import generator


class _OptionCounts(NamedTuple):
    """How many answers of each group to an item name an option, and how many there are."""

    item_id: str
    option: str
    n_named: Counts
    n_answers: Counts


def option_rows(tasks: GroupedTasks, settings: RobustnessSettings) -> Iterator[GroupGap]:
    """Rows for each option of each item that every group has an answer to."""
    for counts in _option_counts(tasks):
        shares = counts.n_named / counts.n_answers
        total = int(counts.n_answers.sum())
        item, option = counts.item_id, counts.option
        for group, share, n in zip(
            tasks.groups, shares.tolist(), counts.n_answers.tolist(), strict=True
        ):
            row = group_row(tasks, "option_share", share, n_items=1, n_answers=n)
            yield replace(row, item_id=item, option=option, group=group)
        highest, lowest = int(shares.argmax()), int(shares.argmin())
        gap = float(shares[highest] - shares[lowest])
        random = generator(settings.seed, *tasks.random_name("option"), item, option)
        test = fisher_test_of_groups(counts.n_named, counts.n_answers, random=random)
        yield replace(
            group_row(tasks, "option_gap", gap, n_items=1, n_answers=total),
            item_id=item,
            option=option,
            group=tasks.groups[highest],
            other_group=tasks.groups[lowest],
            p_value=test.p_value,
            p_least=test.p_least,
        )


def _option_counts(tasks: GroupedTasks) -> Iterator[_OptionCounts]:
    by_task = [independent_replies(task.replies) for task in tasks.tasks]
    items = sorted({item for replies in by_task for item in replies} - tasks.left_out)
    for item in items:
        answers: list[list[Options]] = [[] for _ in tasks.groups]
        for replies, place in zip(by_task, tasks.places.tolist(), strict=True):
            answers[place] += replies.get(item, [])
        if all(answers):
            sizes = np.array([len(of_group) for of_group in answers], dtype=np.int64)
            yield from (
                _OptionCounts(item, option, n_named, sizes)
                for option, n_named in _named_options(answers)
            )


def _named_options(answers: Sequence[Sequence[Options]]) -> Iterator[tuple[str, Counts]]:
    """Each option in alphabetical order, and how many answers of each group name it."""
    counters = [Counter(option for reply in of_group for option in reply) for of_group in answers]
    for option in sorted(set().union(*counters)):
        yield option, np.array([counter[option] for counter in counters], dtype=np.int64)
