"""Names of waves: which days they have, what follows them, and which draws are theirs."""

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest

from fieldwork.waves import DRAWS_OF_A_WAVE, SPANS, read_wave, wave_of


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("2026-W47", date(2026, 11, 16), date(2026, 11, 23)),
        ("2020-W53", date(2020, 12, 28), date(2021, 1, 4)),
        ("2026-12", date(2026, 12, 1), date(2027, 1, 1)),
        ("2024-02-29", date(2024, 2, 29), date(2024, 3, 1)),
    ],
)
def test_a_name_has_days(name: str, start: date, end: date) -> None:
    wave = read_wave(name)
    assert (wave.name, wave.start, wave.end) == (name, start, end)
    assert wave_of(start, wave.span) == wave_of(end - timedelta(days=1), wave.span) == wave


@pytest.mark.parametrize(
    "name", ["2026-W54", "2021-W53", "2026-13", "2026-02-30", "1999-W01", "2026", "W47", ""]
)
def test_what_is_no_wave(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        read_wave(name)


def test_a_wave_lasts_in_utc() -> None:
    week = read_wave("2026-W47")
    # 1 o'clock on Monday in Berlin is still Sunday in UTC
    monday = datetime(2026, 11, 23, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert not week.is_over(monday)
    assert week.is_over(monday + timedelta(minutes=30))
    assert week.is_ahead(datetime(2026, 11, 15, 23, 59, tzinfo=UTC))
    assert not week.is_ahead(datetime(2026, 11, 16, tzinfo=UTC))


def test_no_two_waves_share_a_draw() -> None:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(800)]
    waves = {wave_of(day, span) for day in days for span in SPANS}
    firsts = sorted(wave.first_draw for wave in waves)
    assert len(set(firsts)) == len(waves)
    assert min(firsts) >= DRAWS_OF_A_WAVE
    gaps = [other - one for one, other in pairwise(firsts)]
    assert min(gaps) >= DRAWS_OF_A_WAVE
    # the ledger and Parquet hold draws in 64 bits, and seeds made of them stay exact in JSON
    assert read_wave("2999-12").first_draw + 2_147_483_647 * 1_000_003 < 2**53
