"""Every command that README, docs and study files print runs as it is printed.

Files that the docs print (a YAML block that begins with `# name.yaml`) are written first, as a reader
would. What takes minutes and runs whole in other tests is planned only (`-n`), and `make` only says
what it would do (`-n` too), but for `make study`, in the environment of the tests; everything else
runs to its end.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from fieldwork.judging.kit.questions import page_sources
from workflow.conftest import (
    FEW_SIMULATIONS,
    REPOSITORY,
    Checkout,
    clean_environment,
    forks,
    script_forks,
)
from workflow.test_plan import NO_NETWORK

pytestmark = pytest.mark.workflow

DOCUMENTS = (
    "README.md",
    # the commands of docs/extending.md belong to its examples: test_extending.py runs them
    *sorted(
        {f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")} - {"docs/extending.md"}
    ),
    *sorted(f"studies/{path.name}" for path in (REPOSITORY / "studies").glob("*.yaml")),
    "resources/sample/README.md",
)
# targets that stand by themselves
ALONE = {"forget", "recover_ledgers", "upload_archive", "preregister", "--nolock", "--profile"}
PROGRAMS = ("snakemake", "make", "python", "cp", "mkdir", "workflow/run_study")


class Command(NamedTuple):
    """A line of a document that a reader would enter."""

    document: str
    line: str


def blocks(document: str) -> Iterator[tuple[str, str]]:
    """Language and text of each fenced block of a document."""
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands_of(document: str) -> Iterator[Command]:
    """The commands of a document, in its order, none twice."""
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    if document.endswith(".yaml"):
        lines = [line.removeprefix("#").strip() for line in text.splitlines() if line[:1] == "#"]
    else:
        fenced = [block.splitlines() for language, block in blocks(document) if not language]
        inline = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
        lines = [line.strip() for line in [*(x for block in fenced for x in block), *inline]]
    for line in dict.fromkeys(lines):
        if len(line.split()) > 1 and line.split()[0] in PROGRAMS:
            yield Command(document, line)


def files_of(document: str) -> Iterator[tuple[str, str]]:
    """Files that a document prints, by the name in their first line."""
    for language, text in blocks(document):
        named = re.match(r"# ([\w/]+\.(?:yaml|csv))\b", text)
        if language and named:
            yield named[1], text


def runnable(words: list[str]) -> list[str]:
    """The words of a command as it is tried: this environment's programs, `-n` where it takes long."""
    if words[:2] == ["make", "study"] and len(words) > 2:
        # as if the environment were installed
        return ["make", "-o", ".venv/installed", *words[1:]]
    if words[0] == "make":
        return ["make", "-n", *words[1:]]
    if words[0] == "python":
        # the copy has no history of commits to count in
        arguments = ["--help"] if words[1] == "benchmarks/size/run.py" else words[2:]
        return [sys.executable, words[1], *arguments]
    if words[0] != "snakemake":
        return words
    own = [sys.executable, "-m", "snakemake", *words[1:]]
    if {"-n", "--report", "--unlock"} & set(words) or "results/figures/fig3.pdf" in words:
        return own
    # plans of other studies, and the power of this one, are made in other tests; later commands need kits
    is_plan = "plan" in words and not {"power", "--configfile"} & set(words)
    is_quick = "field_kit" in words or is_plan
    return own if is_quick else [*own, "-n"]


def of_a_dry_run(words: list[str]) -> tuple[list[str], list[str]] | None:
    """What a dry run is to make, and the rest of its words; None where it is no plain dry run."""
    if words[1:3] != ["-m", "snakemake"] or "-n" not in words or ALONE & {*words}:
        return None
    words = [word for word in words[3:] if word != "-n"]
    if words[:1] == ["--cores"]:
        words = words[2:]
    first_option = next((n for n, word in enumerate(words) if word[:1] == "-"), len(words))
    return words[:first_option], words[first_option:]


def tries() -> dict[str, list[str]]:
    """The command lines that are run: dry runs of the same options make all they name at once."""
    lines: dict[str, list[str]] = {}
    targets: dict[tuple[str, ...], list[str]] = {}
    for command in COMMANDS:
        words = runnable(shlex.split(command.line, comments=True))
        parts = of_a_dry_run(words)
        if parts is None:
            lines[f"{command.document}: {command.line}"] = words
            continue
        makes, options = parts
        if (*options,) not in targets:
            targets[*options,] = lines[" ".join(["dry run", *options])] = []
        targets[*options,] += makes or ["all"]
    for options, makes in targets.items():
        makes[:] = [sys.executable, "-m", "snakemake", "-n", *dict.fromkeys(makes), *options]
    return lines


def effect(command: Command) -> tuple[str, ...]:
    """What a command does as it is tried: `all` is what Snakemake makes by itself, on any cores."""
    words = runnable(shlex.split(command.line, comments=True))
    return tuple(re.sub(r" (--cores \d+|all|-n)(?= |$)", "", " ".join(words)).split())


COMMANDS = [
    *{
        effect(command): command
        for document in reversed(DOCUMENTS)
        for command in reversed([*commands_of(document)])
    }.values()
][::-1]


@pytest.fixture(scope="module")
def project(quickstart: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished quickstart, with the files that README and docs print."""
    made = quickstart.clone(tmp_path_factory.mktemp("documented") / "project")
    for document in DOCUMENTS:
        for name, text in files_of(document):
            (made.root / name).parent.mkdir(parents=True, exist_ok=True)
            (made.root / name).write_text(text, encoding="utf-8")
    with (made.root / "config.yaml").open("a", encoding="utf-8") as file:
        yaml.safe_dump({"power": {**FEW_SIMULATIONS, "sizes": [10]}}, file)
    # what volunteers send: only its name counts where a run is planned
    answers = made.root / "resources/field/page/answers.csv"
    answers.parent.mkdir(parents=True)
    answers.write_text("participant\n")
    # and what raters send, with the map that the kit writes beside it
    answers = made.root / "resources/judging/page/judgements_1.csv"
    answers.parent.mkdir(parents=True)
    answers.write_text("rater\n")
    kit_map = made.root / "results/personalisation/review_kit/review_page.yaml"
    kit_map.parent.mkdir(parents=True)
    sources = page_sources("resources/judging/page")
    kit_map.write_text(yaml.safe_dump({"judging": {"sources": sources}}))
    # and so it is with data sets of others, which study files name
    for study in (made.root / "studies").glob("recorded_*.yaml"):
        for entry in yaml.safe_load(study.read_text(encoding="utf-8"))["recordings"].values():
            place = made.root / entry["path"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    return made.root


@pytest.mark.parametrize("words", [pytest.param(words, id=name) for name, words in tries().items()])
def test_a_printed_command_runs(project: Path, words: list[str]) -> None:
    env = clean_environment(NO_NETWORK)
    if words[1:3] == ["-m", "snakemake"]:
        interpreter = script_forks().interpreter(env)
        done = forks().run(words[3:], cwd=project, env=env, timeout=300, interpreter=interpreter)
    else:
        done = subprocess.run(
            words, cwd=project, env=env, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_commands_are_looked_for_where_they_are() -> None:
    """Enough are found for the test above to mean something."""
    lines = {line for _, line in COMMANDS}
    assert len(COMMANDS) > 40
    assert any(line.startswith("snakemake plan --configfile studies/paper.yaml") for line in lines)
    assert any(line.startswith("make run") for line in lines)
    assert shutil.which("make")
