"""Tasks put otherwise: changes of accuracy, flips and overlap, and gaps between groups.

Items are drawn anew in every data set, as a study's are a sample. The letters of an item have shares of
their own; the right one is A. A variant that loses items turns the shares of some of them round, so that
A becomes the rarest letter. Users like the right letter more or less, and only some of them lose items.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    SHARES,
    Floats,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    list_table,
    puppet_shares,
    rarest_covered,
)

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.families import holm

PART = "robustness"
PERMUTATIONS = 199
SPREADS = (0.3, 0.9)
"""Intra-class correlation of the answers to an item: with 0.9 most items have nearly one answer."""
LOSSES = (0.0, 0.05, 0.2)
"""Share of items that a variant loses."""
MANY = 200_000


class Size(NamedTuple):
    """Items of a task, and answers to each."""

    items: int
    reruns: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.items} items, {self.reruns} answers each"


class UserSize(NamedTuple):
    """Users, and the items that each answers twice."""

    users: int
    items: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.users} users, {self.items} items, 2 answers each"


SIZES = (Size(9, 1), Size(20, 1), Size(100, 1), Size(20, 2), Size(20, 5), Size(100, 5))
USER_SOURCES = (
    (UserSize(40, 9), 0.0),
    (UserSize(40, 9), 0.2),
    (UserSize(40, 9), 0.45),
    (UserSize(40, 30), 0.0),
    (UserSize(40, 30), 0.2),
)
"""Users, and the share of items that half of them lose: 9 items cover kinds of items as rare as 0.45."""
ABILITY = 1.0
"""Standard deviation of users' liking of the right letter, in log odds."""
GROUPS = ("a", "b", "c", "d")


def jobs() -> Iterator[Job]:
    """Without users, with users, lists, groups."""
    for size in SIZES:
        for spread in SPREADS:
            for loss in LOSSES:
                yield partial(_letters, size, spread, loss)
    yield partial(_all_right, Size(20, 1))
    for user_size, loss in USER_SOURCES:
        yield partial(_users, user_size, loss)
    for n_items in (9, 15):
        for effect in (0.0, 1.0):
            yield partial(_lists, n_items, effect)
    for size in (Size(20, 1), Size(20, 3), Size(60, 2)):
        for loss in (0.0, 0.2):
            yield partial(_groups, size, loss)


def _turned(shares: Floats, is_lost: Flags) -> Floats:
    """Shares of letters, last axis, turned round where an item is lost."""
    turned: Floats = np.where(is_lost[..., None], shares[..., ::-1], shares)
    return turned


def _questions(tasks: Sequence[str], n_items: int, kind: str) -> pd.DataFrame:
    items = pd.DataFrame({"item_id": [f"{k:05}" for k in range(n_items)]})
    tables = [items.assign(task=task) for task in tasks]
    gold = "A" if kind == "choice" else None
    return pd.concat(tables).assign(kind=kind, gold=gold, applied=True)


def _measured(
    frames: Sequence[pd.DataFrame], n_items: int, kind: str, n_users: int = 0
) -> dict[str, list[Robustness]]:
    """Rows by metric, one a data set; every data set is a task, and its variant another.

    Args:
        frames: answers before, and now.
    """
    before, now = frames
    origins = sorted(set(before["task"]))
    variants = {f"v{task}": task for task in origins}
    rarest = rarest_covered(n_users) if n_users else 0.05
    rows = measure_robustness(
        pd.concat([before, now.assign(task="v" + now["task"])]),
        _questions([*origins, *variants], n_items, kind),
        variants=variants,
        settings=ChanceSettings(PERMUTATIONS, 1, rarest),
    )
    by_metric: dict[str, list[Robustness]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    return by_metric


def _told(
    rows: Sequence[Robustness], source: str, size: str, truth: float, *, is_tested: bool = True
) -> Outcome:
    return outcome(
        PART,
        rows[0].metric if "user" not in size else f"{rows[0].metric}, users",
        source,
        size,
        truth=truth,
        estimates=[row.estimate for row in rows],
        intervals=[(row.ci_low, row.ci_high) for row in rows],
        p_values=[row.p_value for row in rows] if is_tested else (),
    )


def _letters(size: Size, spread: float, loss: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *size, int(100 * spread), int(100 * loss)])
    shares = puppet_shares(spread, (sets, size.items), random)
    lost = random.random((sets, size.items)) < loss
    frames = [
        letter_table(
            draw_letters(side, size.reruns, random)[:, :, None], condition="c", puppets=False
        )
        for side in (shares, _turned(shares, lost))
    ]
    rows = _measured(frames, size.items, "choice")
    source = f"correlation {spread:g}, {100 * loss:g} % of items lost"
    fall = loss * float(SHARES[0] - SHARES[-1])
    for metric, truth, is_tested in (
        ("accuracy_change", 0.0 - fall, True),
        ("performance_drop_rate", fall / float(SHARES[0]), False),
    ):
        yield _told(rows[metric], source, size.name(), truth, is_tested=is_tested)
    if size.reruns > 1:
        # expected squares and products of Dirichlet shares
        alike = float((SHARES**2 + SHARES * (1 - SHARES) * spread).sum())
        turned = float((SHARES * SHARES[::-1]).sum()) * (1 - spread)
        truth = loss * (alike - turned)
        yield _told(rows["excess_flips"], source, size.name(), truth)


def _all_right(size: Size, sets: int, _seed: int) -> Iterator[Outcome]:
    letters = np.zeros((sets, size.items, 1, size.reruns), dtype=np.int64)
    frame = letter_table(letters, condition="c", puppets=False)
    rows = _measured([frame, frame], size.items, "choice")
    yield _told(rows["accuracy_change"], "all right", size.name(), 0.0)


def _users(size: UserSize, loss: float, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, *size, int(100 * loss), 7])
    n = max(1, sets // 2)
    letters = [
        draw_letters(side, 2, random)
        for side in _user_shares((n, size.items, size.users), loss, random)
    ]
    frames = [letter_table(side, condition="c", puppets=True) for side in letters]
    rows = _measured(frames, size.items, "choice", size.users)
    many = _user_shares((1, 500, MANY // 500), loss, random)
    source = f"half the users lose {100 * loss:g} % of items"
    truth = float(many[1][..., 0].mean() - many[0][..., 0].mean())
    yield _told(rows["accuracy_change"], source, size.name(), truth)
    flips = float((many[0] * (many[0] - many[1])).sum(axis=-1).mean())
    yield _told(rows["excess_flips"], source, size.name(), flips)


def _user_shares(
    shape: tuple[int, int, int], loss: float, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Before and now, shape (sets, items, users, letters)."""
    n_sets, n_items, n_users = shape
    shares = puppet_shares(0.5, (n_sets, n_items, 1), random)
    liking = np.zeros((n_sets, 1, n_users, 4))
    liking[..., 0] = ABILITY * random.normal(size=(n_sets, 1, n_users))
    weights = np.maximum(shares, 1e-12) * np.exp(liking)
    before = weights / weights.sum(axis=-1, keepdims=True)
    lost = random.random((n_sets, n_items, 1)) < loss
    losers = random.random((n_sets, 1, n_users)) < 0.5
    return before, _turned(before, lost & losers)


def _lists(n_items: int, effect: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Lists of five; the effect moves the log weights of an item's options."""
    random = np.random.default_rng([seed, n_items, int(10 * effect), 11])
    n, n_reruns, source = max(1, sets // 2), 4, Zipf(30, 1.2)

    def lists(n_sets: int, reruns: int) -> list[Any]:
        moves = effect * random.normal(size=(n_sets, n_items, 1, 1, source.n_options))
        shape = (n_sets, n_items, reruns, 1, source.n_options)
        weights = np.broadcast_to(source.log_weights(), shape)
        return [draw_lists(side, random) for side in (weights, weights + moves)]

    frames = [list_table(side, condition="c", puppets=False) for side in lists(n, n_reruns)]
    rows = _measured(frames, n_items, "list")
    size = f"{n_items} items, {n_reruns} lists each"
    truth = 0.0
    if effect:
        before, now = (side[:, :, :2, 0] for side in lists(MANY // 20 // n_items, 2))
        truth = _overlap(before[..., 0, :], now[..., 1, :]) - _overlap(
            before[..., 0, :], before[..., 1, :]
        )
    name = f"options moved by {effect:g}"
    yield _told(rows["excess_overlap"], name, size, truth)
    rows_of_distance = rows["excess_distance"]
    if not effect:
        yield _told(rows_of_distance, name, size, 0.0, is_tested=False)


def _overlap(lists: Any, others: Any) -> float:
    """Mean Jaccard overlap of two lists of five."""
    common = (lists[..., :, None] == others[..., None, :]).sum(axis=(-2, -1))
    return float((common / (2 * lists.shape[-1] - common)).mean())


def _groups(size: Size, loss: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Four groups, of which one loses items."""
    random = np.random.default_rng([seed, *size, int(100 * loss), 13])
    n = max(1, sets // 2)
    shares = puppet_shares(0.5, (n, size.items), random)
    frames = []
    variants: dict[str, str] = {}
    groups: dict[str, str] = {}
    for group in GROUPS:
        lost = random.random((n, size.items)) < (loss if group == "d" else 0.0)
        letters = draw_letters(_turned(shares, lost), size.reruns, random)
        frame = letter_table(letters[:, :, None], condition="c", puppets=False)
        origins = sorted(set(frame["task"]))
        frames.append(frame.assign(task=group + frame["task"]))
        variants |= {group + task: task for task in origins}
        groups |= {group + task: group for task in origins}
    rows = measure_group_gaps(
        pd.concat(frames),
        _questions([*variants], size.items, "choice"),
        variants=variants,
        groups=groups,
        settings=ChanceSettings(PERMUTATIONS, 1),
    )
    source = f"one of four groups loses {100 * loss:g} % of items"
    for metric in ("accuracy_gap", "excess_flips"):
        p_values = [row.p_value for row in rows if row.metric == metric]
        if any(p_value is not None for p_value in p_values):
            name = f"{metric}, groups"
            yield outcome(PART, name, source, size.name(), truth=None, p_values=p_values)
    families: dict[str, list[float]] = {}
    for row in rows:
        if row.metric == "option_gap" and row.p_value is not None:
            families.setdefault(row.origin, []).append(row.p_value)
    least = {origin: min(holm(tests)) for origin, tests in families.items()}
    name = "any option_gap after Holm, groups"
    yield outcome(PART, name, source, size.name(), truth=None, p_values=[*least.values()])
