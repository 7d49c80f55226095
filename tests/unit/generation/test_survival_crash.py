"""Kills, torn files, full disks, and two runs at once: nothing lost, nothing asked twice."""

import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import google.genai  # noqa: F401 - so that children need not import it
import openai  # noqa: F401
import pytest
from kills import FORK, at_step
from survival_study import (
    ALL_MODELS,
    MODELS,
    N_REPLICATES,
    PRICES,
    SPECS,
    Answers,
    N,
    Study,
    Table,
    lasting,
    n_billed,
    n_submitted,
    prepare,
)

from fieldwork.errors import StudyError
from fieldwork.generation.batches.journal import Journal
from fieldwork.generation.ledger import Ledger
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import OpenAIBatches
from servers.provider import BatchRules, Chat, serve_provider

CLIENTS = {"openai": OpenAIBatches, "gemini": GeminiBatches, "anthropic": AnthropicBatches}
# of the server's clock: a batch of a minute takes 12 ms
SPEED = 5_000.0
CONCURRENCY = 4
# of an answer, so that a job's ledger is a few hundred kilobytes
N_BYTES = 2_000

Act = Callable[[], None]
Whole = dict[tuple[str, str], Table]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(monkeypatch)
    monkeypatch.setattr("fieldwork.generation.batches.results.ROWS_PER_COMMIT", 6)


@contextmanager
def serving(**more: Any) -> Iterator[tuple[Chat, Answers]]:
    answers = Answers(N_BYTES)
    with serve_provider(specs=SPECS, answer=answers, speed=SPEED, **more) as chat:
        yield chat, answers


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The undisturbed table of each interface and tier."""
    with pytest.MonkeyPatch.context() as patched, serving() as (chat, _):
        prepare(patched)
        folder = tmp_path_factory.mktemp("whole")
        made = {
            (api, tier): Study(folder / api / tier, api, chat.gemini_url, dispatch=tier)
            for api in ALL_MODELS
            for tier in ("live", "batch")
        }
        return {name: lasting(study.run()) for name, study in made.items()}


class Run:
    """A process that runs a study once it is told where the server is."""

    def __init__(self, study: Callable[[str], Study], before: Act = lambda: None) -> None:
        self._end, far = FORK.Pipe()
        self._process = FORK.Process(target=self._work, args=(study, before, far))
        self._process.start()

    @staticmethod
    def _work(study: Callable[[str], Study], before: Act, far: Connection) -> None:
        url = far.recv()
        before()
        far.send(lasting(study(url).run()))

    def begin(self, chat: Chat) -> None:
        self._end.send(chat.gemini_url)

    def finish(self) -> int | None:
        self._process.join(30)
        return self._process.exitcode

    def table(self) -> Table:
        assert self._end.poll(30)
        table: Table = self._end.recv()
        return table


# -- killed at any step

# where a batch is made and its fate is noted; what the journal does alone, batches/test_batches.py kills
BATCH_STEPS: list[tuple[str, str, str, int]] = [
    ("journal", "begin_creation", "before", 1),
    ("journal", "begin_creation", "after", 3),
    ("journal", "record_submission", "before", 1),
    ("client", "upload", "after", 1),
    ("client", "create", "after", 1),
    ("client", "download", "after", 1),
    ("client", "discard", "before", 1),
]


BATCH_KILLS = [
    *(("openai", *step) for step in BATCH_STEPS),
    ("openai", "journal", "settle", "before", 2),
    ("openai", "ledger", "store", "after", 2),
    *((api, *step) for api in ("gemini", "anthropic") for step in BATCH_STEPS[1:5]),
    ("anthropic", "client", "_write_note", "before", 1),
    ("anthropic", "client", "_write_note", "after", 2),
]


@pytest.mark.parametrize(("api", "owner", "method", "when", "nth"), BATCH_KILLS)
def test_a_killed_batch_run_ends_with_the_table_of_an_undisturbed_one(
    api: str, owner: str, method: str, when: str, nth: int, tmp_path: Path, whole: Whole
) -> None:
    owners = {"journal": Journal, "client": CLIENTS[api], "ledger": Ledger}
    study = partial(Study, tmp_path / "killed", api, dispatch="batch")
    run = Run(study, partial(at_step, owners[owner], method, when, nth))
    with serving() as (chat, answers):
        run.begin(chat)
        assert run.finish() == -signal.SIGKILL
        table = study(chat.gemini_url).run()
        n_equal = 1 if api in MODELS else N_REPLICATES
        assert set(answers.made.values()) == {n_equal}, "a batch was made twice"
        assert answers.made.total() == n_billed(chat) == n_submitted(chat) == N
        assert lasting(table) == whole[api, "batch"]


# -- disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


CASES = [
    ("openai", "live", 0),
    ("openai", "live", 96),
    ("openai", "batch", 48),
    ("openai", "batch", 160),
    ("gemini", "batch", 128),
]


@pytest.mark.parametrize(("api", "tier", "room"), CASES)
def test_a_full_disk_stops_the_run_and_the_next_goes_on(
    api: str, tier: str, room: int, small_disk: Path, whole: Whole
) -> None:
    """`room` is in units of 1024 bytes, of which a whole run needs about 200."""
    with serving() as (chat, answers):
        study = Study(small_disk / "study", api, chat.gemini_url, dispatch=tier)
        study.ledger.parent.mkdir(parents=True)
        filler = small_disk / "filler"
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        filler.write_bytes(bytes(free - room * 1024))
        with pytest.raises(StudyError, match=r"disk space") as caught:
            study.run()
        assert "\n" not in str(caught.value)
        filler.unlink()
        table = study.run()
        twice = sum(count - 1 for count in answers.made.values())
        assert twice <= (CONCURRENCY if tier == "live" else 0)
        assert n_submitted(chat) == (0 if tier == "live" else N)
        assert len(answers.made) == N
        assert lasting(table) == whole[api, tier]


@pytest.mark.parametrize("tier", ["live", "batch"])
@pytest.mark.parametrize("begun", [False, True])
def test_nothing_is_asked_where_nothing_can_be_kept(
    tier: str, begun: bool, small_disk: Path, whole: Whole
) -> None:
    with serving(batch=BatchRules(missing=3)) as (chat, answers):
        study = Study(small_disk / "study", "openai", chat.gemini_url, dispatch=tier)
        if begun:
            chat.credit_usd = 0.0 if tier == "live" else None
            with pytest.raises(StudyError):
                study.run()
            chat.credit_usd = None
        made = answers.made.total()
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with pytest.raises(StudyError, match=r"cannot be used .*writable"):
            study.run()
        assert answers.made.total() == made
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        chat.batch = BatchRules()
        table = study.run()
        assert lasting(table) == whole["openai", tier]


# -- two at once


@pytest.mark.parametrize("tier", ["live", "batch"])
@pytest.mark.parametrize("api", MODELS)
def test_two_runs_on_one_ledger_give_one_table(api: str, tier: str, tmp_path: Path) -> None:
    study = partial(Study, tmp_path / "both", api, dispatch=tier)
    # two conditions of one model share its ledger, and have a table each
    runs = [Run(partial(study, table=name)) for name in ("one.parquet", "other.parquet")]
    with serving(latency_s=0.002) as (chat, _):
        chat.answer = None  # every answer is a new one: only one of two may count
        for run in runs:
            run.begin(chat)
        tables = [run.table() for run in runs]
        assert [run.finish() for run in runs] == [0, 0]
        assert tables[0] == tables[1] == lasting(study(chat.gemini_url).run())
        assert len({row["text"] for row in tables[0]}) == N
        assert (n_submitted(chat) if tier == "batch" else n_billed(chat)) == N
        assert n_stored(study("")) == N


def n_stored(study: Study) -> int:
    with closing(sqlite3.connect(study.ledger)) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM answers").fetchall()
    return int(count)


# -- killed again and again

# the commits after which each run in turn dies
KILLS = (1, 2, 1, 3, 2, 1)


@pytest.mark.parametrize("api", MODELS)
def test_many_kills_repeat_only_the_calls_in_flight(api: str, tmp_path: Path, whole: Whole) -> None:
    study = partial(Study, tmp_path / "killed", api, concurrency=CONCURRENCY)
    runs = [
        Run(study, partial(at_step, Ledger, "store", when, nth))
        for nth, when in zip(KILLS, ("before", "after") * 3, strict=True)
    ]
    with serving() as (chat, answers):
        n_made = 0
        for run in runs:
            run.begin(chat)
            assert run.finish() == -signal.SIGKILL
            repeated = answers.made.total() - len(answers.made)
            assert repeated - n_made <= CONCURRENCY, "a kill repeats what was in flight"
            n_made = repeated
        table = study(chat.gemini_url).run()
        assert len(answers.made) == N
        assert lasting(table) == whole[api, "live"]


def test_a_budget_is_never_passed_however_often_a_job_is_killed(tmp_path: Path) -> None:
    """All answers cost 0.0014; what the dead had set aside counts until it is known what they spent."""
    study = partial(Study, tmp_path / "killed", "openai", concurrency=CONCURRENCY)
    budget = 0.0012
    runs = [
        Run(partial(study, budget_usd=budget), partial(at_step, Ledger, "store", "after", nth))
        for nth in KILLS
    ]
    with serve_provider(specs=SPECS, prices=PRICES, answer=Answers()) as chat:
        ends = []
        for run in runs:
            run.begin(chat)
            ends.append(run.finish())
            assert chat.bill.usd <= budget
        assert -signal.SIGKILL in ends
        assert set(ends) <= {-signal.SIGKILL, 1}, "killed, or stopped by the budget"
        for _ in range(2):
            with pytest.raises(StudyError, match="budget_usd"):
                study(chat.gemini_url, budget_usd=budget).run()
            assert 0 < chat.bill.usd <= budget
        assert len(lasting(study(chat.gemini_url, budget_usd=1.0).run())) == N
