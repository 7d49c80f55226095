"""The ledger: what was stored stays, what was damaged is never served, what goes wrong is said."""

import logging
import os
import random
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import VERSION, Entry, ledger_key, open_ledger, sole_asker

ENDPOINT = "https://api.example/v1/chat/completions"
SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"
STARTED = datetime(2026, 11, 20, 10, 30, 0, 123456, UTC)


def entry(name: str = "a", **changes: Any) -> Entry:
    made = Entry(
        key=ledger_key(name.encode(), ENDPOINT, 0),
        endpoint=ENDPOINT,
        replicate=0,
        raw=f"reply to {name} ".encode() * 5,
        started_at=STARTED,
        latency_s=1.25,
        attempts=2,
    )
    return made._replace(**changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / "model.sqlite"


def stored(path: Path, *entries: Entry) -> None:
    with open_ledger(path) as ledger:
        ledger.store(entries)


def read(path: Path, *keys: bytes) -> dict[bytes, Entry]:
    with open_ledger(path) as ledger:
        return {e.key: e for e in ledger.entries(keys)}


def in_another_process(code: str, *arguments: object) -> subprocess.Popen[str]:
    header = "import sys; from pathlib import Path; from fieldwork.generation.ledger import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", header + code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        text=True,
        stdout=subprocess.PIPE,
    )


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"started_at": None, "latency_s": None},
        {"raw": bytes(range(256)) * 40},
        {"replicate": 2**40, "attempts": 1},
    ],
)
def test_an_answer_comes_back_as_it_was(path: Path, changes: dict[str, Any]) -> None:
    kept = entry(**changes)
    stored(path, kept)
    assert read(path, kept.key) == {kept.key: kept}


def test_the_first_answer_to_a_key_stays(path: Path) -> None:
    stored(path, entry())
    stored(path, entry(raw=b"another"), entry("b"))
    assert set(read(path, entry().key, entry("b").key).values()) == {entry(), entry("b")}


def test_more_keys_than_a_statement_has_room_for_are_looked_up_at_once(path: Path) -> None:
    many = [entry(str(i)) for i in range(2_000)]
    with open_ledger(path) as ledger:
        ledger.store(many)
        keys = [e.key for e in many] * 2
        assert ledger.answered_keys([*keys, entry("other").key]) == set(keys)
        assert len(list(ledger.entries(keys))) == len(many), "each is read once"


# --- the key -------------------------------------------------------------------------------------


def test_the_key_of_a_call_never_changes() -> None:
    """It is in users' ledgers: another one needs another VERSION, or all is asked, and paid, again."""
    expected = "00010203040506071d22ac568b37f12098371ee2a3b49e4b55da026046125a34"
    key = ledger_key(b"body", "endpoint", 0, context_digest=bytes(range(32)))
    assert (VERSION, key.hex()) == (1, expected)


CALLS = st.tuples(st.binary(max_size=4), st.text("01ab", max_size=4), st.integers(0, 12))


@given(one=CALLS, other=CALLS)
def test_keys_are_equal_only_for_equal_calls(
    one: tuple[bytes, str, int], other: tuple[bytes, str, int]
) -> None:
    assert (ledger_key(*one) == ledger_key(*other)) == (one == other)


# --- damage --------------------------------------------------------------------------------------

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
        assert (
            f"{path}: 1 answers are damaged on disk; they are set aside and asked again"
            in caplog.text
        )
        ledger.store([hurt])
        assert {e.key: e for e in ledger.entries([hurt.key])} == {hurt.key: hurt}
    assert execute(path, "SELECT key FROM damaged") == [(hurt.key,)]


def test_no_flipped_bit_of_the_file_makes_a_wrong_answer(path: Path, tmp_path: Path) -> None:
    entries = [entry(str(i), raw=f"{i}".encode() * 300) for i in range(20)]
    stored(path, *entries)
    truth = {e.key: e for e in entries}
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


def execute(path: Path, statement: str) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "way_out"),
    [
        (b"no database " * 400, "recover_ledgers"),
        (b"SQLite format 3\0" + b"\xff" * 4096, "recover_ledgers"),
        (None, "move it away"),
    ],
)
def test_what_is_no_ledger_is_refused_in_one_sentence(
    path: Path, content: bytes | None, way_out: str
) -> None:
    path.parent.mkdir(parents=True)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(StudyError, match=way_out) as caught:
        stored(path, entry())
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("columns", ["something", "key, endpoint, reply"])
def test_a_database_with_other_columns_is_refused(path: Path, columns: str) -> None:
    path.parent.mkdir()
    execute(path, f"CREATE TABLE answers ({columns})")
    with pytest.raises(StudyError, match="cannot be used"), open_ledger(path):
        pass


def test_a_full_disk_is_said_and_what_was_stored_stays(path: Path) -> None:
    stored(path, entry())
    big = entry("big", raw=os.urandom(200_000))
    with open_ledger(path) as ledger:
        ledger._connection.execute("PRAGMA max_page_count = 12")
        with pytest.raises(StudyError, match=r"full.*free disk space"):
            ledger.store([entry("small"), big])
    assert read(path, entry().key, entry("small").key, big.key) == {entry().key: entry()}


# --- answers of another model --------------------------------------------------------------------


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


def test_a_file_whose_keys_are_made_otherwise_is_refused_and_left_as_it_is(path: Path) -> None:
    """Its answers would not be found: all of them would be asked, and paid, again."""
    stored(path, entry())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 0")
    with (
        pytest.raises(StudyError, match=r"it has format 0.*move it away"),
        open_ledger(path),
    ):
        pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (1,)


def test_one_job_asks_at_a_time_and_its_right_ends_with_its_process(path: Path) -> None:
    code = """
import time
with sole_asker(Path(sys.argv[1])):
    print("has it", flush=True)
    time.sleep(60)
"""
    other = in_another_process(code, path)
    assert other.stdout is not None
    assert other.stdout.readline() == "has it\n"
    waited = threading.Event()

    def ask() -> None:
        with sole_asker(path):
            waited.set()

    asker = threading.Thread(target=ask)
    asker.start()
    assert not waited.wait(0.3)
    other.kill()
    other.wait()
    assert waited.wait(10)
    asker.join()


# --- somebody removes the file while it is used ---------------------------------------------------


@pytest.mark.parametrize("removed", ["gpt.sqlite", "gpt.sqlite*", "*"])
def test_a_ledger_that_is_removed_while_it_is_open_is_written_back(
    tmp_path: Path, removed: str
) -> None:
    path = tmp_path / "ledger" / "gpt.sqlite"
    with open_ledger(path) as ledger:
        ledger.store([entry("before")])

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
    with open_ledger(path) as ledger:
        assert sorted(ledger.keys()) == sorted(entry(n).key for n in ("before", "early", "late"))
        assert len(list(ledger.entries(ledger.keys()))) == 3
        ledger.store([entry("next")])


def test_a_ledger_that_is_replaced_while_it_is_open_is_kept_beside(tmp_path: Path) -> None:
    path, other = tmp_path / "gpt.sqlite", tmp_path / "other.sqlite"
    with open_ledger(other) as ledger:
        ledger.store([entry("other")])

    def work() -> None:
        with open_ledger(path) as ledger:
            ledger.store([entry("early")])
            other.replace(path)
            ledger.store([entry("late")])

    with pytest.raises(StudyError, match=r"keep the one that has more in it as gpt\.sqlite"):
        work()
    (kept,) = tmp_path.glob("gpt.sqlite.kept-*")
    for file, names in ((path, ["other"]), (kept, ["early", "late"])):
        with open_ledger(file) as ledger:
            assert sorted(ledger.keys()) == sorted(entry(name).key for name in names)
