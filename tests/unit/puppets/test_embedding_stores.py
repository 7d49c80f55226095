"""A conversation's place follows from its id alone."""

from collections import Counter

import pytest

from fieldwork.puppets.embedding import N_STORES, shard_of, store_of

IDS = [f"conversation-{i}" for i in range(6_400)]


def test_places_never_change() -> None:
    # stores of earlier runs are found by these numbers
    assert [store_of(i) for i in ("", "a", "conversation-1", "ü", "\ud800")] == [20, 10, 45, 36, 52]


@pytest.mark.parametrize("n_shards", [1, 2, 3, 64])
def test_shards_are_of_a_size_and_share_no_store(n_shards: int) -> None:
    sizes = Counter(shard_of(i, n_shards) for i in IDS)
    assert set(sizes) == set(range(n_shards))
    assert max(sizes.values()) < 1.6 * min(sizes.values())
    owners = {(store_of(i), shard_of(i, n_shards)) for i in IDS}
    assert len(owners) == N_STORES


@pytest.mark.parametrize("n_shards", [0, -1, 65])
def test_a_number_of_shards_that_cannot_be(n_shards: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 64"):
        shard_of("c", n_shards)
