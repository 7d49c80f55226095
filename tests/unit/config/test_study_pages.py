"""The pages that a run names when it ends."""

from pathlib import Path

import pytest

from fieldwork.config.pages import new_pages


def test_pages_are_those_of_this_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "results/quickstart/findings.md"
    page.parent.mkdir(parents=True)
    page.touch()
    written = page.stat().st_mtime
    assert new_pages("results/quickstart", written) == ["Findings: results/quickstart/findings.md"]
    assert new_pages("results/quickstart", written + 1) == []
