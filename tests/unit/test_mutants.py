"""Faults for the benchmark of tests: each changes one piece of one line, drawn by a seed."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/mutants"))
    sys.modules.pop("mutations", None)


def test_every_kind_of_fault_is_found_in_a_line() -> None:
    from mutations import mutants_in

    text = (
        "é = 'ß' if a < b and c else min(d + 1, e)\nf = g not in h\nlong = (\n    i\n    - j\n)\n"
    )
    faults = {(m.line, m.old, m.new) for m in mutants_in(text, "m.py")}
    assert faults == {
        (1, "<", "<="),
        (1, "and", "or"),
        (1, "min", "max"),
        (1, "+", "-"),
        (1, "1", "2"),
        (2, "not in", "in"),
    }


def test_a_fault_is_written_where_it_was_found_and_can_be_taken_back(tmp_path: Path) -> None:
    from mutations import mutants_in

    text = "x = 'é' + y\n"
    (tmp_path / "m.py").write_text(text)
    (fault,) = mutants_in(text, "m.py")
    assert fault.apply(tmp_path) == text
    assert (tmp_path / "m.py").read_text() == "x = 'é' - y\n"
