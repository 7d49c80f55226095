"""The measures of lists against counting by hand, plain enumeration and closed forms."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.records.estimates import Estimate
from unit.metrics.metric_frames import answer_frame, list_prompts, listed

LISTS = st.lists(st.sets(st.sampled_from("abcdefghij"), min_size=1), min_size=1, max_size=12)


def by_measure(lists: Sequence[Sequence[str]], n_equal: int | None = None) -> dict[str, Estimate]:
    """The measures of lists, at as many answers as another condition has."""
    others = listed(*["x"] * (n_equal or len(lists)), condition="other")
    rows = list_prompts(answer_frame(listed(*lists) + others))
    return {row.measure: row for row in rows if row.condition == "c"}


def values(lists: Sequence[Sequence[str]], n_equal: int | None = None) -> dict[str, float]:
    return {name: row.value or 0.0 for name, row in by_measure(lists, n_equal).items()}


@pytest.mark.parametrize(
    ("lists", "unique", "bits", "top5"),
    [
        # mentions: a 4, b 2, c 1, d 1 of 8
        (("ab", "abc", "a", "ad"), 4, 1.75, 1.0),
        # a 3, b to e 1 each, and two of f, g, h: 7 of 10 mentions
        (("abcd", "aef", "agh"), 8, math.log2(10) - 0.3 * math.log2(3), 0.7),
        # repeats within a list count once
        (("abb", "bab"), 2, 1.0, 1.0),
    ],
)
def test_by_hand(lists: Sequence[str], unique: int, bits: float, top5: float) -> None:
    expected = {"unique_items": unique, "entropy_bits": bits, "top5_share": top5}
    assert values(lists) == pytest.approx(expected | {"one_minus_top5_share": 1 - top5})


@settings(max_examples=40, deadline=None)
@given(lists=LISTS, n_other=st.integers(1, 12))
def test_bounds(lists: list[set[str]], n_other: int) -> None:
    own = [sorted(names) for names in lists]
    rows, n_options = by_measure(own, n_other), len(set().union(*lists))
    value = values(own, n_other)
    assert 0 <= value["entropy_bits"] <= math.log2(n_options) + 1e-9
    assert 1 - 1e-9 <= value["unique_items"] <= n_options + 1e-9
    assert value["one_minus_top5_share"] == pytest.approx(1 - value["top5_share"])
    highest = {"entropy_bits": math.log2(min(n_other, len(own)) * max(map(len, own)))}
    for name, row in rows.items():
        if row.ci_low is not None and row.ci_high is not None:
            assert 0 <= row.ci_low <= row.ci_high <= highest.get(name, 1.0) + 1e-9
    # and more answers name no fewer options
    assert value["unique_items"] <= values(own)["unique_items"] + 1e-9
