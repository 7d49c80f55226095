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


def kept_text(text: str | None) -> tuple[str | None, int]:
    others = [raw(who, "x") for who in (OTHER, "17", "sunflower", "JoséPlanted")]
    first = pseudonymise(RawField([raw(ONE, text), *others], [], 0), KEY).answers[0]
    return first.text, first.n_masked


def test_ids_become_hashes_that_join_answers_and_groups() -> None:
    member = Membership(ONE, "sex", "f", Path("wave.csv"), 2)
    kept = pseudonymise(RawField([raw(ONE, "Alien"), raw(OTHER, None)], [member], 0), KEY)
    ids = [answer.participant_id for answer in kept.answers]
    assert len(set(ids)) == 2
    assert [p.participant_id for p in kept.participants] == ids[:1]
    assert ONE not in repr(kept)
    assert OTHER not in repr(kept)
    again = pseudonymise(RawField([raw(ONE, "Alien")], [], 0), b"j" * 32)
    assert again.answers[0].participant_id != ids[0]
    first = kept.answers[0]
    assert (first.text, first.platform, first.position, first.row) == ("Alien", "ChatGPT", 3, 2)
    assert (first.flags, first.excluded_for) == ([], None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"I am {ONE}.", ("I am [id].", 1)),
        (f"as {OTHER} said", ("as [id] said", 1)),
        ("17. Alien", ("17. Alien", 0)),
        ("all sunflowers, no sunflower", ("all sunflowers, no [id]", 1)),
        (f"as {OTHER.upper()} said", ("as [id] said", 1)),
        ("no SunFlower", ("no [id]", 1)),
        ("e\u0301t\u00e9, Jose\u0301Planted", ("\u00e9t\u00e9, [id]", 1)),
    ],
)
def test_ids_in_texts_are_masked_whoever_they_belong_to(
    text: str | None, expected: tuple[str | None, int]
) -> None:
    assert kept_text(text) == expected


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


@pytest.fixture
def column_map(tmp_path: Path) -> ColumnMap:
    """A column of ids, and one of answers to a prompt."""
    columns = {"participant": "id", "platform": None, "model": None, "position": None}
    field = {
        "key_file": str(tmp_path / "key"),
        "layout": "wide",
        "columns": columns | {"prompt": None, "answer": None, "groups": {}},
        "prompts": {"movies": "Q1"},
        "models": {},
        "skip_prompts": [],
        "rows": {},
    }
    return ColumnMap(field, [MOVIES], ["m"])


def test_files_become_answers_of_pseudonyms(tmp_path: Path, column_map: ColumnMap) -> None:
    wave = tmp_path / "wave.csv"
    wave.write_text(f"id,Q1\n{ONE},Alien\n{OTHER},as {ONE} said\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not data", encoding="utf-8")
    people = import_field([str(wave), str(tmp_path / "notes.txt")], [], column_map)
    key = read_key(tmp_path / "key")
    names = [pseudonym(participant, key) for participant in (ONE, OTHER)]
    assert [(a.participant_id, a.text, a.row) for a in people.answers] == [
        (names[0], "Alien", 2),
        (names[1], "as [id] said", 3),
    ]
    record = tmp_path / "deletions.csv"
    line = Deletion(*["x"] * len(Deletion._fields))._replace(
        number=1, participant=names[1], deleted_at="2026-11-01T00:00:00Z"
    )
    write_record(record, [line])
    with pytest.raises(StudyError, match=r"wave\.csv: row 3 belongs to .* deleted on 2026-11-01"):
        import_field([str(wave)], [str(record)], column_map)
