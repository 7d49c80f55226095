"""Whether the model that answered is the one that the study names, or a dated snapshot of it."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_DATE = r"\d{4}-\d{2}-\d{2}|20\d{6}|(?:0[1-9]|1[0-2])[0-3]\d"
# first OpenAI's endings, such as 2024-07-18 or 0613; then Google's, such as 001
_SNAPSHOT = re.compile(rf"-(?:{_DATE}|0\d\d)")


def is_one_of(model: str, names: Iterable[str]) -> bool:
    """Whether a model has one of the names, is a dated or numbered snapshot of one, or fits its glob."""
    return any(
        fnmatchcase(model, name)
        or (
            model.startswith(name)
            and (len(model) == len(name) or _SNAPSHOT.fullmatch(model[len(name) :]) is not None)
        )
        for name in names
    )
