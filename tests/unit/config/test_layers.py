"""Files laid over each other: entries of another kind start anew, and each setting knows its place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.layers import check_command_line, lay_over, with_place
from fieldwork.config.registries import shipped_files

HOME = Path(__file__).resolve().parents[3]
GEMINI = {"provider": "gemini", "label": "Mine", "model": "m"}


def laid(folder: Path, *layers: Mapping[str, Any], **command_line: Any) -> dict[str, Any]:
    files = []
    for number, layer in enumerate(layers):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(yaml.safe_dump(dict(layer), sort_keys=False))
    return lay_over(files, command_line).settings


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}),
        ({"a": {"b": {"c": {"d": 1}}}}, {"a": {"b": {"c": {"e": 2}}}}, None),
    ],
)
def test_mappings_are_merged_and_all_else_is_replaced(
    tmp_path: Path, below: Any, above: Any, expected: Any
) -> None:
    base = below or {"z": 0}
    expected = expected or {"a": {"b": {"c": {"d": 1, "e": 2}}}}
    assert laid(tmp_path, base, above) == (expected if below else {"z": 0, **expected})


@pytest.mark.parametrize(
    ("registry", "below", "above", "expected"),
    [
        ("models", {"provider": "openai", "key": 1}, GEMINI, GEMINI),
        (
            "models",
            {"provider": "openai", "key": 1},
            {"provider": "openai", "label": "x"},
            {"provider": "openai", "key": 1, "label": "x"},
        ),
        (
            "conditions",
            {"context": "history", "pool": "user"},
            {"context": "none"},
            {"context": "none"},
        ),
        (
            "corpora",
            {"format": "lmsys", "path": "a", "filters": {}},
            {"repo": "x/y", "revision": "r", "files": ["f"]},
            {"format": "lmsys", "filters": {}, "repo": "x/y", "revision": "r", "files": ["f"]},
        ),
        ("datasets", {"repo": "x/y", "revision": "r", "files": []}, {"path": "a"}, {"path": "a"}),
        ("datasets", {"repo": "x/y", "revision": "r"}, {"revision": "s"}, None),
    ],
)
def test_an_entry_of_another_kind_starts_anew(
    tmp_path: Path, registry: str, below: Any, above: Any, expected: Any
) -> None:
    merged = laid(tmp_path, {registry: {"one": below}}, {registry: {"one": above}})
    assert merged == {registry: {"one": expected or {"repo": "x/y", "revision": "s"}}}


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["-n", "all", "--configfile", "BAD"],
        ["--configfiles", "GOOD", "BAD", "--cores", "2"],
        ["all", "--configfile=BAD"],
    ],
)
def test_a_bad_file_of_the_command_line_ends_the_program(
    tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "BAD").write_text("a: 1\na: 2\n")
    (tmp_path / "GOOD").write_text("a: 1\n")
    line = [
        argument.replace("BAD", f"{tmp_path}/BAD").replace("GOOD", f"{tmp_path}/GOOD")
        for argument in arguments
    ]
    with pytest.raises(SystemExit) as caught:
        check_command_line(line)
    assert str(caught.value).startswith(f"ERROR: {tmp_path}/BAD, line 2: ")


def test_a_target_taken_for_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "good").write_text("a: 1\n")
    with pytest.raises(SystemExit, match=r"all: cannot be read .* write targets before"):
        check_command_line(["--configfile", str(tmp_path / "good"), "all"])


@pytest.mark.parametrize("line", [[], ["-n", "all"], ["--config", "a=1"], ["--cores", "8", "x"]])
def test_other_command_lines_pass(line: list[str]) -> None:
    check_command_line(line)
