"""An id that is like nothing else is looked for anywhere, and no message quotes one."""

import pytest

from fieldwork.field.deletion.ids import distinctive_mark, is_distinctive, without_ids

PROLIFIC = "5f3c9b01ab77e0bbf37a9459"


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        (PROLIFIC, True),
        ("R_1aBcDeFgHiJkLm", True),
        ("anna@example.org", True),
        ("A01", False),
        ("1", False),
        ("20261122", False),  # a date, or digits of some number
        ("sunflower", False),  # a word of somebody's answer
        ("Anna Schmidt", False),
    ],
)
def test_an_id_is_looked_for_everywhere_only_where_nothing_else_is_written_like_it(
    who: str, expected: bool
) -> None:
    assert is_distinctive(who) is expected


def test_an_id_that_is_part_of_anothers_is_looked_for_as_a_word() -> None:
    ids = ["participant10", "participant1"]
    assert [distinctive_mark(who, ids).is_word for who in ids] == [False, True]


@pytest.mark.parametrize(
    ("path", "ids", "expected"),
    [
        (f"resources/field/{PROLIFIC}.csv", [PROLIFIC], "resources/field/[id].csv"),
        (f"x/a_{PROLIFIC.upper()}b.csv", [PROLIFIC], "x/a_[id]b.csv"),
        ("resources/field/A1.csv", ["A1"], "resources/field/[id].csv"),
        ("resources/field/page_A1_2.csv", ["A1"], "resources/field/page_[id]_2.csv"),
        ("resources/field/wave_1.csv", ["1"], "resources/field/wave_[id].csv"),
        ("x/participant10.csv", ["participant1", "participant10"], "x/[id].csv"),
    ],
)
def test_no_message_names_a_file_by_an_id(path: str, ids: list[str], expected: str) -> None:
    assert without_ids(path, ids) == expected
