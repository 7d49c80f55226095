"""Sources of answers whose truth is known, and the answer tables drawn from them.

A source of lists names five of its options, drawn without replacement by weights (Gumbel noise); a
source of letters gives each puppet shares of its own from a Dirichlet distribution, whose intra-class
correlation is then the share of variance that lies between puppets. Many data sets go into one table:
each is an item, or a task, of its own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import accuracy
from fieldwork.records.columns import table_of
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import RunAccuracy
from fieldwork.statistics.user_intervals import CHANCE_TO_MISS, RAREST_USERS

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


def answer_table(
    drawn: Ints, condition: str = "c", *, puppets: bool | None = None, sets_are: str = "task"
) -> pd.DataFrame:
    """Answers as a table: letters (sets, items, puppets, reruns), or lists with options on a last axis.

    Args:
        puppets: whether the third axis is one of users; else of reruns. Of all but `offline` it is.
    """
    at = np.indices(drawn.shape[:4]).reshape(4, -1)
    has_users = condition != "offline" if puppets is None else puppets
    task, item = (at[0], at[1]) if sets_are == "task" else (at[0] * 0, at[0])
    names = np.array([f"{k:05}" for k in range(int(max(task.max(), item.max())) + 1)])
    frame = pd.DataFrame(
        {
            "model": "m",
            "task": names[task],
            "condition": condition,
            "item_id": names[item],
            "puppet_id": [f"p{k:04}" for k in at[2].tolist()] if has_users else None,
            "replicate": at[3] if has_users else at[2] * drawn.shape[3] + at[3],
            "outcome": "ok",
            "letter": None,
            "items": None,
        }
    )
    if drawn.ndim == 4:
        return frame.assign(kind="choice", letter=LETTERS[drawn.ravel()])
    options = np.array([f"o{k:04}" for k in range(int(drawn.max()) + 1)], dtype=object)
    return frame.assign(kind="list", items=list(options[drawn.reshape(-1, LISTED)]))


def beside_offline(drawn: Ints, offline: Ints, *, sets_are: str = "task") -> pd.DataFrame:
    """The answers of users, condition `c`, and those of the baseline."""
    sides = ((drawn, "c"), (offline, "offline"))
    return pd.concat([answer_table(side, name, sets_are=sets_are) for side, name in sides])


def choice_items(
    names: Sequence[str], subjects: Sequence[str | None] | None = None
) -> pd.DataFrame:
    """Questions with four letters, of which A is the right one."""
    items = pd.DataFrame({"item_id": names, "kind": "choice", "gold": "A", "subject": subjects})
    return items.assign(choices=[[*LETTERS]] * len(names))


def run_of(
    task: int | str, condition: str, unit: int, replicate: int, score: float, **more: Any
) -> RunAccuracy:
    """A run of letters: of a user, or of nobody under `offline`."""
    is_user = condition != "offline"
    columns: dict[str, Any] = {
        "model": "m",
        "task": task if isinstance(task, str) else f"t{task:05}",
        "condition": condition,
        "run": 0,
        "puppet_id": f"p{unit:03}" if is_user else None,
        "replicate": replicate if is_user else unit,
        "em_strict": score,
        "em_flexible": score,
        "format_failure": 0.0,
        "n_items": 500,
        "n_subjects": 1,
        "is_counted": True,
    }
    return RunAccuracy(**columns | more)


def score_estimates(
    runs: Sequence[RunAccuracy], *, measure: str = "", condition: str = "c", **settings: Any
) -> list[Estimate]:
    """The measures of `accuracy`, of each arm beside the baseline; of one measure, those of users."""
    usual: dict[str, Any] = {"baseline": "offline", "seed": 1, "users": (), "controls": ()}
    usual |= {"rarest_users": RAREST_USERS, "n_permutations": 1}
    rows = estimate_question(
        accuracy.QUESTION, pd.DataFrame(list(runs)), EstimateSettings(**usual | settings)
    )
    if not measure:
        return rows
    return [row for row in rows if (row.condition, row.measure) == (condition, measure)]


def by_table(*tables: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """Tables by their names; what has no rows is left out."""
    return {table_of(type(table[0])).name: table for table in tables if table}
