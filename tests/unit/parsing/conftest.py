"""What the tests of the parsers share."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def ends_some_time() -> Iterator[None]:
    """Fails a test that works for a minute: a pattern that tries every way takes hours on such a text.

    The processor's time is counted and not the clock's, as a machine may be busy with other things.
    """

    def give_up(*_: object) -> None:
        raise AssertionError("a minute of work on one short text: some pattern backtracks")

    handler_before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, handler_before)
