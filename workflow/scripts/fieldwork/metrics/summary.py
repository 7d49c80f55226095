"""The study in a few sentences, each from rows of a metric table.

A number stands beside how many answers, prompts, runs or items it comes from, and what has no
estimate is not told.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from statistics import mean
from typing import Any, NamedTuple

from fieldwork.estimates import Novelty
from fieldwork.records import Accuracy, Heterogeneity, ItemShare

DETERMINISTIC = "offline_t0"
"""The condition whose distance from the baseline is temperature, not a user."""


class _Shift(NamedTuple):
    """How far an option moved from the baseline; the greatest sorts last."""

    size: float
    # of equal shifts the condition told first wins
    place: int
    item_id: str
    answer: str
    condition: str


class _Told(NamedTuple):
    """A condition's number, and what it comes from."""

    label: str
    value: str
    n: str


def summarise(
    *,
    heterogeneity: Sequence[Heterogeneity],
    shares: Sequence[ItemShare],
    accuracy: Sequence[Accuracy],
    novelty: Sequence[Novelty],
    baseline: str,
    figures: Mapping[str, str],
    drawing: Mapping[str, Any],
) -> list[str]:
    """Lines of text: a paragraph a model, in the order of `drawing`.

    Args:
        baseline: the condition the others are set beside.
        figures: figure → task. Entropy and the largest shift are told of fig1's task, scores and
            novelty of fig3's; of a figure that is missing nothing is told.
        drawing: `models` and `conditions`: name → label, in the order they are told; `note`.
    """
    lines = [drawing["note"] + ".", ""] if drawing["note"] else []
    lists, choices = figures.get("fig1"), figures.get("fig3")
    for model, label in drawing["models"].items():
        listed, chosen = (model, lists), (model, choices)
        told = [
            *_entropy([r for r in heterogeneity if (r.model, r.task) == listed], drawing),
            *_largest_shift([r for r in shares if (r.model, r.task) == listed], baseline, drawing),
            *_scores([r for r in accuracy if (r.model, r.task) == chosen], drawing),
            *_novel([r for r in novelty if (r.model, r.task) == chosen], baseline, drawing),
        ]
        lines += [label, *(f"  {line}" for line in told or ["No figure has numbers for it."]), ""]
    return lines


def _entropy(rows: Sequence[Heterogeneity], drawing: Mapping[str, Any]) -> Iterator[str]:
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.metric == "entropy_bits" and row.estimate is not None and isfinite(row.estimate):
            values[row.condition].append(row.estimate)
    told = [
        _Told(label, f"{mean(values[condition]):.2f}", _counted(len(values[condition]), "prompt"))
        for condition, label in drawing["conditions"].items()
        if condition in values
    ]
    if told:
        yield _sentence(f"Entropy of {rows[0].task}, bits, mean over prompts", told)


def _largest_shift(
    rows: Sequence[ItemShare], baseline: str, drawing: Mapping[str, Any]
) -> Iterator[str]:
    share = {(r.item_id, r.answer, r.condition): r.share for r in rows}
    asked = {(r.item_id, r.condition): r.n_responses for r in rows}
    shifts = [
        _Shift(
            abs(
                share.get((item, answer, condition), 0.0) - share.get((item, answer, baseline), 0.0)
            ),
            -place,
            item,
            answer,
            condition,
        )
        for place, condition in enumerate(drawing["conditions"])
        if condition not in (baseline, DETERMINISTIC)
        for item, answer in {(r.item_id, r.answer) for r in rows}
        if (item, condition) in asked and (item, baseline) in asked
    ]
    if shifts:
        item, answer, condition = max(shifts)[2:]
        before, after = (
            f"{share.get((item, answer, c), 0.0):.0%} of {asked[item, c]}"
            for c in (baseline, condition)
        )
        yield (
            f"Largest shift from {_label(baseline, drawing)}: {answer} ({item}) {before} answers -> "
            f"{after} in {_label(condition, drawing)}"
        )


def _scores(rows: Sequence[Accuracy], drawing: Mapping[str, Any]) -> Iterator[str]:
    by_condition = {r.condition: r for r in rows if r.metric == "em_strict" and r.mean is not None}
    told = [
        _Told(
            label, _range(row), f"{_counted(row.n_runs, 'run')} of {_counted(row.n_items, 'item')}"
        )
        for condition, label in drawing["conditions"].items()
        if (row := by_condition.get(condition))
    ]
    if told:
        yield _sentence(f"Score on {rows[0].task}, lowest to highest run", told)


def _range(row: Accuracy) -> str:
    # a single run has a mean and no ends
    if row.minimum is None or row.maximum is None:
        return f"{row.mean:.1%}"
    return f"{row.minimum:.1%} to {row.maximum:.1%}"


def _novel(rows: Sequence[Novelty], baseline: str, drawing: Mapping[str, Any]) -> Iterator[str]:
    by_condition = {r.condition: r for r in rows if r.share is not None}
    told = [
        _Told(label, f"{row.share:.0%}", _counted(row.n_items, "question"))
        for condition, label in drawing["conditions"].items()
        if (row := by_condition.get(condition))
    ]
    if told:
        seen = _label(baseline, drawing)
        yield _sentence(f"Questions of {rows[0].task} with an answer never seen in {seen}", told)


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _sentence(head: str, told: Sequence[_Told]) -> str:
    if len({one.n for one in told}) == 1:
        return f"{head} ({told[0].n}): " + ", ".join(f"{one.label} {one.value}" for one in told)
    return f"{head}: " + ", ".join(f"{one.label} {one.value} ({one.n})" for one in told)


def _label(condition: str, drawing: Mapping[str, Any]) -> str:
    return str(drawing["conditions"].get(condition, condition))
