"""Printed names of questions and options, and texts that are cut to their room.

Promises: no two items of a panel share a name. Where there is room the name is the question, cut where
it is long; figures with narrow places take the id where all ids of the task read as words (hobbies).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from string import ascii_uppercase
from typing import Any

from fieldwork.figures.style import TEXT_POINTS, new_figure
from fieldwork.readable_texts import cut
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

_LONG_PART = 50
"""Letters from which a common beginning or end takes the room of what is a question's own."""
_POINT_LETTERS, _POINT_LINES = 26, 2
"""Letters of a line of a point's label below an axis, and its lines."""
_WORDS = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]+)*")
"""Letters and spaces: `haircuts`, but neither `capital_aus` nor `q1`."""


def question_names(
    keys: Iterable[ItemKey], questions: Mapping[ItemKey, Item], *, letters: int
) -> dict[ItemKey, str]:
    """The questions of the items of a panel, each on one line of at most `letters` letters.

    Questions that begin alike have their ids before them. Without its question an item has its id.
    """
    texts = {key: questions[key].question if key in questions else _id_words(key) for key in keys}
    return _distinct_names(texts, letters=letters)


def item_names(
    keys: Iterable[ItemKey], questions: Mapping[ItemKey, Item], *, letters: int
) -> dict[ItemKey, str]:
    """Short names of the items of a panel: their ids where all ids of the task read as words.

    Otherwise they are those of `question_names`.
    """
    tasks_with_codes = {key.task for key in questions if not _WORDS.fullmatch(key.item_id)}
    texts = {
        key: questions[key].question
        if key in questions and key.task in tasks_with_codes
        else _id_words(key)
        for key in keys
    }
    return _distinct_names(texts, letters=letters)


def _id_words(key: ItemKey) -> str:
    return key.item_id.replace("_", " ")


def _distinct_names(texts: Mapping[ItemKey, str], *, letters: int) -> dict[ItemKey, str]:
    names = {key: cut(text, letters=letters) for key, text in texts.items()}
    counts = Counter(names.values())
    return {
        key: name
        if counts[name] == 1
        else cut(f"{key.item_id}: {texts[key]}", letters=max(letters, len(key.item_id) + 1))
        for key, name in names.items()
    }


KIND_NOUNS: Mapping[str, str] = {
    "list": "lists",
    "choice": "letters",
    "scale": "scales",
    "number": "numbers",
}
"""What a figure calls the answers of a kind."""


def option_name(item: Item | None, answer: str) -> str:
    """The printed name of an answer: of a choice or a scale the option's mark and its text."""
    if item is None or item.kind not in LETTER_KINDS or answer not in ascii_uppercase:
        return answer
    place = ascii_uppercase.index(answer)
    if place >= len(item.choices):
        return answer
    mark, text = (item.marks[place] if item.marks else answer), item.choices[place]
    return mark if text == mark else f"{mark} {text}"


def own_words(texts: Sequence[str]) -> list[str]:
    """The texts without what all of them begin and end with, where that is long.

    Questions of a survey often share their instructions and their options; what tells them apart should
    be read first.
    """
    lines = [text.split() for text in texts]
    if len(set(texts)) < 2:
        return [" ".join(words) for words in lines]
    n_first = _n_common_words(lines)
    n_last = _n_common_words([words[n_first:][::-1] for words in lines])
    return [_own_part(words, n_first, len(words) - n_last) for words in lines]


def _n_common_words(lines: Sequence[Sequence[str]]) -> int:
    """How many words all lines begin with; 0 where these are few letters."""
    common_words = [
        words[0]
        for words in takewhile(lambda words: len(set(words)) == 1, zip(*lines, strict=False))
    ]
    return len(common_words) if len(" ".join(common_words)) >= _LONG_PART else 0


def _own_part(words: Sequence[str], start: int, end: int) -> str:
    ends = "… " if start else "", " …" if end < len(words) else ""
    return f"{ends[0]}{' '.join(words[start:end])}{ends[1]}"


def fit(text: str, *, inches: float, lines: int = 1, ending: str = "") -> str:
    """As much of `text` as `lines` lines of `inches` hold with its `ending`, in the smallest type."""
    figure = new_figure(height=1.0)
    probe = figure.text(0, 0, "", fontsize=TEXT_POINTS)

    @cache
    def fits(line: str) -> bool:
        probe.set_text(line)
        return bool(probe.get_window_extent().width / figure.dpi <= inches)

    def lines_of(letters: int) -> list[str]:
        return _wrap(cut(text, letters=letters) + ending, fits)

    low, high = 1, len(" ".join(text.split()))
    while low < high:
        middle = (low + high + 1) // 2
        page = lines_of(middle)
        if len(page) <= lines and all(map(fits, page)):
            low = middle
        else:
            high = middle - 1
    return "\n".join(lines_of(low))


def scale_axis(labels: Mapping[float, str], *, has_middle: bool = False) -> dict[str, Any]:
    """Properties of an x axis of a whole scale: every point by its number, the ends by labels too.

    Args:
        labels: of the points, two or more, already broken into lines where they need to be.
        has_middle: whether the middle of an odd number of points is named as well.
    """
    points = sorted(labels)
    named_points = {points[0], points[-1]}
    if has_middle and len(points) % 2:
        named_points.add(points[len(points) // 2])
    lines = {point: label.split("\n")[:_POINT_LINES] for point, label in labels.items()}
    names = [
        "\n".join([f"{point:g}", *(cut(line, letters=_POINT_LETTERS) for line in lines[point])])
        if point in named_points
        else f"{point:g}"
        for point in points
    ]
    margin = 0.03 * (points[-1] - points[0])
    ends = (points[0] - margin, points[-1] + margin)
    return {"xlim": ends, "xticks": points, "xticklabels": names}


def inches_of(text: str) -> float:
    """Width of a line in the style's smallest type."""
    figure = new_figure(height=1.0)
    line = figure.text(0, 0, text, fontsize=TEXT_POINTS)
    return float(line.get_window_extent().width / figure.dpi)


def _wrap(text: str, fits: Callable[[str], bool]) -> list[str]:
    """`text` in lines that fit; a word that is wider than a line has one for itself."""
    lines: list[str] = []
    for word in text.split():
        if lines and fits(f"{lines[-1]} {word}"):
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def p_value_text(value: float) -> str:
    """A p-value to three decimals; small ones as a bound."""
    return "p < .001" if value < 0.001 else f"p = {value:.3f}"
