"""`make reruns`: its page is that of its results, its simulation has a closed form, its data are real."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RERUNS = ROOT / "benchmarks" / "reruns"
DATA = ROOT.parent / "shared" / "data"
PATHS = os.pathsep.join([str(ROOT / "workflow" / "scripts"), str(RERUNS)])

Numbers = dict[tuple[str, str, str], tuple[float, float | None, float | None]]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        timeout=60,
    )


def numbers(folder: Path) -> Numbers:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["part"], row["name"], row["measure"]): (
                float(row["value"]),
                float(row["low"]) if row["low"] else None,
                float(row["high"]) if row["high"] else None,
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


def test_ten_against_ten_is_projected_from_five_runs() -> None:
    """Questions with one, two and four letters: the truth is within the range, and near the value."""
    code = """
import numpy as np, new_letters
random = np.random.default_rng(2)
kinds = np.array([[1, 0, 0, 0], [0.95, 0.05, 0, 0], [0.5, 0.3, 0.15, 0.05]])
shares = kinds[random.integers(3, size=657)]
answers = (random.random((657, 5, 1)) > shares.cumsum(axis=1)[:, None, :3]).sum(axis=2)
series = ["".join("ABCD"[k] for k in row) for row in answers]
print(*new_letters.ten_against_ten(series), new_letters.new_chance(shares, 10).mean())
print(new_letters.new_chance(kinds[1:2], 10)[0], new_letters.new_chance(shares, 1).mean())
print(new_letters.counted_share(series, 1), new_letters.counted_share(["AABBB"], 2))
print(*new_letters.known_part(["A" * 28, "A" * 12 + "B", "AB", "A" * 14 + " " * 6]))
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    projection, chances, counts, part = (
        list(map(float, line.split())) for line in done.stdout.splitlines()
    )
    value, least, most, truth = projection
    assert value == pytest.approx(truth, abs=0.06)
    assert least < truth < most
    # only B can be new beside ten A: .95^10 (1 - .95^10), and A beside ten B
    assert chances[0] == pytest.approx(0.95**10 * (1 - 0.95**10))
    assert counts[0] == pytest.approx(chances[1], abs=0.04)
    # 30 ways to take two runs and two others: AA before (3 of 3 new), BB before (AA, or A and B)
    assert counts[1] == pytest.approx((3 + 3 * 3) / 30)
    # one of four is new for certain; the short one is open
    assert part == [0.25, 0.25, 0.5]


@pytest.mark.real_data
def test_real_repeats_give_the_committed_numbers(tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip(f"the real extracts are not at {DATA}")
    done = run(str(RERUNS / "run.py"), "--data", str(DATA), "--sets", "20", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found, committed = numbers(tmp_path), numbers(RERUNS)
    counted = [
        key for key in committed if key[0] in ("runs", "flips", "new", "places", "published")
    ]
    assert len(counted) > 50
    for key in counted:
        assert found[key] == pytest.approx(committed[key]), key
    changed = committed["flips", "all four subjects", "questions that change"][0]
    assert round(changed * 657) == 191
    equal = [v[0] for (part, _, m), v in committed.items() if part == "published" and "equal" in m]
    assert equal == [9.0] * 5
