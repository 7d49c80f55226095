"""The code, the files and the settings that a result came from, as hashes.

Snakemake reruns a rule when its params change. `code_version` is such a param: a hash over the syntax
trees of a script and of every module of this package that it imports. Changed comments, docstrings,
formatting and time stamps leave it as it is; changed code does not. Every job of Snakemake asks for all
versions, so what a file's bytes mean is kept between processes.
"""

import ast
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "fieldwork"

READINGS_FILE = Path(".snakemake/fieldwork_code.json")
"""In the folder where Snakemake runs. It may be deleted at any time."""


@cache
def code_version(script: Path) -> str:
    """Hash of the code of `script` and of the package's modules that it imports, directly or not.

    Args:
        script: a Python file beside the package folder, or inside it.
    """
    parts = sorted(module_meanings(script).items())
    return _hash_of(json.dumps(parts).encode())[:16]


def module_versions(*scripts: Path) -> list[str]:
    """Each module of the code that scripts run, with its hash: `fieldwork/tables.py 1f3a90c2`.

    As params of a rule they make Snakemake name the modules that have changed.
    """
    meanings = {name: text for script in scripts for name, text in module_meanings(script).items()}
    return [f"{name} {text[:8]}" for name, text in sorted(meanings.items())]


@cache
def module_meanings(script: Path) -> dict[str, str]:
    """Hash of the code of a script, and of each module of the package that it imports, by path."""
    root = next(p for p in script.parents if (p / PACKAGE).is_dir())
    meanings: dict[str, str] = {}
    pending = [script]
    while pending:
        path = pending.pop()
        name = path.relative_to(root).as_posix()
        if name not in meanings:
            module = _module(path, root)
            meanings[name] = module.meaning
            pending.extend(module.imports)
    _readings().keep()
    return meanings


def part_versions(
    scripts: Path, parts: Iterable[str], named_modules: Mapping[str, Iterable[str]]
) -> dict[str, str]:
    """Hash of the code of all scripts of each part of the workflow, by the name of its folder.

    Args:
        scripts: the folder of all parts, and of the package.
        named_modules: what scripts of a part import by name, as paths without ending from that folder.
    """
    paths = {
        part: [
            *(scripts / part).glob("*.py"),
            *(scripts / f"{module}.py" for module in named_modules.get(part, ())),
        ]
        for part in parts
    }
    return {
        part: full_digest(
            {path.relative_to(scripts).as_posix(): code_version(path) for path in files}
        )
        for part, files in paths.items()
    }


def digest(settings: Any) -> str:
    """Short hash of JSON-like settings, independent of key order."""
    return full_digest(settings)[:16]


def full_digest(settings: Any) -> str:
    """sha256 of JSON-like settings, independent of key order, where nobody may forge an equal one."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return _hash_of(text.encode())


def file_digest(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def versions(requirements: str, config: Any) -> list[tuple[str, str]]:
    """The versions of Python, of the config and of each package that `requirements` pins."""
    names = re.findall(r"^([A-Za-z0-9_.-]+)==", requirements, re.MULTILINE)
    return [
        ("python", platform.python_version()),
        ("study config", digest(config)),
        *((name, metadata.version(name)) for name in sorted(names, key=str.lower)),
    ]


class _ParsedModule(NamedTuple):
    """Hash of a file's code without documentation, and the package's files that it imports."""

    meaning: str
    imports: tuple[Path, ...]


@cache
def _module(path: Path, root: Path) -> _ParsedModule:
    reading = _readings().of(path, path.relative_to(root).as_posix())
    return _ParsedModule(reading.meaning, tuple(_imported_files(reading.names, root)))


class _FileReading(NamedTuple):
    """What a file of some bytes means: hash of its code, and the names that it imports."""

    source: str
    meaning: str
    names: list[str]


class _FileReadings:
    """The readings of files, by their names, kept in a file.

    Other versions of Python, or of this module, read code otherwise and take nothing over.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._reader = f"{platform.python_version()} {_hash_of(Path(__file__).read_bytes())}"
        self._readings: dict[str, _FileReading] = {}
        self._is_changed = False
        # whatever is wrong with the file, reading the code again mends it
        with suppress(OSError, ValueError, TypeError, KeyError):
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["reader"] == self._reader:
                self._readings = {
                    name: _FileReading(*row) for name, row in content["files"].items()
                }

    def of(self, path: Path, name: str) -> _FileReading:
        """The reading of a file as it is now; `name` is its path from the folder of the package."""
        content = path.read_bytes()
        source = _hash_of(content)
        reading = self._readings.get(name)
        if reading is None or reading.source != source:
            reader = _CodeReader()
            code = ast.dump(reader.visit(ast.parse(content, filename=str(path))))
            reading = _FileReading(source, _hash_of(code.encode()), sorted(reader.names))
            self._readings[name], self._is_changed = reading, True
        return reading

    def keep(self) -> None:
        """Write what is new, where the file can be written."""
        if not self._is_changed:
            return
        self._is_changed = False
        part = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(exist_ok=True)
            part.write_text(json.dumps({"reader": self._reader, "files": self._readings}), "utf-8")
            part.replace(self._file)


@cache
def _readings() -> _FileReadings:
    return _FileReadings(READINGS_FILE.absolute())


def _hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _CodeReader(ast.NodeTransformer):
    """Removes what only people read, such as meanings of columns; collects imported names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "column":
            node.args = []
        if name in ("Field", "unsaid"):
            node.keywords = [one for one in node.keywords if one.arg != "description"]
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_docstring = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_docstring else self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        self.names.update(alias.name for alias in node.names)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module:
            # `from fieldwork.metrics import variance` names a module only in its second half
            self.names.update([node.module, *(f"{node.module}.{a.name}" for a in node.names)])
        return node


def _imported_files(names: Iterable[str], root: Path) -> Iterator[Path]:
    own_names = (name for name in names if name.split(".")[0] == PACKAGE)
    # importing a.b runs a first
    steps = (accumulate(name.split("."), "{}.{}".format) for name in own_names)
    for name in sorted(set(chain.from_iterable(steps))):
        yield from _files_of(name, root)


@cache
def _files_of(name: str, root: Path) -> tuple[Path, ...]:
    path = root.joinpath(*name.split("."))
    return tuple(f for f in (path.with_suffix(".py"), path / "__init__.py") if f.is_file())
