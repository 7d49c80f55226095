"""A ledger that had answers and has none stops the run; one that is given up on purpose does not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_ledger import SCRIPTS, entry, stored

from fieldwork.errors import StudyError
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import open_ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / "gpt.sqlite"


def beside(path: Path) -> Path:
    return path.with_name("gpt.inventory.txt")


def opened(path: Path) -> None:
    with open_ledger(path):
        pass


def test_the_count_is_written_with_the_first_answer_and_at_the_end(path: Path) -> None:
    with open_ledger(path) as ledger:
        ledger.store([entry("a"), entry("b")])
        assert beside(path).read_text().startswith("2 answers are in gpt.sqlite (")
        ledger.store([entry("b"), entry("c")])
        ledger.quarantine([entry("d")])
    assert Inventory(path).count() == 4
    text = beside(path).read_text()
    assert "recover_ledgers" in text
    assert "delete this file too" in text
    opened(path)
    assert Inventory(path).count() == 4


def test_a_killed_job_leaves_a_count(path: Path) -> None:
    code = """
import os, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_ledger import entry
from fieldwork.generation.ledger import open_ledger
with open_ledger(Path(sys.argv[1])) as ledger:
    ledger.store([entry("a")])
    ledger.store([entry("b")])
    os.kill(os.getpid(), 9)
"""
    folders = [str(SCRIPTS), str(Path(__file__).parent)]
    dead = subprocess.run([sys.executable, "-c", code, str(path), *folders], check=False)
    assert dead.returncode == -signal.SIGKILL
    assert Inventory(path).count() == 1
    opened(path)


LOSSES = {
    "cut to nothing": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
    "made anew": lambda path: made_anew(path),
}


def made_anew(path: Path) -> None:
    path.unlink()
    note = beside(path)
    text = note.read_text()
    note.unlink()
    opened(path)
    note.write_text(text)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_ledger_that_lost_its_answers_stops_the_run(path: Path, loss: str) -> None:
    stored(path, entry("a"), entry("b"))
    LOSSES[loss](path)
    for _ in range(2):
        with pytest.raises(StudyError) as caught:
            opened(path)
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
    opened(path)
    path.write_bytes(b"")
    with pytest.raises(StudyError, match="held 1 answers and holds none now"):
        opened(path)


def test_a_log_without_its_ledger_is_not_thrown_away(path: Path) -> None:
    """SQLite deletes the log of a file that it takes for new."""
    path.parent.mkdir()
    log = path.with_name("gpt.sqlite-wal")
    log.write_bytes(os.urandom(5000))
    with pytest.raises(StudyError, match=r"holds none now.*delete its -wal file"):
        opened(path)
    assert log.stat().st_size == 5000
