"""Waits between tries, the reading of Retry-After, and what a status says about another try."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.retries import RetryPolicy, retry_after_s

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)


def test_waits_double_up_to_the_longest() -> None:
    policy = RetryPolicy(9, first_s=2.0)
    assert [policy.own_wait_s(n) for n in range(1, 8)] == [2, 4, 8, 16, 32, 60, 60]
    assert policy.own_wait_s(100_000) == 60.0


def test_jitter_waits_a_part_and_longer_waits_are_not_granted() -> None:
    jittered = RetryPolicy(9, jitter=random.Random(0))
    waits = [jittered.own_wait_s(5) for _ in range(50)]
    assert len(set(waits)) == 50
    assert all(0 <= wait <= RetryPolicy(9).own_wait_s(5) for wait in waits)
    policy = RetryPolicy(3, longest_asked_s=120.0)
    assert [policy.has_attempts(n) for n in (1, 2, 3)] == [True, True, False]
    assert [policy.is_too_long(wait_s) for wait_s in (119.0, 120.0, 120.5)] == [False, False, True]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Mon, 04 May 2026 03:02:31 GMT"}, 30.0),
        ({"retry-after": "Mon, 04 May 2020 03:02:31 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "nan", "retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_milliseconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("date", "seconds"),
    [("Mon, 04 May 2026 03:30:00 GMT", 30), ("Mon, 04 May 2026 03:31:00 GMT", 0), ("soon", 1709)],
)
def test_a_date_counts_from_the_server_s_own_clock(date: str, seconds: float) -> None:
    headers = {"retry-after": "Mon, 04 May 2026 03:30:30 GMT", "date": date}
    assert retry_after_s(headers, NOW) == seconds


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_no_header_breaks_the_reading(text: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after_s({name: text}, NOW)
        assert seconds is None or seconds >= 0
