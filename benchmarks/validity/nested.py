"""Users and contexts of one user: both shares of the variance, their intervals and their tests."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, draw_letters, letter_table, puppet_shares, rarest_covered

from fieldwork.metrics.nests import measure_nests

PART = "nested"
PERMUTATIONS = 199


class Size(NamedTuple):
    """Of a study."""

    users: int
    contexts: int
    items: int
    reruns: int

    def name(self) -> str:
        """As the tables call it."""
        return (
            f"{self.users} users, {self.contexts} contexts each, {self.items} items, "
            f"{self.reruns} answers each"
        )


SIZES = (Size(20, 2, 4, 2), Size(20, 3, 4, 2), Size(72, 2, 4, 2))
LARGE_SIZES = (Size(100, 3, 4, 2), Size(72, 2, 20, 2))


class Shares(NamedTuple):
    """Shares of the variance between users, and between contexts of one user."""

    user: float
    context: float


SOURCES = (Shares(0, 0), Shares(0, 0.2), Shares(0.2, 0), Shares(0.1, 0.1), Shares(0.3, 0.3))
LARGE_SOURCES = (Shares(0, 0.2), Shares(0.1, 0.1))


def jobs() -> Iterator[Job]:
    """Habits drawn anew for each item, and habits that a user or context has in all items."""
    for size in SIZES:
        for shares in SOURCES:
            yield partial(_letters, size, shares, False)
    for size in LARGE_SIZES:
        for shares in LARGE_SOURCES:
            yield partial(_letters, size, shares, False)
    for size in (Size(20, 2, 4, 2), Size(72, 2, 4, 2)):
        for shares in (Shares(0, 0.2), Shares(0.1, 0.1), Shares(0.3, 0.3)):
            yield partial(_letters, size, shares, True)


def _letters(
    size: Size, shares: Shares, is_lasting: bool, sets: int, seed: int
) -> Iterator[Outcome]:
    """Letters of users whose shares vary around the mean, and of contexts that vary around theirs."""
    random = np.random.default_rng([seed, *size, *(int(100 * s) for s in shares), is_lasting])
    # large studies are simulated less often
    n = sets if size.items * size.users <= 300 else max(1, sets // 2)
    shape = (n, 1 if is_lasting else size.items, size.users)
    users = puppet_shares(shares.user, shape, random)
    contexts = [_context_shares(shares, users, random) for _ in range(size.contexts)]
    rows = measure_nests(
        pd.concat(_context_frames(contexts, size, random)),
        nests={"c0": [f"c{k}" for k in range(size.contexts)]},
        rarest_users=rarest_covered(size.users),
        n_permutations=PERMUTATIONS,
        seed=1,
    )
    habits = "lasting habits" if is_lasting else "habits by item"
    source = f"letters, users {shares.user:g}, contexts {shares.context:g}, {habits}"
    for name, truth in zip(("user", "context"), shares, strict=True):
        yield outcome(
            PART,
            f"share_{name}",
            source,
            size.name(),
            truth=truth,
            estimates=[getattr(row, f"share_{name}") for row in rows],
            intervals=[(getattr(row, f"{name}_low"), getattr(row, f"{name}_high")) for row in rows],
            p_values=[getattr(row, f"p_{name}") for row in rows],
        )


def _context_shares(shares: Shares, users: Floats, random: np.random.Generator) -> Floats:
    """Letter shares of one context of each user: the user's in the mean."""
    if shares.context == 0:
        return users
    concentration = (1 - shares.user) / shares.context - 1
    weights = np.maximum(random.gamma(np.maximum(users, 1e-12) * concentration), 1e-300)
    context_shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return context_shares


def _context_frames(
    contexts: list[Floats], size: Size, random: np.random.Generator
) -> Iterator[pd.DataFrame]:
    for number, context in enumerate(contexts):
        whole = np.broadcast_to(context, (len(context), size.items, *context.shape[2:]))
        letters = draw_letters(whole, size.reruns, random)
        yield letter_table(letters, condition=f"c{number}", puppets=True)
