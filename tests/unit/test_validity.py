"""`make validity` runs, and its committed page is that of its committed results."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VALIDITY = ROOT / "benchmarks" / "validity"


def simulate(out: Path, *options: str) -> str:
    run = subprocess.run(
        [sys.executable, str(VALIDITY / "run.py"), "--out", str(out), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow" / "scripts")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return run.stdout


def test_the_page_is_that_of_the_results(tmp_path: Path) -> None:
    shutil.copy(VALIDITY / "results.csv", tmp_path)
    page = (VALIDITY / "results.md").read_text(encoding="utf-8")
    day = page.splitlines()[2].partition(". Made")[0]
    simulate(tmp_path, "--first", "10000", "--day", day)
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == page


def test_results_are_of_full_size_and_of_every_part() -> None:
    with (VALIDITY / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["part"] for row in rows} == {
        "share_who",
        "nested",
        "categories",
        "distance",
        "heterogeneity",
        "run",
        "scores",
        "novelty",
        "share",
        "shift",
        "mean",
        "groups",
        "agreement",
        "field means",
        "calibration",
        "arms",
        "prompts",
        "studies",
        "changed",
        "odd",
        "corrections",
        "power",
        "exact",
        "waiting",
        "values",
        "robustness",
        "drift",
        "practice",
    }
    used = [row for row in rows if not row["estimator"].startswith("discarded")]
    assert min(int(row["sets"]) for row in used if int(row["sets"])) >= 250


def test_a_piece_of_a_run_keeps_what_is_there(tmp_path: Path) -> None:
    first = simulate(tmp_path, "--sets", "3", "--parts", "share_who", "--seconds", "0.01")
    assert first.startswith("1 of ")
    before = (tmp_path / "results.csv").read_text(encoding="utf-8")
    simulate(tmp_path, "--sets", "3", "--parts", "share_who", "--first", "1", "--seconds", "0.01")
    after = (tmp_path / "results.csv").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after) > len(before)
