"""Durable SQLite files: synced in full, made by several processes at once, closed where refused."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from kills import FORK

from fieldwork.generation.durable import connect

N = 4
ROUNDS = 10


def lay_out(connection: sqlite3.Connection) -> None:
    connection.executescript("CREATE TABLE IF NOT EXISTS rows (value INTEGER)")


def make_and_write(folder: Path, barrier: Any, value: int) -> None:
    for k in range(ROUNDS):
        barrier.wait()
        with closing(connect(folder / f"{k}.sqlite", lay_out)) as connection, connection:
            connection.execute("INSERT INTO rows VALUES (?)", (value,))


def test_a_commit_is_synced_in_full(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "folder" / "a.sqlite", lay_out)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_processes_that_make_the_file_at_once_all_write(tmp_path: Path) -> None:
    barrier = FORK.Barrier(N, timeout=60)
    jobs = [FORK.Process(target=make_and_write, args=(tmp_path, barrier, k)) for k in range(N)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * N
    for path in tmp_path.iterdir():
        with closing(sqlite3.connect(path)) as connection:
            assert sorted(connection.execute("SELECT value FROM rows")) == [(k,) for k in range(N)]


def test_a_file_that_another_process_is_making_is_tried_again(tmp_path: Path) -> None:
    tried = []

    def busy_twice(connection: sqlite3.Connection) -> None:
        tried.append(connection)
        if len(tried) < 3:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
            raise error
        lay_out(connection)

    with closing(connect(tmp_path / "a.sqlite", busy_twice)) as connection:
        assert connection.execute("SELECT * FROM rows").fetchall() == []
    assert len(tried) == 3
