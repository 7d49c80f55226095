"""The notebook in docs/ runs on a finished study, and its numbers by hand are the study's."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from fieldwork import tables
from fieldwork.metrics.heterogeneity import measure_heterogeneity
from fieldwork.records.metrics import Heterogeneity
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
    tables.write_rows(
        study / "metrics/heterogeneity.parquet",
        measure_heterogeneity(answers, seed=1),
        Heterogeneity,
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


def test_the_text_in_r_uses_columns_that_the_tables_have(quickstart: Checkout) -> None:
    text = (REPOSITORY / "docs" / "notebook_r.md").read_text(encoding="utf-8")
    metrics = quickstart.results() / "metrics"
    for name in ("item_shares", "heterogeneity"):
        assert f"metrics/{name}.csv" in text
    header = {
        column
        for path in metrics.glob("*.csv")
        for column in path.read_text(encoding="utf-8").splitlines()[0].split(",")
    }
    columns = set(_columns(text))
    assert columns
    assert columns <= header


def _columns(text: str) -> list[str]:
    """Columns that code in R takes from a data frame by `$`."""
    return re.findall(r"[a-z]\$([a-z_]+)", text)
