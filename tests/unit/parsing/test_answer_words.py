"""What raters and model judges see of an answer to a question with options."""

import pytest

from fieldwork.parsing.answer_words import in_words
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item, ItemKind
from unit.table_rows import response_of


def words(
    text: str | None, kind: ItemKind = "choice", marks: list[str] | None = None
) -> str | None:
    item = Item(
        "q", kind, "Which?", "", ["Lyon", "Paris", "Nice"], None, None, "a test", marks=marks
    )
    reply = response_of(text, "ok" if text else "empty", item_id="q")
    (response,) = in_words([reply], {ItemKey("t", "q"): item})
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
