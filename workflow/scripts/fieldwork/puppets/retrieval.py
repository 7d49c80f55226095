"""Exact nearest neighbours by cosine similarity, over more vectors than fit into memory.

Vectors come in blocks; a matrix product in float32 scores a block for all queries at once. How it rounds
depends on the block's shape, so it only chooses: whatever comes within its error bound of a query's k-th
best is scored again in float64, in an order of summation that is always the same. Result and order
therefore depend neither on blocks, nor on threads, nor on the order of the rows; ties go to the smaller
id.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from fieldwork.encoder import Vectors
from fieldwork.streams import Block

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Rank = Callable[[str, Sequence[str], int], list[str]]

ROWS_PER_PRODUCT = 4_096
PAIRS_PER_RESCORE = 8_192
UNIT = 1.01  # lengths that rounding may leave a unit vector with


def top_k(
    queries: Vectors, blocks: Iterable[Block], k: int, threads: int | None = None
) -> list[list[str]]:
    """For each query the ids of its `k` most similar vectors, most similar first.

    Memory is that of a block, of `ROWS_PER_PRODUCT` scores a query, and of the best found so far.

    Args:
        queries: unit vectors, shape (n_queries, dimensions).
        blocks: unit vectors with their ids, each id once.
        k: neighbours wanted; all of them when there are fewer.
        threads: of the matrix product; None for all processors.

    Raises:
        ValueError: `k` is not positive.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    best = _Best(np.ascontiguousarray(queries, np.float32), k)
    with threadpool_limits(limits=threads, user_api="blas"):
        for ids, vectors in blocks:
            for start in range(0, len(ids), ROWS_PER_PRODUCT):
                end = start + ROWS_PER_PRODUCT
                best.add(ids[start:end], np.ascontiguousarray(vectors[start:end], np.float32))
    return best.ids()


class _Best:
    """The best rows of each query so far: those at least as good as its k-th."""

    def __init__(self, queries: Vectors, k: int) -> None:
        self._queries, self._k = queries, k
        # a sum of d float32 products is off by at most d units of rounding, times the two lengths
        self._slack = UNIT**2 * queries.shape[1] * float(np.finfo(np.float32).eps)
        self._bar = np.full(len(queries), -np.inf)
        self._products = np.empty((len(queries), ROWS_PER_PRODUCT), np.float32)
        self._held = [_Pairs(np.empty(0, np.int64), np.empty(0), np.empty(0, object))]

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Take in rows; now and then forget what is no longer among the best."""
        products = self._scores(vectors)
        bar = self._bar
        if len(ids) > self._k and np.isneginf(bar).any():
            # of the first rows only the best k count
            kth = np.partition(products, -self._k, axis=1)[:, -self._k].astype(np.float64)
            bar = np.maximum(bar, kth - self._slack)
        # one step further, as the bar itself is rounded to float32
        low = np.nextafter((bar - self._slack).astype(np.float32), np.float32(-np.inf))
        query, row = np.divmod(np.flatnonzero(products >= low[:, np.newaxis]), len(ids))
        score = exact_cosines(self._queries, query, vectors, row)
        self._held.append(_Pairs(query, score, _objects(ids)[row]))
        # each time doubles what has been seen, so a pass forgets a few times only
        if sum(len(p.query) for p in self._held[1:]) >= len(self._queries) * self._k // 2:
            self._forget()

    def _scores(self, vectors: Vectors) -> Vectors:
        if len(vectors) < ROWS_PER_PRODUCT:
            return self._queries @ vectors.T
        return np.matmul(self._queries, vectors.T, out=self._products)

    def _forget(self) -> None:
        joined = _Pairs(*(np.concatenate(parts) for parts in zip(*self._held, strict=True)))
        pairs = joined.take(np.lexsort((-joined.score, joined.query)))
        counts = np.bincount(pairs.query, minlength=len(self._queries))
        first = np.cumsum(counts) - counts
        full = np.flatnonzero(counts >= self._k)
        self._bar[full] = pairs.score[first[full] + self._k - 1]
        keep = pairs.score >= self._bar[pairs.query]
        kept = np.bincount(pairs.query[keep], minlength=len(self._queries))
        for query in np.flatnonzero(kept > self._k):
            keep[self._surplus(pairs, first[query], first[query] + kept[query])] = False
        self._held = [pairs.take(np.flatnonzero(keep))]

    def _surplus(self, pairs: "_Pairs", start: int, end: int) -> list[int]:
        """Of more than k rows of a query those that go: ties for the last place, by their ids."""
        tied = np.arange(start, end)[pairs.score[start:end] == pairs.score[end - 1]]
        room = self._k - (end - start - len(tied))
        return sorted(tied.tolist(), key=lambda i: str(pairs.id[i]))[room:]

    def ids(self) -> list[list[str]]:
        """The answer."""
        self._forget()
        (pairs,) = self._held
        found: list[list[tuple[float, str]]] = [[] for _ in self._queries]
        for query, score, row in zip(*(part.tolist() for part in pairs), strict=True):
            found[query].append((-score, row))
        return [[row for _, row in sorted(rows)] for rows in found]


class _Pairs(NamedTuple):
    """Rows beside queries: index of the query, exact score, id of the row."""

    query: Numbers
    score: Scores
    id: npt.NDArray[Any]

    def take(self, places: Numbers) -> "_Pairs":
        return _Pairs(self.query[places], self.score[places], self.id[places])


def _objects(values: Sequence[str]) -> npt.NDArray[Any]:
    held = np.empty(len(values), object)
    held[:] = values
    return held


def exact_cosines(queries: Vectors, query: Numbers, vectors: Vectors, row: Numbers) -> Scores:
    """Cosines of pairs, shape (len(query),): products are exact in float64, summed pair by pair."""
    scores = np.empty(len(query))
    for start in range(0, len(query), PAIRS_PER_RESCORE):
        part = slice(start, start + PAIRS_PER_RESCORE)
        left = queries[query[part]].astype(np.float64)
        scores[part] = np.einsum("ij,ij->i", left, vectors[row[part]].astype(np.float64))
    return scores


def ranking(
    queries: Mapping[str, Vectors],
    blocks: Iterable[Block],
    *,
    k: int,
    among: set[str] | None = None,
    threads: int | None = None,
) -> Rank:
    """(item id, candidate ids, k) → the k candidates most similar to the item's question.

    Args:
        queries: item id → unit vector of its question.
        blocks: the corpus, read once.
        k: how many of the whole corpus will be asked for an item.
        among: ids of the conversations that candidates will be chosen from; None for the whole corpus,
            which is all that candidates may then be.
        threads: of the matrix product.
    """
    if among is None:
        return _CorpusRanking(queries, blocks, k, threads).rank
    return _OwnRanking(queries, blocks, among).rank


class _CorpusRanking:
    """One pass finds what every question will be given."""

    def __init__(
        self, queries: Mapping[str, Vectors], blocks: Iterable[Block], k: int, threads: int | None
    ) -> None:
        found = top_k(np.stack(list(queries.values())), blocks, k, threads) if queries else []
        self._ranked, self._k = dict(zip(queries, found, strict=True)), k

    def rank(self, item_id: str, candidates: Sequence[str], k: int) -> list[str]:
        ranked = self._ranked[item_id]
        if k > self._k or len(ranked) < min(k, len(candidates)):
            raise ValueError(f"{len(ranked)} conversations were found, {k} are asked for")
        return ranked[:k]


class _OwnRanking:
    """Keeps the vectors of those that will be ranked, and ranks a few at a time."""

    def __init__(
        self, queries: Mapping[str, Vectors], blocks: Iterable[Block], among: set[str]
    ) -> None:
        self._queries = queries
        self._vectors = {
            conversation_id: vectors[row].copy()
            for ids, vectors in blocks
            for row, conversation_id in enumerate(ids)
            if conversation_id in among
        }

    def rank(self, item_id: str, candidates: Sequence[str], k: int) -> list[str]:
        vectors = np.stack([self._vectors[candidate] for candidate in candidates])
        scores = exact_cosines(
            self._queries[item_id][np.newaxis],
            np.zeros(len(candidates), np.int64),
            vectors,
            np.arange(len(candidates)),
        )
        ranked = sorted(zip((-scores).tolist(), candidates, strict=True))
        return [conversation_id for _, conversation_id in ranked[:k]]
