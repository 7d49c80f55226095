"""Scripts find the library through the path that their process inherits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fieldwork import library_path


@pytest.mark.parametrize("path", [None, "", "/a"])
def test_the_library_stands_before_the_users_own_path(
    path: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if path is not None:
        monkeypatch.setenv("PYTHONPATH", path)
    library_path.export_library()
    first, *others = os.environ["PYTHONPATH"].split(os.pathsep)
    # an empty entry would stand for the current folder
    assert others == ([path] if path else [])
    code = "import fieldwork; print(fieldwork.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).parents[1] == Path(first)
