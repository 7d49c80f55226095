"""Sources of answers whose truth is known, and the answer tables drawn from them.

A source of lists names five of its options, drawn without replacement by weights (Gumbel noise); a
source of letters gives each puppet shares of its own from a Dirichlet distribution, whose intra-class
correlation is then the share of variance that lies between puppets. Many data sets go into one table:
each is an item, or a task, of its own.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fieldwork.statistics.user_intervals import CHANCE_TO_MISS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LETTERS = np.array(list("ABCD"))
SHARES = np.array([0.55, 0.25, 0.15, 0.05])
LISTED = 5


class Zipf(NamedTuple):
    """Options with weights 1 / rank ** exponent."""

    n_options: int
    exponent: float

    def name(self) -> str:
        """As the tables call it."""
        return f"lists of 5 of {self.n_options}, Zipf {self.exponent:g}"

    def log_weights(self) -> Floats:
        """Of each option, the commonest first."""
        ranks = np.arange(1, self.n_options + 1, dtype=np.float64)
        return -self.exponent * np.log(ranks)


def rarest_covered(n_users: int) -> float:
    """Share of users of the rarest kind that so many users cover: `metrics.rarest_users` of a study."""
    # a little more, as the number needed is rounded up; a study can name no more than an eighth
    return min(0.125, float(1 - CHANCE_TO_MISS ** (1 / n_users)) + 1e-9)


def draw_options(log_weights: Floats, n_named: int, random: np.random.Generator) -> Ints:
    """The options with the largest log weight + Gumbel noise, along the last axis."""
    keys = log_weights + random.gumbel(size=log_weights.shape)
    return np.argpartition(-keys, n_named - 1, axis=-1)[..., :n_named]


def draw_lists(log_weights: Floats, random: np.random.Generator) -> Ints:
    """Five options."""
    return draw_options(log_weights, LISTED, random)


def named(lists: Ints, n_options: int) -> Ints:
    """How often each option is named: shape (sets, responses, 5) to (sets, options)."""
    flat = lists.reshape(len(lists), -1)
    return np.stack([np.bincount(row, minlength=n_options) for row in flat])


def puppet_shares(
    icc: float, shape: tuple[int, ...], random: np.random.Generator, means: Floats = SHARES
) -> Floats:
    """Letter shares of puppets with intra-class correlation `icc`, around `means`.

    Args:
        shape: of all puppets; `means` has the last of these axes, or none, and one of letters.
    """
    if icc == 0:
        return np.broadcast_to(means, (*shape, means.shape[-1]))
    weights = random.gamma(means * (1 / icc - 1), size=(*shape, means.shape[-1]))
    weights = np.maximum(weights, 1e-300)
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def draw_letters(shares: Floats, n: int, random: np.random.Generator) -> Ints:
    """`n` letters from each row of shares, as numbers, on a new last axis."""
    bounds = np.cumsum(shares, axis=-1)[..., None, :-1]
    letters: Ints = (random.random((*shares.shape[:-1], n, 1)) > bounds).sum(axis=-1)
    return letters


def table(
    *, task: Ints, item: Ints, puppet: Ints | None, replicate: Ints, condition: str
) -> pd.DataFrame:
    """Answers without content; numbers become names."""
    names = np.array([f"{k:05}" for k in range(int(max(task.max(), item.max())) + 1)])
    return pd.DataFrame(
        {
            "model": "m",
            "task": names[task],
            "condition": condition,
            "item_id": names[item],
            "puppet_id": None if puppet is None else [f"p{k:04}" for k in puppet.tolist()],
            "replicate": replicate,
            "outcome": "ok",
            "letter": None,
            "items": None,
        }
    )


def letter_table(
    letters: Ints, *, condition: str, puppets: bool, sets_are: str = "task"
) -> pd.DataFrame:
    """Letters of shape (sets, items, puppets, reruns) as a table of choice answers."""
    at = np.indices(letters.shape).reshape(4, -1)
    task, item = (at[0], at[1]) if sets_are == "task" else (at[0] * 0, at[0])
    frame = table(
        task=task,
        item=item,
        puppet=at[2] if puppets else None,
        replicate=at[3] if puppets else at[2] * letters.shape[3] + at[3],
        condition=condition,
    )
    return frame.assign(kind="choice", letter=LETTERS[letters.ravel()])


def list_table(
    lists: Ints, *, condition: str, puppets: bool, sets_are: str = "task"
) -> pd.DataFrame:
    """Lists of shape (sets, items, puppets, reruns, 5) as a table of list answers."""
    at = np.indices(lists.shape[:4]).reshape(4, -1)
    task, item = (at[0], at[1]) if sets_are == "task" else (at[0] * 0, at[0])
    frame = table(
        task=task,
        item=item,
        puppet=at[2] if puppets else None,
        replicate=at[3] if puppets else at[2] * lists.shape[3] + at[3],
        condition=condition,
    )
    names = np.array([f"o{k:04}" for k in range(int(lists.max()) + 1)], dtype=object)
    return frame.assign(kind="list", items=list(names[lists.reshape(-1, LISTED)]))
