"""The server's clock, which may run fast or be moved on, so that no test waits for an hour."""

import time


class Clock:
    """Seconds since 1970, passing `speed` times as fast as real ones since the clock was made."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._start = time.time()
        self._begun = time.monotonic()
        self._skipped = 0.0

    def now(self) -> float:
        """Seconds since 1970 on this clock."""
        return self._start + (time.monotonic() - self._begun) * self.speed + self._skipped

    def skip(self, seconds: float) -> None:
        """Move on at once."""
        self._skipped += seconds
