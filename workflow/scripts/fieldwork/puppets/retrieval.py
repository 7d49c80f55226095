"""Exact nearest neighbours by cosine similarity, over more vectors than fit into memory.

Vectors come in blocks. A matrix product in float32 scores a block for all queries at once. Its rounding
depends on the block's shape, so it only selects: every row within the error bound of a query's k-th best
is scored again in float64, always summed in the same order. So neighbours and their order depend neither
on blocks, nor on threads, nor on the order of rows. Ties go to the smaller id.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from fieldwork.encoder import Vectors
from fieldwork.puppets.contexts import Ranker
from fieldwork.streams import VectorBlock

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

ROWS_PER_PRODUCT = 4_096
PAIRS_PER_RESCORE = 8_192
MAX_LENGTH = 1.01  # of a unit vector after rounding


def top_k(
    queries: Vectors, blocks: Iterable[VectorBlock], k: int, threads: int | None = None
) -> list[list[str]]:
    """For each query the ids of its `k` most similar vectors, most similar first.

    Memory is that of a block, of `ROWS_PER_PRODUCT` scores a query, and of the best rows so far.

    Args:
        queries: unit vectors, shape (n_queries, dimensions).
        blocks: unit vectors with their ids, each id once.
        k: neighbours of each query; all rows where there are fewer.
        threads: threads of the matrix product; None for all processors.

    Raises:
        ValueError: `k` is not positive.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    best = _NearestRows(np.ascontiguousarray(queries, np.float32), k)
    with threadpool_limits(limits=threads, user_api="blas"):
        for ids, vectors in blocks:
            for start in range(0, len(ids), ROWS_PER_PRODUCT):
                end = start + ROWS_PER_PRODUCT
                best.add(ids[start:end], np.ascontiguousarray(vectors[start:end], np.float32))
    return best.ids()


class _NearestRows:
    """The best rows of each query so far: those at least as good as its k-th."""

    def __init__(self, queries: Vectors, k: int) -> None:
        self._queries, self._k = queries, k
        # a sum of d float32 products is off by at most d units of rounding, times the two lengths
        self._slack = MAX_LENGTH**2 * queries.shape[1] * float(np.finfo(np.float32).eps)
        self._bar = np.full(len(queries), -np.inf)
        self._products = np.empty((len(queries), ROWS_PER_PRODUCT), np.float32)
        # index of the query, exact score, id of the row
        self._pairs: list[tuple[Numbers, Scores, npt.NDArray[Any]]] = [
            (np.empty(0, np.int64), np.empty(0), np.empty(0, object))
        ]

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Add rows; from time to time forget those that are no longer among the best."""
        is_full = len(vectors) == ROWS_PER_PRODUCT
        products = np.matmul(self._queries, vectors.T, out=self._products if is_full else None)
        bar = self._bar
        if len(ids) > self._k and np.isneginf(bar).any():
            # before any bar is set, only the best k of these rows count
            kth = np.partition(products, -self._k, axis=1)[:, -self._k].astype(np.float64)
            bar = np.maximum(bar, kth - self._slack)
        # one step lower, because the bar itself is rounded to float32
        low = np.nextafter((bar - self._slack).astype(np.float32), np.float32(-np.inf))
        query, row = np.divmod(np.flatnonzero(products >= low[:, np.newaxis]), len(ids))
        score = exact_cosines(self._queries, query, vectors, row)
        self._pairs.append((query, score, np.asarray(ids, object)[row]))
        # rows are forgotten each time they have doubled, so a few times in a pass
        if sum(len(query) for query, _, _ in self._pairs[1:]) >= len(self._queries) * self._k // 2:
            self._forget()

    def _forget(self) -> None:
        query, score, ids = map(np.concatenate, zip(*self._pairs, strict=True))
        order = np.lexsort((ids, -score, query))
        places = np.arange(len(order)) - np.searchsorted(query[order], query[order])
        best = order[places < self._k]
        self._pairs = [(query[best], score[best], ids[best])]
        counts = np.bincount(query[best], minlength=len(self._queries))
        full = np.flatnonzero(counts == self._k)
        self._bar[full] = score[best][np.cumsum(counts)[full] - 1]

    def ids(self) -> list[list[str]]:
        """For each query its neighbours' ids, most similar first."""
        self._forget()
        query, _, ids = self._pairs[0]
        starts = np.searchsorted(query, np.arange(1, len(self._queries)))
        return [part.tolist() for part in np.split(ids, starts)]


def exact_cosines(queries: Vectors, query: Numbers, vectors: Vectors, row: Numbers) -> Scores:
    """Cosines of pairs, shape (len(query),): float64 products, which are exact, summed pair by pair."""
    scores = np.empty(len(query))
    for start in range(0, len(query), PAIRS_PER_RESCORE):
        part = slice(start, start + PAIRS_PER_RESCORE)
        left = queries[query[part]].astype(np.float64)
        scores[part] = np.einsum("ij,ij->i", left, vectors[row[part]].astype(np.float64))
    return scores


def ranking(
    queries: Mapping[str, Vectors],
    blocks: Iterable[VectorBlock],
    *,
    k: int,
    candidates: set[str] | None = None,
    threads: int | None = None,
) -> Ranker:
    """(item id, candidate ids, k) → the k candidates most similar to the item's question.

    Args:
        queries: item id → unit vector of its question.
        blocks: the corpus, read once.
        k: the largest number of neighbours in the whole corpus that will be ranked for an item.
        candidates: ids of the conversations that will be ranked; None for the whole corpus.
        threads: threads of the matrix product.
    """
    if candidates is None:
        return _corpus_ranking(queries, blocks, k, threads)
    return _candidate_ranking(queries, blocks, candidates)


def _corpus_ranking(
    queries: Mapping[str, Vectors], blocks: Iterable[VectorBlock], k: int, threads: int | None
) -> Ranker:
    """Ranks the whole corpus in one pass for all questions."""
    rows = top_k(np.stack(list(queries.values())), blocks, k, threads) if queries else []
    neighbours, k_ranked = dict(zip(queries, rows, strict=True)), k

    def rank(item_id: str, candidates: Sequence[str], k: int) -> list[str]:
        n_ranked = len(neighbours[item_id])
        if k > k_ranked or n_ranked < min(k, len(candidates)):
            raise ValueError(f"{n_ranked} conversations are ranked, but {k} are needed")
        return neighbours[item_id][:k]

    return rank


def _candidate_ranking(
    queries: Mapping[str, Vectors], blocks: Iterable[VectorBlock], candidates: set[str]
) -> Ranker:
    """Keeps the vectors of the candidates, and ranks some of them at a time."""
    vector_by_id = {
        conversation_id: vectors[row].copy()
        for ids, vectors in blocks
        for row, conversation_id in enumerate(ids)
        if conversation_id in candidates
    }

    def rank(item_id: str, candidates: Sequence[str], k: int) -> list[str]:
        vectors = np.stack([vector_by_id[candidate] for candidate in candidates])
        numbers = np.arange(len(candidates))
        scores = exact_cosines(queries[item_id][np.newaxis], 0 * numbers, vectors, numbers)
        order = sorted(zip((-scores).tolist(), candidates, strict=True))
        return [conversation_id for _, conversation_id in order[:k]]

    return rank
