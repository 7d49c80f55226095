"""The cluster that the tests beside this file share, and a study run on it through two faults."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from cluster.slurm import Cluster, missing, wait_until
from workflow.conftest import (
    REPOSITORY,
    Checkout,
    clean_environment,
    copy_project,
    copy_readings,
    from_yaml,
)
from workflow.word_encoder import NAME

# Slurm's accounting, which the profile leaves the executor to ask, takes a database; and a cluster that
# is not shared can be asked every second
TEST_OPTIONS = (
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "1",
)

# The executor waits ten seconds longer at each look that finds no job ended, which suits jobs of hours
LOOKS_OFTEN = """
from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

Executor.next_seconds_between_status_checks = property(lambda _: 1, lambda *_: None)
main()
"""

MODELS = ("embedded", "second")
# As few jobs as want a provider at once, share a Slurm job and have one of their own: two models, and
# their answers as they are read, as all that measures and draws takes the same road
STUDY = """
study: {name: on_a_cluster, models: [embedded, second], conditions: [offline, profile],
  tasks: [recommendations]}
models: {second: {provider: embedded, label: Second, encoder: $encoder, sharpness: 20}}
conditions: {profile: {replicates: 1}}
tasks: {recommendations: {runs: 20}}
"""
TARGET = "results/on_a_cluster/answers/answers.parquet"


class Run(NamedTuple):
    """A finished run of Snakemake on the cluster; `text` is all it said."""

    returncode: int
    text: str


@dataclass
class ClusterStudy:
    """A study folder whose jobs go to the cluster."""

    cluster: Cluster
    checkout: Checkout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start Snakemake as a user does on a login node."""
        copy_readings(REPOSITORY, self.checkout.directory)
        command = self.checkout.command("--profile", "profiles/slurm", *TEST_OPTIONS, *arguments)
        # no number of cores: the profile says what a group asks for
        at = command.index("--cores")
        assert command[1:at] == ["-m", "snakemake"]
        return subprocess.Popen(
            [command[0], "-c", LOOKS_OFTEN, *command[at + 2 :]],
            cwd=self.checkout.root,
            env=clean_environment({}) | self.cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self, running: subprocess.Popen[str]) -> Run:
        """Wait for Snakemake's end."""
        text, _ = running.communicate(timeout=600)
        return Run(running.returncode, text)

    def asked(self) -> int:
        """Answers in the ledgers."""
        return sum(map(_n_answers, self.checkout.directory.glob("resources/ledger/*.sqlite")))


@dataclass
class Ordeal:
    """What became of a study: alone on this machine, and on a cluster where a job and a node died."""

    study: ClusterStudy
    local: Checkout
    killed: Run
    resumed: Run
    crashed_node: str
    answers_after_kill: int
    results_before_resuming: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A real Slurm of two nodes, stopped afterwards."""
    reason = missing()
    if reason is not None:
        pytest.skip(f"the cluster tests start a real Slurm, and here is {reason}")
    started = Cluster.start()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of the project for all tests of a module; its own folder is where the cluster's study is."""
    return copy_project(tmp_path_factory.mktemp("cluster") / "project")


@pytest.fixture(scope="module")
def ordeal(cluster: Cluster, project: Checkout) -> Ordeal:
    """The study on this machine, then on the cluster, where first a job is killed and then a node."""
    encoder = str((project.root / "resources/models" / NAME).resolve())
    overlay = project.study("on_a_cluster", from_yaml(STUDY, encoder=encoder))
    arguments = (TARGET, "--configfile", str(overlay))
    local = Checkout(project.root, project.root.with_name("local"))
    local.make(*arguments)
    # this is no test of the encoder
    vectors = "results/vectors"
    shutil.copytree(local.directory / vectors, project.root / vectors, dirs_exist_ok=True)

    study = ClusterStudy(cluster, project)
    running = study.start(*arguments)
    kill_a_job_midway(study, running)
    killed = study.finish(running)
    after_kill = study.asked()
    done = {
        str(path) for path in (project.root / "results/on_a_cluster/responses").rglob("*.parquet")
    }

    running = study.start(*arguments)
    node = crash_a_node_midway(study, running)
    return Ordeal(study, local, killed, study.finish(running), node, after_kill, done)


def kill_a_job_midway(study: ClusterStudy, running: subprocess.Popen[str]) -> None:
    """SIGKILL the process that asks a model, once it has stored answers and has no table."""
    for pid, before in _asking(study, running):
        deadline = time.monotonic() + 3
        while study.asked() == before and time.monotonic() < deadline and _is_there(pid):
            time.sleep(0.02)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it was quicker: the next one
        return
    pytest.fail("no job could be killed: " + study.finish(running).text[-3000:])


def crash_a_node_midway(study: ClusterStudy, running: subprocess.Popen[str]) -> str:
    """Crash the node of a job that asks a model; start it again when the job is on the other one."""
    cluster = study.cluster
    for pid, _ in _asking(study, running):
        nodes = [process.node for process in cluster.job_processes() if process.pid == pid]
        if not nodes:
            continue  # it ended meanwhile
        (node,) = nodes
        cluster.crash(node)
        wait_until(
            lambda: bool(cluster.run("squeue", "-h", "-t", "R", "-o", "%N").split()),
            f"Slurm starts the job of {node} again on another node",
            seconds=60,
        )
        cluster.restart(node)
        return node
    pytest.fail("no node could be crashed: " + study.finish(running).text[-3000:])


def _asking(study: ClusterStudy, running: subprocess.Popen[str]) -> Iterator[tuple[int, int]]:
    """Processes that ask a model, each once, and how many answers there were when it was first seen."""
    seen: set[int] = set()
    while running.poll() is None:
        for process in study.cluster.job_processes():
            is_script = ".ask_local_model.py" in process.command
            if is_script and "snakemake --" not in process.command and process.pid not in seen:
                seen.add(process.pid)
                yield process.pid, study.asked()
        time.sleep(0.1)


def _n_answers(path: Path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
            (count,) = ledger.execute("SELECT count(*) FROM answers").fetchone()
    except sqlite3.OperationalError:  # a job makes the file just now
        return 0
    return int(count)


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
