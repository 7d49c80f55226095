"""`make reproduce`: without its data, on its data, and once through in small with the embedded model."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workflow.conftest import (
    REPOSITORY,
    Checkout,
    clean_environment,
    copy_project,
    from_yaml,
    planned_rules,
)
from workflow.word_encoder import NAME

DATA = REPOSITORY.parent / "shared" / "data"
FILES = "conversations/sharegpt_sample.parquet"

pytestmark = pytest.mark.workflow
real_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real extracts at {DATA}")

EMBEDDED = {"provider": "embedded", "encoder": f"resources/models/{NAME}"}
SMALL = from_yaml(
    """
    models: $models
    metrics: {permutations: 99}
    tasks:
      recommendations: {runs: 2}
      probe: {runs: 2}
      mmlu_lite: {runs: 2, sources: [{format: mmlu, dataset: extract_mmlu, shots: 5,
        subjects: [econometrics]}]}
    """,
    models={
        name: {**EMBEDDED, "label": name}
        for name in ("smollm2_candidates", "smollm2_five_lines", "smollm2_free")
    },
)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("", "DATA is not set; enter make reproduce DATA=folder"),
        ("DATA=/nowhere", f"DATA=/nowhere: has no {FILES}; set DATA to a folder of"),
    ],
)
def test_make_reproduce_without_its_data_is_one_sentence(data: str, problem: str) -> None:
    # as if the environment were installed; its python is this one
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # these tests may run under make themselves
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    failed = subprocess.run(
        ["make", "-o", ".venv/installed", "reproduce", *filter(None, [data])],
        cwd=REPOSITORY,
        env={**outside, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 2
    lines = [line for line in failed.stderr.splitlines() if not line.startswith("make:")]
    assert len(lines) == 1
    assert lines[0].startswith(f"ERROR: {problem}")


def run(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(
        [str(checkout.root / "workflow/scripts"), str(checkout.root / "benchmarks")]
    )
    return subprocess.run(
        [sys.executable, "benchmarks/reproduction/run.py", "--data", str(DATA), *arguments],
        cwd=checkout.root,
        env=clean_environment({"PYTHONPATH": paths}),
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )


@real_data
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("part", "n_models"), [((), 1), (("lists.yaml",), 2), (("scores.yaml",), 1)], ids=str
)
def test_each_part_is_a_valid_study_on_the_data(
    tmp_path: Path, part: tuple[str, ...], n_models: int
) -> None:
    (tmp_path / "data").symlink_to(DATA)
    parts = ["studies/reproduce.yaml", *(f"benchmarks/reproduction/{name}" for name in part)]
    files = [str(REPOSITORY / name) for name in parts]
    dry = Checkout(REPOSITORY, tmp_path).make("-n", "all", "--configfile", *files)
    assert "download_dataset" not in planned_rules(dry.stdout)
    assert dry.stdout.count("\nrule ask_local_model:") == n_models


@pytest.mark.parametrize(("part", "n_rules"), [((), 2), (("scores.yaml",), 1)], ids=str)
def test_the_design_of_a_model_needs_no_data(
    tmp_path: Path, part: tuple[str, ...], n_rules: int
) -> None:
    parts = ["studies/reproduce_model.yaml", *(f"benchmarks/reproduction/{name}" for name in part)]
    files = [str(REPOSITORY / name) for name in parts]
    dry = Checkout(REPOSITORY, tmp_path).make("-n", "all", "--configfile", *files)
    assert dry.stdout.count("\nrule ask_local_model:") == 1
    assert dry.stdout.count("\nrule prepare_task:") == n_rules


def test_a_model_that_no_registry_has_is_named_with_the_way_out(tmp_path: Path) -> None:
    checkout = Checkout(REPOSITORY, tmp_path)
    folders = ("--directory", str(tmp_path), "--out", str(tmp_path))
    failed = run(checkout, "--model", "gpt-9", *folders)
    assert failed.returncode == 1
    assert "gpt-9" in failed.stderr
    assert "make reproduce" in failed.stderr
    unknown = run(checkout, "--model", "gpt-9", "--parts", "lists", *folders)
    assert unknown.stderr.startswith("ERROR: --parts lists: choose among reproduce_gpt_9,")


@real_data
@pytest.mark.real_data
def test_the_reproduction_runs_through_and_goes_on_from_what_is_there(tmp_path: Path) -> None:
    checkout = copy_project(tmp_path / "project")
    small = checkout.root / "small.yaml"
    small.write_text(yaml.safe_dump(SMALL))
    table = checkout.root / "benchmarks/reproduction/results.csv"
    page = checkout.root / "benchmarks/reproduction/results.md"
    table.unlink(missing_ok=True)
    page.unlink(missing_ok=True)
    # one of its three studies: the others differ in what is asked, and are dry runs above
    scores = ("--configfile", str(small), "--parts", "reproduce_scores")
    done = run(checkout, *scores)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    rows = [*csv.DictReader(table.read_text(encoding="utf-8").splitlines())]
    judged = {row["claim"] for row in rows if row["outcome"]}
    assert {"spread", "gap"} <= judged
    assert "cannot be told" in page.read_text(encoding="utf-8")
    again = run(checkout, *scores)
    assert "Nothing to be done" in again.stdout + again.stderr
    assert again.returncode == 0
