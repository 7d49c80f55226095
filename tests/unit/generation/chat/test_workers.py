"""The processes of a model: the same bytes from any number of them, and none that outlives its run."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from senders import item_of, sender_of

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.chat import sources
from fieldwork.generation.chat.pool import LIBRARY, MODULE, WorkerJob, WorkerPool
from fieldwork.generation.chat.sources import model_source
from fieldwork.generation.engine import settle
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.providers.base import Exchange, Sampling
from fieldwork.generation.providers.local_chat import ChatSettings, LocalChat
from fieldwork.records.puppets import Message

PATIENCE_S = 300.0
NAMES = ["Bob", "Bob Cut", "Zoë", "日本"]
ITEMS = [item_of("list", choices=NAMES), item_of("choice", "choice", ["Mars", "Jupiter"])]


def provider(folder: Path, n_workers: int) -> LocalChat:
    settings = ChatSettings("candidates", 0.0, "likelihood", n_workers)
    return LocalChat(model_source({"path": str(folder)}), settings, "code")


def groups() -> list[ContextGroup]:
    """Every form, and long answers, so that a run can be killed while they are written."""
    contexts: list[list[Message]] = [[], [Message("user", "Hi")], [Message("system", "Zoë")]]
    text = item_of("Tell me.", "text")
    asks = [Ask(item, Sampling(1.0, 64, seed), seed) for item in ITEMS for seed in range(3)]
    asks += [Ask(text, Sampling(1.0, 120, seed), seed) for seed in range(12)]
    return [ContextGroup(str(i) if c else None, c, asks) for i, c in enumerate(contexts)]


def answers(model: LocalChat, path: Path) -> list[bytes]:
    """The replies in the ledger after all was asked."""
    with open_ledger(path) as ledger:
        sender = sender_of(model, ledger, ceiling=model.concurrency)
        keys = settle(groups(), sender, total=54).keys
        replies = {entry.key: entry.raw for entry in ledger.entries(keys)}
    return [replies[key] for key in keys]


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_process_that_is_killed_ends_the_job_in_a_sentence(packed_folder: Path) -> None:
    async def session() -> None:
        pool = WorkerPool(WorkerJob(str(packed_folder), "models.*.path: tiny"), 1)
        before = children()
        pool.open()
        while not (new := children() - before):
            await asyncio.sleep(0.01)
        os.kill(new.pop(), signal.SIGKILL)
        try:
            await pool.ask(b"{", b"{}")
        finally:
            await pool.close()

    with pytest.raises(StudyError, match="killed by signal 9") as caught:
        asyncio.run(session())
    assert "\n" not in str(caught.value)


def test_a_model_that_cannot_be_loaded_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "no such architecture"}')
    model = provider(tmp_path, 1)
    before = children()
    with pytest.raises(StudyError, match="its architecture no such architecture") as caught:
        answers(model, tmp_path / "m.sqlite")
    assert children() == before
    assert "\n" not in str(caught.value)


def test_any_number_of_processes_and_a_kill_give_the_same_bytes(
    tiny_folder: Path, tmp_path: Path
) -> None:
    """Answers that arrived are kept, the rest is asked alone, and all are as if nothing had happened."""
    whole = answers(provider(tiny_folder, 1), tmp_path / "whole.sqlite")
    assert len(set(whole)) > 20
    program = f"""
import sys
sys.path[:0] = {[str(LIBRARY), str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
from pathlib import Path
from fieldwork.generation.chat import sources
sources.MODELS = Path({str(sources.MODELS)!r})
import test_workers
test_workers.answers(
    test_workers.provider(Path({str(tiny_folder)!r}), 2),
    Path({str(tmp_path / "cut.sqlite")!r}),
)
"""
    before = children()
    with subprocess.Popen([sys.executable, "-c", program]) as run:
        deadline = time.monotonic() + PATIENCE_S
        while n_stored(tmp_path / "cut.sqlite") < 10:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        run.kill()
    n_kept = n_stored(tmp_path / "cut.sqlite")
    assert 10 <= n_kept < len(whole)
    model = provider(tiny_folder, 1)
    sent: list[bytes] = []
    send = model.send

    async def note(body: bytes) -> Exchange:
        sent.append(body)
        return await send(body)

    model.send = note  # type: ignore[method-assign]
    assert answers(model, tmp_path / "cut.sqlite") == whole
    assert len(sent) == len(whole) - n_kept
    assert children() == before


def n_stored(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_no_process_outlives_its_run() -> None:
    """Neither one that waits nor one that starts: the run is killed, alone."""
    program = f"""
import asyncio, json, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-m", "{MODULE}"], stdin=subprocess.PIPE)
print(worker.pid, flush=True)
time.sleep({PATIENCE_S})
"""
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        run.kill()
    deadline = time.monotonic() + PATIENCE_S
    while is_running(pid):
        assert time.monotonic() < deadline, "the process outlives its run"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
