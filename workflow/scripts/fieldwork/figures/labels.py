"""Printed names of questions and options, and texts that are cut to their room.

Promises: an item has the same name in all figures, and no two items of a panel share a name. The name is
the id where all ids of the task read as words (hobbies), else the question, cut where it is long.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from string import ascii_uppercase

from matplotlib.figure import Figure

from fieldwork.figures.style import TEXT_POINTS
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

_WORDS = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]+)*")
"""Letters and spaces: `haircuts`, but neither `capital_aus` nor `q1`."""


def item_names(
    keys: Iterable[ItemKey], questions: Mapping[ItemKey, Item], *, letters: int
) -> dict[ItemKey, str]:
    """Printed names of the items of a panel, in at most `letters` letters.

    Questions that begin alike have their ids before them. Without its question an item has its id.
    """
    tasks_with_codes = {key.task for key in questions if not _WORDS.fullmatch(key.item_id)}
    whole = {
        key: questions[key].question
        if key in questions and key.task in tasks_with_codes
        else key.item_id.replace("_", " ")
        for key in keys
    }
    names = {key: cut(name, letters=letters) for key, name in whole.items()}
    counts = Counter(names.values())
    return {
        key: name
        if counts[name] == 1
        else cut(f"{key.item_id}: {whole[key]}", letters=max(letters, len(key.item_id) + 1))
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
    """The printed name of an answer: a letter of a choice or a scale is followed by the option's text."""
    if item is None or item.kind not in LETTER_KINDS or answer not in ascii_uppercase:
        return answer
    place = ascii_uppercase.index(answer)
    return f"{answer} {item.choices[place]}" if place < len(item.choices) else answer


def cut(text: str, *, letters: int) -> str:
    """`text` on one line; a text longer than `letters` ends in … after a word.

    A word itself is cut only where less than half of the room would be used.
    """
    line = " ".join(text.split())
    if len(line) <= letters:
        return line
    head = line[: letters - 1]
    words = head if line[len(head)] == " " else head.rpartition(" ")[0]
    return (words if 2 * len(words) >= letters else head).rstrip(" ,;:.–-") + "…"


def fit(figure: Figure, text: str, *, inches: float, lines: int = 1, ending: str = "") -> str:
    """As much of `text` as `lines` lines of `inches` hold with its `ending`, in the smallest type."""
    probe = figure.text(0, 0, "", fontsize=TEXT_POINTS)

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
    longest = "\n".join(lines_of(low))
    probe.remove()
    return longest


def inches_of(figure: Figure, text: str) -> float:
    """Width of a line in the style's smallest type."""
    probe = figure.text(0, 0, text, fontsize=TEXT_POINTS)
    width = float(probe.get_window_extent().width / figure.dpi)
    probe.remove()
    return width


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
