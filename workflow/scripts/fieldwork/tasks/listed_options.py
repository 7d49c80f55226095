"""Options that the wording of a question lists by letters."""

import re
from string import ascii_uppercase

_MARK = r"(?:\({0}\)\.?|(?<![A-Za-z0-9]){0}[.)])\s+"


def listed_options(wording: str) -> list[str]:
    """The options that a question lists as (A), (A)., A. or A), of several lists the last.

    Empty where there is no such list; a text after the last option that begins a line of its own, such as
    `Answer:`, is no part of it.
    """
    starts = [match.start() for match in re.finditer(_MARK.format("A"), wording)]
    for start in reversed(starts):
        options = _options_from(wording, start)
        if len(options) > 1:
            return options
    return []


def _options_from(wording: str, start: int) -> list[str]:
    options: list[str] = []
    place = start
    for letter, following in zip(ascii_uppercase, [*ascii_uppercase[1:], None], strict=True):
        mark = re.compile(_MARK.format(letter)).match(wording, place)
        if mark is None:
            break
        end = re.compile(_MARK.format(following)).search(wording, mark.end()) if following else None
        options.append(wording[mark.end() : end.start() if end else None].strip())
        if end is None:
            break
        place = end.start()
    if options:
        # what follows the last option is the cue for the answer
        options[-1] = re.split(r"\n|\s+A:\s*$", options[-1])[0].strip()
    return options
