"""Sources of lists have the effect that is supposed, over all users, whoever carries it."""

import numpy as np
import pytest

from fieldwork.metrics.power.effects import ListSource
from fieldwork.metrics.power.lists import (
    draw_lists,
    draw_moved_lists,
    log_weights,
    taste_strength,
    varied_exponent,
)
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.entropy import entropy_bits
from unit.metrics.metric_frames import answer_frame, listed

SOURCE = ListSource(5, 60, 1.5)
SMALL = ListSource(2, 6, 1.0)


def measure_share(lists: np.ndarray) -> float | None:
    """By the study's own estimator; lists of shape (items, users, answers, options)."""
    rows = [
        row
        for item, user in np.ndindex(lists.shape[:2])
        for row in listed(
            *([f"o{o}" for o in np.flatnonzero(one)] for one in lists[item, user]),
            item_id=f"i{item}", puppet_id=f"p{user:04}",
        )
    ]  # fmt: skip
    (row,) = measure_variance(answer_frame(rows), baseline="offline", n_permutations=1, seed=1)
    return row.share_who


def draw_source(
    taste: float, source: ListSource, shape: tuple[int, int, int], odd_users: float
) -> np.ndarray:
    random = np.random.default_rng(4)
    is_odd = random.random((1, shape[1], 1, 1)) < odd_users
    tastes = taste * is_odd * random.standard_normal((*shape[:2], 1, source.n_options))
    gumbel = random.gumbel(size=(*shape, source.n_options))
    return draw_lists(
        log_weights(source.n_options, source.exponent) + tastes, gumbel, source.n_named
    )


@pytest.mark.parametrize("source", [SOURCE, SMALL, ListSource(1, 2, 0.0)])
@pytest.mark.parametrize(("share", "odd_users"), [(0.0, 1.0), (0.1, 1.0), (0.4, 1.0), (0.1, 0.3)])
def test_the_share_of_who_is_the_one_supposed(
    source: ListSource, share: float, odd_users: float
) -> None:
    taste = taste_strength(share, source, odd_users)
    assert taste is not None
    lists = draw_source(taste, source, (2, 600, 2), odd_users)
    assert lists.sum(axis=-1).min() == lists.sum(axis=-1).max() == source.n_named
    assert measure_share(lists) == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize(("bits", "odd_users"), [(0.0, 1.0), (0.3, 1.0), (0.1, 0.2)])
def test_lists_are_as_many_bits_more_varied(bits: float, odd_users: float) -> None:
    exponent = varied_exponent(bits, SOURCE, odd_users)
    assert exponent is not None
    assert exponent <= SOURCE.exponent
    random = np.random.default_rng(9)

    def shares(chosen: float) -> np.ndarray:
        weights = np.broadcast_to(log_weights(60, chosen), (40_000, 60))
        return draw_lists(weights, random.gumbel(size=weights.shape), 5).mean(axis=0) / 5

    others = shares(SOURCE.exponent)
    mixture = odd_users * shares(exponent) + (1 - odd_users) * others
    rise = float(entropy_bits(mixture) - entropy_bits(others))
    assert rise == pytest.approx(bits, abs=0.02)


def test_users_who_cannot_differ_enough_have_no_source() -> None:
    assert taste_strength(0.5, SOURCE, 0.05) is None
    assert varied_exponent(3.0, SOURCE) is None
    assert varied_exponent(0.5, ListSource(2, 6, 0.0)) is None


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_an_option_is_named_as_often_as_supposed(share: float) -> None:
    lists = draw_moved_lists(share, SOURCE, 20_000, np.random.default_rng(2))
    assert set(lists.sum(axis=1).tolist()) == {5}
    assert lists[:, 0].mean() == pytest.approx(share, abs=0.012)
    # the others keep their order
    shares = lists[:, 1:8].mean(axis=0)
    assert (np.diff(shares) < 0).all()
