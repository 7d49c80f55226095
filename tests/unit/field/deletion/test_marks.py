"""A participant is recognised however a program wrote the id, and nobody else is taken for one."""

import json
import unicodedata

import pytest

from fieldwork.field.deletion.marks import (
    Mark,
    Matcher,
    Reach,
    ambiguous_mark,
    distinctive_mark,
    is_distinctive,
    without_ids,
)

PROLIFIC = "5f3c9b01ab77e0bbf37a9459"


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        (PROLIFIC, True),
        ("R_1aBcDeFgHiJkLm", True),
        ("anna@example.org", True),
        ("participant-7", True),
        ("Müller-2026", True),
        ("A01", False),
        ("1", False),
        ("20261122", False),  # a date, or digits of some number
        ("sunflower", False),  # a word of somebody's answer
        ("Anna Schmidt", False),
        ("a1b2c3d", False),
    ],
)
def test_an_id_is_looked_for_everywhere_only_where_nothing_else_is_written_like_it(
    who: str, expected: bool
) -> None:
    assert is_distinctive(who) is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("who", ["Jürgen-0815", 'o"neil-1234', "a&b <c> 123", PROLIFIC])
def test_every_way_of_writing_is_found(who: str, form: str, encoding: str) -> None:
    written = unicodedata.normalize(form, who)
    if encoding == "cp1252" and not written.isascii():
        written = who
    matcher = Matcher([distinctive_mark(who, [])])
    quoted = written.replace('"', '""')
    for text in (f'x;"{quoted}";y', f"?participant={written}&x=1", f"before{written}after"):
        assert matcher.matches(text.encode(encoding)), text
    assert not matcher.matches(written[:-1].encode(encoding))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"participant": 'Jür"gen 0815'}),
        json.dumps({"participant": 'Jür"gen 0815'}, ensure_ascii=False),
        "<t>Jür&quot;gen 0815</t>",
        '<t>Jür"gen 0815</t>',
        "https://example.org/?PROLIFIC_PID=J%C3%BCr%22gen%200815",
        'JÜR"GEN 0815'.replace("Ü", "ü"),
    ],
)
def test_escapes_of_other_formats_are_found(text: str) -> None:
    assert Matcher([distinctive_mark('Jür"gen 0815', [])]).matches_text(text)


def test_case_does_not_hide_an_id() -> None:
    assert Matcher([distinctive_mark(PROLIFIC, [])]).matches_text(f"mail of {PROLIFIC.upper()}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("participant1", True),
        ("a,participant1,b", True),
        ("answers_participant1.csv", True),
        ("participant10,participant11", False),
        ("xparticipant1", False),
        ("participant10 participant1", True),
    ],
)
def test_an_id_that_is_part_of_anothers_is_found_as_a_word(
    text: str, expected: bool, encoding: str
) -> None:
    matcher = Matcher([distinctive_mark("participant1", ["participant10", "participant1"])])
    border = "\n".encode(encoding)
    assert matcher.matches(b"\n" + border + text.encode(encoding) + border + b"\n") is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name\n17,x\n", True),
        ('id;name\n" 17 ";x\n', True),
        ('{"participant": "17"}', True),
        ("<c><v>17</v></c>", True),
        ("17\n", True),
        ("170,017,1-17,17.0\n", False),
        ("the answer is 17 of course\n", False),
        ("id,17.csv\n", False),
    ],
)
def test_a_number_is_found_as_a_whole_cell_only(text: str, expected: bool, encoding: str) -> None:
    border = "\n".encode(encoding)
    block = b"\n" + border + text.encode(encoding) + border
    assert Matcher([ambiguous_mark("17")]).matches(block) is expected


@pytest.mark.parametrize(
    ("who", "reach"),
    [("1", "cell"), ("Anna", "cell"), ("A1", "word"), ("12345678", "word"), ("sunflower", "word")],
)
def test_a_doubtful_id_reaches_as_far_as_it_is_like_no_other_word(who: str, reach: Reach) -> None:
    assert ambiguous_mark(who) == Mark(who, reach)


@pytest.mark.parametrize(
    ("path", "ids", "expected"),
    [
        (f"resources/field/{PROLIFIC}.csv", [PROLIFIC], "resources/field/[id].csv"),
        (f"x/a_{PROLIFIC.upper()}b.csv", [PROLIFIC], "x/a_[id]b.csv"),
        ("resources/field/A1.csv", ["A1"], "resources/field/[id].csv"),
        ("resources/field/page_A1_2.csv", ["A1"], "resources/field/page_[id]_2.csv"),
        ("resources/field/A10.csv", ["A1"], "resources/field/A10.csv"),
        ("resources/field/wave_1.csv", ["1"], "resources/field/wave_[id].csv"),
        ("x/participant10.csv", ["participant1", "participant10"], "x/[id].csv"),
    ],
)
def test_no_message_names_a_file_by_an_id(path: str, ids: list[str], expected: str) -> None:
    assert without_ids(path, ids) == expected


def test_no_mark_is_nowhere() -> None:
    assert not Matcher([]).matches_text("anything")
