"""Draws by keyed hashes: by chance, and the same whoever else is there."""

import math
from collections import Counter

import pytest

from fieldwork.keyed_order import KeyedPool, draw_in_turn

IDS = [f"user-{n}" for n in range(40)]


def test_the_same_names_draw_the_same_ids_in_the_same_order() -> None:
    assert KeyedPool(reversed(IDS)).draw(10, 1, "users") == KeyedPool([*IDS, *IDS]).draw(
        10, 1, "users"
    )
    assert KeyedPool(IDS).draw(None, 1, "users")[:10] == KeyedPool(IDS).draw(10, 1, "users")
    assert sorted(KeyedPool(IDS).draw(None, 1)) == sorted(IDS)
    orders = {tuple(KeyedPool(IDS).draw(None, *names)) for names in ((1, "a"), (2, "a"), (1, "b"))}
    assert len(orders) == 3


@pytest.mark.parametrize("n_new", [1, 5, 160, 1_960])
def test_a_pool_that_grows_moves_nobody_who_stays(n_new: int) -> None:
    grown = KeyedPool([*IDS, *(f"new-{n}" for n in range(n_new))])
    assert [i for i in grown.draw(None, 7, "users") if i in IDS] == KeyedPool(IDS).draw(
        None, 7, "users"
    )


def test_every_id_is_drawn_as_often_as_another() -> None:
    pool = KeyedPool(IDS)
    counts = Counter(i for seed in range(2_000) for i in pool.draw(10, seed))
    # each of 40 with chance 1/4 in 2,000 draws: mean 500, standard deviation 19
    assert set(counts) == set(IDS)
    assert all(abs(n - 500) < 5 * math.sqrt(2_000 * 0.25 * 0.75) for n in counts.values())


def test_nobody_takes_what_another_took() -> None:
    takers = [f"puppet-{n}" for n in range(13)]
    draws = draw_in_turn(KeyedPool(IDS), takers, 3, 1)
    assert [len(draw) for draw in draws] == [3] * 13
    assert len({i for draw in draws for i in draw}) == 39


def test_a_candidate_more_changes_few_draws() -> None:
    takers = [f"puppet-{n}" for n in range(40)]
    ids = [f"conversation-{n}" for n in range(400)]
    before = draw_in_turn(KeyedPool(ids), takers, 5, 1)
    changes = [
        sum(
            a != b
            for a, b in zip(
                before, draw_in_turn(KeyedPool([*ids, f"new-{n}"]), takers, 5, 1), strict=True
            )
        )
        for n in range(50)
    ]
    # half of the candidates are drawn, so about half of the new ones are; mostly by one taker
    assert 0.2 < sum(changes) / 50 < 1.5
