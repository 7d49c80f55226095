"""The image that Containerfile describes: its parts fit the project, and both commands run in it.

Building takes minutes and a base image from a registry. So it is done where podman or buildah work and
the base image is there, or may be fetched (FIELDWORK_CONTAINER=1). FIELDWORK_CONTAINER_BASE names another
base, and FIELDWORK_CONTAINER_OPTIONS are given to the build.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from workflow.conftest import REPOSITORY

pytestmark = pytest.mark.workflow

IMAGE = "fieldwork-test"


class Instruction(NamedTuple):
    """A line of the Containerfile, its continuations joined."""

    keyword: str
    words: str


def instructions() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", (REPOSITORY / "Containerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [Instruction(*line.split(maxsplit=1)) for line in lines if line]


def words_of(keyword: str) -> list[str]:
    return [words for kind, words in instructions() if kind == keyword]


def base_image() -> str:
    (base,) = words_of("ARG")
    return os.environ.get("FIELDWORK_CONTAINER_BASE") or base.removeprefix("BASE=")


def ignored() -> list[str]:
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


# ---- without building it -------------------------------------------------------------------------------


def test_the_base_has_a_python_that_the_project_takes() -> None:
    (base,) = words_of("ARG")
    version = re.fullmatch(r"BASE=python:(\d+\.\d+\.\d+)-slim-[a-z]+", base)
    assert version
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert version[1] in SpecifierSet(project["requires-python"])


def test_what_is_copied_is_there() -> None:
    copies = [shlex.split(words) for words in words_of("COPY")]
    assert len(copies) == 2
    for _, *sources, _ in copies:
        for source in sources:
            assert (REPOSITORY / source).exists()
            assert not any(fnmatch(source, pattern) for pattern in ignored())


def test_it_runs_the_commands_of_the_readme_and_not_as_root() -> None:
    commands = re.findall(r"^(make \w+) ", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    assert {"make run", "make test"} <= {*commands}
    assert [json.loads(words) for words in words_of("CMD")] == [commands[0].split()]
    assert words_of("USER") == ["fieldwork"]
    # the environment is the one that make installs everywhere
    targets = [target for words in words_of("RUN") for target in re.findall(r"make (\S+)$", words)]
    assert targets == [".venv/installed"]
    assert ".venv/installed:" in (REPOSITORY / "Makefile").read_text()


def test_no_host_of_packages_is_written_into_it() -> None:
    text = (REPOSITORY / "Containerfile").read_text()
    assert not re.search(r"https?://|index-url|find-links|trusted-host", text)


def test_nothing_of_a_users_own_goes_into_an_image() -> None:
    """What git leaves out is results, answers, data and caches."""
    names = (REPOSITORY / ".gitignore").read_text().split()
    patterns = {pattern.removeprefix("**/") for pattern in ignored()}
    left_out = {name for name in names if any(fnmatch(name.rstrip("/"), p) for p in patterns)}
    assert left_out == {*names}
    assert {".git", ".env*"} <= patterns


def test_the_file_for_the_workflow_catalog_has_its_keys() -> None:
    (file,) = REPOSITORY.glob(".snakemake-workflow-catalog.y*ml")
    assert file.name.endswith(".yml")
    usage = yaml.safe_load(file.read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert set(usage["software-stack-deployment"]) == {"conda", "apptainer", "apptainer+conda"}
    assert all(isinstance(v, bool) for v in usage["software-stack-deployment"].values())
    assert (REPOSITORY / "workflow/envs/fieldwork.yaml").exists()
    # what the catalog searches for
    readme = (REPOSITORY / "README.md").read_text().lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (REPOSITORY / "Snakefile").exists()


# ---- built and run -------------------------------------------------------------------------------------


def run(*command: str | Path, seconds: int = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=seconds, check=False
    )


def builder() -> str:
    """podman or buildah, whichever works here and has the base image; the test is skipped without."""
    reasons = []
    for tool in ("podman", "buildah"):
        if not shutil.which(tool):
            reasons.append(f"{tool} is not installed")
            continue
        may_fetch = os.environ.get("FIELDWORK_CONTAINER") == "1"
        if not may_fetch and run(tool, "inspect", "--type", "image", base_image()).returncode:
            reasons.append(
                f"{tool} has no image {base_image()}; FIELDWORK_CONTAINER=1, which fetches it, is unset"
            )
            continue
        works = Image(tool, base_image()).run("true", seconds=600)
        if works.returncode == 0:
            return tool
        reasons.append(f"{tool} runs nothing here ({works.stderr.strip()[-200:]})")
    pytest.skip("; ".join(reasons))


class Image(NamedTuple):
    """An image, and what runs commands in it."""

    tool: str
    name: str = IMAGE

    def run(
        self, *command: str, options: tuple[str, ...] = (), seconds: int
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a new container.

        Args:
            options: those that podman and buildah share, such as `--volume`.
        """
        if self.tool == "podman":
            return run("podman", "run", "--rm", *options, self.name, *command, seconds=seconds)
        made = run("buildah", "from", self.name, seconds=seconds)
        if made.returncode:
            return made
        container = made.stdout.strip()
        try:
            return run("buildah", "run", *options, container, "--", *command, seconds=seconds)
        finally:
            run("buildah", "rm", container)


@pytest.fixture(scope="module")
def image() -> Image:
    tool = builder()
    options = shlex.split(os.environ.get("FIELDWORK_CONTAINER_OPTIONS", ""))
    options += ["--build-arg", f"BASE={base_image()}", "--file", "Containerfile"]
    built = run(tool, "build", *options, "--tag", IMAGE, ".", seconds=1800)
    assert built.returncode == 0, (built.stdout + built.stderr)[-3000:]
    return Image(tool)


def folder_for_containers(folder: Path) -> Path:
    """A folder that whoever runs in a container may write to."""
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def test_make_run_leaves_the_findings_in_the_mounted_folder(image: Image, tmp_path: Path) -> None:
    results = folder_for_containers(tmp_path / "results")
    volume = ("--volume", f"{results}:/fieldwork/results")
    finished = image.run("make", "run", "CORES=2", options=volume, seconds=1800)
    assert finished.returncode == 0, (finished.stdout + finished.stderr)[-3000:]
    assert (results / "quickstart/findings.md").read_text().split("\n")[0] in finished.stdout
    assert (results / "quickstart/explorer/index.html").exists()


def test_make_test_runs_all_its_gates(image: Image) -> None:
    """With some of the tests: the others run outside."""
    some = ("--env", "PYTEST_ADDOPTS=-k test_arguments")
    finished = image.run("make", "test", options=some, seconds=1800)
    assert finished.returncode == 0, (finished.stdout + finished.stderr)[-3000:]
    assert " passed" in finished.stdout


def test_a_study_is_in_the_mounted_folder_with_its_answers(image: Image, tmp_path: Path) -> None:
    study = folder_for_containers(tmp_path / "study")
    (study / "small.yaml").write_text(
        yaml.safe_dump(
            {
                "study": {"name": "small", "conditions": ["offline"], "tasks": ["choices_lite"]},
                "tasks": {"choices_lite": {"runs": 2}},
            }
        )
    )
    answers = "results/small/answers/answers.parquet"
    options: tuple[str, ...] = ("--volume", f"{study}:/study")
    if image.tool == "podman":
        # as in Apptainer, where only the home folder and what is mounted can be written
        options += ("--read-only", "--tmpfs", "/home/fieldwork:mode=1777")
    command = ("snakemake", "--directory", "/study", answers, "--configfile", "/study/small.yaml")
    finished = image.run(*command, options=options, seconds=600)
    assert finished.returncode == 0, (finished.stdout + finished.stderr)[-3000:]
    assert (study / answers).exists()
    assert (study / "resources/ledger/smollm2.sqlite").exists()
