"""`make bench-explorer`: its page is that of its results, and what it invents is what it says."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fieldwork import tables
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "explorer"


def test_the_page_is_that_of_the_results(tmp_path: Path) -> None:
    for name in ("report.py", "results.csv"):
        shutil.copy(BENCHMARK / name, tmp_path)
    subprocess.run(
        [sys.executable, str(tmp_path / "report.py")],
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(BENCHMARK.parent)},
    )
    assert (tmp_path / "results.md").read_bytes() == (BENCHMARK / "results.md").read_bytes()


def test_invented_tables_are_equal_and_of_the_size_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCHMARK)
    import invented

    for name in ("one", "two"):
        sources = invented.make_tables(tmp_path / name, 2_400)
        assert invented.count_answers(sources) == 2_400
    first, second = (
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second
    answers = tables.read_rows(sources.answers[0], Answer)
    responses = [row for path in sources.responses for row in tables.read_rows(path, Response)]
    assert len(responses) == len(answers)
    # some of everything that the page has a word for
    assert set(Counter(row.outcome for row in answers)) == {"ok", "failed", "truncated"}
    assert {"refused", "no list found", "no letter found"} <= {row.reason for row in answers}
