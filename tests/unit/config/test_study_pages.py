"""The pages that a run names when it ends."""

from pathlib import Path

import pytest

from fieldwork.config.pages import field_warning, new_pages


def test_pages_are_those_of_this_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "results/quickstart/findings.md"
    page.parent.mkdir(parents=True)
    page.touch()
    written = page.stat().st_mtime
    assert new_pages("results/quickstart", written) == ["Findings: results/quickstart/findings.md"]
    assert new_pages("results/quickstart", written + 1) == []


def test_a_run_without_the_column_map_says_that_it_leaves_real_users_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`snakemake export` without the map would give files of a study without a field."""
    monkeypatch.chdir(tmp_path)
    results = Path("results/mine")
    (results / "field").mkdir(parents=True)
    assert [*field_warning({"field": None}, str(results))] == []
    (results / "field/answers.parquet").touch()
    assert [*field_warning({"field": {"path": "resources/field/page"}}, str(results))] == []
    (sentence,) = field_warning({"field": None}, str(results))
    assert sentence.startswith("WARNING: results/mine/field has answers of real users")
