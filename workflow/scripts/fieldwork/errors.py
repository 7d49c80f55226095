"""The one exception a user is meant to read."""


class StudyError(Exception):
    """Something a user can put right.

    The message is one sentence that names the file, the setting, and the way out. Stages print it
    without a traceback and exit non-zero.
    """


def first_line(error: BaseException) -> str:
    """What a library says of an error, short enough for one sentence."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
