"""The kit's files: a page, workbooks and Label Studio that name no condition, and the way back."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from openpyxl import Workbook, load_workbook

from fieldwork.errors import StudyError
from fieldwork.judging.importing import StudyUnits, import_judgements
from fieldwork.judging.kit.allocation import allot_units
from fieldwork.judging.kit.files import KitSources, kit_texts, label_studio_texts
from fieldwork.judging.kit.questions import RaterQuestion, ReviewKit, WhyQuestion
from fieldwork.judging.kit.spreadsheets import write_workbooks
from fieldwork.judging.units import judged_unit
from fieldwork.page_texts import read_words
from fieldwork.records.judging import Judgement
from fieldwork.sections.judging import Scale, UnitSharing
from unit.judging.unit_texts import BETTER, RIGHT, WHY, pair, unit_text
from unit.shipped_pages import page_template

SHIPPED = Path(__file__).resolve().parents[4] / "resources"
WORDS = read_words(SHIPPED / "review_kit/texts_en.yaml", SHIPPED / "review_kit/texts_en.yaml")
HOSTILE = "</script><script>alert(1)</script> =1+1 {{css}} ${x}"
SCALES: dict[str, Scale] = {s.name: s for s in (RIGHT, WHY, BETTER)}


def kit() -> ReviewKit:
    own = [
        unit_text(f"a{n}", f"user{n}", attribute=f"=fact {n}", evidence=HOSTILE) for n in range(8)
    ]
    pairs = [pair(f"p{n}", f"user{n}") for n in range(6)]
    why = WhyQuestion(WHY, ["unsure", "reject"])
    questions = [
        RaterQuestion("right", "Is it right?", RIGHT, why, own),
        RaterQuestion("better", "Which one?", BETTER, None, pairs),
    ]
    settings = UnitSharing(raters=3, overlap=0.5, shared_by=2, repeated=0.2)
    allotments = [a for q in questions for a in allot_units(q.units, settings, q.name, seed=1)]
    return ReviewKit("demo", questions, allotments)


def sources(consent: str = "You agree.") -> KitSources:
    readme = (SHIPPED / "review_kit/kit_readme.md").read_text(encoding="utf-8")
    page = page_template("review_kit")
    return KitSources(page, WORDS, consent, "consent.md", readme, "kit_readme.md")


def page_data(text: str) -> dict[str, Any]:
    (block,) = re.findall(r'json" id="page-data">(.*?)</script>', text, re.DOTALL)
    data: dict[str, Any] = json.loads(block)
    return data


def test_the_page_shows_what_is_hostile_and_runs_nothing_of_it() -> None:
    text = kit_texts(kit(), sources(), "")["review.html"]
    assert text.count("<script") == 2
    assert "{{" not in re.sub("<script.*?</script>", "", text, flags=re.DOTALL)
    assert "alert(1)</script>" not in text
    assert page_data(text)["units"][0][0]["evidence"] == HOSTILE
    assert "default-src &#x27;none&#x27;" in text


def test_nothing_on_the_page_says_whose_answer_it_is() -> None:
    data = page_data(kit_texts(kit(), sources(), "")["review.html"])
    names = {"code", "facts", "evidence", "question", "attribute", "answers", "orders"}
    pairs = data["units"][1]
    assert set(pairs[0]) == names
    assert "user0" not in json.dumps(data)
    assert sum(map(len, data["raters"].values())) == len(kit().allotments)
    # the first condition's answer stands first in some units, and no code of an order comes twice
    assert {unit["answers"][0] for unit in pairs} == {"Answer A", "Answer B"}
    codes = [code for unit in pairs for code in unit["orders"]]
    assert len(set(codes)) == 12
    assert not {"a", "b"} & set(codes)


def test_a_consent_that_must_be_written_is_said_on_the_page(
    caplog: pytest.LogCaptureFixture,
) -> None:
    texts = kit_texts(kit(), sources("See [REPLACE: name]."), "")
    assert WORDS["draft"].split(":")[0] in texts["review.html"]
    assert "consent.md" in texts["README.md"]
    assert len(caplog.messages) == 1
    caplog.clear()
    assert 'role="note"' not in kit_texts(kit(), sources(), "")["review.html"]
    assert caplog.messages == []


def imported(made: ReviewKit, sources_of: Mapping[str, Any], folder: Path) -> list[Judgement]:
    """The judgements that come back through a column map."""
    settings = {}
    for name, source in sources_of.items():
        path = folder / Path(source["path"]).relative_to(f"resources/judging/{folder.name}")
        files = sorted(map(str, path.glob("*"))) if path.is_dir() else [str(path)]
        settings[name] = {"scale": None, "kinds": {}, "rows": {}, **source, "files": files}
    units = {unit.code: judged_unit(unit) for question in made.questions for unit in question.units}
    key = str(folder.parent / "key")
    return import_judgements(settings, SCALES, key, StudyUnits(units, [])).judgements


def test_workbooks_come_back_with_sides_turned_and_no_formula(tmp_path: Path) -> None:
    made, folder = kit(), tmp_path / "spreadsheets"
    write_workbooks(made, folder)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.xlsx"))
    raters = ("R01", "R02", "R03")
    assert files == [f"{name}/{rater}.xlsx" for name in ("better", "right") for rater in raters]
    n_rows = 0
    for path in folder.rglob("*.xlsx"):
        book, is_fact = load_workbook(path), path.parent.name == "right"
        sheet = book.worksheets[0]
        columns = {cell.value: cell.column for cell in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            n_rows += 1
            assert sheet.cell(row, columns["concluded"]).data_type != "f"
            # whoever reads prefers answer A, wherever it stands
            side = "1" if sheet.cell(row, columns["answer 1"]).value == "Answer A" else "5"
            sheet.cell(row, columns["value"]).value = "reject" if is_fact else side
            sheet.cell(row, columns["why"]).value = "too general" if is_fact else None
        book.save(path)
    maps = yaml.safe_load(kit_texts(made, sources(), "")["review_spreadsheets.yaml"])
    rows = imported(made, maps["judging"]["sources"], folder)
    assert n_rows == len(made.allotments)
    found = {(r.scale, r.value, r.first_side, r.repeat, r.rater_kind) for r in rows}
    assert {(scale, value) for scale, value, *_ in found} == {
        ("better", "1"), ("right", "reject"), ("why", "too general"),
    }  # fmt: skip
    assert {side for scale, _, side, *_ in found if scale == "better"} == {"a", "b"}
    assert {repeat for scale, _, _, repeat, _ in found if scale == "right"} == {0, 1}
    assert {kind for *_, kind in found} == {"person"}
    scales = [row.scale for row in rows]
    assert scales.count("right") == scales.count("why")
    assert not any(r.rater.startswith("R0") for r in rows)


def test_label_studio_has_a_configuration_and_tasks_and_its_export_comes_back(
    tmp_path: Path,
) -> None:
    made, folder = kit(), tmp_path / "label_studio"
    texts = label_studio_texts(made, WORDS)
    names_of_files = ["better.json", "better.xml", "right.json", "right.xml"]
    assert sorted(texts) == [f"label_studio/{name}" for name in names_of_files]
    root = ElementTree.fromstring(texts["label_studio/right.xml"])  # our own text
    names = {element.get("name") for element in root.iter("Text")}
    tasks = json.loads(texts["label_studio/right.json"])
    assert all(name in task["data"] for task in tasks for name in names)
    choices = [c.get("value") for c in root.iter("Choice")]
    assert choices == ["accept", "unsure", "reject", "no evidence", "too general"]
    # the form of JSON-MIN: the task's data, and each tag by its name
    export = [
        {**task["data"], "id": number, "annotator": 7, "lead_time": 2.5, "value": "1"}
        for number, task in enumerate(json.loads(texts["label_studio/better.json"]))
    ]
    folder.mkdir()
    (folder / "better.json").write_text(json.dumps(export), encoding="utf-8")
    maps = yaml.safe_load(kit_texts(made, sources(), "")["review_label_studio.yaml"])
    source = {"review_better": maps["judging"]["sources"]["review_better"]}
    rows = imported(made, source, folder)
    assert {(r.first_side, r.value, r.seconds) for r in rows} == {("a", "1", 2.5), ("b", "5", 2.5)}


def test_nothing_to_judge_is_one_sentence() -> None:
    nothing = ReviewKit("demo", [q._replace(units=[]) for q in kit().questions], [])
    with pytest.raises(
        StudyError, match=r"judging\.units: none of its entries \(right, better\) has"
    ):
        kit_texts(nothing, sources(), "")


def workbook_of(question: RaterQuestion, folder: Path) -> Workbook:
    settings = UnitSharing(raters=2, overlap=1, shared_by=2, repeated=0)
    allotments = allot_units(question.units, settings, question.name, seed=1)
    write_workbooks(ReviewKit("demo", [question], allotments), folder)
    return load_workbook(folder / question.name / "R01.xlsx")


def column_of(book: Workbook, name: str) -> list[Any]:
    header, *rows = book.worksheets[0].iter_rows(values_only=True)
    return [row[header.index(name)] for row in rows]


def test_a_workbook_does_not_say_whose_answer_it_is_and_is_protected(tmp_path: Path) -> None:
    units = [pair(f"p{n}", f"user{n}") for n in range(20)]
    book = workbook_of(RaterQuestion("better", "Which one?", BETTER, None, units), tmp_path)
    codes = column_of(book, "first_side")
    assert len(set(codes)) == 20
    assert all(re.fullmatch("[a-r]{6}", code) for code in codes)
    assert {*column_of(book, "answer 1")} == {"Answer A", "Answer B"}
    sheet = book.worksheets[0]
    assert sheet.protection.sheet
    locked = {sheet.cell(1, cell.column).value: cell.protection.locked for cell in sheet[2]}
    assert [name for name, is_locked in locked.items() if not is_locked] == ["value", "why", "note"]


def test_a_workbook_offers_any_option_and_leaves_out_what_none_may_hold(tmp_path: Path) -> None:
    options = ["Yes, fully", 'No, not "at all"', "x" * 260]
    units = [unit_text("a", attribute="a\x0bb\x00c\nd")]
    scale = Scale(name="long", options=options)
    book = workbook_of(RaterQuestion("long", "?", scale, None, units), tmp_path)
    sheet, lists = book.worksheets
    (validation,) = sheet.data_validations.dataValidation
    assert validation.formula1 == "options!$A$1:$A$3"
    assert [cell.value for cell in lists["A"]] == options
    assert lists.sheet_state == "hidden"
    assert column_of(book, "concluded") == ["abc\nd"]
