"""What leaves the import names nobody: ids are hashes, texts are masked, file names too."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.field.columns import ColumnMap
from fieldwork.field.deletion.record import Deletion, write_record
from fieldwork.field.importing import file_labels, import_field, pseudonymise
from fieldwork.field.raw_answers import FieldPrompt, Membership, RawAnswer, RawField
from fieldwork.privacy import pseudonym, read_key

KEY = b"k" * 32
MOVIES = FieldPrompt("recommendations", "movies")
ONE, OTHER = "5f3c9b01ab77", "5f3c9b02cd88"


def raw(participant: str, text: str | None, *, path: str = "wave.csv", row: int = 2) -> RawAnswer:
    return RawAnswer(participant, "ChatGPT", "m", MOVIES, 0, 3, text, Path(path), row)


def test_ids_become_hashes_that_join_answers_and_groups() -> None:
    member = Membership(ONE, "sex", "f", Path("wave.csv"), 2)
    kept = pseudonymise(RawField([raw(ONE, "Alien"), raw(OTHER, None)], [member], 0), KEY)
    first, second = kept.answers
    assert first.participant_id != second.participant_id
    assert [p.participant_id for p in kept.participants] == [first.participant_id]
    assert ONE not in repr(kept)
    assert OTHER not in repr(kept)
    again = pseudonymise(RawField([raw(ONE, "Alien")], [], 0), b"j" * 32)
    assert again.answers[0].participant_id != first.participant_id
    assert (first.text, first.platform, first.position, first.row) == ("Alien", "ChatGPT", 3, 2)
    assert (first.flags, first.excluded_for) == ([], None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"I am {ONE}.", "I am [id]."),
        (f"as {OTHER} said", "as [id] said"),
        ("17. Alien", "17. Alien"),
        ("all sunflowers, no sunflower", "all sunflowers, no [id]"),
        (f"as {OTHER.upper()} said", "as [id] said"),
        ("no SunFlower", "no [id]"),
        ("e\u0301t\u00e9, Jose\u0301Planted", "\u00e9t\u00e9, [id]"),
    ],
)
def test_ids_in_texts_are_masked_whoever_they_belong_to(text: str, expected: str) -> None:
    people = [raw(who, "x") for who in (OTHER, "17", "sunflower", "JoséPlanted")]
    first = pseudonymise(RawField([raw(ONE, text), *people], [], 0), KEY).answers[0]
    assert (first.text, first.n_masked) == (expected, expected.count("[id]"))


@pytest.mark.parametrize(
    ("paths", "ids", "expected"),
    [
        (["in/a.csv"], [ONE], ["a.csv"]),
        (["in/a.csv", "in/b/a.csv"], [ONE], ["a.csv", "b/a.csv"]),
        (["in/a.csv", f"in/x{ONE.upper()}.xlsx"], [ONE], ["a.csv", "file 2.xlsx"]),
        ([f"in/{ONE}/a.csv", "in/b.csv"], [ONE], ["file 1.csv", "b.csv"]),
        (["in/p7.csv", "in/p71.csv"], ["p7"], ["file 1.csv", "p71.csv"]),
    ],
)
def test_a_file_that_is_named_after_a_participant_is_told_by_its_number(
    paths: Sequence[str], ids: Sequence[str], expected: Sequence[str]
) -> None:
    assert list(file_labels([Path(p) for p in paths], ids).values()) == expected


def column_map(key: Path) -> ColumnMap:
    """A column of ids, and one of answers to a prompt."""
    columns = dict.fromkeys(("platform", "model", "position", "prompt", "answer"))
    columns |= {"participant": "id", "groups": {}}
    field = {
        "key_file": str(key),
        "layout": "wide",
        "columns": columns,
        "prompts": {"movies": "Q1"},
    }
    return ColumnMap(field | {"models": {}, "skip_prompts": [], "rows": {}}, [MOVIES], ["m"])


def test_files_become_answers_of_pseudonyms(tmp_path: Path) -> None:
    wave, columns = tmp_path / "wave.csv", column_map(tmp_path / "key")
    wave.write_text(f"id,Q1\n{ONE},Alien\n{OTHER},as {ONE} said\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not data", encoding="utf-8")
    people = import_field([str(wave), str(tmp_path / "notes.txt")], [], columns)
    one, other = (pseudonym(who, read_key(tmp_path / "key")) for who in (ONE, OTHER))
    rows = [(a.participant_id, a.text, a.row) for a in people.answers]
    assert rows == [(one, "Alien", 2), (other, "as [id] said", 3)]
    line = Deletion(other, "x", "x", 1, "2026-11-01T00:00:00Z")
    write_record(tmp_path / "deletions.csv", [line])
    with pytest.raises(StudyError, match=r"wave\.csv: row 3 belongs to .* deleted on 2026-11-01"):
        import_field([str(wave)], [str(tmp_path / "deletions.csv")], columns)
