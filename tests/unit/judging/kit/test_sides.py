"""The order of two answers in raters' files: drawn, and said by a code that tells nothing."""

from fieldwork.judging.kit.sides import drawn_side, other_side, shown_answers, shown_side
from unit.judging.unit_texts import pair, unit_text

PAIRS = [pair(f"p{n}") for n in range(200)]


def test_either_side_stands_first_in_about_half_of_the_units() -> None:
    assert 70 < [drawn_side(unit) for unit in PAIRS].count("a") < 130
    assert [drawn_side(unit) for unit in PAIRS] == [drawn_side(unit) for unit in PAIRS]


def test_answers_stand_in_the_order_that_the_code_says() -> None:
    (unit, *_) = PAIRS
    assert shown_answers(unit, "a") == ["Answer A", "Answer B"]
    assert shown_answers(unit, "b") == ["Answer B", "Answer A"]
    codes = {shown_side(unit, side) for unit in PAIRS for side in ("a", "b")}
    assert len(codes) == 2 * len(PAIRS)
    # a spreadsheet would take digits with an e among them for a number
    assert all(code.isalpha() for code in codes)


def test_a_unit_that_is_no_pair_has_no_order() -> None:
    unit = unit_text("a", text_a="One answer")
    assert drawn_side(unit) is None
    assert other_side(drawn_side(unit)) is None
    assert shown_answers(unit, None) == ["One answer", None]
    assert shown_side(unit, None) == ""
