"""The ledger: what was stored stays, what was damaged is never served, what goes wrong is said.

So too its count of answers beside it, and the copies of a study's answers.
"""

import logging
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.generation.answer_copies import copy_answers
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import VERSION, Entry, ledger_key, open_ledger, sole_asker
from unit.generation.kills import FORK, die, exit_of

ENDPOINT = "https://api.example/v1/chat/completions"
STARTED = datetime(2026, 11, 20, 10, 30, 0, 123456, UTC)


def entry(name: str = "a", **changes: Any) -> Entry:
    key, raw = ledger_key(name.encode(), ENDPOINT, 0), f"reply to {name} ".encode() * 5
    return Entry(key, ENDPOINT, 0, raw, STARTED, 1.25, 2)._replace(**changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / "gpt.sqlite"


def stored(path: Path, *entries: Entry) -> None:
    with open_ledger(path) as ledger:
        ledger.store(entries)


def read(path: Path, *keys: bytes) -> dict[bytes, Entry]:
    with open_ledger(path) as ledger:
        return {e.key: e for e in ledger.entries(keys)}


def names_in(path: Path, *names: str) -> bool:
    """Whether a ledger holds the answers of these names, whole, and no others."""
    with open_ledger(path) as ledger:
        keys = sorted(ledger.keys())
        assert len(list(ledger.entries(keys))) == len(keys)
    return keys == sorted(entry(name).key for name in names)


def execute(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


# --- what is kept, and by which key


@pytest.mark.parametrize(
    "changes",
    [
        {"started_at": None, "latency_s": None},
        {"raw": bytes(range(256)) * 40},
        {"replicate": 2**40, "attempts": 1},
    ],
)
def test_the_first_answer_to_a_key_comes_back_as_it_was(path: Path, changes: Any) -> None:
    kept, other = entry(**changes), entry("b")
    stored(path, kept)
    stored(path, entry(raw=b"another"), other)
    assert read(path, kept.key, other.key) == {kept.key: kept, other.key: other}


def test_more_keys_than_a_statement_has_room_for_are_looked_up_at_once(path: Path) -> None:
    many = [entry(str(i)) for i in range(2_000)]
    with open_ledger(path) as ledger:
        ledger.store(many)
        keys = [e.key for e in many] * 2
        assert ledger.answered_keys([*keys, entry("other").key]) == set(keys)
        assert len(list(ledger.entries(keys))) == len(many), "each is read once"


def test_the_key_of_a_call_never_changes() -> None:
    """It is in users' ledgers: another one needs another VERSION, or all is asked, and paid, again."""
    expected = "00010203040506071d22ac568b37f12098371ee2a3b49e4b55da026046125a34"
    key = ledger_key(b"body", "endpoint", 0, context_digest=bytes(range(32)))
    assert (VERSION, key.hex()) == (1, expected)


CALLS = st.tuples(st.binary(max_size=4), st.text("01ab", max_size=4), st.integers(0, 12))


@given(one=CALLS, other=CALLS)
def test_keys_are_equal_only_for_equal_calls(one: Any, other: Any) -> None:
    assert (ledger_key(*one) == ledger_key(*other)) == (one == other)


# --- damage

DAMAGE = {
    "reply": "reply = X'00' || substr(reply, 2)",
    "another sound reply": "reply = (SELECT reply FROM answers ORDER BY length(endpoint) LIMIT 1)",
    "checksum": "checksum = X'00' || substr(checksum, 2)",
    "time": "started_at = 'yesterday'",
    "no UTF-8": "endpoint = CAST(X'FF' AS TEXT)",
    "replicate": "replicate = 9",
    "attempts": "attempts = 1",
    "tier": "tier = 'batch'",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_row_is_set_aside_and_asked_again_alone(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    other, hurt = entry("b", endpoint="e", raw=b"short"), entry("a")
    stored(path, other, hurt)
    execute(path, f"UPDATE answers SET {damage} WHERE endpoint = '{ENDPOINT}'")
    with open_ledger(path) as ledger, caplog.at_level(logging.WARNING):
        assert {e.key for e in ledger.entries([hurt.key, other.key])} == {other.key}
        assert ledger.answered_keys([hurt.key, other.key]) == {other.key}
        sentence = "1 answers are damaged on disk; they are set aside and asked again"
        assert f"{path}: {sentence}" in caplog.text
        ledger.store([hurt])
        assert list(ledger.entries([hurt.key])) == [hurt]
    assert execute(path, "SELECT key FROM damaged") == [(hurt.key,)]


def test_no_flipped_bit_of_the_file_makes_a_wrong_answer(path: Path, tmp_path: Path) -> None:
    truth = {e.key: e for e in (entry(str(i), raw=f"{i}".encode() * 300) for i in range(20))}
    stored(path, *truth.values())
    sound, dice = path.read_bytes(), random.Random(1)
    n_noticed = 0
    for trial in range(150):
        file = bytearray(sound)
        file[dice.randrange(len(file))] ^= 1 << dice.randrange(8)
        hurt = tmp_path / f"{trial}.sqlite"
        hurt.write_bytes(file)
        try:
            found = read(hurt, *truth)
        except StudyError:
            n_noticed += 1
            continue
        assert found.items() <= truth.items()
        n_noticed += len(found) < len(truth)
    assert n_noticed > 15, "the bits must have hit something"


# --- refusals


def as_folder(path: Path) -> None:
    path.mkdir(parents=True)


def as_file(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.parent.mkdir()
        path.write_bytes(content)

    return write


def as_database(columns: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.parent.mkdir()
        execute(path, f"CREATE TABLE answers ({columns})")

    return write


@pytest.mark.parametrize(
    ("make", "way_out"),
    [
        (as_file(b"no database " * 400), "recover_ledgers"),
        (as_file(b"SQLite format 3\0" + b"\xff" * 4096), "recover_ledgers"),
        (as_folder, "move it away"),
        (as_database("something"), "cannot be used"),
        (as_database("key, endpoint, reply"), "cannot be used"),
    ],
)
def test_what_is_no_ledger_is_refused(path: Path, make: Any, way_out: str) -> None:
    make(path)
    with pytest.raises(StudyError, match=way_out) as caught:
        stored(path, entry())
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_whose_keys_are_made_otherwise_is_refused_and_left_as_it_is(path: Path) -> None:
    """Its answers would not be found: all of them would be asked, and paid, again."""
    stored(path, entry())
    execute(path, "PRAGMA user_version = 0")
    with pytest.raises(StudyError, match=r"it has format 0.*move it away"):
        stored(path)
    assert execute(path, "SELECT count(*) FROM answers") == [(1,)]


def test_a_full_disk_is_said_and_what_was_stored_stays(path: Path) -> None:
    stored(path, entry())
    big = entry("big", raw=os.urandom(200_000))
    with open_ledger(path) as ledger:
        ledger._connection.execute("PRAGMA max_page_count = 12")
        with pytest.raises(StudyError, match=r"full.*free disk space"):
            ledger.store([entry("small"), big])
    assert names_in(path, "a")


def test_a_quarantined_answer_is_kept_and_not_served_until_accepted(path: Path) -> None:
    own, foreign = entry("a"), entry("b")
    with open_ledger(path) as ledger:
        ledger.store([own])
        ledger.quarantine([foreign])
        keys = [own.key, foreign.key]
        assert ledger.answered_keys(keys) == {own.key}
        assert list(ledger.entries(keys)) == [own]
        assert list(ledger.quarantined_entries(keys)) == [foreign]
        ledger.accept([foreign.key])
        assert not list(ledger.quarantined_entries(keys))
        assert sorted(ledger.entries(keys)) == sorted([own, foreign])


# --- several at once


def test_writing_from_two_threads_of_one_run_breaks_no_commit(path: Path) -> None:
    with open_ledger(path) as ledger, ThreadPoolExecutor(1) as pool:

        def store() -> None:
            for n in range(150):
                ledger.store([entry(f"{n}-{i}") for i in range(3)])

        job = pool.submit(store)
        while not job.done():
            ledger.accept([])
            ledger.answered_keys([b"k" * 32])
        job.result()
        assert len(ledger.keys()) == 450


def test_one_job_asks_at_a_time_and_its_right_ends_with_its_process(path: Path) -> None:
    near, far = FORK.Pipe()

    def hold() -> None:
        with sole_asker(path):
            far.send("has it")
            time.sleep(60)

    other = FORK.Process(target=hold)
    other.start()
    assert near.recv() == "has it"
    waited = threading.Event()

    def ask() -> None:
        with sole_asker(path):
            waited.set()

    asker = threading.Thread(target=ask)
    asker.start()
    assert not waited.wait(0.3)
    other.kill()
    other.join()
    assert waited.wait(10)
    asker.join()


# --- somebody removes the file while it is used


@pytest.mark.parametrize("removed", ["gpt.sqlite", "gpt.sqlite*", "*"])
def test_a_ledger_that_is_removed_while_it_is_open_is_written_back(
    path: Path, removed: str
) -> None:
    stored(path, entry("before"))

    def work() -> None:
        with open_ledger(path) as ledger:
            ledger.store([entry("early")])
            ledger.require_place()
            for file in path.parent.glob(removed):
                file.unlink()
            if removed == "*":
                path.parent.rmdir()
            ledger.store([entry("late")])
            with pytest.raises(StudyError, match="was removed or replaced"):
                ledger.require_place()

    with pytest.raises(StudyError, match=r"gpt.sqlite: .*removed.*written back: run again"):
        work()
    assert names_in(path, "before", "early", "late")
    stored(path, entry("next"))


def test_a_ledger_that_is_replaced_while_it_is_open_is_kept_beside(path: Path) -> None:
    other = path.with_name("other.sqlite")
    stored(other, entry("other"))

    def work() -> None:
        with open_ledger(path) as ledger:
            ledger.store([entry("early")])
            other.replace(path)
            ledger.store([entry("late")])

    with pytest.raises(StudyError, match=r"keep the one that has more in it as gpt\.sqlite"):
        work()
    (kept,) = path.parent.glob("gpt.sqlite.kept-*")
    assert names_in(path, "other")
    assert names_in(kept, "early", "late")


# --- the count of answers: a ledger that had some and has none stops the run, unless it was given up


def beside(path: Path) -> Path:
    return path.with_name("gpt.inventory.txt")


def test_the_count_is_written_with_the_first_answer_and_at_the_end(path: Path) -> None:
    with open_ledger(path) as ledger:
        ledger.store([entry("a"), entry("b")])
        assert beside(path).read_text().startswith("2 answers are in gpt.sqlite (")
        ledger.store([entry("b"), entry("c")])
        ledger.quarantine([entry("d")])
    assert Inventory(path).count() == 4
    assert "recover_ledgers" in beside(path).read_text()
    assert "delete this file too" in beside(path).read_text()
    stored(path)
    assert Inventory(path).count() == 4


def test_a_killed_job_leaves_a_count(path: Path) -> None:
    def store_and_die() -> None:
        with open_ledger(path) as ledger:
            ledger.store([entry("a")])
            ledger.store([entry("b")])
            die()

    assert exit_of(store_and_die) == -signal.SIGKILL
    assert Inventory(path).count() == 1
    stored(path)


def make_anew(path: Path) -> None:
    path.unlink()
    text = beside(path).read_text()
    beside(path).unlink()
    stored(path)
    beside(path).write_text(text)


@pytest.mark.parametrize("lose", [lambda path: path.write_bytes(b""), Path.unlink, make_anew])
def test_a_ledger_that_lost_its_answers_stops_the_run(
    path: Path, lose: Callable[[Path], Any]
) -> None:
    stored(path, entry("a"), entry("b"))
    lose(path)
    for _ in range(2):
        with pytest.raises(StudyError) as caught:
            stored(path)
        text = str(caught.value)
        assert text.startswith(f"{path}: the ledger held 2 answers and holds none now")
        assert "recover_ledgers" in text
        assert "delete gpt.inventory.txt beside it" in text
        assert "\n" not in text


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"\xff\xfe", b"many answers"])
def test_a_count_that_cannot_be_read_still_says_that_there_were_answers(
    path: Path, content: bytes
) -> None:
    stored(path, entry("a"))
    beside(path).write_bytes(content)
    stored(path)
    path.write_bytes(b"")
    with pytest.raises(StudyError, match="held 1 answers and holds none now"):
        stored(path)


def test_a_log_without_its_ledger_is_not_thrown_away(path: Path) -> None:
    """SQLite deletes the log of a file that it takes for new."""
    path.parent.mkdir()
    log = path.with_name("gpt.sqlite-wal")
    log.write_bytes(os.urandom(5000))
    with pytest.raises(StudyError, match=r"holds none now.*delete its -wal file"):
        stored(path)
    assert log.stat().st_size == 5000


# --- copies of a study's answers


def test_the_answers_of_a_study_are_copied_and_no_others(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive/gpt.sqlite"
    entries = [entry(name) for name in ("a", "b", "c")]
    stored(path, *entries)
    with open_ledger(path) as ledger:
        ledger.quarantine([entry("wrong")])
    keys = [entry(name).key for name in ("a", "c", "never asked", "a", "wrong")]
    assert copy_answers(path, copy, keys) == 2
    assert [file.name for file in copy.parent.iterdir()] == ["gpt.sqlite"]
    assert read(copy, *(e.key for e in entries)) == {e.key: e for e in entries[::2]}
    assert names_in(path, "a", "b", "c")


def test_equal_answers_give_equal_bytes(tmp_path: Path) -> None:
    entries = [entry(str(number)) for number in range(50)]
    stored(tmp_path / "one.sqlite", *entries)
    for one in reversed(entries):
        stored(tmp_path / "other.sqlite", one)
    keys = [e.key for e in entries]
    copy_answers(tmp_path / "one.sqlite", tmp_path / "a/m.sqlite", keys)
    copy_answers(tmp_path / "other.sqlite", tmp_path / "b/m.sqlite", keys[::-1])
    assert (tmp_path / "a/m.sqlite").read_bytes() == (tmp_path / "b/m.sqlite").read_bytes()


def test_a_file_that_is_no_ledger_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "model.sqlite").write_bytes(b"no database at all")
    with pytest.raises(StudyError, match="the ledger of answers"):
        copy_answers(tmp_path / "model.sqlite", tmp_path / "copy.sqlite", [])
