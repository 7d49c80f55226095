"""The page of a benchmark is made of its committed results, and of nothing else."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
COMMANDS = {
    "explorer": ("{out}/report.py",),
    "reproduction": ("{home}/run.py", "--page", "--out", "{out}"),
    "reproduction/qwen2.5-coder-1.5b": (
        *("{home}/../run.py", "--page", "--model", "qwen2.5-coder-1.5b", "--out", "{out}"),
    ),
    "reruns": ("{home}/run.py", "--page", "--out", "{out}"),
    "validity": ("{home}/run.py", "--out", "{out}", "--first", "10000"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_is_that_of_the_results(name: str, tmp_path: Path) -> None:
    home = BENCHMARKS / name
    page = (home / "results.md").read_text(encoding="utf-8")
    shutil.copy(home / "results.csv", tmp_path)
    shutil.copytree(home, tmp_path, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)
    command = [part.format(home=home, out=tmp_path) for part in COMMANDS[name]]
    # the one page that says when and where it was made
    made = re.search(r"^(\S+)\. Made .* newest lines on\n(.*); formulas", page, re.MULTILINE)
    if made:
        command += ["--day", made[1], "--machine", made[2]]
    paths = [ROOT / "workflow/scripts", BENCHMARKS]
    ran = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == page
