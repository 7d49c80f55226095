"""Any text has a form, and rows hold what a reader is shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.parsing.form.readings import read_field_forms, read_forms, read_text_form
from unit.parsing.test_answers import response
from unit.table_rows import field_answer

PROSE = "This is a sentence that you can read without any help from the others. " * 12


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from("aZ é你א🙂\u200d\n\t -*_#|`~<>[]()!.:1\ud800/ht"), max_size=200
    )
)
def test_every_text_has_a_form(text: str) -> None:
    form = read_text_form(text)
    if form is None:
        return
    counts = [value for value in form.columns.values() if isinstance(value, int)]
    markup = form.markup
    assert min(counts) >= 0
    assert markup.list_depth <= markup.list_items
    assert (markup.list_depth > 0) == (markup.list_items > 0)
    assert markup.bare_links <= markup.links
    assert markup.images_without_words <= markup.images
    assert (form.columns["reason"] is None) == (form.columns["reading_ease"] is not None)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "B.", "- c", "# d", "e | f", "![](x)", "**g**"]), max_size=20)
)
def test_trailing_space_and_line_ends_change_nothing(lines: list[str]) -> None:
    assert read_text_form("\n".join(lines)) == read_text_form("\r\n".join(lines) + "\r\n \n")


@pytest.mark.parametrize("text", [None, "", " \n\t", "<think>only thoughts"])
def test_nothing_to_read_has_no_row(text: str | None) -> None:
    assert read_text_form(text) is None


def test_english_prose_has_indices_and_a_letter_has_a_reason() -> None:
    prose, letter = read_text_form(PROSE), read_text_form("B")
    assert prose is not None
    assert letter is not None
    assert prose.columns["sentences"] == 12
    assert prose.columns["words"] == 12 * 14
    assert prose.columns["reading_ease"] is not None
    assert (letter.columns["words"], letter.columns["sentences"]) == (1, 1)
    assert letter.columns["reason"] == "fewer than 100 words of prose"


def test_rows_are_of_responses_with_a_text() -> None:
    responses = [response("A"), response(None, "failed"), response("B", "truncated")]
    rows = [*read_forms(responses)]
    assert [(row.words, row.is_truncated, row.tables) for row in rows] == [
        (1, False, 0),
        (1, True, 0),
    ]


def test_the_field_has_no_markup() -> None:
    (row,) = read_field_forms([field_answer(text="One thing\n- and another")])
    assert (row.condition, row.puppet_id, row.words) == ("field", "p", 4)
    assert row.list_items is row.bold_spans is row.links is None
