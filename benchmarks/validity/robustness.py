"""Tasks put otherwise: changes of accuracy, flips and overlap, and gaps between groups.

Items are drawn anew in every data set, as a study's are a sample. The letters of an item have shares of
their own; the right one is A. A variant that loses items turns the shares of some of them round, so that
A becomes the rarest letter. Users like the right letter more or less, and only some of them lose items.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from populations import (
    SHARES,
    Floats,
    Zipf,
    answer_table,
    draw_letters,
    draw_lists,
    puppet_shares,
    rarest_covered,
)
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.families import holm

PERMUTATIONS = 199
SPREADS = (0.3, 0.9)
"""Intra-class correlation of the answers to an item: with 0.9 most items have nearly one answer."""
LOSSES = (0.0, 0.05, 0.2)
"""Share of items that a variant loses."""
MANY = 200_000
SIZE = "{} items, {} answers each"
SIZES = ((9, 1), (20, 1), (100, 1), (20, 2), (20, 5), (100, 5))
"""Items of a task, and answers to each."""
USER_SOURCES = ((40, 9, 0.0), (40, 9, 0.2), (40, 9, 0.45), (40, 30, 0.0), (40, 30, 0.2))
"""Users, items, and the share of them that half of the users lose: 9 items cover 0.45."""
ABILITY = 1.0
"""Standard deviation of users' liking of the right letter, in log odds."""
GROUPS = ("a", "b", "c", "d")
LISTED_OPTIONS = Zipf(30, 1.2)


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
    frames: Sequence[pd.DataFrame], n_items: int, n_users: int = 0
) -> dict[str, list[Robustness]]:
    """Rows by metric, one a data set; every data set is a task, and its variant another.

    Args:
        frames: answers before, and now.
    """
    before, now = frames
    origins = sorted(set(before["task"]))
    variants = {f"v{task}": task for task in origins}
    rows = measure_robustness(
        pd.concat([before, now.assign(task="v" + now["task"])]),
        _questions([*origins, *variants], n_items, before["kind"].iloc[0]),
        variants=variants,
        settings=ChanceSettings(PERMUTATIONS, 1, rarest_covered(n_users) if n_users else 0.05),
    )
    return columns_of({row.metric: row} for row in rows)


def _line(
    rows: Sequence[Robustness], truth: float, *, suffix: str = "", p_value: str = "p_value"
) -> Line:
    name = f"{rows[0].metric}{suffix}"
    return line_of(name, rows, truth, value="estimate", interval="ci", p_value=p_value)


def _letters(n_items: int, reruns: int, spread: float, loss: float, sets: Sets) -> Lines:
    shares = puppet_shares(spread, (sets.n, n_items), sets.random)
    lost = sets.random.random((sets.n, n_items)) < loss
    letters = [draw_letters(side, reruns, sets.random) for side in (shares, _turned(shares, lost))]
    frames = [answer_table(side[:, :, None], puppets=False) for side in letters]
    rows = _measured(frames, n_items)
    fall = loss * float(SHARES[0] - SHARES[-1])
    yield _line(rows["accuracy_change"], 0.0 - fall)
    yield _line(rows["performance_drop_rate"], fall / float(SHARES[0]), p_value="")
    if reruns > 1:
        # expected squares and products of Dirichlet shares
        alike = float((SHARES**2 + SHARES * (1 - SHARES) * spread).sum())
        turned = float((SHARES * SHARES[::-1]).sum()) * (1 - spread)
        yield _line(rows["excess_flips"], loss * (alike - turned))


def _all_right(sets: Sets) -> Lines:
    frame = answer_table(np.zeros((sets.n, 20, 1, 1), dtype=np.int64), puppets=False)
    yield _line(_measured([frame, frame], 20)["accuracy_change"], 0.0)


def _users(n_users: int, n_items: int, loss: float, sets: Sets) -> Lines:
    sides = _user_shares((sets.n, n_items, n_users), loss, sets.random)
    frames = [answer_table(draw_letters(side, 2, sets.random)) for side in sides]
    rows = _measured(frames, n_items, n_users)
    before, now = _user_shares((1, 500, MANY // 500), loss, sets.random)
    change = float(now[..., 0].mean() - before[..., 0].mean())
    yield _line(rows["accuracy_change"], change, suffix=", users")
    flips = float((before * (before - now)).sum(axis=-1).mean())
    yield _line(rows["excess_flips"], flips, suffix=", users")


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


def _lists(n_items: int, effect: float, sets: Sets) -> Lines:
    """Lists of five; the effect moves the log weights of an item's options."""
    sides = _draw_sides(effect, (sets.n, n_items, 4), sets.random)
    rows = _measured([answer_table(side, puppets=False) for side in sides], n_items)
    truth = 0.0
    if effect:
        many = _draw_sides(effect, (MANY // 20 // n_items, n_items, 2), sets.random)
        before, now = (side[..., 0, :] for side in many)
        same = _overlap(before[:, :, 0], before[:, :, 1])
        truth = _overlap(before[:, :, 0], now[:, :, 1]) - same
    yield _line(rows["excess_overlap"], truth)
    if not effect:
        yield _line(rows["excess_distance"], 0.0, p_value="")


def _draw_sides(
    effect: float, shape: tuple[int, int, int], random: np.random.Generator
) -> list[Any]:
    """Lists before and now, of shape (sets, items, answers, 1, 5)."""
    n_sets, n_items, n_options = *shape[:2], LISTED_OPTIONS.n_options
    moves = effect * random.normal(size=(n_sets, n_items, 1, 1, n_options))
    weights = np.broadcast_to(LISTED_OPTIONS.log_weights(), (*shape, 1, n_options))
    return [draw_lists(side, random) for side in (weights, weights + moves)]


def _overlap(lists: Any, others: Any) -> float:
    """Mean Jaccard overlap of two lists of five."""
    common = (lists[..., :, None] == others[..., None, :]).sum(axis=(-2, -1))
    return float((common / (2 * lists.shape[-1] - common)).mean())


def _groups(n_items: int, reruns: int, loss: float, sets: Sets) -> Lines:
    """Four groups, of which one loses items."""
    shares = puppet_shares(0.5, (sets.n, n_items), sets.random)
    frames, variants = [], dict[str, str]()
    for group in GROUPS:
        lost = sets.random.random((sets.n, n_items)) < (loss if group == "d" else 0.0)
        letters = draw_letters(_turned(shares, lost), reruns, sets.random)
        frame = answer_table(letters[:, :, None], puppets=False)
        frames.append(frame.assign(task=group + frame["task"]))
        variants |= {group + task: task for task in sorted(set(frame["task"]))}
    rows = measure_group_gaps(
        pd.concat(frames),
        _questions([*variants], n_items, "choice"),
        variants=variants,
        groups={task: task[0] for task in variants},
        settings=ChanceSettings(PERMUTATIONS, 1),
    )
    by_metric = columns_of({row.metric: row} for row in rows)
    for metric in ("accuracy_gap", "excess_flips"):
        p_values = [row.p_value for row in by_metric.get(metric, ())]
        if any(p_value is not None for p_value in p_values):
            yield Line(f"{metric}, groups", p_values=p_values)
    families = columns_of(
        {row.origin: row.p_value} for row in by_metric["option_gap"] if row.p_value is not None
    )
    least = [min(holm(tests)) for tests in families.values()]
    yield Line("any option_gap after Holm, groups", p_values=least)


SIMULATIONS = (
    *(
        Simulation(
            "robustness", _letters, (*size, spread, loss),
            f"correlation {spread:g}, {100 * loss:g} % of items lost", SIZE.format(*size),
            (*size, int(100 * spread), int(100 * loss)),
        )
        for size, spread, loss in product(SIZES, SPREADS, LOSSES)
    ),
    Simulation("robustness", _all_right, (), "all right", SIZE.format(20, 1)),
    *(
        Simulation(
            "robustness", _users, (n_users, n_items, loss),
            f"half the users lose {100 * loss:g} % of items",
            f"{n_users} users, {n_items} items, 2 answers each",
            (n_users, n_items, int(100 * loss), 7), 2,
        )
        for n_users, n_items, loss in USER_SOURCES
    ),
    *(
        Simulation(
            "robustness", _lists, (n_items, effect), f"options moved by {effect:g}",
            f"{n_items} items, 4 lists each", (n_items, int(10 * effect), 11), 2,
        )
        for n_items, effect in product((9, 15), (0.0, 1.0))
    ),
    *(
        Simulation(
            "robustness", _groups, (*size, loss),
            f"one of four groups loses {100 * loss:g} % of items", SIZE.format(*size),
            (*size, int(100 * loss), 13), 2,
        )
        for size, loss in product(((20, 1), (20, 3), (60, 2)), (0.0, 0.2))
    ),
)  # fmt: skip
