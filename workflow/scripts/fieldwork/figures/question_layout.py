"""The layout of figure 2: which questions a page holds, and the size of their texts, options and bars.

Each question has its own options and therefore its own legend, between its text and its bars.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any, NamedTuple

from fieldwork.figures.labels import fit, inches_of, own_words
from fieldwork.figures.selection import rest_remark
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import PAGE_HEIGHT, PAGE_WIDTH, TEXT_POINTS
from fieldwork.records.field import FIELD
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item

FIELD_GAP = 0.45
"""Gap between the last condition and the field, in bars."""
SWATCH, TEXT_GAP, SPACING = 1.3, 0.5, 1.6
"""Widths in letter heights: of a swatch, from it to its text, and from one column to the next."""
LINE_SPACING = 0.2
"""Between two lines of options, in letter heights."""
_LINE = (1 + LINE_SPACING) * TEXT_POINTS / 72
"""Inches from one line of options to the next."""
_MARGIN_INCHES = 0.25
"""Inches of the page that neither names nor questions take."""
GAP = 0.05
"""Inches between bars, options and question."""
_MOST_ITEMS = 6
"""The first of the table are drawn, fewer where a page holds fewer."""
_HEAD_MARGIN = 0.12
_WIDEST_BAR, _LEAST_BAR = 0.17, 0.125
"""Inches from one bar to the next."""
_MOST_LINES, _FEW_LINES, _FEW_QUESTIONS = 5, 2, 4
"""Lines of options. Where a page is too short, it shows fewer questions, then shorter options."""
_TITLE_LINES = 2
_AROUND = 1.25
"""Inches of a page that notes, head, models' names and the axis take."""


class QuestionOption(NamedTuple):
    """An option of a question, its text as it is printed.

    Attributes:
        letter: what tables call it.
        mark: what stood before it in the prompt; None for its letter.
        height: of a point of a scale, from 0 for the lowest to 1; None for other options.
        is_beside_scale: whether it stands beside points, and has no value.
    """

    letter: str
    text: str
    is_gold: bool
    mark: str | None = None
    height: float | None = None
    is_beside_scale: bool = False

    @property
    def name(self) -> str:
        """What it is called within a bar."""
        return self.letter if self.mark is None else self.mark

    @property
    def label(self) -> str:
        """The text beside its swatch; a label that is the mark itself stands once."""
        text = "" if self.text == self.name else self.text
        return f"{self.name}  {text}".rstrip()


class QuestionPanel(NamedTuple):
    """A question: its text in lines, and its options in so many columns."""

    item: ItemKey
    title: str
    options: Sequence[QuestionOption]
    columns: int

    @property
    def legend_inches(self) -> float:
        """Height of the options."""
        return -(-len(self.options) // self.columns) * _LINE

    @property
    def head_inches(self) -> float:
        """Height of text and options."""
        lines = self.title.count("\n") + 1
        return self.legend_inches + lines * 1.2 * TEXT_POINTS / 72 + 2 * GAP + _HEAD_MARGIN


class QuestionLayout(NamedTuple):
    """The questions of a page, the inches of a bar, and a remark where questions were left out."""

    panels: Sequence[QuestionPanel]
    bar: float
    remark: str | None


def bar_places(conditions: Sequence[str]) -> list[float]:
    """Heights of the bars, top down; the field, which is the last, stands apart."""
    return [
        i + (FIELD_GAP if condition == FIELD and i > 0 else 0.0)
        for i, condition in enumerate(conditions)
    ]


def lay_out_questions(
    rows: Sequence[Any],
    names: Sequence[str],
    slots: float,
    settings: FigureSettings,
) -> QuestionLayout:
    """As many of the questions to draw as a page holds, at least one.

    Args:
        rows: `records.AnswerShare` rows.
        names: of the conditions, as printed.
        slots: bars that a panel has room for.
    """
    answers: dict[ItemKey, dict[str, bool]] = {}
    for row in rows:
        answers.setdefault(ItemKey(row.task, row.item_id), {})[row.answer] = bool(row.is_correct)
    keys = [*answers][: settings.max_items or _MOST_ITEMS]
    questions = _questions(keys, settings)
    for lines, fewest in ((_MOST_LINES, min(len(keys), _FEW_QUESTIONS)), (_FEW_LINES, 1)):
        panels = [_panel(key, answers[key], questions.get(key), lines, names) for key in keys]
        for count in range(len(keys), fewest - 1, -1):
            around = _AROUND + sum(panel.head_inches for panel in panels[:count])
            bar = (PAGE_HEIGHT - around) / (slots * count)
            if bar >= _LEAST_BAR or (lines, count) == (_FEW_LINES, 1):
                bar = min(_WIDEST_BAR, max(_LEAST_BAR, bar))
                return QuestionLayout(panels[:count], bar, rest_remark(count, len(answers)))
    raise AssertionError("unreachable: the least questions with few lines always return")


def _questions(keys: Sequence[ItemKey], settings: FigureSettings) -> dict[ItemKey, Item]:
    """The items, their questions without what all begin or end with."""
    items = {key: settings.questions[key] for key in keys if key in settings.questions}
    texts = own_words([item.question for item in items.values()])
    return {
        key: replace(item, question=text)
        for (key, item), text in zip(items.items(), texts, strict=True)
    }


def _panel(
    key: ItemKey,
    answers: Mapping[str, bool],
    item: Item | None,
    most_lines: int,
    names: Sequence[str],
) -> QuestionPanel:
    room = PAGE_WIDTH - max(inches_of(name) for name in names) - _MARGIN_INCHES
    # the id is what tables and findings call the question by
    name = fit(key.item_id, inches=room / 2)
    title = f"{key.task}: {name}"
    if item is not None:
        ending = f" ({name})"
        title = fit(item.question, inches=room, lines=_TITLE_LINES, ending=ending)
    options = _options(answers, item)
    for lines in range(1, most_lines + 1):
        columns = max(1, -(-len(options) // lines))
        if _width(options, columns) <= room:
            return QuestionPanel(key, title, options, columns)
    column_inches = room / columns - _width([QuestionOption("W", "", is_gold=False)], 1)
    short = [c._replace(text=fit(c.text, inches=column_inches)) for c in options]
    return QuestionPanel(key, title, short, columns)


def _options(answers: Mapping[str, bool], item: Item | None) -> list[QuestionOption]:
    """All options of the question, also those that nobody chose."""
    if item is None:
        return [QuestionOption(a, "", answers[a]) for a in sorted(answers) if a != UNKNOWN]
    return [
        QuestionOption(
            letter,
            " ".join(text.split()),
            answers.get(letter, False),
            mark=item.marks[place] if item.marks else None,
            height=_height(item, place),
            is_beside_scale=bool(item.points) and place >= len(item.points or []),
        )
        for place, (letter, text) in enumerate(zip(ascii_uppercase, item.choices, strict=False))
    ]


def _height(item: Item, place: int) -> float | None:
    """Where a point stands between the lowest and the highest of its scale."""
    points = item.points or []
    if place >= len(points):
        return None
    low, high = min(points), max(points)
    return (points[place] - low) / (high - low) if high > low else 0.0


def _width(options: Sequence[QuestionOption], columns: int) -> float:
    """Inches of a legend whose columns are filled one after the other."""
    widths = [inches_of(option.label) for option in options]
    lines, longer = divmod(len(options), columns)
    total, at = 0.0, 0
    for column in range(columns):
        end = at + lines + (column < longer)
        total += max(widths[at:end], default=0.0) + (SWATCH + TEXT_GAP + SPACING) * TEXT_POINTS / 72
        at = end
    return total
