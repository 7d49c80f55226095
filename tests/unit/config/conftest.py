"""Paths in a config are looked for in the folder of the study: here the project's own."""

import pytest

from unit.shipped_config import HOME


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HOME)
