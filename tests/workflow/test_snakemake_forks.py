"""A start of Snakemake in these tests is a fork; it must do what `python -m snakemake` does."""

import re
import subprocess
from pathlib import Path

import pytest

from workflow.conftest import REPOSITORY, Checkout, clean_environment, forks

pytestmark = pytest.mark.workflow

SNAKEFILE = """
import os, sys
config.setdefault("seconds", 0)
rule all:
    output: "made.txt"
    shell: "echo $FOR_JOBS > {output}; sleep {config[seconds]}"
rule refused:
    shell: "echo refused; exit 3"
print(os.getcwd(), os.environ["FOR_JOBS"], sys.path[0], file=sys.stderr)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
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


def test_jobs_of_a_fork_see_its_environment_and_end_with_it(folder: Path) -> None:
    env = clean_environment({"FOR_JOBS": "mine"})
    with pytest.raises(subprocess.TimeoutExpired):
        forks().run(
            ["--cores", "1", "all", "--config", "seconds=300"], cwd=folder, env=env, timeout=25
        )
    assert (folder / "made.txt").read_text() == "mine\n"
    # the next one is served
    assert Checkout(REPOSITORY, folder).snakemake("--version").stdout.strip()
