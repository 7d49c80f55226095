"""What raters and model judges see of an answer to a question with options."""

from typing import Any

import pytest

from fieldwork.parsing.answer_words import in_words
from fieldwork.records.generation import Response
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item, ItemKind


def words(
    text: str | None, kind: ItemKind = "choice", marks: list[str] | None = None
) -> str | None:
    item = Item(
        "q", kind, "Which?", "", ["Lyon", "Paris", "Nice"], None, None, "a test", marks=marks
    )
    columns: dict[str, Any] = dict.fromkeys(Response.__dataclass_fields__)
    columns |= {"task": "t", "item_id": "q", "outcome": "ok" if text else "empty", "text": text}
    (response,) = in_words([Response(**columns)], {ItemKey("t", "q"): item})
    return response.text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("B", "B. Paris"),
        ("(B)", "B. Paris"),
        ("Paris", "Paris"),
        ("B) Paris, as it is the largest.", "B) Paris, as it is the largest."),
        ("The answer is B.", "The answer is B.\n\n(B. Paris)"),
        ("I cannot say.", "I cannot say."),
        ("", ""),
        (None, None),
    ],
)
def test_a_letter_comes_with_its_option(reply: str | None, text: str | None) -> None:
    assert words(reply) == text


def test_a_number_comes_with_its_point() -> None:
    assert words("2", "scale", ["1", "2", "3"]) == "2. Paris"


def test_other_answers_are_as_they_are() -> None:
    assert words("B", "list") == words("B", "text") == "B"
