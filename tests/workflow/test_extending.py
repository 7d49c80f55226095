"""The worked examples of docs/extending.md, applied to a copy of the project and run."""

import csv
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from workflow.conftest import (
    REPOSITORY,
    Checkout,
    clean_environment,
    copy_project,
)
from workflow.test_reruns import OF_ESTIMATES, PAGES

pytestmark = pytest.mark.workflow

DOCUMENT = (REPOSITORY / "docs/extending.md").read_text(encoding="utf-8")
LONGEST_BLOCK = 30


class Block(NamedTuple):
    """A fenced block of the document; `path` is that of the line above it, or of the block before."""

    section: str
    path: str
    language: str
    text: str


def blocks() -> Iterator[Block]:
    parts = re.split(r"^## (.*)$", DOCUMENT, flags=re.MULTILINE)
    for section, body in zip(parts[1::2], parts[2::2], strict=True):
        path = ""
        for match in re.finditer(
            r"(?:^`([\w/.]+)`\n\n)?^```(\w*)\n(.*?)^```$", body, re.DOTALL | re.MULTILINE
        ):
            path = match[1] or path
            yield Block(section, path, match[2], match[3])


BLOCKS = [*blocks()]


def apply_diff(text: str, diff: str) -> str:
    """`text` with the lines of a diff taken out and added; what it starts from stands there once."""
    lines = diff.splitlines()
    old = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    new = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def extend(project: Checkout, added: Sequence[Block]) -> None:
    """Do to a copy of the project what blocks say."""
    for block in added:
        file = project.root / block.path
        if block.language == "diff":
            file.write_text(apply_diff(file.read_text("utf-8"), block.text), encoding="utf-8")
        elif block.language:
            assert not file.exists(), f"{block.path} exists already"
            file.write_text(block.text.replace("[smollm2]", "[embedded]"), encoding="utf-8")


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    project = copy_project(tmp_path_factory.mktemp("extended") / "project")
    extend(project, BLOCKS)
    return project


def test_every_example_fits_a_screen() -> None:
    assert all(len(block.text.splitlines()) <= LONGEST_BLOCK for block in BLOCKS)
    kinds = {"corpus", "condition", "task", "kind", "provider", "metric", "figure"}
    assert {re.split(r"[ ,]", block.section)[1] for block in BLOCKS} == kinds


@pytest.mark.parametrize(
    "command",
    [pytest.param(b.text.strip(), id=b.section) for b in BLOCKS if not b.language],
)
def test_an_example_runs(command: str, extended: Checkout) -> None:
    program, target, *options = shlex.split(command)
    assert program == "snakemake"
    extended.make(target, *options, cores=2)
    assert (extended.root / target).stat().st_size


def test_a_new_measure_has_interval_claim_section_and_row(extended: Checkout) -> None:
    metrics = extended.root / "results/lengths/metrics"
    with (metrics / "estimates/simpson.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["condition"]: row for row in csv.DictReader(file)}
    again = rows["offline_again"]
    assert 0 < float(again["ci_low"]) < float(again["value"]) < float(again["ci_high"]) < 1
    assert 0 < float(again["p_value"]) <= 1
    assert not rows["offline"]["difference"]
    with (metrics / "claims.csv").open(encoding="utf-8", newline="") as file:
        (claim,) = (row for row in csv.DictReader(file) if row["measure"] == "simpson")
    assert (claim["source"], claim["p_value"]) == ("estimates", again["p_value"])
    findings = (extended.root / "results/lengths/findings.md").read_text(encoding="utf-8")
    assert "### Two mentions" in findings
    assert "Simpson index" in findings
    dictionary = subprocess.run(
        [sys.executable, "-c", "from fieldwork.reference import render; print(render())"],
        cwd=extended.root / "workflow/scripts",
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "| `simpson` | simpson | options | chance that two mentions" in dictionary.stdout


def test_a_new_provider_or_measure_asks_and_parses_nothing(finished: Checkout) -> None:
    extend(finished, [block for block in BLOCKS if block.section == "A provider"])
    assert finished.plan("all") <= {*PAGES, "all"}
    extend(finished, [block for block in BLOCKS if block.section == "A metric"])
    planned = finished.plan("all")
    assert planned == {"measure_answers", *OF_ESTIMATES, *PAGES, "all"}


def test_a_measure_that_cannot_hold_is_refused_before_anything_runs(extended: Checkout) -> None:
    file = extended.root / "workflow/scripts/fieldwork/measures/simpson.py"
    text = file.read_text(encoding="utf-8")
    try:
        file.write_text(text.replace('unit="points"', 'margin="nothing"'), encoding="utf-8")
        planned = extended.snakemake("-n", cores=1)
    finally:
        file.write_text(text, encoding="utf-8")
    assert planned.returncode
    last_line = planned.stderr.strip().splitlines()[-1]
    assert "measures/simpson.py: the margin nothing of simpson" in last_line


def test_the_examples_keep_to_the_house(extended: Checkout) -> None:
    """The project's own tests of its structure, on the extended copy."""
    files = [
        f"tests/unit/{name}.py" for name in ("test_architecture", "test_conditions", "test_names")
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=extended.root,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
