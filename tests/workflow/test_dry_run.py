"""What a dry run costs: no scientific package of ours, and seconds for the study of a whole paper."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.conftest import REPOSITORY, Checkout, clean_environment

pytestmark = pytest.mark.workflow

SCIENTIFIC = (
    "duckdb",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "torch",
    "transformers",
)
SNAKEMAKE = "from snakemake.cli import main; main(['-n', '--quiet', 'all', '--directory', {!r}])"
REPORT = "import json, sys; print('@', json.dumps([m for m in {!r} if m in sys.modules]))"

# the arms of Wang, Ho and Koyejo with a third model: 3 models, 6 conditions, 3 tasks
PAPER = {"study": {"models": ["gpt-4o-mini", "gemini-2.0-flash", "gpt-6-luna"]}}


def imported(statement: str, folder: Path) -> set[str]:
    """The scientific packages that a fresh process has imported after `statement`."""
    code = f"try:\n    {statement}\nexcept SystemExit as end:\n    assert not end.code\n"
    done = subprocess.run(
        [sys.executable, "-c", code + REPORT.format(SCIENTIFIC)],
        cwd=folder,
        env=clean_environment({"PYTHONPATH": str(REPOSITORY / "workflow/scripts")}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("@ "))
    return set(json.loads(line.removeprefix("@ ")))


@pytest.mark.parametrize("module", ["config.plan_inputs", "errors", "provenance", "run_record"])
def test_what_the_snakefile_imports_of_ours_is_plain_python(module: str) -> None:
    assert imported(f"import fieldwork.{module}", REPOSITORY) == set()


def test_parsing_the_snakefile_adds_no_scientific_package(tmp_path: Path) -> None:
    # Snakemake itself imports some: a workflow of nothing tells which
    (tmp_path / "Snakefile").write_text("rule all:\n    input: []\n")
    nothing = imported(SNAKEMAKE.format(str(tmp_path)), tmp_path)
    assert imported(SNAKEMAKE.format(str(tmp_path)), REPOSITORY) <= nothing


def test_a_dry_run_of_a_whole_paper_needs_no_download(tmp_path: Path) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    overlay = study.study("third_model", PAPER)
    paper = REPOSITORY / "studies/paper.yaml"
    planned = study.make("-n", "all", "--configfile", str(paper), str(overlay))
    text = planned.stdout + planned.stderr
    assert re.search(r"^generate_responses +54$", text, re.MULTILINE), (
        "3 models, 6 conditions, 3 tasks"
    )


def test_a_table_is_described_beside_a_run_that_has_the_folder(tmp_path: Path) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/quickstart/study.duckdb\n")
    described = study.make("describe", "answers")
    assert described.stdout.startswith("answers. A row: a parsed answer.\n")
    unknown = study.snakemake("describe", "answer")
    assert unknown.returncode == 1
    assert "ERROR: answer: there is no table of this name; did you mean answers" in unknown.stderr
    assert lock.exists()
