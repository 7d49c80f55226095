"""Times of every tool become one time in UTC, and what could be two days is none."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from fieldwork.puppets.conversations.messages import instant

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-09T12:00:00Z",
        "2024-03-09T13:00:00+01:00",
        "2024-03-09 12:00:00 UTC",
        "09.03.2024 12:00",
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=-5))),
        SECONDS,
        str(SECONDS),
        SECONDS * 1_000,
        SECONDS * 1_000_000_000,
    ],
)
def test_one_time_in_many_forms(value: Any) -> None:
    assert instant(value) == NOON


def test_a_day_is_its_first_moment() -> None:
    midnight = NOON.replace(hour=0)
    assert instant("2024-03-09") == instant("09.03.2024") == instant(date(2024, 3, 9)) == midnight


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "yesterday",
        "03/09/2024",
        7,
        "12:30",
        "0000-01-01",
        10**25,
    ],
)
def test_what_is_no_time_or_could_be_two_is_none(value: Any) -> None:
    assert instant(value) is None
