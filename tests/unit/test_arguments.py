"""Arguments of a script come from its rule by name; what is ambiguous or missing is refused."""

from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.iocontainers import (
    InputFiles,
    Namedlist,
    OutputFiles,
    Params,
    ResourceList,
    Wildcards,
)

from fieldwork.arguments import arguments_of
from fieldwork.sections.asking import NameRules
from fieldwork.sections.judging import Scale

TYPES = {
    "input": InputFiles, "output": OutputFiles, "params": Params, "wildcards": Wildcards,
    "resources": ResourceList,
}  # fmt: skip


def job(**parts: dict[str, Any]) -> SimpleNamespace:
    """What Snakemake gives a script, of Snakemake's own types."""
    values = {
        kind: made(fromdict={k: _named(v) for k, v in parts.get(kind, {}).items()})
        for kind, made in TYPES.items()
    }
    return SimpleNamespace(**values, threads=2, config={"study": {"name": "s"}})


def _named(value: Any) -> Any:
    return Namedlist(value) if isinstance(value, list) else value


def test_each_argument_is_found_by_its_name() -> None:
    def main(answers: str, variance: str, seed: int, model: str, mem_mb: int, threads: int) -> None:
        pass

    files = {"input": {"answers": "a.parquet", "not_needed": "b"}}
    files["output"] = {"variance": "v.parquet", "variance_csv": "v.csv"}
    settings = {"params": {"seed": 3, "code": "abc"}, "wildcards": {"model": "m"}}
    found = arguments_of(main, job(**files, **settings, resources={"mem_mb": 4096}))
    values = {"answers": "a.parquet", "variance": "v.parquet", "seed": 3, "model": "m"}
    assert found == values | {"mem_mb": 4096, "threads": 2}


def test_a_param_becomes_the_sections_that_its_type_names() -> None:
    def main(rules: NameRules, scales: dict[str, Scale], scale: Scale | None) -> None:
        pass

    settings = {"near_duplicates": 80, "cut_lists": False, "aliases": "a.csv"}
    right = {"name": "right", "options": [0, 1], "accepted": [1]}
    params = {"rules": NameRules.part_of(settings), "scales": {"right": right}, "scale": None}
    made = arguments_of(main, job(params=params))
    assert made["rules"] == NameRules(near_duplicates=80, cut_lists=False)
    assert made["scales"]["right"].accepted == ["1"]
    assert made["scale"] is None


def test_inputs_and_outputs_stand_for_all_files() -> None:
    def by_name(inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        pass

    def in_order(outputs: list[str]) -> None:
        pass

    made = job(input={"a": "1", "b": ["2", "3"]}, output={"pdf": "x.pdf", "svg": "x.svg"})
    assert arguments_of(by_name, made) == {
        "inputs": {"a": "1", "b": ["2", "3"]},
        "outputs": {"pdf": "x.pdf", "svg": "x.svg"},
    }
    assert arguments_of(in_order, made) == {"outputs": ["x.pdf", "x.svg"]}


@pytest.mark.parametrize(
    ("parts", "home"),
    [
        ({}, "nothing"),
        ({"input": {"table": "a"}, "output": {"table": "b"}}, "input and output"),
        ({"params": {"table": 1}, "wildcards": {"table": "b"}}, "params and wildcards"),
    ],
)
def test_an_argument_without_one_source_is_refused(parts: dict[str, Any], home: str) -> None:
    def main(table: str) -> None:
        pass

    with pytest.raises(TypeError, match=f"'table' of main is {home} of the rule"):
        arguments_of(main, job(**parts))
