"""The notebook and the page in R run on a finished study, and their numbers by hand are the study's."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pandas as pd
import pyreadstat
import pytest
from nbclient import NotebookClient

from fieldwork import measures, tables
from fieldwork.database import write_views
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.records.estimates import Estimate
from fieldwork.records.parsing import Answer
from workflow.conftest import REPOSITORY, Checkout

pytestmark = pytest.mark.workflow

NOTEBOOK = REPOSITORY / "docs" / "notebook.ipynb"


def execute(folder: Path, private: Path) -> list[str]:
    """What the cells of code printed, as text; the notebook's assertions have held."""
    with pytest.MonkeyPatch.context() as patch:
        # settings and histories of whoever runs the tests stay theirs
        patch.setenv("IPYTHONDIR", str(private / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(private / "jupyter"))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=300, resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [str(output.get("text") or output.get("data")) for output in outputs]


def test_the_notebook_shows_what_it_computes(quickstart: Checkout, tmp_path: Path) -> None:
    executed = execute(quickstart.directory, tmp_path)
    text = "\n".join(executed)
    assert "answers of each condition are compared" in text
    # both tables beside numbers by hand, and the figure
    assert sum("metrics/heterogeneity" in output for output in executed) == 2
    assert "image/png" in text
    assert "Warning" not in text


def test_conditions_of_unequal_size_are_brought_to_equal_n(
    quickstart: Checkout, tmp_path: Path
) -> None:
    study = tmp_path / "results" / "quickstart"
    for folder in ("tasks", "metrics"):
        shutil.copytree(quickstart.results() / folder, study / folder)
    answers = tables.read_frame(quickstart.results() / "answers/answers.parquet", Answer)
    # users who lost their first answer are counted by their second; some lists cannot be read
    is_lost = (answers["condition"] == "rag") & (answers["replicate"] == 0)
    is_unread = (answers["condition"] == "offline") & (answers["replicate"] % 3 == 0)
    answers = answers[~is_lost | (answers.index % 5 > 0)]
    for column in ("items", "letter"):
        answers[column] = answers[column].where(~is_unread.loc[answers.index], None)
    (study / "answers").mkdir()
    answers.to_parquet(study / "answers" / "answers.parquet")
    rows = estimate_question(measures.question("lists"), answers, EstimateSettings("offline", 1))
    tables.write_rows(study / "metrics/estimates/lists.parquet", rows, Estimate)
    write_views(
        {"estimates": [str(study / "metrics/estimates/lists.parquet")]},
        {"heterogeneity": str(study / "metrics/heterogeneity.csv")},
    )
    text = "\n".join(execute(tmp_path, tmp_path))
    least = int(re.findall(r"(\d+) answers of each condition are compared", text)[0])
    assert 0 < least < 40


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)


# ---- in R ----------------------------------------------------------------------------------------------

R_PAGE = REPOSITORY / "docs" / "r.md"


@pytest.fixture(scope="module")
def exported(quickstart: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished quickstart with the files of `snakemake export`."""
    made = quickstart.clone(tmp_path_factory.mktemp("exported") / "project")
    made.make("export")
    return made


def blocks_of_r() -> list[str]:
    text = R_PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```r\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def missing_for_r() -> str | None:
    """Why the page cannot run here; None where it can."""
    if shutil.which("Rscript") is None:
        return "Rscript is not installed (r-base-core)"
    code = "stopifnot(requireNamespace('haven'), requireNamespace('lme4'))"
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, check=False)
    return "r-cran-haven or r-cran-lme4 is not installed" if done.returncode else None


def test_the_page_in_r_runs(exported: Checkout, tmp_path: Path) -> None:
    if reason := missing_for_r():
        pytest.skip(reason)
    script = tmp_path / "page.R"
    script.write_text("\n".join(blocks_of_r()), encoding="utf-8")
    done = subprocess.run(
        ["Rscript", str(script)],
        cwd=exported.directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # labels of conditions, differences of the model, and the number by hand beside the table's
    assert re.search(r"^ +SP-History +[\d.]+", done.stdout, re.MULTILINE)
    assert re.search(r"^conditionSP-RAG +-?[\d.e-]+ +-?[\d.e-]+", done.stdout, re.MULTILINE)
    assert re.search(r"condition by_hand table", done.stdout)


def test_the_page_in_r_uses_variables_that_the_files_have(exported: Checkout) -> None:
    results = exported.results()
    headers = {
        name
        for path in [*results.glob("metrics/*.csv"), *results.glob("export/tables/*.csv")]
        for name in path.read_text(encoding="utf-8").splitlines()[0].split(",")
    }
    code = "\n".join(blocks_of_r())
    made = set(re.findall(r"[a-z]\$([a-z_]+) <-", code)) | {"estimate"}
    assert "item_shares" in code
    assert set(re.findall(r"[a-z]\$([a-z_.]+)", code)) - made - {"p.value"} <= headers


def test_labelled_files_hold_the_answers_of_the_study(exported: Checkout) -> None:
    answers = tables.read_frame(exported.results() / "answers/answers.parquet", Answer)
    folder = exported.results() / "export/tables"
    book = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
    values = {c["code"]: c["value"] for c in book["codes"]["letter"]}
    labels = {c["value"]: c["label"] for c in book["codes"]["condition"]}
    assert labels["history"] == "SP-History"
    for reader, name in (
        (pyreadstat.read_sav, "answers.sav"),
        (pyreadstat.read_dta, "answers.dta"),
    ):
        frame, _ = reader(folder / name)
        assert len(frame) == len(answers)
        letters = [None if pd.isna(code) else values[code] for code in frame["letter"]]
        assert letters == [None if pd.isna(letter) else letter for letter in answers["letter"]]
    assert {table["name"] for table in book["tables"]} >= {
        "answers",
        "items",
        "estimates",
        "claims",
    }
