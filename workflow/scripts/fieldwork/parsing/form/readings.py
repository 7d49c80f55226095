"""The form of each answer of a table, as rows.

Owns what an answer's form is read from: what a reader is shown, without reasoning. Promises a row for
each answer that has a text, and NULL with a reason where an index cannot be had.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fieldwork.parsing.form.markup import Markup, read_markup
from fieldwork.parsing.form.prose import read_prose, reading_level, split_sentences
from fieldwork.parsing.form.symbols import count_capital_words, count_decorations, count_emoji
from fieldwork.parsing.visible_text import without_reasoning
from fieldwork.parsing.writing_systems import count_words
from fieldwork.records.answer_form import FormReading
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.generation import Response

_OF_MARKUP = (
    "list_items",
    "list_depth",
    "tables",
    "headings",
    "bold_spans",
    "links",
    "bare_links",
    "images",
    "images_without_words",
    "code_blocks",
)
_LOST_MARKUP: Mapping[str, Any] = dict.fromkeys(_OF_MARKUP)


class TextForm(NamedTuple):
    """The form of a text: its markup, and the columns of a row that do not need it."""

    markup: Markup
    columns: dict[str, Any]


def read_forms(responses: Iterable[Response]) -> Iterator[FormReading]:
    """A row for each response with a text; what failed, or came empty, has none."""
    for response in responses:
        form = read_text_form(response.text)
        if form is not None:
            yield FormReading(
                model=response.model,
                task=response.task,
                condition=response.condition,
                item_id=response.item_id,
                puppet_id=response.puppet_id,
                replicate=response.replicate,
                is_truncated=response.outcome == "truncated",
                **form.columns,
                **{name: getattr(form.markup, name) for name in _OF_MARKUP},
            )


def read_field_forms(answers: Iterable[FieldAnswer]) -> Iterator[FormReading]:
    """A row for each answer of a participant with a text; without its markup, which a page loses."""
    for answer in answers:
        form = read_text_form(answer.text)
        if form is not None:
            yield FormReading(
                model=answer.model,
                task=answer.task,
                condition=FIELD,
                item_id=answer.item_id,
                puppet_id=answer.participant_id,
                replicate=answer.replicate,
                is_truncated=False,
                **form.columns,
                **_LOST_MARKUP,
            )


def read_text_form(text: str | None) -> TextForm | None:
    """The form of what a reader is shown of a text; None where that is nothing."""
    visible = without_reasoning(text or "").replace("\r\n", "\n").replace("\r", "\n").strip()
    if not visible:
        return None
    markup = read_markup(visible)
    prose = read_prose(markup.prose)
    level = reading_level(prose)
    columns = {
        "characters": len(visible),
        "words": _count_words(visible),
        "sentences": sum(len(split_sentences(part)) for part in markup.prose),
        "is_english": prose.is_english,
        "reading_ease": level.reading_ease,
        "grade": level.grade,
        "reason": level.reason,
        "emoji": count_emoji(visible),
        "decorations": count_decorations(markup.text),
        "capital_words": count_capital_words(markup.text),
    }
    return TextForm(markup, columns)


def _count_words(text: str) -> int:
    """Words of a text; marks that stand by themselves, as those of lists do, are none."""
    tokens = [token for token in text.split() if any(map(str.isalnum, token))]
    return count_words(" ".join(tokens))
