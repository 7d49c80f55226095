"""How large the project is, beside an earlier commit: `python benchmarks/size/run.py --before COMMIT`.

Counts statements by syntax, as lines can be made long: docstrings are none. Writes results.md.
"""

import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

from command_line import read_options
from result_rows import table

HOME = Path(__file__).resolve().parents[2]
BEFORE = "58912b90"
"""The tree before measures were declared."""

SETTINGS = "docs/settings.md"

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def main() -> None:
    """Count both trees and write the page."""
    options = read_options(__doc__, Path(__file__).parent, before=BEFORE)
    with tempfile.TemporaryDirectory() as folder:
        for name, commit in (("before", options.before), ("now", "HEAD")):
            unpack(commit, Path(folder) / name)
        before, now = (sizes(Path(folder) / name) for name in ("before", "now"))
    text = page(before, now, options.before, options.day)
    (options.out / "results.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def unpack(commit: str, folder: Path) -> None:
    """The files of a commit; ends the run where this copy of the project does not have it."""
    packed = subprocess.run(
        ["git", "-C", str(HOME), "archive", commit], capture_output=True, check=False
    )
    if packed.returncode:
        sys.exit(
            f"The commit {commit} is not in {HOME}: count in a clone with the whole history "
            "(`git fetch --unshallow`), or name another commit by --before."
        )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def sizes(tree: Path) -> dict[str, int]:
    """What is counted, by what it is called."""
    scripts = tree / "workflow/scripts"
    library = list(modules(scripts))
    metrics = scripts / "fieldwork/metrics"
    return {
        "statements of library and scripts": statements(library),
        "statements of metrics, records, figures and scripts of rules": statements(
            module
            for folder in ("metrics", "records", "figures", "estimates", "measures")
            for module in modules(scripts / "fieldwork" / folder)
        )
        + statements(modules(folder) for folder in scripts.iterdir() if folder.name != "fieldwork"),
        "of them findings": statements(modules(metrics / "findings")),
        "statements of settings (`config/`, `sections/`)": statements(
            modules(scripts / "fieldwork" / folder) for folder in ("config", "sections")
        ),
        "statements of benchmarks": statements(modules(tree / "benchmarks")),
        "classes": sum(isinstance(n, ast.ClassDef) for m in library for n in ast.walk(m)),
        "public classes and functions": sum(map(public_definitions, library)),
        "lines of rules": lines(tree, "workflow/rules/*.smk"),
        "lines of the schema of settings": lines(tree, "workflow/schemas/*.yaml"),
        "lines of `config.yaml`": lines(tree, "config.yaml"),
        "lines of tests": lines(tree, "tests/**/*.py"),
        "words of documents": words(tree, "docs/**/*.md", "README.md") - words(tree, SETTINGS),
        "words of `docs/settings.md`, which is made of the sections": words(tree, SETTINGS),
        "words of `README.md`": words(tree, "README.md"),
    }


def modules(folder: Path) -> Iterator[ast.Module]:
    """The syntax of the Python files below a folder, which may not be there."""
    for path in sorted(folder.rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def statements(trees: Iterable[ast.Module | Iterable[ast.Module]]) -> int:
    """Statements without docstrings, of modules and of folders of them."""
    return sum(
        isinstance(node, ast.stmt) and not is_docstring(node)
        for tree in trees
        for module in ([tree] if isinstance(tree, ast.Module) else tree)
        for node in ast.walk(module)
    )


def is_docstring(node: ast.stmt) -> bool:
    """Whether it is a text that stands alone."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def public_definitions(module: ast.Module) -> int:
    """Classes and functions of a module that others may use; methods are not counted."""
    return sum(isinstance(n, Definition) and not n.name.startswith("_") for n in module.body)


def lines(tree: Path, pattern: str) -> int:
    """Lines of files."""
    files = [path for path in tree.glob(pattern) if path.is_file()]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def words(tree: Path, *patterns: str) -> int:
    """Words of files, separated by blanks."""
    files = {path for pattern in patterns for path in tree.glob(pattern)}
    return sum(len(re.findall(r"\S+", path.read_text(encoding="utf-8"))) for path in files)


def page(before: dict[str, int], now: dict[str, int], commit: str, day: str) -> str:
    """Both counts, as Markdown."""
    rows = (
        (name, f"{before[name]:,}", f"{n:,}", f"{n / before[name]:.0%}" if before[name] else "")
        for name, n in now.items()
    )
    lines = [
        "# How large the project is",
        "",
        f"{day}, the commit {commit} and the present one. Made by `python benchmarks/size/run.py` "
        "([how](run.py)).",
        "",
        *table(("what", "before", "now", "now / before"), rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
