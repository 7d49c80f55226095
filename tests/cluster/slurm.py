"""A real Slurm on this machine: munged, slurmctld and two slurmd in a folder and on ports of their own.

Nothing of it outlives `stop`, and no other Slurm of the machine is touched: every process it ends is one
it started, or a job of one.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

PROGRAMS = (
    "setpriv",
    "munged",
    "slurmctld",
    "slurmd",
    "sbatch",
    "srun",
    "squeue",
    "sinfo",
    "scontrol",
)
NODES = ("node1", "node2")
# set for all jobs of this cluster: how their processes are told from others'
MARK = "FIELDWORK_TEST_CLUSTER"

CONFIGURATION = """
ClusterName=fieldwork
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool_%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd_%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd_%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/finished_jobs
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdTimeout=300
ReturnToService=2
MinJobAge=600
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class FinishedJob(NamedTuple):
    """What the controller wrote of a run of a job; a job that was started again has several."""

    job_id: int
    state: str
    node: str
    start: str
    end: str


class Process(NamedTuple):
    """A process of a job."""

    pid: int
    command: str
    node: str


class Cluster:
    """A running cluster; made by `start`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            "SLURM_CONF": str(folder / "slurm.conf"),
            MARK: str(folder),
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
        }

    @classmethod
    def start(cls) -> Self:
        """A cluster that takes jobs."""
        # short: a socket's path has at most 107 characters
        cluster = cls(Path(tempfile.mkdtemp(prefix="slurm-")))
        try:
            cluster._configure()
            cluster._start_daemons()
            cluster.wait_for_nodes()
        except BaseException:
            cluster.stop()
            raise
        return cluster

    def stop(self) -> None:
        """End every process of the cluster and remove its folder."""
        for name in (*NODES, "slurmctld", "munged"):
            self._kill(name)
        for process in self.job_processes():
            _kill_quietly(process.pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command: str) -> str:
        """Standard output of one of Slurm's commands."""
        return subprocess.run(
            command,
            env=os.environ | self.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def wait_for_nodes(self) -> None:
        """Return when every node is up."""

        def all_up() -> bool:
            states = self.run("sinfo", "-h", "-N", "-o", "%T").split()
            return len(states) == len(NODES) and set(states) <= {"idle", "mixed", "allocated"}

        wait_until(all_up, "the nodes of the test cluster are up", seconds=60)

    def crash(self, node: str) -> None:
        """End a node's daemon and all that runs on it at once, as when its power fails."""
        self._kill(node)
        jobs = [process for process in self.job_processes() if process.node == node]
        # the steps first: one that lived would report that its job failed, not its node
        steps = {step for process in jobs if (step := _step_of(process.pid)) is not None}
        for pid in (*steps, *(process.pid for process in jobs)):
            _kill_quietly(pid)
        # what the controller finds out by itself once SlurmdTimeout has passed
        self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=crashed")

    def restart(self, node: str) -> None:
        """Start a crashed node again, and return when it is up."""
        self._start(node, "slurmd", "-D", "-N", node)
        # refused where the node has come back by itself, which is as good: it is waited for below
        subprocess.run(
            ["scontrol", "update", f"NodeName={node}", "State=RESUME"],
            env=os.environ | self.environment,
            capture_output=True,
            check=False,
        )
        self.wait_for_nodes()

    def job_processes(self) -> Iterator[Process]:
        """The processes of this cluster's jobs, as they are now."""
        mark = f"{MARK}={self.folder}"
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue  # it ended meanwhile
            names = [line for line in environment if line.startswith("SLURMD_NODENAME=")]
            if mark in environment and names:
                node = names[0].removeprefix("SLURMD_NODENAME=")
                yield Process(int(entry.name), command.replace("\0", " "), node)

    def finished_jobs(self) -> list[FinishedJob]:
        """Every run of a job that has ended, in the order of their ends."""
        written = self.folder / "finished_jobs"
        rows = written.read_text().splitlines() if written.exists() else []
        fields = [dict(part.split("=", 1) for part in row.split() if "=" in part) for row in rows]
        return [
            FinishedJob(int(f["JobId"]), f["JobState"], f["NodeList"], f["StartTime"], f["EndTime"])
            for f in fields
        ]

    def _configure(self) -> None:
        # mkdtemp's 0700 would keep the daemons' sockets from other users; they need none, but munged
        # wants every folder above its socket to be searchable
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o600)
        host = socket.gethostname()
        controller_port, *ports = _free_ports(1 + len(NODES))
        nodes = "\n".join(
            # more than the machine has: what is tested is who runs beside whom
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            " CPUs=8 RealMemory=64000"
            for name, port in zip(NODES, ports, strict=True)
        )
        text = CONFIGURATION.format(
            host=host, controller_port=controller_port, folder=self.folder, nodes=nodes
        )
        (self.folder / "slurm.conf").write_text(text)
        # the executor hides SLURM_CONF from the step it starts within a job, as it would be set by
        # nobody where Slurm is installed for good
        wrapper = self.folder / "bin" / "srun"
        wrapper.parent.mkdir()
        wrapper.write_text(
            f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n'
        )
        wrapper.chmod(0o755)

    def _start_daemons(self) -> None:
        files = {
            flag: f"--{flag}={self.folder}/munge.{flag.removesuffix('-file')}"
            for flag in ("socket", "key-file", "pid-file", "log-file", "seed-file")
        }
        self._start("munged", "munged", "--foreground", "--force", *files.values())
        socket_file = self.folder / "munge.socket"
        wait_until(socket_file.exists, "munged listens", seconds=20)
        self._start("slurmctld", "slurmctld", "-D")
        for node in NODES:
            self._start(node, "slurmd", "-D", "-N", node)
        wait_until(self._answers, "slurmctld answers", seconds=30)

    def _answers(self) -> bool:
        asked = subprocess.run(
            ["scontrol", "ping"],
            env=os.environ | self.environment,
            capture_output=True,
            check=False,
        )
        return b"is UP" in asked.stdout

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                # a test run that is killed must leave no daemon behind
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=os.environ | {"SLURM_CONF": self.environment["SLURM_CONF"]},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _kill(self, name: str) -> None:
        daemon = self._daemons.pop(name, None)
        if daemon is not None:
            daemon.kill()
            daemon.wait()


def missing() -> str | None:
    """Why no Slurm can be started here, or None."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"no {', '.join(absent)}: apt-get install slurmctld slurmd slurm-client munge"
    return None if os.geteuid() == 0 else "slurmd can only be started by root"


def wait_until(holds: Callable[[], bool], what: str, *, seconds: float) -> None:
    """Return when `holds()` does; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited {seconds} s for this: {what}"
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    """Ports below those that the kernel hands out by itself, so that they stay free until used."""
    found: list[int] = []
    for port in range(20_000 + os.getpid() % 5_000, 32_000):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports between 20000 and 32000")


def _step_of(pid: int) -> int | None:
    """The slurmstepd that a job's process runs under, if it still does."""
    while pid > 1:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return None
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["Name"].startswith("slurmstepd"):
            return pid
        pid = int(fields["PPid"])
    return None


def _kill_quietly(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
