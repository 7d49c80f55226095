"""`make reproduce`: the rule of its outcomes, and folders that lack files."""

import importlib
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from fieldwork.records.claims import Claim

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "benchmarks" / "reproduction"
PATHS = os.pathsep.join([str(ROOT / "workflow" / "scripts"), str(ROOT / "benchmarks")])


def claim(verdict: str, **values: Any) -> Claim:
    return Claim(**dict.fromkeys(f.name for f in fields(Claim)) | values | {"verdict": verdict})


@pytest.mark.parametrize(
    ("test", "direction", "outcome"),
    [
        (claim("differs", direction="rarer"), "rarer", "holds"),
        (claim("differs", direction="more common"), "rarer", "does not hold"),
        (claim("differs", direction="differs"), "rarer", "cannot be told"),
        (claim("differs", direction="differs"), "differs", "holds"),
        (claim("equivalent", ci_low=-0.05, ci_high=0.05), "rarer", "does not hold"),
        (claim("undecided", ci_low=-0.3, ci_high=0.1), "rarer", "cannot be told"),
        (claim("undecided", ci_low=0.01, ci_high=0.4), "rarer", "does not hold"),
        (claim("undecided", ci_low=0.01, ci_high=0.4), "more varied", "cannot be told"),
        (claim("undecided", ci_low=-0.4, ci_high=-0.01), "more varied", "does not hold"),
        (claim("cannot be shown", reason="too few"), "wider", "cannot be told"),
        (None, "more", "cannot be told"),
    ],
)
def test_a_tested_claim_is_judged_by_its_verdict_and_interval(
    monkeypatch: pytest.MonkeyPatch, test: Claim | None, direction: str, outcome: str
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    judgement = importlib.import_module("verdicts").judge_test(test, direction)
    assert judgement.outcome == outcome
    assert bool(judgement.reason) == (outcome == "cannot be told")


def test_a_folder_that_is_not_named_or_lacks_a_file_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations/sharegpt_sample.parquet").touch()
    for data, problem in (
        ("", "ERROR: DATA is not set; enter make reproduce DATA=folder"),
        ("/nowhere", "ERROR: DATA=/nowhere: has no conversations/sharegpt_sample.parquet; set"),
        (str(tmp_path), f"ERROR: DATA={tmp_path}: has no mmlu; set DATA to a folder"),
    ):
        done = subprocess.run(
            [sys.executable, str(HERE / "run.py"), "--data", data, "--out", str(tmp_path)],
            env={**os.environ, "PYTHONPATH": PATHS},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith(problem)
    assert not (tmp_path / "results.csv").exists()
