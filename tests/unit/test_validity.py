"""`make validity` runs, and its committed page is that of its committed results."""

import csv
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldwork.measures import question_names, questions

ROOT = Path(__file__).resolve().parents[2]
VALIDITY = ROOT / "benchmarks" / "validity"


def simulate(out: Path, *options: str) -> str:
    command = [sys.executable, str(VALIDITY / "run.py"), "--out", str(out), *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow" / "scripts")}
    output: str = subprocess.check_output(command, env=env, text=True, timeout=60)
    return output


@pytest.mark.parametrize("name", question_names())
def test_results_have_every_declared_measure_and_no_other(name: str) -> None:
    """After a change of a declaration: `run.py --parts NAME`."""
    with (VALIDITY / "results.csv").open(encoding="utf-8", newline="") as file:
        names = [row["estimator"] for row in csv.DictReader(file) if row["part"] == name]
    simulated = {name.removeprefix("discarded: ").split(",")[0] for name in names}
    assert simulated == questions()[name].names.keys()


@pytest.mark.parametrize("name", question_names())
def test_a_declared_question_is_simulated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(VALIDITY))
    monkeypatch.syspath_prepend(str(VALIDITY.parent))
    first = next(importlib.import_module("declared").simulations(name))
    estimators = {outcome.estimator.partition(",")[0] for outcome in first.outcomes(2, 5)}
    assert estimators <= questions()[name].names.keys()
    assert estimators


def test_a_piece_of_a_run_keeps_what_is_there(tmp_path: Path) -> None:
    options = ("--sets", "3", "--parts", "share_who", "--seconds", "0.2")
    assert simulate(tmp_path, *options).startswith("1 of ")
    before = (tmp_path / "results.csv").read_text(encoding="utf-8")
    simulate(tmp_path, *options, "--first", "40")
    after = (tmp_path / "results.csv").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after) > len(before)


def test_bias_coverage_and_level_are_counted_over_the_sets_that_have_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(VALIDITY))
    simulations = importlib.import_module("simulations")
    line = simulations.Line

    def lines(argument: str, sets: Any) -> Iterator[Any]:
        assert (argument, sets.n, sets.seed) == ("argument", 2, 7)
        interval, p_values = (0.0, 2.0), [0.05, 0.06, None]
        yield line("estimated", 1.0, [1.0, 2.0, None], [interval, None, (2.0, 3.0)], p_values)
        yield line("claimed", claims=[True, False, True, True], place={"source": "another"})
        yield line("counted out", 1.0, coverage=0.9, level=0.04)

    simulation = simulations.Simulation("part", lines, ("argument",), "source", "size", (1,), 4)
    estimated, claimed, counted = simulation.outcomes(9, 7)
    assert (estimated.part, estimated.source, estimated.size) == ("part", "source", "size")
    assert (estimated.sets, estimated.mean, estimated.bias) == (3, 1.5, 0.5)
    assert (estimated.n_intervals, estimated.coverage, estimated.false_positives) == (2, 0.5, 0.5)
    assert estimated.bias_error == pytest.approx(0.5)
    assert estimated.coverage_error == pytest.approx(0.5 / 2**0.5)
    assert (claimed.source, claimed.sets, claimed.false_positives) == ("another", 4, 0.75)
    assert (claimed.truth, claimed.coverage) == (None, None)
    assert (counted.sets, counted.coverage, counted.coverage_error) == (0, 0.9, 0.0)
    assert (counted.false_positives, counted.false_positive_error) == (0.04, 0.0)
