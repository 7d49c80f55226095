"""`make run`: what it prints, and what it does with the lock of a killed run."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workflow.conftest import Checkout, clean_environment

pytestmark = pytest.mark.workflow


def environment() -> dict[str, str]:
    """As `make` calls it: the environment's programs come first."""
    own = clean_environment({})
    return own | {"PATH": f"{Path(sys.executable).parent}:{own['PATH']}"}


def run_study(checkout: Checkout, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout.root / "workflow/run_study", "2", *arguments],
        cwd=checkout.root.parent,
        env=environment() | env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def leave_a_lock(checkout: Checkout) -> subprocess.Popen[bytes]:
    """Start a run, and return once it holds the folder."""
    (checkout.results() / "findings.md").unlink(missing_ok=True)
    running = subprocess.Popen(
        checkout.command("all", "--forcerun", "canonicalise_answers"),
        cwd=checkout.root,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    locks, record = checkout.root / ".snakemake/locks", checkout.root / ".snakemake"
    before = time.time()
    while time.monotonic() < deadline:
        written = record / "fieldwork_runs/quickstart.json"
        if any(locks.glob("*.lock")) and written.exists() and written.stat().st_mtime >= before - 5:
            # it lives and goes no further: a file that it removes while another run looks is "protected"
            os.killpg(running.pid, signal.SIGSTOP)
            return running
        time.sleep(0.05)
    raise AssertionError("the run never locked its folder")


def test_a_killed_run_is_gone_on_with_and_a_living_one_is_left_alone(finished: Checkout) -> None:
    running = leave_a_lock(finished)
    # what Snakemake does as any other run of the folder ends
    shutil.rmtree(finished.root / ".snakemake/locks")
    again = finished.snakemake("all")
    refused = run_study(finished)
    for run in (again, refused):
        assert run.returncode == 1
        assert f"process {running.pid}" in run.stderr
        assert "Traceback" not in run.stderr
    (finished.root / ".snakemake/locks").mkdir()
    (finished.root / ".snakemake/locks/0.output.lock").write_text(
        "results/quickstart/findings.md\n"
    )
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert any((finished.root / ".snakemake/locks").glob("*.lock")), "SIGKILL leaves the lock"
    resumed = run_study(finished)
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    assert "A killed run left its lock" in resumed.stdout
    assert "# Does it matter who asks?\n\nEmbedded (words) answered " in resumed.stdout
    assert (finished.results() / "report.zip").exists()
    stages = [
        line.partition(":")[0] for line in resumed.stderr.splitlines() if " steps done" in line
    ]
    assert stages[-1] == "Writing the page"
    assert "rule " not in resumed.stderr
    logs = sorted((finished.root / ".snakemake/log").glob("*.snakemake.log"))
    assert any("rule write_findings:" in log.read_text() for log in logs[-3:])
    before = {p: p.stat().st_mtime_ns for p in finished.results().rglob("*.*")}
    again = run_study(finished, VERBOSE="1")
    assert "Nothing to be done" in again.stderr
    assert (again.returncode, again.stdout.count("## In short")) == (0, 1)
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_a_study_of_ones_own_is_run_as_the_quickstart_is(
    finished: Checkout, tmp_path: Path
) -> None:
    """Its plan in a few lines with the path at the end; findings printed; a missing file named."""
    fewer = {"study": {"name": "own", "conditions": ["offline"], "tasks": ["probe"]}}
    overlay = str(finished.study("own", fewer))
    planned = run_study(finished, "--study", overlay, "--target", "plan")
    assert planned.returncode == 0, planned.stderr[-3000:]
    assert (planned.stdout + planned.stderr).rstrip().endswith("Plan: results/own/plan.html")
    assert len((planned.stdout + planned.stderr).splitlines()) < 15
    # a file that changes nothing of a study that is finished
    ran = run_study(
        finished, "--study", str(finished.study("same", {"study": {"name": "quickstart"}}))
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "## In short" in ran.stdout
    assert "Open results/quickstart/explorer/index.html" in ran.stdout
    missing = run_study(finished, "--study", str(tmp_path / "none.yaml"))
    assert missing.returncode == 1
    assert missing.stderr.strip().startswith("ERROR: STUDY: there is no file")
    assert len(missing.stderr.splitlines()) == 1


def test_no_line_of_a_changed_config_fills_the_terminal(
    quickstart: Checkout, tmp_path: Path
) -> None:
    overlay = Checkout(quickstart.root, tmp_path).study(
        "quickstart", {"metrics": {"permutations": 199}}
    )
    planned = quickstart.make("-n", "all", study=overlay)
    reasons = [
        x for x in (planned.stdout + planned.stderr).splitlines() if "Params have changed" in x
    ]
    assert reasons
    assert max(map(len, reasons)) < 1000
