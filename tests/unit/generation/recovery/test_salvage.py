"""Damaged ledgers: what is whole comes back as it was, nothing else does, the damaged file is kept."""

import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kills import die, exit_of

from fieldwork.errors import StudyError
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import Entry, ledger_key, open_ledger
from fieldwork.generation.recovery.pages import open_pages
from fieldwork.generation.recovery.salvage import Recovery, recover, recover_ledgers, sentence_of

STARTED = datetime(2026, 11, 20, 10, 30, tzinfo=UTC)
FOREIGN = b"from another model"


def entry(n: int) -> Entry:
    """An answer of any length, from a word to several pages, and of every kind of value."""
    source = random.Random(n)
    return Entry(
        key=ledger_key(b"%d" % n, "https://api.example", n % 3),
        endpoint="https://api.example",
        replicate=n % 3,
        raw=source.randbytes(source.choice([10, 300, 900, 1100, 5000, 30_000])),
        started_at=STARTED + timedelta(seconds=n) if n % 5 else None,
        latency_s=source.choice([None, 0.0, 1.0, 2.5, 300.0]),
        attempts=source.choice([1, 2, 300]),
        request_id=source.choice([None, "", "req_ü"]),
        tier=source.choice(["live", "flex", "batch"]),
    )


ENTRIES = [entry(n) for n in range(120)]
TRUTH = {e.key: e for e in ENTRIES}


def is_from_model(answer: Entry) -> bool:
    return not answer.raw.startswith(FOREIGN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / "m.sqlite"


def filled(path: Path) -> bytes:
    """A ledger of all answers, stored in several commits; its bytes."""
    for start in range(0, len(ENTRIES), 25):
        with open_ledger(path) as ledger:
            ledger.store(ENTRIES[start : start + 25])
    return path.read_bytes()


def killed(path: Path) -> None:
    """A ledger whose job was killed: its answers are in the log."""

    def store_and_die() -> None:
        with open_ledger(path) as ledger:
            for start in range(0, len(ENTRIES), 10):
                ledger.store(ENTRIES[start : start + 10])
            die()

    assert exit_of(store_and_die) == -signal.SIGKILL
    assert log_of(path).stat().st_size > 100_000


def held(path: Path) -> dict[bytes, Entry]:
    with open_ledger(path) as ledger:
        return {e.key: e for e in ledger.entries(ledger.keys())}


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def test_every_record_of_a_sound_file_is_read_as_sqlite_reads_it(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        rows = connection.execute("SELECT * FROM answers").fetchall()
    with open_pages(path) as pages:
        records = [r for r in pages.records() if len(r) == 10]
    as_floats = {(*r[:6], None if r[6] is None else float(r[6]), *r[7:]) for r in records}
    assert as_floats == set(rows)
    assert len(rows) == len(ENTRIES)


@pytest.mark.parametrize("page_size", [512, 1024, 8192, 65_536])
def test_pages_of_any_size_are_read(path: Path, page_size: int) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute("VACUUM")
    assert len(path.read_bytes()) % page_size == 0
    with open_pages(path) as pages:
        assert len({r[0] for r in pages.records() if len(r) == 10}) == len(ENTRIES)


def test_a_sound_ledger_is_left_alone(path: Path) -> None:
    before = filled(path)
    recovery = recover(path, is_from_model)
    assert recovery == Recovery(None, len(ENTRIES), len(ENTRIES))
    assert path.read_bytes() == before
    assert "not damaged; it holds 120 answers" in sentence_of(path, recovery)
    names = ["m.inventory.txt", "m.sqlite", "m.sqlite.lock"]
    assert sorted(p.name for p in path.parent.iterdir()) == names


def assert_refused(path: Path, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence), open_ledger(path):
        pass


def assert_recovered(path: Path, at_least: float) -> Recovery:
    """What comes back is as it was, and is enough; what was there is kept."""
    before = path.read_bytes()
    recovery = recover(path, is_from_model)
    entries = held(path)
    assert entries.items() <= TRUTH.items()
    assert recovery.n_answers == len(entries) >= at_least
    assert recovery.damaged_path is not None
    assert recovery.damaged_path.read_bytes() == before
    assert Inventory(path).count() == len(entries)
    return recovery


@pytest.mark.parametrize("share", [0.25, 0.9])
def test_a_ledger_that_was_cut_is_refused_and_gives_back_what_is_left(
    path: Path, share: float
) -> None:
    os.truncate(path, int(len(filled(path)) * share))
    assert_refused(path, r"damaged .*recover_ledgers")
    # long answers lie in several pages, and are whole only where the last of them is
    assert_recovered(path, 0.4 * share * len(ENTRIES))
    assert recover(path, is_from_model).trouble is None, "a second time there is nothing to do"


@pytest.mark.parametrize("seed", range(6))
def test_of_a_ledger_with_pages_full_of_garbage_the_others_come_back(path: Path, seed: int) -> None:
    raw, source = bytearray(filled(path)), random.Random(seed)
    n_pages = len(raw) // 4096
    hit = source.sample(range(1 if seed % 2 else 0, n_pages), 6)
    for page in hit:
        raw[4096 * page : 4096 * (page + 1)] = source.randbytes(4096)
    path.write_bytes(raw)
    # a page holds a part of one long answer, or of a dozen short ones
    assert assert_recovered(path, len(ENTRIES) - 6 * 12).trouble is not None


def test_an_emptied_ledger_is_refused_and_said_to_be_lost(path: Path) -> None:
    filled(path)
    path.write_bytes(b"")
    assert_refused(path, r"held 120 answers and holds none now.*recover_ledgers")
    assert path.read_bytes() == b"", "SQLite is not let near it"
    recovery = recover(path, is_from_model)
    assert recovery.is_lost
    assert "none of 120 answers can be recovered" in sentence_of(path, recovery)
    assert path.read_bytes() == b""


def test_an_emptied_ledger_comes_back_out_of_its_log(path: Path) -> None:
    killed(path)
    path.write_bytes(b"")
    for _ in range(2):
        assert_refused(path, "holds none now")
    recovery = assert_recovered(path, 120)
    assert "recovered. The damaged file is kept as m.sqlite.damaged-" in sentence_of(path, recovery)


@pytest.mark.parametrize("offset", [0, 20, 32 + 30, 100_000])
def test_a_log_with_a_flipped_byte_loses_one_page_at_most(path: Path, offset: int) -> None:
    """SQLite would drop all that follows the byte, and delete the file."""
    killed(path)
    raw = bytearray(log_of(path).read_bytes())
    raw[offset] ^= 0x10
    log_of(path).write_bytes(raw)
    assert_refused(path, r"its -wal file is damaged.*recover_led")
    assert log_of(path).read_bytes() == raw
    assert_recovered(path, len(ENTRIES) - 12)


@pytest.mark.parametrize("end", ["cut", "garbage", "an older log"])
def test_a_log_whose_end_a_crash_has_torn_is_no_damage(path: Path, end: str) -> None:
    killed(path)
    raw = log_of(path).read_bytes()
    step = 24 + 4096
    cut = 32 + step * ((len(raw) - 32) // step - 5) + 999
    tails = {"cut": b"", "garbage": os.urandom(3 * step), "an older log": raw[32 : 32 + 3 * step]}
    tail = tails[end]
    if end == "an older log":
        # frames of the log's last use, under other salts
        cut = 32 + step * ((cut - 32) // step)
        frames = [tail[i : i + step] for i in range(0, len(tail), step)]
        tail = b"".join(frame[:8] + b"olderlog" + frame[16:] for frame in frames)
    log_of(path).write_bytes(raw[:cut] + tail)
    entries = held(path)
    assert entries.items() <= TRUTH.items()
    assert len(entries) > 60


def test_answers_of_another_model_stay_apart(path: Path) -> None:
    own, foreign = ENTRIES[:30], [e._replace(raw=FOREIGN + e.raw) for e in ENTRIES[30:40]]
    with open_ledger(path) as ledger:
        ledger.store(own)
        ledger.quarantine(foreign)
    raw = bytearray(path.read_bytes())
    raw[100:4096] = bytes(3996)
    path.write_bytes(raw)
    recovery = recover(path, is_from_model)
    assert (recovery.n_answers, recovery.n_quarantined) == (40, 10)
    with open_ledger(path) as ledger:
        assert set(ledger.keys()) == {e.key for e in own}
        assert sorted(ledger.quarantined_entries(ledger.keys("quarantined"))) == sorted(foreign)


def test_a_disk_that_refuses_leaves_the_damaged_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled(path)
    os.truncate(path, len(before) // 2)

    def refuse(*_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    monkeypatch.setattr(shutil, "copy2", refuse)
    with pytest.raises(StudyError, match=r"cannot be recovered here .*No space left.*unchanged"):
        recover(path, is_from_model)
    assert path.read_bytes() == before[: len(before) // 2]
    monkeypatch.undo()
    assert recover(path, is_from_model).n_answers > 30


EMBEDDED = {"provider": "embedded", "encoder": "all-MiniLM-L6-v2", "sharpness": 40}
EMBEDDED |= {"context_weight": 0.3}


def test_each_ledger_is_looked_at_and_what_is_lost_stops_the_run_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with open_ledger(tmp_path / "sound.sqlite"):
        pass
    (tmp_path / "lost.sqlite").write_bytes(b"no database " * 1_000)
    models = dict.fromkeys(("lost", "never_asked", "sound"), EMBEDDED)
    with pytest.raises(StudyError, match=r"lost\.sqlite: damaged .* give the answers up"):
        recover_ledgers(models, tmp_path, tmp_path / "vectors.sqlite")
    (sentence,) = caplog.messages
    assert "sound.sqlite: not damaged; it holds 0 answers" in sentence
    assert not (tmp_path / "never_asked.sqlite").exists()
