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

from fieldwork.estimates.declaration import Measure, ReaderQuestion
from fieldwork.measures import question_names, questions
from fieldwork.statistics.entropy import plug_in_bits

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


def read_results(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", question_names())
def test_results_have_every_declared_measure_and_no_other(name: str) -> None:
    """After a change of a declaration: `run.py --parts NAME`."""
    rows = [row for row in read_results(VALIDITY) if row["part"] == name]
    simulated = {row["estimator"].removeprefix("discarded: ").split(",")[0] for row in rows}
    assert simulated == questions()[name].names.keys()


def test_a_piece_of_a_run_keeps_what_is_there(tmp_path: Path) -> None:
    first = simulate(tmp_path, "--sets", "3", "--parts", "share_who", "--seconds", "0.01")
    assert first.startswith("1 of ")
    before = (tmp_path / "results.csv").read_text(encoding="utf-8")
    simulate(tmp_path, "--sets", "3", "--parts", "share_who", "--first", "1", "--seconds", "0.01")
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


LETTERS = ReaderQuestion(
    title="Letters",
    sentence="Do letters vary?",
    kinds=("choice",),
    references=("baseline", "field"),
    has_groups=True,
    measures=[
        Measure(
            name="bits",
            title="Entropy",
            meaning="entropy of letters",
            statistic=plug_in_bits,
            is_by_item=True,
            is_tested=True,
            is_for_other_prompts=True,
        ),
        Measure(name="seconds", title="Seconds", meaning="seconds", of="seconds"),
    ],
)


def test_a_new_declaration_is_simulated_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(VALIDITY))
    declared = importlib.import_module("declared")
    monkeypatch.setattr(declared, "questions", lambda: {"letters": LETTERS})
    monkeypatch.setattr(declared, "TRUTH_PARTS", 1)
    monkeypatch.setattr(declared, "TRUTH_SETS", 40)
    simulations = declared.simulations("letters")
    lines = [line for simulation in simulations for line in simulation.outcomes(3, 1)]
    assert {(line.estimator, line.sets) for line in lines} == {
        ("bits, one prompt", 3),
        ("bits, mean", 3),
        ("bits, difference", 3),
        ("bits, mean, prompts like these", 3),
        ("bits, difference, prompts like these", 3),
        ("discarded: bits, difference, interval for these prompts", 3),
        ("seconds, mean", 3),
        ("seconds, difference", 3),
    }
    tested = {line.estimator for line in lines if line.false_positives is not None}
    assert tested == {"bits, difference"}
    sources = {line.source for line in lines}
    assert {"letters, no effect", "skewed numbers, an effect"} < sources
    assert {line.size.split(", ")[1] for line in lines} >= {"40 participants", "40 of other groups"}
