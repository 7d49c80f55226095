"""What code and what settings a result came from, as short hashes.

Snakemake reruns a rule when its params change. `code_version` is such a param: a hash over the syntax
trees of a script and of every module of ours that it reaches, so that comments, docstrings, formatting
and time stamps change nothing and meaning does.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "fieldwork"


@cache
def code_version(script: Path) -> str:
    """Hash of what `script` and the package modules it imports, directly or not, mean.

    Args:
        script: a Python file beside the package folder, or inside it.
    """
    root = next(p for p in script.parents if (p / PACKAGE).is_dir())
    seen: dict[Path, str] = {}
    pending = [script]
    while pending:
        path = pending.pop()
        if path not in seen:
            module = _module(path, root)
            seen[path] = module.meaning
            pending.extend(module.imports)
    parts = sorted((path.relative_to(root).as_posix(), text) for path, text in seen.items())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def digest(settings: Any) -> str:
    """Short hash of JSON-like settings, independent of key order."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Module(NamedTuple):
    """What a file says to Python, and the files of ours that it imports."""

    meaning: str
    imports: tuple[Path, ...]


@cache
def _module(path: Path, root: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    imports = tuple(_imported_files(tree, root))
    return _Module(ast.dump(_Undocumented().visit(tree)), imports)


class _Undocumented(ast.NodeTransformer):
    """Takes out what only people read: strings that stand alone, and the meanings of columns."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "column":
            node.args = []
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else node


def _imported_files(tree: ast.Module, root: Path) -> Iterator[Path]:
    # importing a.b runs a first
    steps = (accumulate(name.split("."), "{}.{}".format) for name in _imported_names(tree))
    for name in sorted(set(chain.from_iterable(steps))):
        path = root.joinpath(*name.split("."))
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate.is_file():
                yield candidate


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from fieldwork.metrics import variance` names a module only in its second half
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)
