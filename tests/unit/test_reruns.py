"""`make reruns`: its page is that of its results, its simulation has a closed form, its data are real."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RERUNS = ROOT / "benchmarks" / "reruns"
DATA = ROOT.parent / "shared" / "data"
PATHS = os.pathsep.join([str(ROOT / "workflow" / "scripts"), str(RERUNS)])

Numbers = dict[tuple[str, str, str], tuple[float | None, ...]]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    options: Any = {"env": {**os.environ, "PYTHONPATH": PATHS}, "timeout": 60}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, **options)


def numbers(folder: Path) -> Numbers:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["part"], row["name"], row["measure"]): tuple(
                float(row[end]) if row[end] else None for end in ("value", "low", "high")
            )
            for row in csv.DictReader(file)
        }


def test_the_simulation_agrees_with_its_closed_form() -> None:
    code = """
import noise
published = [0.8, 0.79, 0.785, 0.7, 0.699, 0.65, 0.6]
moved = noise.rerun_list(published, 0.01, sets=4000, seed=1)
print(moved.pairs, noise.expected_turned_pairs(published, 0.01), moved.changes[-1], moved.top_changes)
print(noise.score_sd(0.05, [100, 100]), noise.rerun_list(published, 0.0, sets=10, seed=1).pairs)
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    first, second = (list(map(float, line.split())) for line in done.stdout.splitlines())
    assert first[0] == pytest.approx(first[1], abs=0.06)
    # the last is 50 thousandths, 3.5 standard deviations of a difference, from its neighbour
    assert first[2] < 0.01
    assert first[3] > 0.2
    # two subjects: sqrt(0.05 * (1 / 100 + 1 / 100)) / 2
    assert second == pytest.approx([0.0158114, 0.0], abs=1e-6)


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.exists(), reason=f"the real extracts are not at {DATA}")
def test_real_repeats_give_the_committed_numbers(tmp_path: Path) -> None:
    done = run(str(RERUNS / "run.py"), "--data", str(DATA), "--sets", "20", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found, committed = numbers(tmp_path), numbers(RERUNS)
    parts = ("runs", "flips", "new", "places", "published")
    counted = [key for key in committed if key[0] in parts]
    assert len(counted) > 50
    for key in counted:
        assert found[key] == pytest.approx(committed[key]), key
    changed = committed["flips", "all four subjects", "questions that change"][0]
    assert round(changed * 657) == 191
    equal = [v[0] for (part, _, m), v in committed.items() if part == "published" and "equal" in m]
    assert equal == [9.0] * 5
