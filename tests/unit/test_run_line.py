"""One line says how far a run is, from what Snakemake and its jobs say."""

import io
import re
from pathlib import Path

import pytest

from fieldwork.progress import FOLDER_VARIABLE, Progress
from fieldwork.run_line import RunLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_the_line_tells_stage_answers_time_cost_and_steps(folder: Path) -> None:
    clock = Clock()
    line = RunLine(folder, io.StringIO(), clock)
    line.count(2, 9)
    assert line.text() == ("Preparing users and questions: 2 of 9 steps done, 0:00 since the start")
    clock.now = 75
    with Progress("small", 3000, "answers") as first:
        first.skip(1000)
        first.spend(0.5)
        first.tick("")
        with Progress("large", 500, "answers") as second:
            second.spend(0.75)
            second.tick("waiting for the list of models")
            assert re.fullmatch(
                r"Asking: 1,000 of 3,500 answers, (\d:\d\d left, )?\$1.25 so far, 2 of 9 steps done, "
                r"1:15 since the start",
                line.text(),
            )
    line.begin("measure_shifts")
    assert line.text() == "Measuring: $1.25 so far, 2 of 9 steps done, 1:15 since the start"


def test_a_terminal_shows_one_line_and_messages_above_it(folder: Path) -> None:
    stream = Terminal()
    line = RunLine(folder, stream, Clock())
    line.draw()
    assert stream.getvalue() == "", "nothing is known yet"
    line.count(0, 4)
    line.draw()
    line.say("ERROR: no room")
    line.draw()
    line.clear()
    shown = [part.rpartition("\r\x1b[K")[2] for part in stream.getvalue().split("\n")]
    assert shown == ["ERROR: no room", ""]
    assert stream.getvalue().count("\n") == 1


def test_a_file_gets_a_line_for_a_stage_and_for_a_minute(folder: Path) -> None:
    stream, clock = io.StringIO(), Clock()
    line = RunLine(folder, stream, clock)
    line.count(0, 4)
    rules = {0: "prepare_task", 1: "embed_corpus", 5: "plot_fig1", 70: "plot_fig2"}
    for clock.now, rule in rules.items():
        line.begin(rule)
        line.draw()
        line.draw()
    stages = [text.partition(":")[0] for text in stream.getvalue().splitlines()]
    assert stages == ["Preparing users and questions", "Drawing figures", "Drawing figures"]
