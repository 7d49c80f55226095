"""Files laid over each other: entries of another kind start anew, and each setting knows its place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.layers import check_command_line, lay_over, with_place
from fieldwork.config.reading import read_study
from fieldwork.config.registries import PRICES, REGISTRY, read_layer, shipped_files
from fieldwork.errors import StudyError
from unit.shipped_config import HOME


def laid(folder: Path, *layers: Mapping[str, Any]) -> dict[str, Any]:
    files = [folder / f"{number}.yaml" for number, _ in enumerate(layers)]
    for file, layer in zip(files, layers, strict=True):
        file.write_text(yaml.safe_dump(dict(layer), sort_keys=False))
    return lay_over(files, {}).settings


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}),
        ({"a": {"b": {"d": 1}}}, {"a": {"b": {"e": 2}}}, {"a": {"b": {"d": 1, "e": 2}}}),
    ],
)
def test_mappings_are_merged_and_all_else_is_replaced(
    tmp_path: Path, below: Any, above: Any, expected: Any
) -> None:
    assert laid(tmp_path, below, above) == expected


OPENAI, GEMINI = {"provider": "openai", "key": 1}, {"provider": "gemini", "model": "m"}
HISTORY, NONE = {"context": "history", "pool": "user"}, {"context": "none"}
HUB = {"repo": "x/y", "revision": "r", "files": ["f"]}


@pytest.mark.parametrize(
    ("registry", "below", "above", "expected"),
    [
        ("models", OPENAI, GEMINI, GEMINI),
        ("models", OPENAI, {"provider": "openai", "label": "x"}, OPENAI | {"label": "x"}),
        ("conditions", HISTORY, NONE, NONE),
        ("corpora", {"format": "lmsys", "path": "a"}, HUB, {"format": "lmsys", **HUB}),
        ("datasets", HUB, {"path": "a"}, {"path": "a"}),
        ("datasets", HUB, {"revision": "s"}, HUB | {"revision": "s"}),
    ],
)
def test_an_entry_of_another_kind_starts_anew(
    tmp_path: Path, registry: str, below: Any, above: Any, expected: Any
) -> None:
    merged = laid(tmp_path, {registry: {"one": below}}, {registry: {"one": above}})
    assert merged == {registry: {"one": expected}}


def test_a_problem_names_the_file_and_line_of_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Path("mine.yaml")
    study.write_text("study:\n  name: x\nmodels:\n  gpt-4.1:\n    label: y\n")
    layers = lay_over([study], {"generation": {"attempts": 0}}, shipped_files=shipped_files(HOME))
    shipped = (HOME / "config.yaml").read_text(encoding="utf-8").splitlines()
    seed_line = next(n for n, line in enumerate(shipped, start=1) if line.startswith("  seed:"))
    for problem, place in (
        ("study.name: too long", f"{study}, line 2"),
        ("models.gpt-4.1.label: none", f"{study}, line 5"),
        ("models.gpt-4.1: 'provider' is missing", f"{study}, line 4"),
        ("models.gpt-4.1: unknown key 'lable'; known here: label", f"{study}, line 4"),
        ("generation.attempts: 0 is less", "--config"),
        ("study.seed: no number", f"{study} + {HOME}/config.yaml, line {seed_line}"),
        ("unknown key 'stduy'; known here: study", f"{study} + {HOME}/config.yaml"),
        ("no setting at all", f"{study} + {HOME}/config.yaml"),
    ):
        assert with_place(problem, layers.places) == f"{place}: {problem}"


# ---- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "-n all --configfile BAD",
        "--configfiles GOOD BAD --cores 2",
        "all --configfile=BAD",
    ],
)
def test_a_bad_file_of_the_command_line_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("BAD").write_text("a: 1\na: 2\n")
    Path("GOOD").write_text("a: 1\n")
    with pytest.raises(SystemExit, match=r"^ERROR: BAD, line 2: "):
        check_command_line(line.split())
    with pytest.raises(SystemExit, match=r"all: cannot be read .* write targets before"):
        check_command_line(["--configfile", "GOOD", "all"])


@pytest.mark.parametrize("line", ["", "-n all", "--config a=1", "--cores 8 x"])
def test_other_command_lines_pass(line: str) -> None:
    check_command_line(line.split())


# ---- prices --------------------------------------------------------------------------------------


def prices_file(folder: Path, *rows: str) -> Path:
    file = folder / PRICES
    file.write_text("\n".join(["model,as_of,input,cached,output,source", *rows]), encoding="utf-8")
    return file


def test_a_price_of_a_study_lies_over_that_of_the_table(tmp_path: Path) -> None:
    prices = prices_file(tmp_path, "m,2026-11-01,1.5,,2,page", 'n,2026-11-01,1,0.5,2,"a, b"')
    study = tmp_path / "mine.yaml"
    study.write_text("prices: {m: {input: 3}}\n")
    layers = lay_over([study], {}, shipped_files=[prices])
    assert layers.settings["prices"] == {
        "m": {"as_of": "2026-11-01", "input": 3, "output": 2.0, "source": "page"},
        "n": {"as_of": "2026-11-01", "input": 1.0, "cached": 0.5, "output": 2.0, "source": "a, b"},
    }
    assert layers.places.origin("prices.m.input") == f"{study}, line 1"
    assert layers.places.of("prices.n.output") == f"{study} + {prices}, line 3"


@pytest.mark.parametrize("row", [",2026-11-01,1,,2,page", "m,2026-11-01,1,,2,a page, and another"])
def test_a_row_that_is_no_price_is_named(tmp_path: Path, row: str) -> None:
    with pytest.raises(StudyError, match=r"prices.csv, line 3: not the price of a model; write"):
        read_layer(prices_file(tmp_path, "n,2026-11-01,1,,2,page", row))


def test_a_price_that_is_no_number_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = tmp_path / REGISTRY
    folder.mkdir(parents=True)
    (tmp_path / "resources").mkdir()
    for file in shipped_files(HOME)[:-1]:
        (folder / file.name).write_bytes(file.read_bytes())
    (tmp_path / "workflow/schemas").symlink_to(HOME / "workflow/schemas")
    prices_file(folder, "m,2026-11-01,cheap,,2,page")
    with pytest.raises(StudyError, match=r"prices.csv, line 2: prices.m.input: 'cheap' is not"):
        read_study(tmp_path, [HOME / "config.yaml"], [], command_line={}, overlay={})
