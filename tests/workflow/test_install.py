"""The package installed in place: `pip install -e .`, then `import fieldwork` from anywhere."""

import re
import subprocess
import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from workflow.conftest import REPOSITORY, Checkout, clean_environment

pytestmark = pytest.mark.workflow


def test_an_editable_install_is_imported_from_any_folder(
    checkout: Checkout, tmp_path: Path
) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    # what it depends on is taken from this environment: downloading it again would prove nothing
    (purelib,) = (tmp_path / "env/lib").glob("python*/site-packages")
    (purelib / "shared.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = subprocess.run(
        [*pip, "--no-deps", "--editable", str(checkout.root)],
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr[-2000:]
    code = "import fieldwork.tables, fieldwork; print(fieldwork.__file__)"
    done = subprocess.run(
        [python, "-c", code], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(checkout.root)


def requirements(path: Path) -> set[str]:
    """Names of the packages a file pins; every line of it is a pin, a comment or empty."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==\S+", line) for line in lines]
    assert all(pins)
    return {re.sub(r"[._]", "-", pin[1]).lower() for pin in pins if pin}


def test_the_package_needs_what_the_study_needs_and_no_test_tools() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["dynamic"]["dependencies"]["file"] == ["requirements.txt"]
    needed = requirements(REPOSITORY / "requirements.txt")
    tools = requirements(REPOSITORY / "tests/requirements.txt")
    assert {"duckdb", "snakemake", "torch"} <= needed
    assert {"playwright", "pytest", "mypy"} <= tools
    assert not needed & tools


def test_what_a_pinned_package_needs_is_pinned_too() -> None:
    pinned = requirements(REPOSITORY / "requirements.txt")
    pinned |= requirements(REPOSITORY / "tests/requirements.txt")
    for name in sorted(pinned):
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                own = re.sub(r"[._]", "-", needed.name).lower()
                assert own in pinned | {"setuptools"}, f"{name} needs {own}"
