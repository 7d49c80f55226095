"""What kind of question a row of a file holds: by what it says itself, or by what it offers.

Owns the words by which people call the kinds, and the ends by which a scale is known.
"""

from collections.abc import Mapping, Sequence

from fieldwork.files.headers import bare_name
from fieldwork.records.tasks import ItemKind

KIND_WORDS: Mapping[str, ItemKind] = {
    **dict.fromkeys(["list", "lists", "listing", "recommendation", "recommendations"], "list"),
    **dict.fromkeys(
        ["choice", "singlechoice", "multiplechoice", "mc", "radio", "dropdown", "letter"], "choice"
    ),
    **dict.fromkeys(
        ["scale", "likert", "likertscale", "rating", "ratingscale", "agreement", "ordinal"], "scale"
    ),
    **dict.fromkeys(["number", "numeric", "numerical", "integer", "decimal", "amount"], "number"),
    **dict.fromkeys(["text", "open", "openended", "free", "freetext", "essay"], "text"),
}
"""By a word without blanks and signs, in lower case: the kind that it names."""

_MISSING = frozenset(
    [
        "cantsay",
        "donotknow",
        "dontknow",
        "idontknow",
        "keineangabe",
        "na",
        "nesaitpas",
        "noanswer",
        "noopinion",
        "notapplicable",
        "notsure",
        "prefernottoanswer",
        "prefernottosay",
        "refused",
        "sansreponse",
        "unsure",
        "weissnicht",
    ]
)
"""Options beside a scale, which are no point of it."""

_ENDS = (
    ("stronglydisagree", "stronglyagree"),
    ("disagreestrongly", "agreestrongly"),
    ("completelydisagree", "completelyagree"),
    ("totallydisagree", "totallyagree"),
    ("disagree", "agree"),
    ("never", "always"),
    ("notatall", "verymuch"),
    ("notatall", "extremely"),
    ("notatall", "completely"),
    ("verydissatisfied", "verysatisfied"),
    ("verybad", "verygood"),
    ("veryunlikely", "verylikely"),
    ("extremelyunlikely", "extremelylikely"),
    ("verypoor", "excellent"),
    ("notatallimportant", "veryimportant"),
    ("notatalllikely", "extremelylikely"),
    ("stronglyoppose", "stronglysupport"),
    ("stronglyagainst", "stronglyinfavour"),
    ("stimmegarnichtzu", "stimmevollundganzzu"),
    ("stimmeuberhauptnichtzu", "stimmevollzu"),
    ("pasdutoutdaccord", "toutafaitdaccord"),
)
"""First and last point of usual scales, the low one first."""

_FEWEST_POINTS = 3


def kind_of_word(word: str) -> ItemKind | None:
    """The kind that a cell names, such as `likert`; None where it names none."""
    return KIND_WORDS.get(bare_name(word))


def is_missing_option(option: str) -> bool:
    """Whether an option stands beside a scale: `Don't know`."""
    return bare_name(option) in _MISSING


def scale_order(options: Sequence[str]) -> str | None:
    """`ascending` or `descending` where options are the points of a scale, else None.

    They are where their ends are those of a usual scale, or where they count on without a gap.
    """
    points = [bare_name(option) for option in options if not is_missing_option(option)]
    if len(points) < _FEWEST_POINTS:
        return None
    ends = (points[0], points[-1])
    if ends in _ENDS:
        return "ascending"
    if ends[::-1] in _ENDS:
        return "descending"
    numbers = [int(point) for point in points if point.isdecimal()]
    counts_on = numbers == [*range(numbers[0], numbers[0] + len(points))] if numbers else False
    return "ascending" if counts_on else None
