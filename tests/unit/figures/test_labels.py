"""What questions and options are called in a figure, and texts cut to their room."""

import figure_frames as frames
import pytest

from fieldwork.figures.labels import fit, inches_of, item_names, option_name, own_words


def names(letters: int = 40, **texts: str) -> list[str]:
    questions = frames.questions("t", texts)
    return [*item_names(questions, questions, letters=letters).values()]


def test_ids_that_read_as_words_are_names_and_questions_that_begin_alike_keep_them() -> None:
    words = {"haircuts": "Which?", "science fiction": "What?", "Ämter": "Wo?"}
    assert names(**words) == [*words]
    capitals = {k: f"What is the capital of {k}?" for k in ("capital_aus", "capital_nz")}
    assert names(24, **capitals) == ["capital_aus: What is…", "capital_nz: What is the…"]
    assert names(5, **capitals) == ["capital_aus…", "capital_nz…"]


LONG = "A question that goes on for a while, and then some more, until it is far too long. " * 9


@pytest.mark.parametrize("text", ["Short?", LONG, "W" * 300, "é" * 200, "a b " * 400, ""])
@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize("ending", ["", " (an_id)"])
def test_a_text_fits_its_lines(text: str, lines: int, ending: str) -> None:
    page = fit(text, inches=2.5, lines=lines, ending=ending).split("\n")
    assert len(page) <= lines
    assert all(inches_of(line) <= 2.5 for line in page)
    assert " ".join(page).endswith(ending.strip())
    # as much of it as there is room for
    assert text != LONG or sum(map(inches_of, page)) > 2.5 * lines - 1.0


def test_an_option_has_its_text_after_its_letter() -> None:
    (choice,) = frames.questions("t", {"q": "?"}, ["Sydney", "Canberra"], "B").values()
    (list_item,) = frames.questions("t", {"q": "?"}).values()
    assert [option_name(choice, k) for k in ("B", "C", "unknown")] == ["B Canberra", "C", "unknown"]
    assert option_name(list_item, "A") == option_name(None, "A") == "A"


def test_questions_that_share_long_beginnings_and_ends_are_named_by_what_is_their_own() -> None:
    start = "You are taking a survey. Think of your household: how much, if at all, do"
    end = "affect it? (A) A great deal (B) A fair amount (C) Not at all"
    questions = [f"{start} {own} {end}" for own in ("gas prices", "rents in your area")]
    assert own_words(questions) == ["… gas prices …", "… rents in your area …"]
    for alone in (questions[:1], ["I like tea", "I like coffee"], []):
        assert own_words(alone) == alone
