"""JSON files come out value by value, whatever their form, and what is broken is placed."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.files import json_values
from fieldwork.files.json_values import JsonValue, stream_values, values_in

VALUES: list[Any] = [{"a": "x"}, {"a": [1, {"b": "]"}]}, {"a": "ü\u2028\U0001f600"}, {}]


def values_of(path: Path, content: bytes) -> list[Any]:
    path.write_bytes(content)
    return [value for _, value in stream_values(path)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", ["lines", "carriage returns", "list", "indented"])
def test_all_forms_hold_the_same_values(tmp_path: Path, encoding: str, form: str) -> None:
    lines = "\n".join(json.dumps(value, ensure_ascii=False) for value in VALUES)
    text = {
        "lines": f"\n{lines}\n\n",
        "carriage returns": lines.replace("\n", "\r\n"),
        "list": json.dumps(VALUES, ensure_ascii=False),
        "indented": f" {json.dumps(VALUES, indent=2)}\n\n",
    }[form]
    assert values_of(tmp_path / "a.json", text.encode(encoding)) == VALUES
    assert values_of(tmp_path / "a.jsonl.gz", gzip.compress(text.encode(encoding))) == VALUES


def test_places_are_lines_or_entries(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"a": 1}\n\n{"a": 2}\n')
    lines = [JsonValue("line 2", {"a": 1}), JsonValue("line 4", {"a": 2})]
    assert list(stream_values(tmp_path / "a.jsonl")) == lines
    assert [place for place, _ in values_in(io.BytesIO(b"[1, 2]"), "x")] == ["entry 1", "entry 2"]


@pytest.mark.parametrize("text", [r'{"a": "\ud83d"}', '{"a": NaN}'])
def test_what_only_one_library_reads_is_read(tmp_path: Path, text: str) -> None:
    """Half an emoji, cut off by some tool, and numbers that JSON has not."""
    (line,) = values_of(tmp_path / "a.jsonl", text.encode())
    (entry,) = values_of(tmp_path / "a.json", f"[{text}]".encode())
    assert repr(line) == repr(entry) == repr(json.loads(text))


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=30),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
            max_leaves=8,
        ),
        max_size=8,
    ),
    chunk=st.integers(1, 40),
)
def test_a_list_reads_the_same_wherever_it_is_cut(values: list[Any], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "_CHUNK", chunk)
        read = [value for _, value in values_in(io.BytesIO(json.dumps(values).encode()), "x")]
    assert read == values


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        (b"id,a\n", "or a list of objects between [ and ]"),
        (b'[{"a": 1}, {"a": ]', "entry 2 of the list is not JSON"),
        (b'[{"a": 1}, ', "entry 2 of the list is not JSON"),
        (b'[{"a": 1}]\n[{"a": 2}]\n', "there is text after the end of the list"),
        (b'[{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}]", "entry 1 of the list is not JSON (nested"),
        (b'["\xe9"]', "is not UTF-8"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(StudyError) as caught:
        values_of(tmp_path / "a.json", content)
    assert str(caught.value).startswith(f"{tmp_path}/a.json: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


MEMORY = """
import sys, resource
from pathlib import Path
from fieldwork.files.json_values import stream_values
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = sum(len(value["text"]) for _, value in stream_values(Path(sys.argv[1])))
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_memory_is_that_of_a_value_and_not_of_the_file(tmp_path: Path, name: str) -> None:
    """200 MB of values go through a process that may hold 120 MB more than it does at its start."""
    row = json.dumps({"text": "x" * 200_000})
    start, comma, end = ("[", ",", "]") if name == "a.json" else ("", "", "")
    with (tmp_path / name).open("w") as file:
        file.write(f"{start}{row}\n")
        file.writelines(f"{comma}{row}\n" for _ in range(999))
        file.write(end)
    command = [sys.executable, "-c", MEMORY, str(tmp_path / name)]
    path = {"PYTHONPATH": str(Path(json_values.__file__).parents[2])}
    done = subprocess.run(command, env=path, capture_output=True, text=True, check=True)
    characters, grown_kib = map(int, done.stdout.split())
    assert characters == 200_000_000
    assert grown_kib < 120 * 1024
