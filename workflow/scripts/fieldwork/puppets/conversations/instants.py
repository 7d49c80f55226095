"""Times as files of conversations write them: ISO 8601, days with dots, or a number since 1970."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any

_NUMBER = re.compile(r"\d{9,19}(\.\d+)?")
_TIMES_AFTER_DAYS = (" %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", "")


def instant(value: Any) -> datetime | None:
    """The time in UTC, or None where it cannot be read; a time without a zone is taken as UTC.

    A number counts seconds, milliseconds, microseconds or nanoseconds since 1970, depending on its size.
    A day with slashes is not read, because 3/4/2025 is a different day in different countries.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    text = str(value).strip()
    if _NUMBER.fullmatch(text):
        return _since_1970(float(text))
    return _from_text(text)


def _from_text(text: str) -> datetime | None:
    with suppress(ValueError):
        return _in_utc(datetime.fromisoformat(re.sub(r" ?(UTC|GMT)$", "+00:00", text)))
    for form in _TIMES_AFTER_DAYS:
        with suppress(ValueError):
            return _in_utc(datetime.strptime(text, f"%d.%m.%Y{form}"))
    return None


def _in_utc(value: datetime) -> datetime | None:
    with suppress(OverflowError, ValueError):
        return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
    return None


def _since_1970(number: float) -> datetime | None:
    for largest, unit in ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        if number < largest:
            with suppress(OverflowError, ValueError, OSError):
                return datetime.fromtimestamp(number / unit, UTC)
    return None
