"""What SPSS and Stata cannot hold: long names, labels and texts, infinite numbers, too many codes."""

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from fieldwork.errors import StudyError
from fieldwork.exports.code_sets import code_set, cut_text
from fieldwork.exports.codebook import CodebookHead, TableEntry, codebook, render, variable_entry
from fieldwork.exports.labelled_files import (
    LabelledTable,
    coded_column,
    cut_texts,
    n_with_nul,
    refuse_infinity,
    write_dta,
    write_sav,
)
from fieldwork.exports.variables import Variable, VariableKind, variable_names


def variable(name: str, kind: VariableKind, label: str = "", codes: str | None = None) -> Variable:
    return Variable(name, name, label, kind, codes, None)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["a" * 40, "a" * 50, "A" * 33], ["a" * 32, "a" * 30 + "_2", "A" * 30 + "_3"]),
        (["with", "If", "_all"], ["v_with", "v_If", "v__all"]),
        (["größe", "a b", "2nd"], ["gr__e", "a_b", "v_2nd"]),
        (["a", "A", "a_2"], ["a", "A_2", "a_2_2"]),
    ],
)
def test_names_are_ones_that_every_program_takes(columns: list[str], names: list[str]) -> None:
    assert list(variable_names(columns)) == names


def test_labels_are_cut_at_a_letter(tmp_path: Path) -> None:
    label, value = "ü" * 200, "é" * 70
    codes = code_set((), [value], {})
    assert codes is not None
    variables = [variable("a", "code", label, "a")]
    table = LabelledTable("ß" * 90, variables, pd.DataFrame({"a": [1.0]}), {"a": codes})
    write_sav(tmp_path / "t.sav", table)
    write_dta(tmp_path / "t.dta", table)
    _, sav = pyreadstat.read_sav(tmp_path / "t.sav")
    assert sav.column_labels == [cut_text(label, 256)]
    assert sav.variable_value_labels["a"] == {1: "é" * 58 + "…"}
    assert sav.file_label == cut_text("ß" * 90, 64)
    _, dta = pyreadstat.read_dta(tmp_path / "t.dta")
    assert dta.column_labels == ["ü" * 38 + "…"]
    assert codes.labels == [value]


@pytest.mark.parametrize("n", [0, 1, 255, 256, 755, 756, 2_045, 2_046, 32_766, 32_767, 70_000])
def test_texts_of_any_length_stay_beside_one_another(tmp_path: Path, n: int) -> None:
    columns = {"text": ["x" * n, ""], "text_1": ["ä" * (n // 2), "b"], "text1": ["end", "="]}
    variables = [*(variable(name, "text") for name in columns), variable("last", "number")]
    frame = pd.DataFrame(columns | {"last": [1.5, None]})
    table, n_cut = cut_texts(LabelledTable("t", variables, frame, {}))
    write_sav(tmp_path / "t.sav", table)
    write_dta(tmp_path / "t.dta", LabelledTable("t", variables, frame, {}))
    for name, expected in (("t.sav", table.frame), ("t.dta", frame)):
        reader = pyreadstat.read_sav if name == "t.sav" else pyreadstat.read_dta
        back, _ = reader(tmp_path / name)
        assert list(back.columns) == list(expected.columns)
        for column_name in columns:
            assert back[column_name].tolist() == expected[column_name].tolist()
        assert back["last"][0] == 1.5
        assert pd.isna(back["last"][1])
    assert n_cut == ({} if n <= 32_766 else {"text": 1, **({"text_1": 1} if n > 32_767 else {})})


def test_times_are_utc(tmp_path: Path) -> None:
    time = variable("sent_at", "time")
    moment = datetime(2026, 11, 24, 12, 30, 1, tzinfo=UTC)
    frame = pd.DataFrame({"sent_at": coded_column(time, [moment, None], None)})
    table = LabelledTable("t", [time], frame, {})
    write_sav(tmp_path / "t.sav", table)
    write_dta(tmp_path / "t.dta", table)
    for back in (
        pyreadstat.read_sav(tmp_path / "t.sav")[0],
        pyreadstat.read_dta(tmp_path / "t.dta")[0],
    ):
        assert back["sent_at"][0] == pd.Timestamp(moment.replace(tzinfo=None))
        assert pd.isna(back["sent_at"][1])


def test_an_infinite_number_is_one_sentence() -> None:
    number = variable("ratio", "number")
    with pytest.raises(StudyError, match=r"t\.sav: ratio has an infinite number"):
        refuse_infinity("t.sav", number, coded_column(number, [1.0, float("inf")], None))


def test_labels_that_begin_alike_stay_two(tmp_path: Path) -> None:
    """R takes two codes with one label for one value."""
    same = "The statement is very long, and its versions differ at the end alone. " * 2
    values = [f"{same}alpha", f"{same}beta", "a (4)", "a", "a ", "b\0c", " ", "x"]
    codes = code_set(values, (), {})
    assert codes is not None
    labels = codes.value_labels()
    assert len(set(labels.values())) == len(values)
    assert all(len(label.encode()) <= 120 for label in labels.values())
    assert labels[2].endswith("… (2)")
    assert (labels[4], labels[5]) == ("a", "a (5)")
    assert (labels[6], labels[7], labels[8]) == ("b\ufffdc", "(empty)", "x")
    assert codes.n_cut() == 5
    frame = pd.DataFrame({"a": [float(code) for code in labels]})
    table = LabelledTable("t", [variable("a", "code", "", "a")], frame, {"a": codes})
    write_sav(tmp_path / "t.sav", table)
    write_dta(tmp_path / "t.dta", table)
    for read, file in ((pyreadstat.read_sav, "t.sav"), (pyreadstat.read_dta, "t.dta")):
        frame, _ = read(tmp_path / file, apply_value_formats=True)
        assert frame["a"].nunique() == len(values)


def test_a_text_does_not_end_at_a_nul(tmp_path: Path) -> None:
    text, values = variable("a", "text"), ["one\0two", None, "three"]
    frame = pd.DataFrame({"a": coded_column(text, values, None)})
    assert n_with_nul(text, values) == 1
    table = LabelledTable("t", [text], frame, {})
    write_sav(tmp_path / "t.sav", table)
    write_dta(tmp_path / "t.dta", table)
    for read, file in ((pyreadstat.read_sav, "t.sav"), (pyreadstat.read_dta, "t.dta")):
        assert read(tmp_path / file)[0]["a"].tolist() == ["one\ufffdtwo", "", "three"]


def test_values_of_one_label_keep_their_names_apart() -> None:
    codes = code_set(["a"], ["b", "c", ""], {"a": "same", "b": "same"})
    assert codes is not None
    assert codes.values == ["a", "", "b", "c"]
    assert codes.labels == ["same (a)", "(empty)", "same (b)", "c"]


def test_the_codebook_counts_what_programs_do_not_show_whole() -> None:
    codes = code_set((), ["long " * 30, "short"], {})
    assert codes is not None
    entry = variable_entry(variable("a", "text"), ["x"]) | {"n_with_nul": 3}
    table = TableEntry("answers", "an answer", ["answers.csv"], 1, [], [entry])
    book = codebook(CodebookHead("trivia", "1"), [table], {"a": codes})
    assert book["n_short_labels"] == {"a": 1}
    page = render(book)
    assert "Labels that .sav and .dta files do not show whole: 1." in page
    assert "(3 with � for NUL in .sav and .dta)" in page
