"""A participant is deleted from everything below a folder, whatever happens on the way."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork import tables
from fieldwork.config.field import DELETIONS_FILE, FORGET_FILE, field_files
from fieldwork.errors import StudyError
from fieldwork.field.deletion import forgetting
from fieldwork.field.deletion.forgetting import DeletionOutcome
from fieldwork.field.deletion.record import Deletion, read_record, refuse_return, write_record
from fieldwork.field.deletion.sentences import account_of, failure_of
from fieldwork.field.deletion.site import Site, site_of
from fieldwork.field.raw_answers import FieldPrompt, Membership, RawAnswer, RawField
from fieldwork.privacy import pseudonym, read_key
from fieldwork.records.field import FieldAnswer

ONE, OTHER, THIRD = "5f3c9b01ab77", "5f3c9b02cd88", "5f3c9b03ef99"
KEY_FILE = Path("resources/field/key")
RAW = Path("resources/field/wave_1.csv")
GROUPS = Path("resources/field/groups.csv")
N_COMPUTED = 16
"""Files of a study that `write_study` writes, but for its kit."""


def field_of(**changes: Any) -> dict[str, Any]:
    paths = {"path": "resources/field", "osf": None, "key_file": str(KEY_FILE)}
    return paths | {"columns": {"participant": "id"}} | changes


def site(**changes: Any) -> Site:
    field = field_of(**changes)
    return site_of(field, field_files({"field": field}))


def name_of(who: str, key_file: Path = KEY_FILE) -> str:
    return pseudonym(who, read_key(key_file))


def write(path: str | Path, text: str = "x") -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def write_answers(path: str | Path, people: Sequence[str]) -> None:
    rows = [
        FieldAnswer(name, None, "m", "t", "movies", 0, None, "Alien", 0, "wave.csv", n, [], None)
        for n, name in enumerate(people, start=2)
    ]
    tables.write_rows(path, rows, FieldAnswer)


def write_study(name: str, people: Sequence[str], key_file: Path = KEY_FILE) -> None:
    """A study as far as it matters: tables with pseudonyms, what was drawn from them, what was not."""
    folder = f"results/{name}"
    for table in ("field/answers", "field/participants", "answers/field", "answers/answers"):
        write_answers(f"{folder}/{table}.parquet", people)
    write_answers(f"{folder}/answers/parsed/m/t/offline.parquet", ["puppet"])
    write(f"{folder}/metrics/accuracy_runs.csv", "puppet_id\n" + "\n".join(people))
    write(f"{folder}/provenance/config.yaml", key_setting(key_file))
    for path in (
        *("metrics/estimates/lists.csv", "figures/fig1.svg", "findings.md", "field/quality.csv"),
        *("explorer/data/details-000.js", "explorer_so_far/index.html", "croissant.json"),
        *("export/tables/answers.sav", "tasks/t.csv", "field_kit/field_page.yaml"),
    ):
        write(f"{folder}/{path}")


def key_setting(key_file: Path | str) -> str:
    return yaml.safe_dump({"field": {"key_file": str(key_file)}})


def page_file(name: str, who: str) -> Path:
    """What the survey page saves."""
    content = {"format": "fieldwork-survey-1", "participant": who}
    return write(f"resources/field/page/{name}.json", json.dumps(content))


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one study was made of three participants, and another of other people."""
    place = tmp_path_factory.mktemp("pristine")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        write(RAW, f"id,movies\n{ONE},Alien\n{OTHER},Brazil\n{ONE},Cube\n{THIRD},Dune\n")
        write(GROUPS, f"id,age\n{THIRD},old\n{OTHER},young\n{ONE},young\n")
        key = read_key(KEY_FILE)
        write_study("mine", [pseudonym(who, key) for who in (ONE, OTHER, THIRD)])
        write_study("blank", [])
        write("results/figures/fig1.svg")
        write("results/vectors/corpora/c.sqlite")
        write("logs/mine/import_field.log", "2 file(s)")
        write(".snakemake/log/old.snakemake.log", "rule import_field")
        write("resources/ledger/m.sqlite", "paid")
    return place


@pytest.fixture(autouse=True)
def folder(pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder to work in."""
    shutil.copytree(pristine, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(folder: Path) -> dict[str, str]:
    """Every file, but for the record and the file of ids, by its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (Path(FORGET_FILE).name, Path(DELETIONS_FILE).name)
    }


def record() -> list[Deletion]:
    return read_record(Path(DELETIONS_FILE))


def again() -> DeletionOutcome:
    """Another run with the ids that are there."""
    return forgetting.forget(site(), is_alone=lambda: True)


def run(*ids: str, **changes: Any) -> DeletionOutcome:
    write(FORGET_FILE, "\n".join(ids))
    return forgetting.forget(site(**changes), is_alone=lambda: True)


def sentences(outcome: DeletionOutcome, **changes: Any) -> str:
    text = "\n".join(account_of(outcome, site(**changes)))
    assert ONE not in text
    return text


def test_a_participant_goes_and_everybody_else_stays(folder: Path) -> None:
    before = tree(folder)
    assert failure_of(run(f"  {ONE} ")) is None
    after = tree(folder)
    assert RAW.read_text() == f"id,movies\n{OTHER},Brazil\n{THIRD},Dune\n"
    assert GROUPS.read_text() == f"id,age\n{THIRD},old\n{OTHER},young\n"
    assert {name for name in after if name.startswith("results/")} == {
        "results/mine/field_kit/field_page.yaml",
        "results/vectors/corpora/c.sqlite",
        *(name for name in before if name.startswith("results/blank/")),
    }
    changed = {str(RAW), str(GROUPS)}
    assert {n: h for n, h in after.items() if n not in changed}.items() <= before.items()
    assert not Path(FORGET_FILE).exists()
    # the record says what and never who
    assert {(line.place, line.action, line.number) for line in record()} == {
        (str(RAW), "rows deleted", 2),
        (str(GROUPS), "rows deleted", 1),
        ("results/mine", "results deleted", N_COMPUTED),
        ("results/figures", "results deleted", 1),
    }
    assert {line.participant for line in record()} == {name_of(ONE)}
    assert all(line.deleted_at <= line.searched_at for line in record())
    assert ONE not in Path(DELETIONS_FILE).read_text()
    # a second run with the same id finds it done
    assert "an earlier run deleted it" in sentences(run(ONE))
    assert tree(folder) == after


def test_several_participants_and_files_that_hold_nobody_else() -> None:
    alone = write("resources/field/page/answers_1.csv", f"id,movies\n{ONE},Alien\n")
    own, theirs = page_file("answers_1", ONE), page_file("answers_2", THIRD)
    GROUPS.unlink()
    assert failure_of(run(ONE, "", OTHER, ONE)) is None
    assert [path.exists() for path in (alone, own, theirs)] == [False, False, True]
    assert RAW.read_text() == f"id,movies\n{THIRD},Dune\n"
    numbers = {(line.participant, line.place): line.number for line in record()}
    assert (numbers[name_of(OTHER), str(RAW)], numbers[name_of(ONE), str(RAW)]) == (1, 2)
    assert (name_of(OTHER), str(alone)) not in numbers
    # the last file keeps its header, as the config names it
    run(THIRD)
    assert RAW.read_text() == "id,movies\n"
    assert field_files({"field": field_of()}) == [str(RAW)]


@pytest.mark.parametrize("ids", [["5f3c9b99ab77"], [ONE, "nobody-at-all-1"], ["A1"]])
def test_an_id_that_is_nowhere_deletes_nobody(folder: Path, ids: list[str]) -> None:
    before = tree(folder)
    with pytest.raises(StudyError) as caught:
        run(*ids)
    text = str(caught.value)
    assert f"holds the id of line {len(ids)}" in text
    assert "2 file(s) were read. Nothing was deleted" in text
    assert not any(who in text for who in ids)
    assert tree(folder) == before
    assert Path(FORGET_FILE).exists()
    assert not Path(DELETIONS_FILE).exists()
    with pytest.raises(StudyError, match="where upper and lower case count"):
        run(ONE.upper())


@pytest.mark.parametrize("text", [None, "", "\n  \n"])
def test_without_ids_or_with_a_file_that_cannot_be_read_nobody_is_forgotten(
    folder: Path, text: str | None
) -> None:
    if text is not None:
        write(FORGET_FILE, text)
    before = tree(folder)
    with pytest.raises(StudyError, match="one a line"):
        again()
    assert tree(folder) == before
    write("resources/field/wave_2.csv", "id,movies\nx,y,z,too,long\n")
    before = tree(folder)
    with pytest.raises(StudyError, match=r"wave_2.csv: row 2 has more cells"):
        run(ONE)
    assert tree(folder) == before


class _KilledError(BaseException):
    """The process ends here."""


def kill_at(monkeypatch: pytest.MonkeyPatch, n_changes: int) -> None:
    """Let the process be killed at the nth change of a file."""
    counted = [0]
    for name in ("unlink", "replace", "rmdir"):
        original = getattr(os, name)

        def change(*arguments: Any, _original: Any = original, **named: Any) -> Any:
            counted[0] += 1
            if counted[0] == n_changes:
                raise _KilledError
            return _original(*arguments, **named)

        monkeypatch.setattr(os, name, change)


def ends_killed() -> bool:
    """Whether a run was killed on its way."""
    try:
        run(ONE)
    except _KilledError:
        return True
    return False


def test_a_run_that_was_killed_anywhere_is_finished_by_the_next(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"resources/field/page/{ONE}.csv", f"id,movies\n{ONE},Alien\n")
    page_file("a", ONE)
    # few files, as every change of one is a case
    for study in ("mine", "blank"):
        shutil.rmtree(f"results/{study}")
    for study in ("first", "second"):
        write(f"results/{study}/findings.md")
        write(f"results/{study}/tasks/t.csv")
        write_answers(f"results/{study}/field/answers.parquet", [name_of(ONE)])
    # what only the record of a killed run can link to the participant
    write("results/second/provenance/config.yaml", key_setting("keys/second"))
    for table in ("answers/field", "field/answers"):
        people = [name_of(ONE, Path("keys/second"))]
        write_answers(f"results/second/{table}.parquet", people)
    n_changes, is_killed = 0, True
    outcomes: list[tuple[Any, Any]] = []
    while is_killed:
        n_changes += 1
        copy = tmp_path_factory.mktemp("killed") / "copy"
        shutil.copytree(folder, copy)
        monkeypatch.chdir(copy)
        with monkeypatch.context() as patched:
            kill_at(patched, n_changes)
            is_killed = ends_killed()
        # where only the end was missing, the ids are gone as they should be
        if is_killed and Path(FORGET_FILE).exists():
            assert failure_of(again()) is None
        assert ONE not in Path(DELETIONS_FILE).read_text()
        assert all(line.searched_at for line in record())
        lines = sorted((line.place, line.action, line.number) for line in record())
        outcomes.append((lines, tree(copy)))
    assert n_changes > 30
    assert not (copy / "results/second").exists()
    assert all(outcome == outcomes[-1] for outcome in outcomes)
    assert ("resources/field/page/[id].csv", "file deleted", 1) in outcomes[-1][0]
    assert ("results/second", "results deleted", 5) in outcomes[-1][0]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("resources/field/notes.txt", f"{ONE} wrote to us"),
        (f"resources/field/consent/{ONE}.png", "picture"),
        ("resources/downloads/osf/abcde/files/other.csv", f"code\n{ONE}\n"),
    ],
)
def test_what_is_left_is_named_and_the_ids_are_kept(path: str, content: str) -> None:
    write(path, content)
    outcome = run(ONE)
    assert f"LEFT: {path.replace(ONE, '[id]')} still holds a participant" in sentences(outcome)
    failure = failure_of(outcome) or ""
    assert failure.startswith(f"{FORGET_FILE}: the deletion is not finished. 1 file(s)")
    assert Path(FORGET_FILE).exists()
    assert not any(line.searched_at for line in record())
    Path(path).unlink()
    assert failure_of(again()) is None
    assert all(line.searched_at for line in record())


def test_an_id_in_anothers_answer_is_named_with_its_row_and_so_is_what_cannot_be_searched() -> None:
    RAW.write_text(f'id,movies\n{ONE},Alien\n{OTHER},"Brazil\nas {ONE} said"\n{THIRD},Dune\n')
    Path("resources/field/old.7z").write_bytes(b"7z\xbc\xaf\x27\x1c....")
    outcome = run(ONE)
    text = sentences(outcome)
    assert f"LEFT: {RAW} still holds a participant in row(s) 2; take the id out there." in text
    assert "NOT SEARCHED: resources/field/old.7z is a 7z archive" in text
    RAW.write_text(f"id,movies\n{THIRD},Dune\n")
    assert failure_of(again()) is not None


def test_computed_files_go_wherever_they_hold_a_participant() -> None:
    name, path = name_of(ONE), f"resources/field/page/{ONE}.csv"
    write("results/exported/findings.md")
    gone = [
        Path("results/exported"),
        write("results/exported/answers.csv", name),
        write("results/report.zip", name),
        write("results/mine/report/data/raw/1/accuracy_runs.csv", name),
        write("results/mine/report.html"),
        write("results/mine/.study.duckdb.partial"),
        write("logs/mine/import_field.log", f"{path}: row 3"),
        write(".snakemake/log/old.snakemake.log", f"input: {path}"),
        write(".snakemake/metadata/abc", f'{{"input": ["{path}"]}}'),
    ]
    assert failure_of(run(ONE)) is None
    assert [path for path in gone if path.exists()] == []
    assert Path("results/blank/findings.md").exists()
    assert Path(".snakemake/log").is_dir()


def test_what_a_study_links_to_stays_but_for_a_file_that_holds_the_participant() -> None:
    mine = write("elsewhere/corpus.csv")
    answers = write("elsewhere/answers.csv", name_of(ONE))
    for path in (mine, answers):
        Path("results/mine", path.name).symlink_to(path.resolve())
    Path("results/mine/shared").symlink_to(mine.parent.resolve())
    assert failure_of(run(ONE)) is None
    assert not Path("results/mine/shared").is_symlink()
    assert (mine.exists(), answers.exists()) == (True, False)


def test_what_belongs_to_another_study_stays() -> None:
    write_study("ended", ["pffffffffffffffff"], Path("keys/destroyed"))
    elsewhere = Deletion("peeeeeeeeeeeeeeee", "raw.csv", "rows deleted", 2, "2026-01-01T00:00:00Z")
    write_record(Path(DELETIONS_FILE), [elsewhere])
    outcome = run(ONE)
    assert failure_of(outcome) is None
    text = sentences(outcome)
    assert "results/ended holds field answers of people who are not in the files read here" in text
    assert "results/blank" not in text
    assert Path("results/ended/field/answers.parquet").exists()
    assert [line for line in record() if line.is_open()] == [elsewhere]


def test_a_run_that_began_meanwhile_keeps_the_ids() -> None:
    write(FORGET_FILE, ONE)
    outcome = forgetting.forget(site(), is_alone=lambda: False)
    assert "another run began in this folder meanwhile" in (failure_of(outcome) or "")
    assert Path(FORGET_FILE).exists()
    assert not any(line.searched_at for line in record())


def test_no_error_names_a_file_by_an_id() -> None:
    path = write(f"resources/field/page/{ONE}.csv", f"id,movies\n{ONE},x\n{OTHER},y\n")
    write(path.with_name(f"~${path.name}"))
    with pytest.raises(StudyError, match=r"page/\[id\].csv: the file is open") as caught:
        run(ONE)
    assert ONE not in str(caught.value)


def test_a_short_id_is_compared_with_the_column_and_its_pseudonym_is_searched() -> None:
    RAW.write_text("id,movies,n\nA1,Alien,1\nA10,A1,2\nA2,Dune,A1\n")
    GROUPS.write_text("id,age\nA1,old\nA10,young\nA2,old\n")
    shutil.rmtree("results/mine")
    write_study("mine", [name_of(who) for who in ("A1", "A10", "A2")])
    # files that are named after it are searched for by name
    alone = write("resources/field/page/A1.csv", "id,movies\nA1,Alien\n")
    theirs = write("resources/field/page/A10.csv", "id,movies\nA10,Alien\n")
    log = write("logs/mine/import_field.log", f"{alone}: row 2")
    listed = write("resources/field/codes.txt", "A1 Anna\nA10 Bob\n")
    elsewhere = write("resources/downloads/osf/abcde/files/x.csv", "id,a\nA1,x\n")
    kept = [
        *(theirs, elsewhere, listed, write("resources/field/other_codes.txt", "A10 Bob\n")),
        write(".snakemake/metadata/abc", f'{{"input": ["{theirs}"]}}'),
        # a letter of some answer, and a number of some run
        write("results/blank/metrics/distributions.csv", "answer\nA1\n"),
    ]
    outcome = run("A1")
    assert failure_of(outcome) is None
    assert RAW.read_text() == "id,movies,n\nA10,A1,2\nA2,Dune,A1\n"
    gone = [alone, log, Path("results/mine/field")]
    assert [path for path in gone if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []
    text = sentences(outcome)
    assert "elsewhere its pseudonym is searched for" in text
    assert f"An id that is short or a word also appears in {elsewhere}, {listed}." in text


def raw_field(*people: str) -> RawField:
    rows = [
        RawAnswer(who, None, "m", FieldPrompt("t", "movies"), 0, None, "x", RAW, number)
        for number, who in enumerate(people, 2)
    ]
    return RawField(rows, [Membership(people[-1], "age", "old", GROUPS, 9)], 0)


def test_a_participant_who_comes_back_stops_the_import() -> None:
    before = RAW.read_text()
    run(ONE)
    key = read_key(KEY_FILE)
    refuse_return(raw_field(OTHER, THIRD), key, [DELETIONS_FILE])
    refuse_return(raw_field(ONE), key, [])
    refuse_return(raw_field(ONE), b"k" * 32, [DELETIONS_FILE])
    with pytest.raises(StudyError) as caught:
        refuse_return(raw_field(OTHER, ONE), key, [DELETIONS_FILE])
    text = str(caught.value)
    assert text.startswith(f"{RAW}: row 3 belongs to a participant who was deleted on 20")
    assert "`snakemake forget`" in text
    assert ONE not in text
    RAW.write_text(before)
    # as the message says: without the id, which nobody needs to know any more
    assert failure_of(again()) is None
    assert ONE not in RAW.read_text()
    assert len(record()) == 5


@pytest.mark.parametrize(
    "content", ["id,a\nx,y\n", f"{','.join(Deletion._fields)}\np1,x,y,many,,\n"]
)
def test_a_record_of_another_kind_is_refused(content: str) -> None:
    write(DELETIONS_FILE, content)
    with pytest.raises(StudyError, match="is not the record of deletions"):
        read_record(Path(DELETIONS_FILE))


def test_files_outside_of_resources_are_edited_and_searched(folder: Path) -> None:
    for path in (RAW, GROUPS):
        path.unlink()
    raw = write("mine/wave.csv", f"id,a\n{ONE},x\n{OTHER},y\n")
    beside = write("mine/wave.txt", f"{ONE}")
    write("mine/deep/down.txt", f"{ONE}: not looked at, as the config names one file")
    outcome = run(ONE, path=str(folder / "mine/wave.csv"))
    assert raw.read_text() == f"id,a\n{OTHER},y\n"
    assert outcome.search.holders == [folder / beside]


def test_a_study_without_a_field_has_nobody_to_delete() -> None:
    with pytest.raises(StudyError, match="there is nobody to delete; name the study's own file"):
        site_of(None, [])
