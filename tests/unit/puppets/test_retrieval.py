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

IDS = ["d", "b", "a", "c"]
VECTORS = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)


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
    each = [query[np.newaxis].astype(np.float64) * vectors for query in queries]
    scored = [
        sorted(zip((-products.sum(axis=1)).round(12).tolist(), ids, strict=True))
        for products in each
    ]
    return [[i for _, i in rows][:k] for rows in scored]


@pytest.mark.parametrize(
    ("query", "k", "expected"),
    [
        ([1, 0], 1, ["a"]),
        ([1, 0], 2, ["a", "d"]),
        ([1, 0], 3, ["a", "d", "c"]),
        ([0, 1], 2, ["b", "c"]),
        ([0, 1], 9, ["b", "c", "a", "d"]),
        ([0, -1], 2, ["a", "d"]),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_nearest_first_and_ties_by_id(
    query: list[float], k: int, expected: list[str], size: int
) -> None:
    assert top_k(np.array([query], np.float32), blocks(IDS, VECTORS, size), k) == [expected]


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
    neighbours = top_k(queries, blocks(ids, vectors, size), k)
    assert neighbours == by_full_sort(queries, ids, vectors, k)


def crowded(n: int, seed: int = 5) -> tuple[Vectors, Vectors, list[str]]:
    """Vectors that float32 cannot rank: around each query a crowd within its error, and twins."""
    rng = np.random.default_rng(seed)
    queries = unit(rng.normal(size=(7, 384)).astype(np.float32))
    near = queries[rng.integers(0, 7, n)] + rng.normal(scale=1e-5, size=(n, 384))
    vectors = unit(near.astype(np.float32))
    vectors[rng.integers(0, n, n // 10)] = vectors[0]
    return queries, vectors, [f"c{i:05d}" for i in rng.permutation(n)]


@pytest.mark.parametrize("size", [1, 37, 128, 500, 1_500])
@pytest.mark.parametrize("rows_per_product", [64, 4_096])
@pytest.mark.parametrize("k", [1, 100])
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


def test_exact_scores_do_not_depend_on_what_is_scored_with_them() -> None:
    queries, vectors, _ = crowded(300)
    row = np.arange(300)
    together = exact_cosines(queries, row % 7, vectors, row)
    alone = [exact_cosines(queries, row[i : i + 1] % 7, vectors, row[i : i + 1])[0] for i in row]
    assert together.tolist() == alone


def test_equal_vectors_are_ties_wherever_they_stand() -> None:
    rng = np.random.default_rng(7)
    vectors = unit(rng.normal(size=(1_003, 384)).astype(np.float32))
    twins = [3, 4, 500, 999, 1_001, 1_002]
    vectors[twins] = vectors[3]
    ids = [f"c{i:04d}" for i in range(len(vectors))]
    expected = [ids[i] for i in twins]
    for shift in range(9):
        order = np.roll(np.arange(len(vectors)), shift)
        # the query is a twin itself up to noise, so the twins lead
        query = unit(vectors[3:4] + rng.normal(scale=0.01, size=(1, 384)).astype(np.float32))
        neighbours = top_k(query, blocks([ids[i] for i in order], vectors[order], 250), len(twins))
        assert neighbours == [expected]


def test_a_corpus_of_one_text_is_settled_by_id() -> None:
    vectors = np.repeat(unit(np.ones((1, 8), np.float32)), 5_000, axis=0)
    ids = [f"c{i:04d}" for i in np.random.default_rng(0).permutation(5_000)]
    neighbours = top_k(vectors[:2], blocks(ids, vectors, 700), 3)
    assert neighbours == [["c0000", "c0001", "c0002"]] * 2


def test_no_vectors_have_no_neighbours() -> None:
    assert top_k(np.ones((2, 3), np.float32), [], 4) == [[], []]


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(k: int) -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        top_k(VECTORS[:1], blocks(IDS, VECTORS), k)


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
    rank = ranking({"x": VECTORS[0]}, blocks(IDS[:1], VECTORS[:1]), k=3)
    with pytest.raises(ValueError, match="1 conversations are ranked"):
        rank("x", IDS, k)


def test_without_questions_there_is_nothing_to_rank_for() -> None:
    rank = ranking({}, blocks(IDS, VECTORS), k=3)
    with pytest.raises(KeyError):
        rank("x", IDS, 3)
