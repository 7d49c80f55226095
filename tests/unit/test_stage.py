"""A stage logs, tells a user's mistake in one sentence, and lets a bug keep its traceback."""

import errno
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldwork import stage
from fieldwork.errors import StudyError


@pytest.fixture(autouse=True)
def log(tmp_path: Path) -> Iterator[Path]:
    """The log of a stage; the package's logger is put back afterwards."""
    logger = logging.getLogger("fieldwork")
    before = (logger.handlers, logger.level, logger.propagate)
    yield tmp_path / "deep" / "stage.log"
    for handler in logger.handlers:
        handler.close()
    logger.handlers, logger.level, logger.propagate = before


def fail(log: Path, error: BaseException) -> BaseException:
    """How a stage ends that raises an error."""

    def main() -> None:
        with stage.making("metrics/shifts.parquet"):
            pass
        with stage.making("metrics/variance.parquet"):
            raise error

    with pytest.raises((SystemExit, type(error))) as caught:
        stage.run(main, log=str(log))
    return caught.value


def test_arguments_reach_main_and_information_only_the_log(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def main(n: int, *, word: str) -> None:
        logging.getLogger("fieldwork.part").info("%d %s — é", n, word)
        logging.getLogger("fieldwork.part").debug("not told")

    stage.run(main, log=str(log), n=3, word="items")
    assert log.read_text(encoding="utf-8").endswith("INFO 3 items — é\n")
    assert "not told" not in log.read_text(encoding="utf-8")
    assert capsys.readouterr() == ("", "")


def test_a_mistake_is_one_sentence_on_the_terminal_and_in_the_log(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = fail(log, StudyError("a.csv: 100 % wrong"))
    assert isinstance(end, SystemExit)
    assert end.code == 1
    sentence = "ERROR: a.csv: 100 % wrong (while metrics/variance.parquet was made)\n"
    assert capsys.readouterr().err == sentence
    words = log.read_text(encoding="utf-8")
    assert words.endswith(sentence.replace("ERROR:", "ERROR"))
    assert "making metrics/shifts.parquet" in words
    assert "Traceback" not in words


@pytest.mark.parametrize("error", [KeyError("bug"), OSError(errno.EINVAL, "bug")])
def test_a_bug_keeps_its_traceback_and_the_file_that_was_made(log: Path, error: Exception) -> None:
    end = fail(log, error)
    assert end is error
    assert "(while metrics/variance.parquet was made)" in "".join(traceback.format_exception(end))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
def test_a_full_disk_is_one_sentence(
    log: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    end = fail(log, OSError(number, os.strerror(number), "results/x.csv"))
    assert isinstance(end, SystemExit)
    assert end.code == 1
    output = capsys.readouterr().err
    assert output.startswith("ERROR: results/x.csv: cannot be written (")
    assert "--directory" in output


SCRIPT = """
import sys, time
from fieldwork import stage
def main(bug):
    if bug:
        raise ValueError(f"header {bug!r}")
    print("begun", flush=True)
    time.sleep(60)
stage.run(main, log=sys.argv[1], bug=sys.argv[2])
"""


def script(log: Path, bug: str = "", **environment: str) -> "subprocess.Popen[str]":
    scripts = Path(stage.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(log), bug],
        env={**os.environ, "PYTHONPATH": str(scripts), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell's background jobs ignore SIGINT
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_ctrl_c_is_one_sentence(log: Path) -> None:
    running = script(log)
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    running.send_signal(signal.SIGINT)
    output = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert output.startswith("ERROR: interrupted; finished work is kept")
    assert output.count("\n") == 1


def test_no_log_terminal_or_traceback_tells_a_secret_of_the_environment(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "hf_0123456789abcdef"
    monkeypatch.setenv("HF_TOKEN", secret)
    monkeypatch.setenv("https_proxy", f"http://me:{secret}@host:1")

    def main() -> None:
        logging.getLogger("fieldwork").info("asked with %s", secret)
        raise StudyError(f"http://me:{secret}@host:1: not there")

    with pytest.raises(SystemExit):
        stage.run(main, log=str(log))
    assert secret not in capsys.readouterr().err + log.read_text(encoding="utf-8")
    assert log.read_text(encoding="utf-8").count("***masked***") == 2
    output = script(log, bug=f"Bearer {secret}").communicate(timeout=60)[1]
    assert "ValueError: header 'Bearer ***masked***'" in output
    assert secret not in output


def test_a_log_that_cannot_be_written_hides_nothing(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.parent.mkdir()
    log.symlink_to("/dev/full")
    fail(log, StudyError("a.csv: wrong"))
    assert capsys.readouterr().err.startswith("ERROR: a.csv: wrong")
