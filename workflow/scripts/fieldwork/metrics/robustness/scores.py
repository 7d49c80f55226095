"""Scores of a variant beside those of its origin, on the same items.

Owns what is lost and won where items have a right letter: the change of accuracy, the share of it that
is lost, the worst of all variants, and the majority of several reruns. Unreadable letters are wrong.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from fieldwork.estimates.answer_sets import Options
from fieldwork.estimates.cell_means import CellTable
from fieldwork.estimates.quantity import ChanceSettings, Quantity
from fieldwork.metrics.robustness.replies import (
    CELL,
    Derivation,
    TaskReplies,
    by_cell,
    is_letter,
    no_letter,
    side_by_side,
)
from fieldwork.metrics.robustness.rows import missing_rows, robustness_row
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.paired import paired_ratio_interval, paired_test

CHANGES = ("accuracy", "accuracy_origin", "accuracy_change", "performance_drop_rate")
"""The metrics of one variant."""
WORST_CASES = ("worst_case", "worst_case_origin", "worst_case_rerun")
"""Whether all wordings of a cell are right, its origin is, and as many reruns of the origin are."""


def score_rows(derivation: Derivation, settings: ChanceSettings) -> Iterator[Robustness]:
    """Rows about right letters; none where no item of the origin has one."""
    if not derivation.origin.golds:
        return
    for variant in derivation.variants:
        yield from _changes(derivation, variant, settings)
    yield from _worst_cases(derivation, settings)
    if not derivation.has_users:
        for side in (derivation.origin, *derivation.variants):
            yield from _majorities(derivation, side, settings)


# ---- one variant ---------------------------------------------------------------------------------------


def _changes(
    derivation: Derivation, variant: TaskReplies, settings: ChanceSettings
) -> Iterator[Robustness]:
    sides = derivation.origin, variant
    cells = side_by_side(sides, "is_right").dropna().groupby(level=CELL)
    reason = (
        f"no item with a right letter is answered both in {sides[0].task} and in {variant.task}"
    )
    if not len(cells) or (reason := no_letter(sides, cells.size().index) or ""):
        yield from missing_rows(derivation, variant, CHANGES, reason)
        return
    means, firsts, n_answers = cells.mean(), cells.first(), int(cells.size().min())
    origin_scores, variant_scores = (
        CellTable.of(means[k], has_users=derivation.has_users) for k in (0, 1)
    )
    change = variant_scores.minus(origin_scores)
    test = paired_test(
        change.units,
        n_permutations=settings.n_permutations,
        random=settings.random(*derivation.names("change", variant.task)),
    )
    for metric, table in (("accuracy", variant_scores), ("accuracy_origin", origin_scores)):
        yield robustness_row(derivation, variant, metric, table.quantity("share", settings), table)
    yield robustness_row(
        derivation,
        variant,
        "accuracy_change",
        change.quantity("share_difference", settings, n_answers=n_answers),
        change,
        test=test,
        n_lost=int((firsts[0] > firsts[1]).sum()),
        n_won=int((firsts[0] < firsts[1]).sum()),
    )
    drop = _drop_rate(origin_scores, variant_scores, n_answers)
    yield robustness_row(derivation, variant, "performance_drop_rate", drop, variant_scores)


def _drop_rate(origin_scores: CellTable, variant_scores: CellTable, n_answers: int) -> Quantity:
    """1 - accuracy / accuracy of the origin: Zhu et al. 2023."""
    if origin_scores.mean == 0:
        return Quantity(reason="no answer to the origin is right, so that nothing can be lost")
    value = 1 - variant_scores.mean / origin_scores.mean
    if variant_scores.has_users:
        return Quantity(value, reason="no interval: there is none over users")
    ratio = paired_ratio_interval(variant_scores.items, origin_scores.items, n_answers)
    if ratio is None:
        reason = "no interval: the accuracy of the origin is not told from 0"
        return Quantity(value, reason=reason)
    low, high = 1 - ratio.high, min(1.0, 1 - ratio.low)
    return Quantity(value, Interval(min(value, low), max(value, high)))


# ---- all variants --------------------------------------------------------------------------------------


def _worst_cases(derivation: Derivation, settings: ChanceSettings) -> Iterator[Robustness]:
    """The mean over items of the worst first answer to any wording, and to as many reruns of one."""
    origin, variants = derivation.origin, derivation.variants
    scores = pd.DataFrame(
        {cell: score for cell, *score in _worst_scores(derivation)}, index=WORST_CASES, dtype=float
    ).T
    n_left_out = sum(
        all(item in variant.left_out for variant in with_item)
        for item in origin.golds
        if (with_item := [variant for variant in variants if item in variant.golds])
    )
    reason = "no item with a right letter is answered in all variants"
    if len(scores):
        reason = (
            f"no control: {origin.task} is not answered {1 + len(variants)} times; raise runs or "
            "replicates"
        )
    for metric in WORST_CASES:
        numbers = scores[metric].dropna()
        table, quantity = None, Quantity(reason=reason)
        if len(numbers):
            table = CellTable.of(numbers, has_users=derivation.has_users)
            quantity = table.quantity("share", settings)
        yield robustness_row(derivation, origin, metric, quantity, table, n_left_out=n_left_out)


def _worst_scores(
    derivation: Derivation,
) -> Iterator[tuple[tuple[str, str], float, float, float | None]]:
    """Of the cells that all wordings of an item answer, two or more: `WORST_CASES` of first answers."""
    sides = (derivation.origin, *derivation.variants)
    grades = {side.task: by_cell(side.replies[["is_right"]]) for side in sides}
    for cell, reruns in grades[derivation.origin.task].items():
        item, _ = cell
        tasks = [side.task for side in sides if item in side.golds and item not in side.left_out]
        if (
            len(tasks) > 1
            and tasks[0] == derivation.origin.task
            and all(cell in grades[task] for task in tasks)
        ):
            has_reruns = len(reruns) >= len(tasks)
            yield (
                cell,
                *min(grades[task][cell][0] for task in tasks),
                *reruns[0],
                *(min(reruns[: len(tasks)]) if has_reruns else (None,)),
            )


# ---- several reruns ------------------------------------------------------------------------------------


def _majorities(
    derivation: Derivation, side: TaskReplies, settings: ChanceSettings
) -> Iterator[Robustness]:
    """Accuracy of the commonest letter of the first 1, 3, 5, ... reruns, from three reruns on."""
    replies = {
        cell: [options for (options,) in of_cell]
        for cell, of_cell in by_cell(side.replies[["options"]]).items()
        if cell[0] in side.golds
    }
    n_most = max(map(len, replies.values()), default=0)
    for n in range(1, n_most + 1, 2) if n_most > 2 else ():
        votes = {
            cell: _vote(answers[:n], side.golds[cell[0]])
            for cell, answers in replies.items()
            if len(answers) >= n
        }
        table = CellTable.of(pd.Series(votes), has_users=False)
        share = table.quantity("share", settings)
        yield robustness_row(derivation, side, f"majority_of_{n}", share, table)


def _vote(replies: Sequence[Options], gold: str) -> float:
    """Chance that the commonest readable letter is right, where a tie is broken by lot."""
    counts = Counter(reply[0] for reply in replies if is_letter(reply))
    winners = [letter for letter, n in counts.items() if n == max(counts.values())]
    return (gold in winners) / len(winners) if winners else 0.0
