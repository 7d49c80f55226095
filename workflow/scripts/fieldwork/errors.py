"""The one exception whose message is written for users, and the parts of such messages."""


class StudyError(Exception):
    """A problem that a user can solve.

    The message is one sentence: the file, the setting, and what to do. Stages print it without a
    traceback and exit non-zero.
    """


def first_line(error: BaseException) -> str:
    """The message of a library's error, short enough for one sentence."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def size_text(n_bytes: float) -> str:
    """A size such as `3.1 GB`, `640.0 MB` or `12 kB`, in a unit in which it is not 0."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:,.1f} {unit}"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes >= 1e3 else f"{n_bytes:.0f} bytes"
