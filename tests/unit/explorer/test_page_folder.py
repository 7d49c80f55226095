"""The whole folder of a page, from tables of invented answers."""

import dataclasses
import hashlib
import html
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.explorer.folder import PageTables, write_folder
from fieldwork.explorer.page import PageParts
from fieldwork.explorer.study_data import PageSettings
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.figures import FigureMark
from fieldwork.records.generation import Response
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.puppets import Context, Conversation
from fieldwork.records.tasks import Item
from unit.explorer.test_data_files import NASTY, files_of
from unit.explorer.test_page_answers import ITEMS, answer
from unit.explorer.test_page_contexts import context, messages
from unit.explorer.test_replies import RESPONSE
from unit.table_rows import field_answer, row_of

PARTS = PageParts(
    page='<title>{{title}}</title><meta content="{{policy}}"><style>{{css}}</style>{{findings}}'
    '{{figures}}<script type="application/json" id="study">{{study}}</script><script>{{js}}</script>',
    style="p { color: red; }",
    scripts=("const one = 1;\n", "\nconst two = 2;\n"),
    source="page.html",
)
OFFLINE = {"label": "Offline", "phrase": "without a user", "has_user": False, "temperature": 1}
HISTORY = {"label": "History", "phrase": "after a talk", "has_user": True, "temperature": 1}
SETTINGS = PageSettings(
    name="demo",
    question=None,
    baseline="offline",
    models={"m": {"label": "Model </script>", "asked": "m-1", "note": None}},
    conditions={"offline": OFFLINE | {"corpus": None}, "history": HISTORY | {"corpus": "first"}},
    max_tokens={"letters": 5, "lists": 512},
    seed=1,
    contexts="full",
    field=False,
    figures={"fig1": "1: options", "fig2": "2: letters"},
    withheld=(),
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"><g style="fill: red"/></svg>'
)
PLACE = {"left": 1.0, "top": 1.0, "width": 2.0, "height": 2.0, "text": "a <b>share</b>"}
MARK = row_of(
    FigureMark, number=1, measure="share", model="m", task="letters", item_id="one",
    condition="offline", answer="A", base="counted", value=0.5, ci_low=0.4, ci_high=0.6, n=4, **PLACE,
)  # fmt: skip


def write_study(folder: Path) -> PageTables:
    """Two blank answers, two of puppets with equal contexts, and one of a participant."""
    for task in SETTINGS.max_tokens:
        rows = [item for key, item in ITEMS.items() if key.task == task]
        write(folder, f"tasks/{task}.parquet", rows, Item)
    blank = [answer(replicate=k) for k in range(2)]
    users = [answer(condition="history", puppet=f"p-{k}") for k in range(2)]
    real = [answer(condition=FIELD, puppet="pabc")]
    write(folder, "answers/answers.parquet", [*blank, *users, *real], Answer)
    merge = MergedItem("lists", "films", "'=a", "A", "near", 1)
    write(folder, "answers/items.csv", [merge], MergedItem)
    for condition, rows in (("offline", blank), ("history", users)):
        responses = []
        for text, row in zip(NASTY, rows, strict=False):
            keys = ("task", "item_id", "condition", "puppet_id", "replicate")
            of = {key: getattr(row, key) for key in keys}
            of |= {"context_id": "same" if row.puppet_id else None, "text": text}
            responses.append(dataclasses.replace(RESPONSE, **of))
        write(folder, f"responses/m/letters/{condition}.parquet", responses, Response)
    same = [dataclasses.replace(context("same", ["one"], 2), puppet_id=f"p-{k}") for k in range(2)]
    write(folder, "contexts/letters/history.parquet", same, Context)
    talk = Conversation("one", "user", None, None, None, 1, 9, messages(2))
    write(folder, "corpus/first/conversations.parquet", [talk], Conversation)
    write(folder, "metrics/accuracy_runs.parquet", [], RunAccuracy)
    write(folder, "figures/fig1.marks.parquet", [MARK], FigureMark)
    (folder / "figures/fig1.svg").write_text(SVG)
    (folder / "findings.md").write_text("# Findings\n\nA <script>alert(1)</script> was seen.\n")
    place = {"platform": "A chat", "position": 1, "file": "wave_of_ann.csv", "row": 4711}
    keys = {"task": "letters", "item_id": "one", "text": "A, says [NAME]", "n_masked": 1}
    write(folder, "field/answers.parquet", [field_answer("pabc", **keys, **place)], FieldAnswer)
    return sources(folder)


def write(folder: Path, path: str, rows: list[Any], row_type: type[Any]) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    tables.write_table(folder / path, rows, row_type)


def sources(folder: Path) -> PageTables:
    def files(pattern: str) -> list[str]:
        return sorted(map(str, folder.glob(pattern)))

    return PageTables(
        answers=files("answers/answers.parquet"),
        merges=files("answers/items.csv"),
        questions=files("tasks/*.parquet"),
        responses=files("responses/*/*/*.parquet"),
        contexts=files("contexts/*/*.parquet"),
        corpora=files("corpus/*/*.parquet"),
        accuracy_runs=files("metrics/*.parquet"),
        field_answers=files("field/answers.parquet"),
        findings=files("findings.md"),
        figures=files("figures/*.svg"),
        marks=files("figures/*.marks.parquet"),
    )


@pytest.fixture
def study(tmp_path: Path) -> PageTables:
    return write_study(tmp_path / "study")


def page_of(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


def block_of(folder: Path) -> dict[str, Any]:
    match = re.search(r'id="study">(.*?)</script>', page_of(folder), re.DOTALL)
    assert match
    block: dict[str, Any] = json.loads(match[1])
    return block


def test_the_page_and_its_data_belong_together(tmp_path: Path, study: PageTables) -> None:
    write_folder(str(tmp_path), study, SETTINGS, PARTS)
    data, block, page = files_of(tmp_path), block_of(tmp_path), page_of(tmp_path)
    assert [*data] == ["answers", "contexts-000", "details-000"]
    assert (block["counts"], block["details"]) == ({"answers": 4, "contexts": 1}, [0])
    assert block["models"][0]["label"] == "Model </script>"
    assert re.fullmatch("[0-9a-f]{12}", block["version"])
    assert data["answers"]["version"] == block["version"]
    assert (block["missing"], block["withheld"], block["report"]) == ([], [], "../report.zip")
    assert [(item["task"], item["item"]) for item in block["items"]] == sorted(ITEMS)
    columns = data["answers"]
    # answers.parquet's order: conditions by alphabet
    assert columns["condition"] == [1, 1, 0, 0]
    assert columns["context"] == [0, 0, -1, -1]
    assert columns["puppet"] == [0, 1, -1, -1]
    details = data["details-000"]
    # equal calls of two puppets were different draws
    assert [row["seed"] for row in details] == [1_000_003, 1_000_004, 1_000_003, 1_000_004]
    assert [row["text"] for row in details[:2]] == NASTY[:2]
    # marks are links to their answers, and a figure that is not drawn is not there
    (mark,) = block["marks"]["fig1"]
    assert mark["address"].startswith("#/answers?model=m&task=letters&item=one&condition=offline")
    assert (mark["value"], mark["low"], mark["high"], mark["n"]) == (0.5, 0.4, 0.6, 4)
    assert block["figures"] == [{"name": "fig1", "title": "1: options"}]
    assert html.escape(mark["address"]) in page
    assert '<figure id="figure-fig1">' in page
    # nothing in the data is markup of the page
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)" in page
    assert "<b>" not in page
    assert "style=" not in page


def test_a_figure_without_data_is_named_and_not_drawn(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(folder)
    write(folder, "figures/fig1.marks.parquet", [], FigureMark)
    write(folder, "figures/fig2.marks.parquet", [], FigureMark)
    (folder / "figures/fig2.svg").write_text(SVG.replace("<g ", '<g id="no-data" '))
    write_folder(str(tmp_path / "page"), sources(folder), SETTINGS, PARTS)
    page = page_of(tmp_path / "page")
    assert '<figure id="figure-fig1">' in page
    assert "figure-fig2" not in page
    assert "Without data in this study: 2: letters." in page


def test_the_policy_names_the_one_style_and_the_one_script(
    tmp_path: Path, study: PageTables
) -> None:
    write_folder(str(tmp_path), study, SETTINGS, PARTS)
    parts = r'<meta content="(.*?)">', "<style>(.*?)</style>", "<script>(.*?)</script>"
    found = [re.findall(part, page_of(tmp_path), re.DOTALL) for part in parts]
    (policy,), (style,), (script,) = found
    policy = html.unescape(policy)
    hashes = [b64decode(part) for part in re.findall(r"'sha256-([^']+)'", policy)]
    assert hashes == [hashlib.sha256(text.encode()).digest() for text in (style, script)]
    assert script == "const one = 1;\nconst two = 2;\n"
    assert "default-src 'none'" in policy
    assert "'strict-dynamic'" in policy
    assert "unsafe" not in policy


def test_equal_tables_give_equal_files(tmp_path: Path, study: PageTables) -> None:
    for name in ("one", "two"):
        write_folder(str(tmp_path / name), study, SETTINGS, PARTS)
    first, second = (
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second
    assert not any(str(tmp_path).encode() in content for content in first.values())


def test_real_users_are_left_out_unless_they_are_wanted(tmp_path: Path, study: PageTables) -> None:
    write_folder(str(tmp_path / "page"), study, SETTINGS, PARTS)
    everything = "".join(p.read_text() for p in (tmp_path / "page").rglob("*.*"))
    assert "says [NAME]" not in everything
    assert "pabc" not in everything
    write_folder(str(tmp_path / "page"), study, SETTINGS._replace(field=True), PARTS)
    block = block_of(tmp_path / "page")
    details = files_of(tmp_path / "page")["details-000"]
    assert block["counts"]["answers"] == 5
    assert block["conditions"][-1]["name"] == FIELD
    assert set(details[0]) == {"text", "sha256"}
    assert details[0]["text"] == "A, says [NAME]"
    everything = "".join(p.read_text() for p in (tmp_path / "page").rglob("*.*"))
    for secret in ("wave_of_ann", "4711", "A chat"):
        assert secret not in everything


def test_a_figure_names_no_participant_unless_they_are_wanted(tmp_path: Path) -> None:
    """Figure 3 has a mark for the score of each user, real ones among them."""
    study = write_study(tmp_path / "study")
    everyone = dataclasses.replace(MARK, condition=FIELD, number=2, text="all participants")
    person = dataclasses.replace(everyone, puppet_id="pabc", number=3, text="score, Field, pabc")
    puppet = dataclasses.replace(MARK, condition="history", puppet_id="p-0", number=4)
    marks = [MARK, everyone, person, puppet]
    write(tmp_path / "study", "figures/fig1.marks.parquet", marks, FigureMark)
    numbers = {}
    for is_wanted in (False, True):
        folder = tmp_path / f"page_{is_wanted}"
        write_folder(str(folder), study, SETTINGS._replace(field=is_wanted), PARTS)
        numbers[is_wanted] = [mark["number"] for mark in block_of(folder)["marks"]["fig1"]]
        assert ("pabc" in page_of(folder)) is is_wanted
    assert numbers == {False: [1, 2, 4], True: [1, 2, 3, 4]}


def test_contexts_are_left_out_where_the_study_says_so(tmp_path: Path, study: PageTables) -> None:
    settings = SETTINGS._replace(contexts="none", withheld=("Contexts are left out.",))
    write_folder(str(tmp_path / "page"), study, settings, PARTS)
    data = files_of(tmp_path / "page")
    assert [*data] == ["answers", "details-000"]
    assert data["answers"]["contexts"][0]["conversation_ids"] == []
    assert block_of(tmp_path / "page")["withheld"] == ["Contexts are left out."]
