"""Starts of Snakemake and of scripts in these tests are forks; they must do what starts of Python do."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from workflow.conftest import REPOSITORY, Checkout, clean_environment, forks, script_forks

pytestmark = pytest.mark.workflow

SNAKEFILE = """
import os, sys
config.setdefault("seconds", 0)
rule all:
    output: "made.txt"
    shell: "echo $FOR_JOBS > {output}; sleep {config[seconds]}"
rule refused:
    shell: "echo refused; exit 3"
rule script:
    params: end=config.get("end")
    script: "script.py"
print(os.getcwd(), os.environ["FOR_JOBS"], sys.path[0], file=sys.stderr)
"""

SCRIPT = """
import json, os, random, signal, sys, threading, time
from pathlib import Path
import huggingface_hub, numpy
Path("seen.json").write_text(json.dumps({
    "name": __name__, "main": sys.modules["__main__"].__file__ is not None, "file": __file__,
    "arguments": len(sys.argv),
    "place": sys.path[0],
    # Snakemake makes a folder for each of its runs, and adds one more when it is imported
    "path": sorted({entry for entry in sys.path if "runtime-cache" not in entry}),
    "hub": [huggingface_hub.HfApi().endpoint, huggingface_hub.hf_hub_url("a/b", "c"),
            huggingface_hub.model_info.__self__.endpoint],
    "program": sys.executable, "cwd": os.getcwd(),
    "env": {n: v for n, v in os.environ.items() if n != "_"},
    "stdin": os.read(0, 1).decode(), "is_main": threading.current_thread() is threading.main_thread(),
}))
with open("random.txt", "a") as file:
    print(random.random(), numpy.random.random(), file=file)
print("to standard output")
print("to standard error", file=sys.stderr)
def fail():
    raise ValueError("on purpose")
match snakemake.params.end:
    case "error": fail()
    case "status": sys.exit(3)
    case "wait": Path("running").write_text(str(os.getpid())), time.sleep(300)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def without_times(text: str) -> str:
    text = re.sub(r"Workflow ID: .*", "", text)
    return re.sub(r"\S*\d\d:\d\d\S*|\S*T\d{6}\S*|\d+\.\d+ ?s\S*|/tmp/\S+\.py\b", "", text)


@pytest.mark.parametrize("arguments", [("-n", "all"), ("nowhere",), ("--cores", "1", "refused")])
def test_a_fork_says_and_returns_what_a_start_does(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    env = clean_environment({"FOR_JOBS": "seen"})
    checkout = Checkout(folder, folder)
    started = subprocess.run(
        checkout.command(*arguments),
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = checkout.snakemake(*arguments, env={"FOR_JOBS": "seen"})
    assert forked.returncode == started.returncode
    assert without_times(forked.stdout) == without_times(started.stdout)
    assert without_times(forked.stderr) == without_times(started.stderr)
    assert f"{folder} seen {folder}" in forked.stderr


@pytest.mark.parametrize("end", ["well", "error", "status"])
def test_a_forked_script_sees_says_and_returns_what_a_started_one_does(
    folder: Path, end: str
) -> None:
    checkout, seen = Checkout(folder, folder), folder / "seen.json"
    arguments = ("script", "--config", f"end={end}")
    env = {"FOR_JOBS": "seen", "HF_ENDPOINT": "http://127.0.0.1:9"}
    started = checkout.snakemake(*arguments, env=env, as_users_do=True)
    seen_by_started = json.loads(seen.read_text())
    # the third and later ones of this process find numpy imported
    for _ in range(3 if end == "well" else 1):
        seen.unlink()
        forked = checkout.snakemake(*arguments, env=env)
    assert forked.returncode == started.returncode == (end != "well")
    assert without_interpreters(forked.stdout) == without_interpreters(started.stdout)
    assert without_interpreters(forked.stderr) == without_interpreters(started.stderr)
    assert json.loads(seen.read_text()) == seen_by_started
    draws = [line.split() for line in (folder / "random.txt").read_text().splitlines()]
    assert all(len(set(column)) == len(draws) > 1 for column in zip(*draws, strict=True))


def without_interpreters(text: str) -> str:
    text = re.sub(r"tmp\w+\.script\.py", "script.py", without_times(text))
    return re.sub(r"\S*/(python\S*) ", "python ", text)


def test_jobs_of_a_fork_see_its_environment_and_end_with_it(folder: Path) -> None:
    env = clean_environment({"FOR_JOBS": "mine"})
    arguments = ["--cores", "2", "all", "script", "--config", "seconds=300", "end=wait"]
    interpreter = script_forks().interpreter(env)
    # until the script runs, which takes longer on a busy machine
    for timeout in (6, 12, 60):
        with pytest.raises(subprocess.TimeoutExpired):
            forks().run(arguments, cwd=folder, env=env, timeout=timeout, interpreter=interpreter)
        if (folder / "running").exists():
            break
        shutil.rmtree(folder / ".snakemake/locks")
    assert (folder / "made.txt").read_text() == "mine\n"
    script = int((folder / "running").read_text())
    deadline = time.monotonic() + 60
    while psutil.pid_exists(script) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(script)
    # the next one is served
    assert Checkout(REPOSITORY, folder).snakemake("--version").stdout.strip()
