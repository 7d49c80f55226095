"""How far the answers of a group are from those of the other participants, with tests.

Owns the differences between groups and their permutation tests. What is shuffled is the group of a
participant, whose whole set of answers goes along; every shuffle is brought to equal n as the
observed groups are. Of two groups there is one difference, of several each group's from the mean of
the other groups' values.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.groups.contrasts import (
    Compared,
    Estimate,
    contrast,
    contrast_of_shares,
    varied_estimates,
)
from fieldwork.metrics.groups.shuffles import (
    Prompt,
    Shuffles,
    divergence_between,
    from_others,
    moves,
    read_prompts,
    shares,
    shuffle,
    studentized,
    varied_values,
)
from fieldwork.metrics.groups.table import (
    MIN_ANSWERS,
    Block,
    complete_items,
    large_groups,
    mean_of_marks,
    read_blocks,
    too_few,
)
from fieldwork.records.field import GroupDifference
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
from fieldwork.statistics.seeds import generator

VARIED = ("entropy_bits", "one_minus_top5_share")
MARKS = {"share_correct": "is_correct", "share_unread": "is_unread"}
OMNIBUS = "js_bits"
NO_INTERVAL = "no interval: leaving out a participant never changes the value"
NO_DIVERGENCE_INTERVAL = "no interval: a divergence near zero is bounded by it"

LEVEL = 0.05


class _Plan(NamedTuple):
    n_permutations: int
    seed: int


class _Case(NamedTuple):
    """A group beside the other of two, or (None) the mean of the others of several."""

    group: str
    versus: str | None
    number: int


class _Test(NamedTuple):
    """What is tested: groups (numbers are places in it), items that all answer, what is shuffled."""

    block: Block
    groups: list[str]
    cases: list[_Case]
    shared: list[str]
    shuffles: Shuffles
    prompts: list[Prompt]
    plan: _Plan


def measure_group_differences(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    participants: pd.DataFrame,
    *,
    n_permutations: int,
    seed: int,
) -> list[GroupDifference]:
    """Differences by model, task, kind, variable, item (means last), group and metric.

    Rows without a group compare the distributions of all groups at once. P-values of items are
    corrected over the groups and items of a model, task, kind, variable and metric; those of means
    over the groups alone.

    Raises:
        StudyError: no permutations; a participant in two groups; an item that is not in `items`.
    """
    require_permutations(n_permutations)
    plan = _Plan(n_permutations, seed)
    rows: list[GroupDifference] = []
    for block in read_blocks(answers, items, participants):
        rows += sorted(corrected(list(_measure(block, plan))), key=_place)
    return rows


def _place(row: GroupDifference) -> tuple[bool, str, bool, str, str]:
    return row.item_id is None, row.item_id or "", row.group is None, row.group or "", row.metric


def _measure(block: Block, plan: _Plan) -> Iterator[GroupDifference]:
    groups = large_groups(block)
    if len(groups) < 2:
        yield _row(block, None, (None, None), OMNIBUS, reason=_too_few_groups(block, groups))
        return
    own = block.answers[block.answers["group"].isin(groups)].reset_index(drop=True)
    kept = block._replace(answers=own)
    names = (block.model, block.task, block.kind, block.variable)
    random = generator(plan.seed, "groups", *names)
    shuffles = shuffle(own, groups, n_permutations=plan.n_permutations, random=random)
    shared, prompts = complete_items(kept, groups), read_prompts(kept, shuffles.who)
    test = _Test(kept, groups, _cases(groups), shared, shuffles, prompts, plan)
    yield from _omnibus(test)
    yield from _varied(test)
    for metric, column in MARKS.items():
        yield from _marked(test, metric, column)


def _too_few_groups(block: Block, groups: Sequence[str]) -> str:
    return (
        f"{len(groups)} of {len(block.groups)} groups of {block.variable} have {MIN_ANSWERS} answers "
        "to an item; two are needed"
    )


def _cases(groups: Sequence[str]) -> list[_Case]:
    if len(groups) == 2:
        return [_Case(groups[0], groups[1], 0)]
    return [_Case(group, None, number) for number, group in enumerate(groups)]


# ---- all groups at once --------------------------------------------------------------------------------


def _omnibus(test: _Test) -> Iterator[GroupDifference]:
    labels = test.shuffles.labels
    found = {
        prompt.item: divergence_between(prompt, labels, len(test.groups))
        for prompt in test.prompts
        if prompt.item in test.shared
    }
    for prompt in test.prompts:
        yield _all_at_once(test.block, prompt.item, found.get(prompt.item), len(prompt.who), 1)
    mean = np.mean(list(found.values()), axis=0) if found else None
    yield _all_at_once(test.block, None, mean, len(test.shuffles.who), len(found))


def _all_at_once(
    block: Block, item: str | None, values: Floats | None, n: int, n_items: int
) -> GroupDifference:
    if values is None:
        why = "not every group has " if item else "no item has "
        why += f"{MIN_ANSWERS} answers" + ("" if item else " of every group")
        return _row(block, item, (None, None), OMNIBUS, n_group=n, reason=why)
    expected = float(values[1:].mean())
    return _row(
        block, item, (None, None), OMNIBUS, value=float(values[0]), value_versus=expected,
        difference=float(values[0]) - expected, p_value=p_value_of_first(values),
        n_permutations=len(values) - 1, n_items=n_items, n_group=n, reason=NO_DIVERGENCE_INTERVAL,
    )  # fmt: skip


# ---- a group beside the others -------------------------------------------------------------------------


def _varied(test: _Test) -> Iterator[GroupDifference]:
    block, labels = test.block, test.shuffles.labels
    metrics = VARIED if block.kind == "list" else VARIED[:1]
    known = varied_estimates(block, test.shared, seed=test.plan.seed)
    values = {metric: np.zeros((len(labels), len(test.groups))) for metric in metrics}
    moved = {metric: np.zeros(labels.shape) for metric in metrics}
    for prompt in test.prompts:
        own = labels[:, prompt.who]
        there = _large(own[0], test)
        random = generator(test.plan.seed, "orders", block.model, block.task, prompt.item)
        found = varied_values(prompt, labels, there, metrics, random) if len(there) > 1 else {}
        for metric in metrics:
            step = moves(prompt, labels, there, metric) if found else np.zeros(own.shape)
            of_groups = known.get((prompt.item, metric), {})
            for case in test.cases:
                ratio, compared = None, None
                if found and case.number in there:
                    difference = from_others(found[metric], there.index(case.number))
                    ratio = studentized(difference, step, own == case.number, len(there))
                    compared = contrast(of_groups, case.group)
                n = _sizes(own[0], there, case)
                yield _tested(block, prompt.item, case, metric, compared, ratio, n=n, n_items=1)
            if prompt.item in test.shared:
                values[metric] += found[metric] / len(test.shared)
                moved[metric][:, prompt.who] += step / len(test.shared)
    for metric in metrics:
        of_groups = known.get((None, metric), {})
        yield from _mean_of_varied(test, metric, values[metric], moved[metric], of_groups)


def _mean_of_varied(
    test: _Test,
    metric: str,
    values: Floats,
    moved: Floats,
    of_groups: Mapping[str, Estimate],
) -> Iterator[GroupDifference]:
    """The mean difference over items in standard errors; a participant moves all its items."""
    labels, n_groups = test.shuffles.labels, len(test.groups)
    for case in test.cases:
        ratio, compared = None, None
        if test.shared:
            difference = from_others(values, case.number)
            ratio = studentized(difference, moved, labels == case.number, n_groups)
            compared = contrast(of_groups, case.group)
        n = _sizes(labels[0], range(n_groups), case)
        yield _tested(
            test.block, None, case, metric, compared, ratio, n=n, n_items=len(test.shared)
        )


def _large(own: Indices, test: _Test) -> list[int]:
    """Groups with answers enough among those of an item."""
    size = np.bincount(own, minlength=len(test.groups))
    return [number for number, n in enumerate(size) if n >= MIN_ANSWERS]


def _sizes(own: Indices, there: Sequence[int], case: _Case) -> tuple[int, int]:
    """Participants of the group, and of the others that it is set beside."""
    others = [number for number in there if number != case.number]
    return int((own == case.number).sum()), int(np.isin(own, others).sum())


def _tested(
    block: Block,
    item: str | None,
    case: _Case,
    metric: str,
    compared: Compared | None,
    shuffled: Floats | None,
    *,
    n: tuple[int, int],
    n_items: int,
) -> GroupDifference:
    sides = (case.group, case.versus)
    if shuffled is None or compared is None:
        why = _why_not(n) if item else f"no item has {MIN_ANSWERS} answers of every group"
        return _row(block, item, sides, metric, n_group=n[0], n_versus=n[1], reason=why)
    known = shuffled[~np.isnan(shuffled)]
    held = compared.interval
    return _row(
        block, item, sides, metric, value=compared.value, value_versus=compared.other,
        difference=compared.value - compared.other, ci_low=held.low if held else None,
        ci_high=held.high if held else None,
        p_value=p_value_of_first(np.abs(known)),
        n_permutations=len(known) - 1, n_items=n_items, n_group=n[0], n_versus=n[1],
        reason=None if held else NO_INTERVAL,
    )  # fmt: skip


def _why_not(n: tuple[int, int]) -> str:
    return (
        too_few(n[0]) if n[0] < MIN_ANSWERS else f"no other group has {MIN_ANSWERS} answers to it"
    )


# ---- shares of answers that are correct, or cannot be read -------------------------------------------


def _marked(test: _Test, metric: str, column: str) -> Iterator[GroupDifference]:
    place = {participant: number for number, participant in enumerate(test.shuffles.who)}
    told = test.block.answers[test.block.answers[column].notna()]
    drawn: list[Floats] = []
    for item, part in told.groupby("item_id", sort=True):
        at = np.array([place[p] for p in part["puppet_id"]], dtype=np.int64)
        own, marks = test.shuffles.labels[:, at], part[column].to_numpy(dtype=np.float64)
        there = _large(own[0], test)
        values = shares(own, there, marks) if len(there) > 1 else None
        if item in test.shared:
            drawn.append(shares(own, range(len(test.groups)), marks))
        counts = {
            test.groups[k]: (int(marks[own[0] == k].sum()), int((own[0] == k).sum())) for k in there
        }
        for case in test.cases:
            difference, compared = None, None
            if values is not None and case.number in there:
                difference = from_others(values, there.index(case.number))
                compared = contrast_of_shares(counts, case.group)
            n = _sizes(own[0], there, case)
            yield _tested(test.block, str(item), case, metric, compared, difference, n=n, n_items=1)
    if drawn:
        own_items = told[told["item_id"].isin(test.shared)]
        yield from _mean_of_marked(test, metric, np.mean(drawn, axis=0), own_items, len(drawn))


def _mean_of_marked(
    test: _Test, metric: str, values: Floats, told: pd.DataFrame, n_items: int
) -> Iterator[GroupDifference]:
    of_groups: dict[str, Estimate] = {}
    for group in test.groups:
        mean = mean_of_marks(told[told["group"] == group], MARKS[metric])
        of_groups[group] = Estimate(mean.value, mean.variance, float(mean.n - 1))
    for case in test.cases:
        compared = contrast(of_groups, case.group)
        if compared.interval:
            low, high = compared.interval
            compared = compared._replace(interval=Interval(max(-1.0, low), min(1.0, high)))
        yield _tested(
            test.block, None, case, metric, compared, from_others(values, case.number),
            n=_sizes(test.shuffles.labels[0], range(len(test.groups)), case), n_items=n_items,
        )  # fmt: skip


def corrected(rows: Sequence[GroupDifference]) -> list[GroupDifference]:
    """Holm's correction: of items over groups and items, of means over groups."""
    n_tests = Counter(_family(row) for row in rows if row.p_value is not None)
    sized = [replace(row, n_family=n_tests[_family(row)]) for row in correct_rows(rows, _family)]
    return [
        row
        if row.p_value is None
        else replace(row, reason=_also(row.reason, _too_many(row, row.n_family)))
        for row in sized
    ]


def _family(row: GroupDifference) -> tuple[str, bool]:
    return row.metric, row.item_id is None


def _also(said: str | None, more: str | None) -> str | None:
    return "; ".join(reason for reason in (said, more) if reason) or None


def _too_many(row: GroupDifference, n_tests: int) -> str | None:
    """Where the least p-value that the shuffles allow is too large for so many tests."""
    shuffles = (row.n_permutations or 0) + 1
    if n_tests <= LEVEL * shuffles:
        return None
    return (
        f"p_holm cannot fall to {LEVEL:g}: {n_tests} tests need metrics.permutations of "
        f"{math.ceil(n_tests / LEVEL) - 1:,} or more"
    )


def _row(
    block: Block, item: str | None, sides: tuple[str | None, str | None], metric: str, **values: Any
) -> GroupDifference:
    told: dict[str, Any] = {
        "value": None, "value_versus": None, "difference": None, "ci_low": None, "ci_high": None,
        "p_value": None, "p_holm": None, "n_family": 0, "n_permutations": None, "n_items": 0,
        "n_group": 0, "n_versus": 0, "reason": None,
    }  # fmt: skip
    return GroupDifference(
        model=block.model,
        task=block.task,
        item_id=item,
        kind=block.kind,
        variable=block.variable,
        group=sides[0],
        versus=sides[1],
        metric=metric,
        **(told | values),
    )
