"""How far the answers of a group are from those of the other participants, with tests.

Owns the differences between groups and their permutation tests. What is shuffled is the group of a
participant, whose whole set of answers goes along; every shuffle is brought to equal n as the
observed groups are. Of two groups there is one difference, of several each group beside the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.against_field import GroupDifference
from fieldwork.errors import StudyError
from fieldwork.metrics.group_shuffles import (
    Flags,
    Prompt,
    Shuffles,
    divergence_between,
    moves,
    read_prompts,
    share_difference,
    shuffle,
    studentized,
    varied_difference,
)
from fieldwork.metrics.groups import (
    MIN_ANSWERS,
    Block,
    as_lists,
    complete_items,
    large_groups,
    mean_of_marks,
    read_blocks,
    too_few,
)
from fieldwork.metrics.permutation import holm
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.metrics.resampling import (
    Floats,
    Indices,
    Interval,
    generator,
    student_quantile,
)
from fieldwork.metrics.shifts import Pair, newcombe_interval

VARIED = ("entropy_bits", "one_minus_top5_share")
MARKS = {"share_correct": "is_correct", "share_unread": "is_unread"}
OMNIBUS = "js_bits"
NO_INTERVAL = "no interval: leaving out a participant never changes the value"
NO_DIVERGENCE_INTERVAL = "no interval: a divergence near zero is bounded by it"

_TIE = 1e-9


class _Plan(NamedTuple):
    n_permutations: int
    seed: int


class _Case(NamedTuple):
    """A group beside the others."""

    group: str
    versus: str
    number: int


class _Shuffled(NamedTuple):
    """Of one item: the difference of each shuffle, what each answer moves it by, and whose they are."""

    difference: Floats
    moved: Floats
    who: Indices


class _Compared(NamedTuple):
    """Values of both sides, with the interval of their difference."""

    value: float
    other: float
    interval: Interval | None


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
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )
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
    prompts = read_prompts(kept, shuffles.who)
    shared = complete_items(kept, groups)
    yield from _omnibus(kept, groups, prompts, shuffles, shared)
    for case in _cases(groups):
        yield from _case(kept, case, prompts, shuffles, shared, plan)


def _too_few_groups(block: Block, groups: Sequence[str]) -> str:
    return (
        f"{len(groups)} of {len(block.groups)} groups of {block.variable} have {MIN_ANSWERS} answers "
        "to an item; two are needed"
    )


def _cases(groups: Sequence[str]) -> list[_Case]:
    if len(groups) == 2:
        return [_Case(groups[0], groups[1], 0)]
    return [_Case(group, "rest", number) for number, group in enumerate(groups)]


# ---- all groups at once --------------------------------------------------------------------------------


def _omnibus(
    block: Block,
    groups: Sequence[str],
    prompts: Sequence[Prompt],
    shuffles: Shuffles,
    shared: Sequence[str],
) -> Iterator[GroupDifference]:
    found = {
        p.item: divergence_between(p, shuffles.labels, len(groups))
        for p in prompts
        if p.item in shared
    }
    for prompt in prompts:
        yield _all_at_once(block, prompt.item, found.get(prompt.item), len(prompt.who), 1)
    mean = np.mean(list(found.values()), axis=0) if found else None
    yield _all_at_once(block, None, mean, len(shuffles.who), len(found))


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
        difference=float(values[0]) - expected, p_value=float((values >= values[0] - _TIE).mean()),
        n_permutations=len(values) - 1, n_items=n_items, n_group=n, reason=NO_DIVERGENCE_INTERVAL,
    )  # fmt: skip


# ---- a group beside the others -------------------------------------------------------------------------


def _case(
    block: Block,
    case: _Case,
    prompts: Sequence[Prompt],
    shuffles: Shuffles,
    shared: Sequence[str],
    plan: _Plan,
) -> Iterator[GroupDifference]:
    inside = shuffles.labels == case.number
    metrics = VARIED if block.kind == "list" else VARIED[:1]
    compared = _compare_varied(block, case, plan, shared)
    drawn: dict[str, list[_Shuffled]] = {metric: [] for metric in metrics}
    for prompt in prompts:
        sides = inside[0, prompt.who]
        n = (int(sides.sum()), int((~sides).sum()))
        random = generator(plan.seed, "orders", block.model, block.task, prompt.item)
        shuffled: dict[str, _Shuffled] = {}
        if min(n) >= MIN_ANSWERS:
            values = varied_difference(prompt, inside, metrics, random)
            shuffled = {
                m: _Shuffled(values[m], moves(prompt, inside, m), prompt.who) for m in metrics
            }
        for metric in metrics:
            found = shuffled.get(metric)
            if found and prompt.item in shared:
                drawn[metric].append(found)
            yield _tested(
                block, prompt.item, case, metric, compared.get((prompt.item, metric)),
                studentized(found.difference, found.moved) if found else None, n=n, n_items=1,
            )  # fmt: skip
    total = (int(inside[0].sum()), int((~inside[0]).sum()))
    for metric in metrics:
        yield _tested(
            block, None, case, metric, compared.get((None, metric)),
            _mean(drawn[metric], len(shuffles.who)), n=total, n_items=len(drawn[metric]),
        )  # fmt: skip
    yield from _marks(block, case, inside, shuffles.who, shared)


def _mean(drawn: Sequence[_Shuffled], n_participants: int) -> Floats | None:
    """The mean difference over items in standard errors; a participant moves all its items."""
    if not drawn:
        return None
    moved = np.zeros((len(drawn[0].difference), n_participants))
    for one in drawn:
        moved[:, one.who] += one.moved / len(drawn)
    return studentized(np.mean([one.difference for one in drawn], axis=0), moved)


def _compare_varied(
    block: Block, case: _Case, plan: _Plan, shared: Sequence[str]
) -> dict[tuple[str | None, str], _Compared]:
    """Values and intervals of `prompt_means`: item by item, and over the items all groups answer."""
    side = (block.answers["group"] == case.group).map({True: "group", False: "versus"})
    frame = as_lists(block, side)
    alone = frame.assign(task="item " + frame["item_id"])
    together = frame[frame["item_id"].isin(shared)].assign(task="mean")
    both = pd.concat([alone, together], ignore_index=True)
    rows = measure_prompt_means(both, baseline="versus", seed=plan.seed)
    other = {(r.task, r.metric): r.mean for r in rows if r.condition == "versus"}
    found: dict[tuple[str | None, str], _Compared] = {}
    for row in rows:
        versus = other.get((row.task, row.metric))
        if row.condition == "group" and row.mean is not None and versus is not None:
            item = None if row.task == "mean" else row.task.removeprefix("item ")
            low, high = row.difference_low, row.difference_high
            held = None if low is None or high is None else Interval(low, high)
            found[item, row.metric] = _Compared(row.mean, versus, held)
    return found


def _tested(
    block: Block,
    item: str | None,
    case: _Case,
    metric: str,
    compared: _Compared | None,
    shuffled: Floats | None,
    *,
    n: tuple[int, int],
    n_items: int,
) -> GroupDifference:
    sides = (case.group, case.versus)
    if shuffled is None or compared is None:
        why = too_few(min(n)) if item else f"no item has {MIN_ANSWERS} answers of every group"
        return _row(block, item, sides, metric, n_group=n[0], n_versus=n[1], reason=why)
    known = shuffled[~np.isnan(shuffled)]
    held = compared.interval
    return _row(
        block, item, sides, metric, value=compared.value, value_versus=compared.other,
        difference=compared.value - compared.other, ci_low=held.low if held else None,
        ci_high=held.high if held else None,
        p_value=float((np.abs(known) >= abs(known[0]) - _TIE).mean()),
        n_permutations=len(known) - 1, n_items=n_items, n_group=n[0], n_versus=n[1],
        reason=None if held else NO_INTERVAL,
    )  # fmt: skip


# ---- shares of answers that are correct, or cannot be read -------------------------------------------


def _marks(
    block: Block, case: _Case, inside: Flags, who: Sequence[str], shared: Sequence[str]
) -> Iterator[GroupDifference]:
    place = {participant: number for number, participant in enumerate(who)}
    for metric, column in MARKS.items():
        told = block.answers[block.answers[column].notna()]
        drawn: list[Floats] = []
        for item, part in told.groupby("item_id", sort=True):
            at = np.array([place[p] for p in part["puppet_id"]], dtype=np.int64)
            values = share_difference(inside[:, at], part[column].to_numpy(dtype=np.float64))
            n = (int(inside[0, at].sum()), int((~inside[0, at]).sum()))
            few = min(n) < MIN_ANSWERS
            if item in shared:
                drawn.append(values)
            compared = None if few else _compare_share(part, column, case)
            yield _tested(
                block, str(item), case, metric, compared, None if few else values, n=n, n_items=1
            )
        if drawn:
            own = told[told["item_id"].isin(shared)]
            total = (int(inside[0].sum()), int((~inside[0]).sum()))
            mean = np.mean(drawn, axis=0)
            yield _tested(
                block, None, case, metric, _compare_means(own, column, case), mean,
                n=total, n_items=len(drawn),
            )  # fmt: skip


def _compare_share(part: pd.DataFrame, column: str, case: _Case) -> _Compared:
    here = part[part["group"] == case.group][column]
    there = part[part["group"] != case.group][column]
    pair = Pair(int(here.sum()), len(here), int(there.sum()), len(there))
    return _Compared(float(here.mean()), float(there.mean()), newcombe_interval(pair))


def _compare_means(own: pd.DataFrame, column: str, case: _Case) -> _Compared:
    """Welch's interval of the difference of two means over items, over whole participants."""
    here, there = (
        mean_of_marks(own[chosen], column)
        for chosen in (own["group"] == case.group, own["group"] != case.group)
    )
    variance = here.variance + there.variance
    if not variance > 0:
        return _Compared(here.value, there.value, None)
    freedom = variance**2 / sum(m.variance**2 / (m.n - 1) for m in (here, there) if m.n > 1)
    half = student_quantile(freedom) * variance**0.5
    difference = here.value - there.value
    held = Interval(max(-1.0, difference - half), min(1.0, difference + half))
    return _Compared(here.value, there.value, held)


def corrected(rows: Sequence[GroupDifference]) -> list[GroupDifference]:
    """Holm's correction: of items over groups and items, of means over groups."""
    families: dict[tuple[str, bool], list[GroupDifference]] = {}
    for row in rows:
        families.setdefault((row.metric, row.item_id is None), []).append(row)
    done: list[GroupDifference] = []
    for family in families.values():
        tested = [row for row in family if row.p_value is not None]
        held = holm([row.p_value for row in tested if row.p_value is not None])
        size = len(tested)
        done += [replace(row, p_holm=p, n_family=size) for row, p in zip(tested, held, strict=True)]
        done += [replace(row, n_family=size) for row in family if row.p_value is None]
    return done


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
