"""Processes that die at a step of their work.

They are forked before any server starts: a child of a process with threads may hang.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

FORK = multiprocessing.get_context("fork")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_step(owner: type, method: str, when: str, nth: int, act: Callable[[], None] = die) -> None:
    """Have `act` called before or after the `nth` call of a method; for good: to be used in a child."""
    original, n_calls = getattr(owner, method), 0

    def watched(*args: Any, **kwargs: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if when == "before" and n_calls == nth:
            act()
        result = original(*args, **kwargs)
        if when == "after" and n_calls == nth:
            act()
        return result

    setattr(owner, method, watched)


def exit_of(work: Callable[[], Any]) -> int | None:
    """How a process ends that does some work."""
    process = FORK.Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode
