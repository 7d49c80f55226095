"""Draws by the hash of each candidate's id: a pool that grows or shrinks moves nobody else.

A shuffle of a list depends on the whole list, so that one user more would draw every other one anew, and
have them paid for anew. Here an id has a place of its own, from the seed and the purpose. Promises that
the order of the candidates which remain is the same in every pool.
"""

import hashlib
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_Keys = NDArray[np.uint64]


class KeyedPool:
    """Candidates by their ids, which can be drawn for any purpose.

    Ids are hashed once, with SHA-256, and mixed with each purpose, as a corpus has a million of them and
    a hundred users draw from it.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = sorted(set(ids))
        digests = b"".join(hashlib.sha256(name.encode()).digest()[:8] for name in self.ids)
        self._keys = np.frombuffer(digests, dtype="<u8").astype(np.uint64)

    def draw(self, n: int | None, *names: str | int) -> list[str]:
        """The first `n` candidates, or all, in an order of these names: a seed and a purpose."""
        purpose = hashlib.sha256(json.dumps(names).encode()).digest()[:8]
        keys = _mix(self._keys ^ np.uint64(int.from_bytes(purpose, "little")))
        places = np.arange(len(keys))
        if n is not None and n < len(keys):
            places = np.argpartition(keys, n)[:n] if n else places[:0]
        # ids decide where keys are equal
        order = np.lexsort((places, keys[places]))
        return [self.ids[place] for place in places[order].tolist()]


def _mix(keys: _Keys) -> _Keys:
    """SplitMix64's output function, which maps 64 bits one to one (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        keys = keys + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))


def draw_in_turn(
    pool: KeyedPool, takers: Iterable[str], n: int, *names: str | int
) -> list[list[str]]:
    """`n` candidates for each taker, none for two: each takes the first that are left in its own order.

    A candidate or a taker more changes what one other has, and seldom what that one would have taken
    next. There are at least as many candidates as are taken.
    """
    names_before: set[str] = set()
    draws: list[list[str]] = []
    for taker in takers:
        left: list[str] = []
        # of the candidates that come first, most are left
        for n_first in (2 * n + 8, n + len(names_before)):
            first = pool.draw(n_first, *names, taker)
            left = [name for name in first if name not in names_before][:n]
            if len(left) == n:
                break
        names_before.update(left)
        draws.append(left)
    return draws
