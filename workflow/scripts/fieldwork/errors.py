"""The one exception a user is meant to read."""


class StudyError(Exception):
    """Something a user can put right.

    The message is one sentence that names the file, the setting, and the way out. Stages print it
    without a traceback and exit non-zero.
    """


def first_line(error: BaseException) -> str:
    """What a library says of an error, short enough for one sentence."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def size_text(n_bytes: float) -> str:
    """`3.1 GB`, `640.0 MB`, `12 kB`: in a unit that does not make something nothing."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:,.1f} {unit}"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes >= 1e3 else f"{n_bytes:.0f} bytes"
