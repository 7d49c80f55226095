"""The nearest are found exactly, however the vectors come; ties go to the smaller id."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.encoder import Vectors
from fieldwork.puppets import retrieval
from fieldwork.puppets.retrieval import exact_cosines, ranking, top_k
from fieldwork.streams import VectorBlock


def unit(rows: Vectors) -> Vectors:
    scaled: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def blocks(ids: Sequence[str], vectors: Vectors, size: int = 1_000_000) -> list[VectorBlock]:
    return [
        VectorBlock(list(ids[i : i + size]), vectors[i : i + size])
        for i in range(0, len(ids), size)
    ]


def by_full_sort(queries: Vectors, ids: Sequence[str], vectors: Vectors, k: int) -> list[list[str]]:
    """Every score in float64, everything sorted by score and id."""
    scores = queries.astype(np.float64) @ vectors.T.astype(np.float64)
    ranked = [sorted(zip((-row).round(12).tolist(), ids, strict=True)) for row in scores]
    return [[i for _, i in rows][:k] for rows in ranked]


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    n_distinct=st.integers(1, 20),
    k=st.integers(1, 70),
    size=st.integers(1, 70),
)
def test_exact_at_any_size_with_any_ties(
    seed: int, n: int, n_distinct: int, k: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    pool = unit(rng.integers(-3, 4, size=(n_distinct, 5)).astype(np.float32) + np.float32(0.5))
    vectors = pool[rng.integers(0, n_distinct, n)]
    ids = [f"id{i:03d}" for i in rng.permutation(n)]
    queries = unit(rng.normal(size=(2, 5)).astype(np.float32))
    assert top_k(queries, blocks(ids, vectors, size), k) == by_full_sort(queries, ids, vectors, k)


def crowded(n: int, seed: int = 5) -> tuple[Vectors, Vectors, list[str]]:
    """Vectors that float32 cannot rank: around each query a crowd within its error, and twins."""
    rng = np.random.default_rng(seed)
    queries = unit(rng.normal(size=(7, 384)).astype(np.float32))
    near = queries[rng.integers(0, 7, n)] + rng.normal(scale=1e-5, size=(n, 384))
    vectors = unit(near.astype(np.float32))
    vectors[rng.integers(0, n, n // 10)] = vectors[0]
    return queries, vectors, [f"c{i:05d}" for i in rng.permutation(n)]


@pytest.mark.parametrize("size", [1, 37, 500, 1_500])
@pytest.mark.parametrize(("rows_per_product", "k"), [(64, 1), (64, 100), (4_096, 100)])
def test_batches_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, size: int, rows_per_product: int, k: int
) -> None:
    monkeypatch.setattr(retrieval, "ROWS_PER_PRODUCT", rows_per_product)
    queries, vectors, ids = crowded(1_500)
    scores = np.array(
        [exact_cosines(queries, np.full(1_500, q), vectors, np.arange(1_500)) for q in range(7)]
    )
    expected = [
        [ids[i] for i in sorted(range(1_500), key=lambda i: (-s[i], ids[i]))[:k]] for s in scores
    ]
    assert top_k(queries, blocks(ids, vectors, size), k, threads=1) == expected
    order = np.random.default_rng(size).permutation(1_500)
    shuffled = blocks([ids[i] for i in order], vectors[order], size)
    assert top_k(queries, shuffled, k, threads=2) == expected


def test_float32_alone_would_have_been_wrong() -> None:
    queries, vectors, ids = crowded(1_500)
    ranked = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :100]
    assert [[ids[i] for i in row] for row in ranked] != top_k(queries, blocks(ids, vectors), 100)


# ---- rankings ------------------------------------------------------------------------------------


def test_users_rank_as_the_corpus_does() -> None:
    rng = np.random.default_rng(3)
    vectors = unit(rng.normal(size=(200, 384)).astype(np.float32))
    ids = [f"c{i:03d}" for i in range(200)]
    queries = {"x": unit(rng.normal(size=(1, 384)))[0], "y": unit(rng.normal(size=(1, 384)))[0]}
    candidates = [ids[i] for i in rng.permutation(200)[:50]]
    whole = ranking(queries, blocks(ids, vectors, 33), k=200)
    own = ranking(queries, blocks(ids, vectors, 33), k=1, candidates=set(candidates))
    for item in queries:
        ranked = whole(item, ids, 200)
        assert own(item, candidates, 50) == [i for i in ranked if i in candidates]
        assert own(item, candidates[::-1], 7) == own(item, candidates, 7)
        assert whole(item, ids, 9) == ranked[:9]
    assert whole("x", ids, 9) != whole("y", ids, 9)


@pytest.mark.parametrize("k", [3, 4])
def test_more_than_was_looked_for_is_refused(k: int) -> None:
    vectors = np.eye(2, dtype=np.float32)
    rank = ranking({"x": vectors[0]}, blocks(["a"], vectors[:1]), k=3)
    with pytest.raises(ValueError, match="1 conversations are ranked"):
        rank("x", ["a", "b", "c", "d"], k)
