"""Subsamples hold no answer twice, and count what they hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.statistics.equal_n import (
    N_SUBSAMPLES,
    random_orders,
    sampled_counts,
    smallest_sizes,
    subsample_indices,
    subsampled_tables,
)
from fieldwork.statistics.seeds import generator


@given(population=st.integers(1, 40), data=st.data())
def test_subsamples_hold_no_response_twice(population: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, population))
    samples = subsample_indices(population, size, n_subsamples=5, random=generator(0))
    assert samples.shape == (5, size)
    assert all(len(set(sample)) == size for sample in samples.tolist())
    assert samples.min() >= 0
    assert samples.max() < population


def test_the_smallest_size_leaves_out_empty_samples() -> None:
    assert smallest_sizes([("a", 7), ("b", 0), ("a", 3), ("a", 0)]) == {"a": 3}


def test_subsampled_tables_stay_within_the_table() -> None:
    table = np.array([5, 0, 3])
    tables = subsampled_tables(table, 4, generator(0))
    assert tables.shape == (N_SUBSAMPLES, 3)
    assert set(tables.sum(axis=1)) == {4}
    assert (tables <= table).all()
    assert subsampled_tables(table, 8, generator(0), n_subsamples=2).tolist() == [[5, 0, 3]] * 2


def test_sampled_counts_count_repeats() -> None:
    indicator = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.int64)
    samples = np.array([[0, 0, 1], [1, 1, 1]], dtype=np.int64)
    assert sampled_counts(samples, indicator).tolist() == [[2, 1, 3], [0, 3, 3]]


def test_an_order_holds_one_more_answer_than_a_subsample() -> None:
    assert random_orders(9, 4, generator(0)).shape == (N_SUBSAMPLES, 5)
    assert random_orders(4, 4, generator(0)).tolist() == [[0, 1, 2, 3]]
