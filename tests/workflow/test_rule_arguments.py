"""Every argument of a script's `main` has one source in its rule, and every output has an argument."""

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from fieldwork.config.metric_steps import METRIC_STEPS
from fieldwork.records.columns import table_of
from workflow.conftest import REPOSITORY, clean_environment

pytestmark = pytest.mark.workflow

SCRIPTS = REPOSITORY / "workflow" / "scripts"

# in a process of its own, as it changes the path and the environment
LIST_RULES = """
import json, sys
from pathlib import Path
from snakemake.api import ResourceSettings, SnakemakeApi
with SnakemakeApi() as api:
    workflow = api.workflow(resource_settings=ResourceSettings(), snakefile=Path("Snakefile"))._workflow
    named = lambda files: [name for name, _ in files._allitems() if name]
    rules = {
        rule.name: {kind: named(getattr(rule, kind)) for kind in ("input", "output", "params")}
        | {"resources": [*rule.resources], "wildcards": [*rule.wildcard_names], "script": rule.script}
        for rule in workflow.rules
    }
print(json.dumps(rules))
"""


@pytest.fixture(scope="module")
def rules() -> dict[str, dict[str, Any]]:
    listing = subprocess.run(
        [sys.executable, "-c", LIST_RULES],
        cwd=REPOSITORY,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    listed: dict[str, dict[str, Any]] = json.loads(listing.stdout.splitlines()[-1])
    return {name: rule for name, rule in listed.items() if rule["script"]}


def scripts() -> list[Path]:
    return sorted(path for path in SCRIPTS.glob("*/*.py") if path.parent.name != "fieldwork")


def rules_of(script: Path, rules: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    ending = f"scripts/{script.parent.name}/{script.name}"
    return [rule for rule in rules.values() if rule["script"].endswith(ending)]


def test_scripts_are_those_of_the_rules(rules: dict[str, dict[str, Any]]) -> None:
    of_rules = {Path(rule["script"]).parts[-2:] for rule in rules.values()}
    assert of_rules == {path.parts[-2:] for path in scripts()}


def test_arguments_have_one_source(rules: dict[str, dict[str, Any]]) -> None:
    wrong = []
    for script in scripts():
        main = importlib.import_module(f"{script.parent.name}.{script.stem}").main
        arguments = set(inspect.signature(main).parameters)
        own_rules = rules_of(script, rules)
        assert own_rules, script
        wrong += [
            f"{script.stem}: {fault}" for rule in own_rules for fault in faults_of(rule, arguments)
        ]
    assert not wrong, wrong


def faults_of(rule: dict[str, Any], arguments: set[str]) -> Iterator[str]:
    for name in sorted(arguments - {"inputs", "outputs", "threads", "config"}):
        homes = [
            kind
            for kind in ("input", "output", "params", "resources", "wildcards")
            if name in rule[kind]
        ]
        if len(homes) != 1:
            yield f"{name} comes from {homes}"
    if "outputs" not in arguments:
        twins = {f"{name}_csv" for name in rule["output"]}
        yield from (f"nothing writes {name}" for name in {*rule["output"]} - twins - arguments)
    # a param that no argument takes is there for the sake of reruns
    idle = {*rule["params"]} - arguments - {"code", "digest", "sentences"}
    yield from (f"nothing takes the param {name}" for name in idle)


@pytest.mark.parametrize("step", METRIC_STEPS)
def test_steps_name_all_that_their_functions_take(step: str) -> None:
    entry = METRIC_STEPS[step]
    names = {*entry.inputs, *entry.settings}
    parameters = set[str]()
    for table, place in entry.functions.items():
        module, _, name = place.partition(":")
        function = getattr(importlib.import_module(f"fieldwork.metrics.{module}"), name)
        taken = inspect.signature(function).parameters
        assert {n for n, p in taken.items() if p.default is p.empty} <= names, place
        parameters |= set(taken)
        names |= {table, *(["runs"] if table == "accuracy_runs" else [])}
        (row_type,) = get_args(get_type_hints(function)["return"])
        assert table_of(row_type).name == table
    assert {*entry.inputs, *entry.settings} <= parameters
