"""Mistakes of form in a file of settings are told with file, line and way out; nothing in it is run."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from fieldwork.config.yaml_files import read_yaml
from fieldwork.errors import StudyError


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "mine.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def complaint(path: Path) -> str:
    with pytest.raises(StudyError) as caught:
        read_yaml(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("study:\n  name: mine\n\tseed: 3\n", 3, "a tab"),
        ("study:\n  name: mine\n\n  seed 3\n", 4, "no colon"),
        ("study:\n  name mine\n  seed: 3\n", 2, "no colon"),
        ("study:\n  name:mine\n  seed: 3\n", 2, "no colon and blank"),
        ('study:\n  name: "mine\n  seed: 3\n', 2, "quotation mark is opened"),
        ("study:\n  name: 'it's mine'\n", 2, "follows a closing quotation mark"),
        ("study:\n  models: [a, b\n  seed: 3\n", 2, "bracket is opened"),
        ("study: {question: Does it matter?, seed: 3}\n", 1, "a text with a question mark stands"),
        ("study:\n  models: a]\n  x: [b]]\n", 3, "belongs to nothing"),
        ("study:\n  name: mine\n    seed: 3\n", 3, "indented deeper"),
        ("study:\n    name: mine\n  seed: 3\n", 3, "indented unlike"),
        ("study:\n  name: x\n  - seed\n", 3, "side by side"),
        ("study:\n  name: @mine\n", 2, "special character"),
        ("study:\n  path: *.csv\n", 2, "special character"),
        ("study:\n  path: !x\n", 2, "begins with !"),
        ('study:\n  path: "C:\\data"\n', 2, "backslash"),
        ("m:\n  label: Model: the best\n", 2, "holds a colon"),
        ("study:\n  name: a\n---\nstudy:\n  name: b\n", 3, "second document"),
        ("- study\n", 1, "begins with a list"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' stands on line 1 already"),
        ('{"a": 1,\n\t"a": 2}', 2, "'a' stands on line 1 already"),
        ("a: 1\nno: 2\n", 2, "the key no is not a text"),
        ("1: 2\n", 1, "the key 1 is not a text"),
        ("a:\n  from: 2024-02-30\n", 2, "2024-02-30 is not a day"),
        ("a: b\x00c\n", 1, "U+0000"),
        ("a: &x [*x]\n", 1, "holds itself"),
        (b"a: b\n# caf\xe9\n", 2, "save the file again as UTF-8"),
    ],
)
def test_a_mistake_names_file_line_and_way_out(
    tmp_path: Path, content: str | bytes, line: int, words: str
) -> None:
    path = written(tmp_path, content)
    said = complaint(path)
    assert said.startswith(f"{path}, line {line}: ")
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("a: b\n".encode("utf-16"), "UTF-16"),
        ("a: b\n".encode("utf-16-be"), "UTF-16"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_a_mistake_of_the_whole_file_names_it(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    path = written(tmp_path, content)
    assert complaint(path).startswith(f"{path}: ")
    assert words in complaint(path)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    assert "cannot be read (No such file" in complaint(tmp_path / "none.yaml")
    assert "not a file that can be read twice" in complaint(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "__use_yte__: true\na: ?open('RAN', 'w')\n",
        "__use_yte__: false\na: ?open('RAN', 'w')\n",
        *("__use_yte__: {}\na: ?open('RAN', 'w')\n", "a: &a {__use_yte__: true}\n<<: *a\n"),
        *("a: &a {b: &b {__use_yte__: true}}\n<<: [*b]\n", "<<: {<<: {__use_yte__: true}}\n"),
    ],
)
def test_a_file_that_snakemake_would_run_as_code_is_refused(tmp_path: Path, content: str) -> None:
    ran = tmp_path / "ran"
    assert "run Python code" in complaint(written(tmp_path, content.replace("RAN", str(ran))))
    assert not ran.exists()


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.mkdir", "!!python/name:os.system"])
def test_tags_run_nothing(tmp_path: Path, tag: str) -> None:
    said = complaint(written(tmp_path, f"a: {tag} ['{tmp_path}/made']\n"))
    assert "begins with !" in said
    assert not (tmp_path / "made").exists()


def test_anchors_that_stand_for_billions_are_refused_at_once(tmp_path: Path) -> None:
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in pairwise(names)
    ]
    assert "more than 1,000,000 settings" in complaint(written(tmp_path, "\n".join(lines)))


def test_what_is_sound_is_read_with_its_lines(tmp_path: Path) -> None:
    over = "\ufeffbase: &base {a: 1, b: 2}\nover:\n  <<: *base\n  b: 3\n"
    read = read_yaml(written(tmp_path, over + "listed: [x, {y: 'it''s'}]\nday: 2024-02-29\n"))
    assert read.settings["over"] == {"a": 1, "b": 3}
    assert read.settings["listed"] == ["x", {"y": "it's"}]
    assert [read.lines[name] for name in ("over.a", "over.b", "listed.1.y")] == [1, 4, 5]


@pytest.mark.parametrize("content", ["@sk-secret", "sk-secret: x", "'a' sk-secret", "[sk-secret"])
def test_no_message_repeats_a_text_of_the_file(tmp_path: Path, content: str) -> None:
    """A key may have been pasted where it breaks the form."""
    assert "secret" not in complaint(written(tmp_path, f"k: {content}\n"))


IN_A_TASK = "tasks: {mine: {sources: [{rows: {language: VALUE}}]}}\n"
IN_A_RECORDING = "recordings:\n  logs:\n    conditions: {history: {language: VALUE}}\n"


@pytest.mark.parametrize(
    "value", ["no", "true", "1.10", "0123", "12:30", "[en, no]", "1_000", "2.0"]
)
@pytest.mark.parametrize("text", [IN_A_TASK, IN_A_RECORDING])
def test_values_of_rows_that_yaml_changes_are_refused(
    tmp_path: Path, text: str, value: str
) -> None:
    said = complaint(written(tmp_path, text.replace("VALUE", value)))
    assert re.search(r"line \d: YAML reads language: .*put it in quotes", said)


@pytest.mark.parametrize(
    "value", ["en", "7", "-3", "1.5", '"no"', "null", "[en, '1.10']", "'0123'"]
)
def test_values_of_rows_that_stay_as_they_are_pass(tmp_path: Path, value: str) -> None:
    # elsewhere yes and no mean what they say
    text = IN_A_TASK.replace("VALUE", value) + "explorer: {field: yes}\n"
    assert read_yaml(written(tmp_path, text)).settings["explorer"] == {"field": True}
