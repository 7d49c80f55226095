"""The search looks into whatever programs pack, and says what it cannot look into."""

import base64
import gzip
import hashlib
import json
import lzma
import os
import sqlite3
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.files import text_search
from fieldwork.files.text_search import DAMAGE, Mark, Matcher, Search, files_beneath, search

WHO = "5f3c9b01ab77e0bbf37a9459"
PSEUDONYM = "p0123456789abcdef"
MATCHER = Matcher([Mark(WHO), Mark(PSEUDONYM)])
SENTENCE = f"a row of {PSEUDONYM}, and more\n" * 3


OTHERS = [f"p{hashlib.sha256(bytes([n % 256, n // 256])).hexdigest()[:16]}" for n in range(5_000)]


def compressed(path: Path, shape: Callable[[str], object]) -> None:
    """Among thousands of others and without statistics, so that nothing stands there in clear."""
    values = pa.array([shape(name) for name in (*OTHERS, PSEUDONYM)])
    pq.write_table(pa.table({"x": values}), path, compression="zstd", write_statistics=False)
    assert PSEUDONYM.encode() not in path.read_bytes()


def workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "answer"])
    book.active.append([WHO, "Alien"])
    book.save(path)


def nested(path: Path) -> None:
    """A workbook in a zip in a gzip."""
    inner, outer = path.with_suffix(".inner"), path.with_suffix(".outer")
    workbook(inner)
    pack(outer, inner, "book.xlsx")
    path.write_bytes(gzip.compress(outer.read_bytes()))
    outer.unlink()


def pack(path: Path, member: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(member, name)
    member.unlink()


def database(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA other; PRAGMA force_compression='zstd'")
        connection.execute(
            """CREATE TABLE other."a ""b"" c" AS
            SELECT [{'who': name}] AS x, 1 AS y FROM (SELECT unnest(?::VARCHAR[]) AS name)""",
            [[*OTHERS, PSEUDONYM]],
        )
        connection.execute("CREATE VIEW broken AS SELECT 1 AS z")
    assert PSEUDONYM.encode() not in path.read_bytes()


def report(path: Path) -> None:
    table = base64.b64encode(SENTENCE.encode()).decode()
    path.write_text(f'<html><script>{{"uri": "data:text/csv;base64,{table}"}}</script></html>')


def table_in_zip(path: Path) -> None:
    inner = path.with_suffix(".inner")
    compressed(inner, str)
    pack(path, inner, "data/answers.parquet")


def cells_in_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("nobody",), (PSEUDONYM,)])


def named_member(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{WHO}.txt", "nothing")


HOLDING: dict[str, Callable[[Path], object]] = {
    "plain.log": lambda path: path.write_text(SENTENCE),
    "wide.csv": lambda path: path.write_bytes(SENTENCE.encode("utf-16")),
    "upper.txt": lambda path: path.write_text(WHO.upper()),
    "strings.parquet": lambda path: compressed(path, str),
    "structs.parquet": lambda path: compressed(path, lambda name: {"a": [{"b": name}]}),
    "study.duckdb": database,
    "book.xlsx": workbook,
    "report.html": report,
    "report.zip": table_in_zip,
    "named.zip": named_member,
    "packed.gz": nested,
    "packed.xz": lambda path: path.write_bytes(lzma.compress(SENTENCE.encode())),
    "vectors.sqlite": cells_in_sqlite,
    f"{PSEUDONYM}.png": lambda path: path.write_bytes(b"\x89PNG"),
}


@pytest.mark.parametrize("name", HOLDING)
def test_what_holds_a_participant_is_found_wherever_it_is_packed(tmp_path: Path, name: str) -> None:
    HOLDING[name](tmp_path / name)
    assert search([tmp_path / name], MATCHER) == Search(1, [tmp_path / name], {})
    others = Matcher([Mark(WHO[:-1] + "0"), Mark("p0123456789abcdee")])
    assert search([tmp_path / name], others) == Search(1, [], {})


def test_a_number_of_a_table_is_an_id_too(tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"code": pa.array([1, 12345678])}), path, compression="zstd")
    assert search([path], Matcher([Mark("12345678", is_word=True)])).holders == [path]
    assert search([path], Matcher([Mark("2345678", is_word=True)])).holders == []


@pytest.mark.parametrize("shift", [-40, -24, -12, -1, 0, 1])
def test_no_border_between_blocks_hides_a_participant(
    tmp_path: Path, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "_BLOCK", 1 << 10)
    path = tmp_path / "long.txt"
    path.write_bytes(b"." * (4 * (1 << 10) + shift) + WHO.encode() + b"." * 3_000)
    for mark in (Mark(WHO), Mark(WHO, is_word=True)):
        assert search([path], Matcher([mark])).holders == [path]
    path.write_bytes(b"a" * (4 * (1 << 10) + shift) + WHO.encode() + b"." * 3_000)
    assert search([path], Matcher([Mark(WHO, is_word=True)])).holders == []


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.7z", b"7z\xbc\xaf\x27\x1c....", "7z archive"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0....", "password"),
        ("a.parquet", b"PAR1....", DAMAGE),
        ("a.duckdb", b"........DUCK....", DAMAGE),
        ("a.gz", b"\x1f\x8b....", DAMAGE),
    ],
)
def test_what_cannot_be_looked_into_is_named(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = search([tmp_path / name], MATCHER)
    assert result.holders == []
    assert reason in result.obstacles[tmp_path / name]


def test_linked_folders_are_searched_once_and_skipped_ones_are_not(tmp_path: Path) -> None:
    for name in ("real/a.txt", "real/deep/.b.txt", "skipped/c.txt", "elsewhere/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "real/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "real")
    (tmp_path / "real/broken").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "real/pipe")
    paths = files_beneath(tmp_path, {tmp_path / "skipped"})
    names = {path.resolve().relative_to(tmp_path).as_posix() for path in paths}
    assert names == {"real/a.txt", "real/deep/.b.txt", "elsewhere/d.txt"}
    assert list(files_beneath(tmp_path / "nowhere")) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_stops_the_search(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    with pytest.raises(StudyError, match="cannot be searched"):
        list(files_beneath(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("who", ["Jürgen-0815", 'o"neil-1234', "a&b <c> 123", WHO])
def test_every_way_of_writing_is_found(who: str, form: str, encoding: str) -> None:
    written = unicodedata.normalize("NFC" if encoding == "cp1252" else form, who)
    matcher, quoted = Matcher([Mark(who)]), written.replace('"', '""')
    for text in (f'x;"{quoted}";y', f"?participant={written}&x=1", f"before{written}after"):
        assert matcher.matches(text.encode(encoding)), text
    assert not matcher.matches(written[:-1].encode(encoding))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"participant": 'Jür"gen 0815'}),
        json.dumps({"participant": 'Jür"gen 0815'}, ensure_ascii=False),
        "<t>Jür&quot;gen 0815</t>",
        "https://example.org/?PROLIFIC_PID=J%C3%BCr%22gen%200815",
    ],
)
def test_escapes_of_other_formats_are_found(text: str) -> None:
    assert Matcher([Mark('Jür"gen 0815')]).matches_text(text)


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
def test_a_word_is_found_where_nothing_touches_it(text: str, expected: bool, encoding: str) -> None:
    matcher = Matcher([Mark("participant1", is_word=True)])
    border = "\n".encode(encoding)
    assert matcher.matches(b"\n" + border + text.encode(encoding) + border + b"\n") is expected
