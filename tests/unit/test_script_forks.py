"""Scripts that are forks end as scripts do: with their status, by signals, with whoever started them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldwork.script_forks import ScriptForks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="scripts are forked on Linux alone")

LIBRARY = Path(__file__).parents[2] / "workflow" / "scripts"

WAITS = """
import os, signal, sys, time
def end(number, _):
    open("ended_by", "w").write(str(number))
    sys.exit(7)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, end)
open("partial", "w").write(str(os.getpid()))
os.rename("partial", "process")
time.sleep(60)
"""


@pytest.fixture
def forks() -> Iterator[ScriptForks]:
    made = ScriptForks(os.environ)
    yield made
    made.close()


def start(forks: ScriptForks, folder: Path, script: str) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(script)
    return subprocess.Popen(
        [forks.interpreter, "script.py", "one"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(file: Path) -> str:
    wait_until(file.exists, f"{file} is not there")
    return file.read_text()


def wait_until(has_come: Callable[[], bool], problem: str) -> None:
    deadline = time.monotonic() + 30
    while not has_come():
        assert time.monotonic() < deadline, problem
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for_end(process: int) -> None:
    wait_until(lambda: not is_alive(process), f"{process} is still running")


@pytest.mark.parametrize(
    ("script", "status", "out", "err"),
    [
        ("import sys; print(sys.argv, __name__)", 0, "['script.py', 'one'] __main__\n", ""),
        ("import sys; sys.exit('no such setting')", 1, "", "no such setting\n"),
        ("import sys; sys.exit(3)", 3, "", ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, "", ""),
        ("import statistics.nothing", 1, None, None),
        (
            "import atexit; atexit.register(print, 'end'); import sys; sys.exit('why')",
            1,
            "end\n",
            "why\n",
        ),
    ],
)
def test_a_script_ends_as_it_would(
    forks: ScriptForks, tmp_path: Path, script: str, status: int, out: str | None, err: str | None
) -> None:
    for _ in range(2):
        client = start(forks, tmp_path, script)
        printed = client.communicate(timeout=60)
        assert client.returncode == status
        if out is None:
            assert printed[1].splitlines()[-1].startswith("ModuleNotFoundError")
            assert "script_forks" not in printed[1]
        else:
            assert printed == (out, err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_script_can_wind_down(forks: ScriptForks, tmp_path: Path, number: signal.Signals) -> None:
    client = start(forks, tmp_path, WAITS)
    wait_for(tmp_path / "process")
    client.send_signal(number)
    assert client.wait(30) == 7
    assert wait_for(tmp_path / "ended_by") == str(int(number))


@pytest.mark.parametrize(
    ("first_import", "is_fork"),
    [("os", True), ("fieldwork.stage", True), ("fieldwork.stage", False)],
)
def test_an_interrupted_import_ends_in_a_sentence(
    forks: ScriptForks,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first_import: str,
    is_fork: bool,
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{LIBRARY}{os.pathsep}{tmp_path}")
    # a library that takes long to load
    slow = "import pathlib, time\npathlib.Path('process').write_text('')\ntime.sleep(60)\n"
    (tmp_path / "slow.py").write_text(slow)
    (tmp_path / "script.py").write_text(f"import {first_import}\nimport slow\n")
    script = subprocess.Popen(
        [forks.interpreter if is_fork else sys.executable, "script.py"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # what runs in the background of a shell does not hear of Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for(tmp_path / "process")
    script.send_signal(signal.SIGINT)
    _, message = script.communicate(timeout=30)
    assert message.startswith("ERROR: interrupted; ")
    assert message.count("\n") == 1
    assert script.returncode != 0


def test_nothing_runs_on_after_a_killed_client(forks: ScriptForks, tmp_path: Path) -> None:
    client = start(forks, tmp_path, WAITS)
    process = int(wait_for(tmp_path / "process"))
    client.kill()
    client.wait()
    wait_for_end(process)
    assert not (tmp_path / "ended_by").exists()


@pytest.mark.parametrize("is_group_killed", [True, False])
def test_nothing_runs_on_after_a_killed_run(tmp_path: Path, is_group_killed: bool) -> None:
    # longer than the address of a socket may be
    run, scratch = tmp_path / "run.py", tmp_path / "scratch" / ("long" * 25)
    scratch.mkdir(parents=True)
    run.write_text(
        "import subprocess, sys\n"
        "from fieldwork.script_forks import fork_scripts\n"
        "fork_scripts()\n"
        "subprocess.run([sys.executable, 'script.py'])\n"
    )
    (tmp_path / "script.py").write_text(WAITS)
    running = subprocess.Popen(
        [sys.executable, run],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(LIBRARY), "TMPDIR": str(scratch)},
        start_new_session=True,
    )
    process = int(wait_for(tmp_path / "process"))
    (os.killpg if is_group_killed else os.kill)(running.pid, signal.SIGKILL)
    running.wait()
    wait_for_end(process)
    wait_until(lambda: is_group_killed or not any(scratch.iterdir()), "the socket's folder is left")
