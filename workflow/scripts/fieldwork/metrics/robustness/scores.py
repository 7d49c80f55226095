"""Scores of a variant beside those of its origin, on the same items.

Owns what is lost and won where items have a right letter: the change of accuracy, the share of it that
is lost, the worst of all variants, and the majority of several reruns. Unreadable letters are wrong.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.robustness.estimates import (
    BoundedMean,
    CellTable,
    bounded_mean,
    cell_values,
)
from fieldwork.metrics.robustness.pairs import (
    Cell,
    Derivation,
    RobustnessSettings,
    TaskReplies,
    in_order,
    letter_of,
    no_letter,
    shared_cells,
    shared_reruns,
)
from fieldwork.metrics.robustness.rows import NOTHING, basis_of, robustness_row
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.paired import paired_ratio_interval, paired_test
from fieldwork.statistics.seeds import generator

CHANGES = ("accuracy", "accuracy_origin", "accuracy_change", "performance_drop_rate")
"""The metrics of one variant."""


class _PairScores(NamedTuple):
    """Shares of right answers of one cell, and whether the first ones are right."""

    origin: float
    variant: float
    n_reruns: int
    is_first_right: bool
    is_first_right_now: bool


def score_rows(derivation: Derivation, settings: RobustnessSettings) -> Iterator[Robustness]:
    """Rows about right letters; none where no item of the origin has one."""
    if not derivation.origin.golds:
        return
    for variant in derivation.variants:
        yield from _changes(derivation, variant, settings)
    yield from _worst_case(derivation, settings)
    if not derivation.has_users:
        for side in (derivation.origin, *derivation.variants):
            yield from _majorities(derivation, side, settings)


# ---- one variant ---------------------------------------------------------------------------------------


def _changes(
    derivation: Derivation, variant: TaskReplies, settings: RobustnessSettings
) -> Iterator[Robustness]:
    origin = derivation.origin
    pairs = _pair_scores(origin, variant)
    reason = _no_scores(origin, variant, pairs)
    if reason:
        for metric in CHANGES:
            yield robustness_row(derivation, variant, metric, None, reason=reason)
        return
    origin_scores, variant_scores = (
        cell_values(
            {cell: getattr(pair, side) for cell, pair in pairs.items()},
            has_users=derivation.has_users,
        )
        for side in ("origin", "variant")
    )
    n_answers = min(pair.n_reruns for pair in pairs.values())
    basis = basis_of(variant_scores)
    for metric, cells in (("accuracy", variant_scores), ("accuracy_origin", origin_scores)):
        share = bounded_mean(cells, "share", settings)
        yield robustness_row(derivation, variant, metric, share, basis)
    yield _change(
        derivation, variant, settings, pairs, variant_scores.minus(origin_scores), n_answers
    )
    drop, drop_reason = _drop_rate(origin_scores, variant_scores, n_answers)
    metric = "performance_drop_rate"
    yield robustness_row(derivation, variant, metric, drop, basis, reason=drop_reason)


def _pair_scores(origin: TaskReplies, variant: TaskReplies) -> dict[Cell, _PairScores]:
    pairs = {}
    for cell in shared_cells([origin.replies, variant.replies]):
        item = cell.item_id
        sides = origin.replies[cell], variant.replies[cell]
        reruns = shared_reruns(sides)
        if reruns and item in origin.golds and item in variant.golds:
            origin_scores, variant_scores = (
                [task.is_correct(item, replies[rerun]) for rerun in reruns]
                for task, replies in zip((origin, variant), sides, strict=True)
            )
            n = len(reruns)
            pairs[cell] = _PairScores(
                sum(origin_scores) / n,
                sum(variant_scores) / n,
                n,
                origin_scores[0],
                variant_scores[0],
            )
    return pairs


def _no_scores(
    origin: TaskReplies, variant: TaskReplies, pairs: Mapping[Cell, _PairScores]
) -> str | None:
    if not pairs:
        return (
            f"no item with a right letter is answered both in {origin.task} and in {variant.task}"
        )
    return no_letter([origin, variant], pairs)


def _change(
    derivation: Derivation,
    variant: TaskReplies,
    settings: RobustnessSettings,
    pairs: Mapping[Cell, _PairScores],
    change: CellTable,
    n_answers: int,
) -> Robustness:
    random = generator(settings.seed, *derivation.names("change", variant.task))
    test = paired_test(change.units, n_permutations=settings.n_permutations, random=random)
    estimate = bounded_mean(change, "share_difference", settings, n_answers=n_answers)
    row = robustness_row(
        derivation, variant, "accuracy_change", estimate, basis_of(change), test=test
    )
    firsts = Counter((pair.is_first_right, pair.is_first_right_now) for pair in pairs.values())
    return replace(row, n_lost=firsts[True, False], n_won=firsts[False, True])


class _DropRate(NamedTuple):
    estimate: BoundedMean | None
    reason: str | None


def _drop_rate(origin_scores: CellTable, variant_scores: CellTable, n_answers: int) -> _DropRate:
    """1 - accuracy / accuracy of the origin: Zhu et al. 2023."""
    if origin_scores.mean == 0:
        return _DropRate(None, "no answer to the origin is right, so that nothing can be lost")
    value = 1 - variant_scores.mean / origin_scores.mean
    if variant_scores.has_users:
        return _DropRate(BoundedMean(value, None, None), "no interval: there is none over users")
    ratio = paired_ratio_interval(variant_scores.items, origin_scores.items, n_answers)
    if ratio is None:
        return _DropRate(
            BoundedMean(value, None, None),
            "no interval: the accuracy of the origin is not told from 0",
        )
    interval = Interval(min(value, 1 - ratio.high), max(value, min(1.0, 1 - ratio.low)))
    return _DropRate(BoundedMean(value, interval, None), None)


# ---- all variants --------------------------------------------------------------------------------------


class _WorstScores(NamedTuple):
    """First answers of one cell: whether all wordings are right, the origin is, and all its reruns are.

    `reruns` are as many as there are wordings; None where the origin has fewer.
    """

    wordings: float
    origin: float
    reruns: float | None


def _worst_case(derivation: Derivation, settings: RobustnessSettings) -> Iterator[Robustness]:
    """The mean over items of the worst first answer to any wording, and to as many reruns of one."""
    scores = {
        cell: score
        for cell in derivation.origin.replies
        if (score := _worst_scores(derivation, cell)) is not None
    }
    n_left_out = sum(_is_left_out(derivation, item) for item in derivation.origin.golds)
    for metric, name in (
        ("worst_case", "wordings"),
        ("worst_case_origin", "origin"),
        ("worst_case_rerun", "reruns"),
    ):
        numbers = {
            cell: number
            for cell, score in scores.items()
            if (number := getattr(score, name)) is not None
        }
        cells = cell_values(numbers, has_users=derivation.has_users) if numbers else None
        yield robustness_row(
            derivation,
            derivation.origin,
            metric,
            bounded_mean(cells, "share", settings) if cells else None,
            basis_of(cells) if cells else NOTHING,
            reason=None if cells else _no_worst_case(derivation, has_scores=bool(scores)),
            n_left_out=n_left_out,
        )


def _worst_scores(derivation: Derivation, cell: Cell) -> _WorstScores | None:
    """None where a wording is not answered, or the item has one only."""
    origin, item = derivation.origin, cell.item_id
    tasks = [
        task
        for task in (origin, *derivation.variants)
        if item in task.golds and item not in task.left_out
    ]
    if len(tasks) < 2 or tasks[0] != origin or any(cell not in task.replies for task in tasks):
        return None
    firsts = [task.is_correct(item, in_order(task.replies[cell])[0]) for task in tasks]
    reruns = in_order(origin.replies[cell])[: len(tasks)]
    are_right = all(origin.is_correct(item, reply) for reply in reruns)
    return _WorstScores(
        wordings=float(all(firsts)),
        origin=float(firsts[0]),
        reruns=float(are_right) if len(reruns) == len(tasks) else None,
    )


def _is_left_out(derivation: Derivation, item: str) -> bool:
    """Whether no variant that has the item could change it."""
    variants = [variant for variant in derivation.variants if item in variant.golds]
    return bool(variants) and all(item in variant.left_out for variant in variants)


def _no_worst_case(derivation: Derivation, *, has_scores: bool) -> str:
    if not has_scores:
        return "no item with a right letter is answered in all variants"
    n_tasks, origin = 1 + len(derivation.variants), derivation.origin.task
    return f"no control: {origin} is not answered {n_tasks} times; raise runs or replicates"


# ---- several reruns ------------------------------------------------------------------------------------


def _majorities(
    derivation: Derivation, side: TaskReplies, settings: RobustnessSettings
) -> Iterator[Robustness]:
    """Accuracy of the commonest letter of the first 1, 3, 5, ... reruns, from three reruns on."""
    replies = {
        cell: in_order(reruns)
        for cell, reruns in side.replies.items()
        if cell.item_id in side.golds
    }
    n_most = max((len(answers) for answers in replies.values()), default=0)
    for n in range(1, n_most + 1, 2) if n_most > 2 else ():
        votes = {
            cell: _vote(answers[:n], side.golds[cell.item_id])
            for cell, answers in replies.items()
            if len(answers) >= n
        }
        cells = cell_values(votes, has_users=False)
        share = bounded_mean(cells, "share", settings)
        yield robustness_row(derivation, side, f"majority_of_{n}", share, basis_of(cells))


def _vote(replies: Sequence[Options], gold: str) -> float:
    """Chance that the commonest readable letter is right, where a tie is broken by lot."""
    counts = Counter(letter for reply in replies if (letter := letter_of(reply)))
    winners = [letter for letter, n in counts.items() if n == max(counts.values())]
    return (gold in winners) / len(winners) if winners else 0.0
