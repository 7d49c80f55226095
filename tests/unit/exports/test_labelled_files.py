"""What SPSS and Stata cannot hold: long names, labels and texts, infinite numbers, too many codes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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


def written(folder: Path, table: LabelledTable, **options: Any) -> list[tuple[pd.DataFrame, Any]]:
    """What is read back of an SPSS file, and of a Stata file."""
    write_sav(folder / "t.sav", table)
    write_dta(folder / "t.dta", table)
    readers = (pyreadstat.read_sav, "t.sav"), (pyreadstat.read_dta, "t.dta")
    return [read(folder / name, **options) for read, name in readers]


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
    (_, sav), (_, dta) = written(tmp_path, table)
    assert sav.column_labels == [cut_text(label, 256)]
    assert sav.variable_value_labels["a"] == {1: "é" * 58 + "…"}
    assert sav.file_label == cut_text("ß" * 90, 64)
    assert dta.column_labels == ["ü" * 38 + "…"]
    assert codes.labels == [value]


@pytest.mark.parametrize("n", [0, 1, 255, 256, 755, 756, 2_045, 2_046, 32_766, 32_767, 70_000])
def test_texts_of_any_length_stay_beside_one_another(tmp_path: Path, n: int) -> None:
    columns = {"text": ["x" * n, ""], "text_1": ["ä" * (n // 2), "b"], "text1": ["end", "="]}
    variables = [*(variable(name, "text") for name in columns), variable("last", "number")]
    whole = LabelledTable("t", variables, pd.DataFrame(columns | {"last": [1.5, None]}), {})
    table, n_cut = cut_texts(whole)
    # Stata takes what SPSS does not
    pairs = (table, written(tmp_path, table)[0][0]), (whole, _stata(tmp_path, whole))
    for expected, back in pairs:
        assert list(back.columns) == list(expected.frame.columns)
        for name in columns:
            assert back[name].tolist() == expected.frame[name].tolist()
        assert back["last"][0] == 1.5
        assert pd.isna(back["last"][1])
    assert n_cut == ({} if n <= 32_766 else {"text": 1, **({"text_1": 1} if n > 32_767 else {})})


def _stata(folder: Path, table: LabelledTable) -> pd.DataFrame:
    write_dta(folder / "whole.dta", table)
    frame: pd.DataFrame = pyreadstat.read_dta(folder / "whole.dta")[0]
    return frame


def test_times_are_utc_a_text_does_not_end_at_a_nul_and_no_number_is_infinite(
    tmp_path: Path,
) -> None:
    time, text, number = (variable(kind, kind) for kind in ("time", "text", "number"))
    moment, texts = datetime(2026, 11, 24, 12, 30, 1, tzinfo=UTC), ["one\0two", None]
    columns = {
        "time": coded_column(time, [moment, None], None),
        "text": coded_column(text, texts, None),
    }
    assert n_with_nul(text, texts) == 1
    table = LabelledTable("t", [time, text], pd.DataFrame(columns), {})
    for back, _ in written(tmp_path, table):
        assert back["time"][0] == pd.Timestamp(moment.replace(tzinfo=None))
        assert pd.isna(back["time"][1])
        assert back["text"].tolist() == ["one\ufffdtwo", ""]
    with pytest.raises(StudyError, match=r"t\.sav: number has an infinite number"):
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
    for back, _ in written(tmp_path, table, apply_value_formats=True):
        assert back["a"].nunique() == len(values)


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
