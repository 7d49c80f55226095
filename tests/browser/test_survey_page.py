"""The survey page in a real browser: filled, reloaded, saved, with keyboard and telephone.

What it shares with the page for raters (resources/pages/answer_page.js) is tested here.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import (
    NO_STORAGE,
    PROMPTS,
    Seen,
    Written,
    check_access,
    reach,
    read_csv,
    refusals,
    save_file,
    write_survey,
)
from fieldwork.field import columns, sources
from fieldwork.field.kit.survey import page_columns, page_map
from fieldwork.field.raw_answers import FieldPrompt
from fieldwork.files.cells import plain_cell

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]

NASTY = {
    "demo/cars": '=HYPERLINK("x";"y")\n- a, b; c\r\n\tend ',
    "demo/letters": "- Tesla\n- \"Quoted\", with comma\n\n* 'five'",
    "demo/ending": "</script><b>bold</b> & 'so' \\ \u2028 new",
    "demo/scripts": "'=already guarded' 🦊🏳️‍🌈 你好 ñ",
    "demo/long": "+1\n" + "x" * 5000,
}
FULL_STORAGE = "Storage.prototype.setItem = () => { throw new Error('full'); };"
# what Chromium does now and then to a page opened as a file: a storage that is lost with the page
STORAGE_TOO_SOON = """(() => {
  const real = Object.getOwnPropertyDescriptor(window, "localStorage").get.bind(window);
  const databases = indexedDB.databases.bind(indexedDB);
  const lost = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  let answered = false;
  indexedDB.databases = () => databases().finally(() => { answered = true; });
  Object.defineProperty(window, "localStorage", { get: () => (answered ? real() : lost) });
})();"""
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
NO_COPYING = "document.execCommand = () => false;"
# what fingers must hit, by the 44 pixels of WCAG 2.5.5; a label counts for its box
TOO_SMALL = """[...document.querySelectorAll("button, .tick, textarea, input[type=text]")]
  .filter(e => e.checkVisibility()).map(e => [e.id || e.textContent, e.getBoundingClientRect()])
  .filter(([, box]) => box.height < 44 || box.width < 44).map(([name]) => name)"""


def consent(page: Page) -> None:
    page.get_by_label("I have read this information").check()
    page.get_by_role("button", name="Begin").click()


def to_prompts(page: Page, code: str | None = "A-01") -> None:
    consent(page)
    if code is not None:
        page.get_by_label("Your participant code").fill(code)
    page.get_by_label("Beta").check()
    page.get_by_label("Red & blue").check()
    page.get_by_role("button", name="Continue").click()


def asked(page: Page) -> str:
    """Key of the prompt that is shown."""
    shown = page.locator("#prompt").text_content()
    return next(f"demo/{name}" for name, text in PROMPTS.items() if text == shown)


def answer_all(page: Page, answers: dict[str, str]) -> list[str]:
    """Paste an answer to each prompt, go to the end, and say in which order they came."""
    order = []
    for _ in range(len(PROMPTS)):
        order.append(asked(page))
        page.get_by_label("Copy the whole").fill(answers[order[-1]])
        page.locator("#next").click()
    return order


def saved_rows(page: Page) -> list[dict[str, str]]:
    """Rows of the CSV, as the import reads them."""
    rows = read_csv(save_file(page, "Save my answers"))
    return [{name: plain_cell(cell) for name, cell in row.items()} for row in rows]


def erase(page: Page) -> None:
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_role("button", name="Erase", exact=True).click()


def in_box(text: str) -> str:
    """What a text box makes of a text."""
    return text.replace("\r\n", "\n")


def test_answers_survive_a_reload_and_leave_as_two_files(visit: Visit, written: Written) -> None:
    page = visit()
    to_prompts(page)
    first = asked(page)
    page.get_by_label("Copy the whole").fill(NASTY[first])
    page.locator("#next").click()
    second = asked(page)
    page.reload()
    expect(page.locator("#prompts-title")).to_have_text("Prompt 2 of 5")
    assert asked(page) == second
    page.get_by_role("button", name="Back").click()
    assert page.get_by_label("Copy the whole").input_value() == in_box(NASTY[first])
    order = answer_all(page, NASTY)
    assert order[:2] == [first, second]
    assert sorted(order) == sorted(NASTY)
    expect(page.get_by_text("You have answered 5 of 5 prompts.")).to_be_visible()
    rows = saved_rows(page)
    kept = json.loads(save_file(page, "Save a copy").read_text(encoding="utf-8"))
    told = page_map(written.survey, "folder")["columns"]
    assert list(rows[0]) == page_columns(written.survey)
    assert [row[told["prompt"]] for row in rows] == order
    assert [row[told["position"]] for row in rows] == ["1", "2", "3", "4", "5"]
    for row, entry in zip(rows, kept["answers"], strict=True):
        assert row[told["answer"]] == in_box(NASTY[row["prompt"]])
        assert entry["answer"] == row["answer"]
        assert (entry["prompt"], entry["position"]) == (row["prompt"], int(row["position"]))
        assert entry["asked"] == PROMPTS[row["prompt"].removeprefix("demo/")]
    # the second question about the participant was left out
    people = {(r["participant"], r["platform"], r["model"], r["group"], r["age"]) for r in rows}
    assert people == {("A-01", 'Beta, with "memory"', "beta-2", "Red & blue", "")}
    assert rows[0]["started"] <= rows[0]["ended"]
    assert kept["survey"] == rows[0]["survey"] == written.survey.digest


def test_the_import_reads_what_the_page_saved(visit: Visit, written: Written) -> None:
    page = visit("?participant=A-01")
    to_prompts(page, code=None)
    order = answer_all(page, NASTY)
    file = save_file(page, "Save my answers")
    # what a participant is called is in no file's name
    assert "A-01" not in file.name
    told = {"models": {}, "skip_prompts": [], "rows": {}, **page_map(written.survey, "folder")}
    prompts = [FieldPrompt(prompt.task, prompt.item_id) for prompt in written.survey.prompts]
    read = columns.read_field(
        [sources.read_sheet(file)], columns.ColumnMap(told, prompts, [*written.survey.platforms])
    )
    texts = {f"{a.prompt.task}/{a.prompt.item_id}": (a.position, a.text) for a in read.answers}
    assert texts == {key: (order.index(key) + 1, in_box(NASTY[key])) for key in NASTY}
    assert {(a.participant, a.platform, a.model) for a in read.answers} == {
        ("A-01", 'Beta, with "memory"', "beta-2")
    }
    assert [(m.variable, m.group) for m in read.members] == [("group", "Red & blue")]


def test_no_prompt_before_consent(visit: Visit) -> None:
    page = visit("#prompts")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator("#prompts")).to_be_hidden()
    assert page.locator("#prompt").text_content() == ""
    assert page.evaluate("localStorage.length") == 0
    consent(page)
    page.get_by_label("Your participant code").fill("A name@example.org")
    page.get_by_label("Alpha").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#about")).to_be_visible()


def test_the_code_is_taken_from_the_link(visit: Visit, written: Written) -> None:
    page = visit()
    for query, code in {
        "?PROLIFIC_PID=5f00&STUDY_ID=1": "5f00",
        "?participant=B%2D7": "B-7",
        "": "",
    }.items():
        page.goto(written.address + query)
        consent(page)
        field = page.get_by_label("Your participant code")
        assert field.input_value() == code
        assert field.evaluate("box => box.readOnly") == bool(code)


def test_a_prompt_is_copied_and_its_copy_is_no_answer(visit: Visit) -> None:
    page = visit()
    to_prompts(page)
    # with the clipboard, without it, and with none at all, where the prompt is selected
    for script in ("", NO_CLIPBOARD):
        page.evaluate(script)
        page.get_by_role("button", name="Copy prompt").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        box = page.get_by_label("Copy the whole")
        box.focus()
        page.keyboard.press("Control+v")
        assert box.input_value() == page.locator("#prompt").text_content()
        expect(page.get_by_text("This is the prompt itself.")).to_be_visible()
        page.locator("#next").click()
    page.evaluate(NO_COPYING)
    page.get_by_role("button", name="Copy prompt").click()
    expect(page.get_by_text("please copy it yourself")).to_be_visible()
    assert page.evaluate("getSelection().toString().trim()")


@pytest.mark.parametrize("script", [NO_STORAGE, FULL_STORAGE], ids=["refused", "full"])
def test_where_nothing_is_kept_the_page_says_so_and_goes_on(visit: Visit, script: str) -> None:
    page = visit(script=script)
    expect(page.get_by_role("alert")).to_contain_text("does not save what you enter")
    expect(page.locator("#kept")).to_be_hidden()
    to_prompts(page)
    order = answer_all(page, NASTY)
    assert [row["prompt"] for row in saved_rows(page)] == order


def test_everything_can_be_erased(visit: Visit) -> None:
    page = visit()
    to_prompts(page)
    page.get_by_label("Copy the whole").fill("Something private")
    assert "Something private" in page.evaluate("JSON.stringify({...localStorage})")
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_role("button", name="Keep my answers").click()
    assert page.get_by_label("Copy the whole").input_value() == "Something private"
    erase(page)
    expect(page.get_by_text("Everything has been erased")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0
    page.reload()
    to_prompts(page)
    assert page.get_by_label("Copy the whole").input_value() == ""


def test_the_storage_is_asked_once_the_browser_answers(visit: Visit) -> None:
    page = visit(script=STORAGE_TOO_SOON)
    to_prompts(page)
    page.get_by_label("Copy the whole").fill("kept")
    page.reload()
    expect(page.locator("#prompts-title")).to_have_text("Prompt 1 of 5")
    assert page.get_by_label("Copy the whole").input_value() == "kept"


def test_two_tabs_of_one_link_are_one_survey(visit: Visit, written: Written) -> None:
    first = visit()
    second = first.context.new_page()
    second.goto(written.address)
    expect(second.locator("#welcome")).to_be_visible()
    # a tab behind another is drawn once a second
    first.bring_to_front()
    to_prompts(first)
    second.bring_to_front()
    expect(second.locator("#prompts-title")).to_have_text("Prompt 1 of 5")
    assert asked(second) == asked(first)
    second.get_by_label("Copy the whole").fill("of the second tab")
    first.bring_to_front()
    expect(first.get_by_label("Copy the whole")).to_have_value("of the second tab")
    first.locator("#next").click()
    first.get_by_label("Copy the whole").fill("of the first")
    third = first.context.new_page()
    third.goto(written.address)
    expect(third.get_by_label("Copy the whole")).to_have_value("of the first")
    erase(third)
    for page in (first, second):
        expect(page.locator("#welcome")).to_be_visible()
        expect(page.get_by_label("I have read this information")).not_to_be_checked()
    assert first.evaluate("localStorage.length") == 0


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit()
    keys = page.keyboard
    reach(page, ".skip")
    keys.press("Enter")
    reach(page, "#agree")
    keys.press("Space")
    reach(page, "#consent-form button")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "about-title"
    reach(page, "#participant")
    keys.type("K7")
    reach(page, "[name=model]")
    keys.press("Space")
    reach(page, "[name=group-0]")
    keys.press("ArrowDown")
    reach(page, "#about-form .main")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "prompts-title"
    for number in range(len(PROMPTS)):
        reach(page, "#copy")
        keys.press("Enter")
        expect(page.get_by_text("Copied.")).to_be_visible()
        reach(page, "#answer")
        keys.type(f"answer {number}")
        reach(page, "#next")
        keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "finish-title"
    with page.expect_download() as download:
        reach(page, "#csv")
        keys.press("Enter")
    rows = read_csv(Path(download.value.path()))
    assert [row["answer"] for row in rows] == [f"answer {n}" for n in range(len(PROMPTS))]
    assert {(row["participant"], row["model"], row["group"]) for row in rows} == {
        ("K7", "alpha-1", "Green")
    }


def test_axe_finds_nothing_serious_on_a_telephone(visit: Visit) -> None:
    page = visit(viewport={"width": 360, "height": 740}, reduced_motion="reduce")

    def check(view: str) -> None:
        expect(page.locator(f"#{view}")).to_be_visible()
        check_access(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate(TOO_SMALL) == []

    check("welcome")
    consent(page)
    check("about")
    page.reload()
    page.get_by_label("Your participant code").fill("A1")
    page.get_by_label("Alpha").check()
    page.get_by_label("Prefer not to say").first.check()
    check("about")
    page.get_by_role("button", name="Continue").click()
    for _ in PROMPTS:
        if asked(page) == "demo/long":
            page.get_by_label("Copy the whole").fill("y" * 300)
            page.get_by_role("button", name="Copy prompt").click()
            expect(page.get_by_text("Copied.")).to_be_visible()
            check("prompts")
        page.locator("#next").click()
    check("finish")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.locator("#sure")).to_be_visible()
    check("finish")


def test_nothing_can_leave_the_page(visit: Visit, seen: Seen) -> None:
    page = visit()
    assert refusals(page, seen)[:2] == ["connect-src", "img-src"]
    assert page.evaluate("window.broken") is None


def test_a_prompt_asked_again_says_so(visit: Visit, tmp_path: Path) -> None:
    page = visit(survey=write_survey(tmp_path, consent="Draft [REPLACE: who]", repeats=2))
    expect(page.get_by_text("Draft: the consent text")).to_be_visible()
    to_prompts(page)
    shown = []
    for _ in range(2 * len(PROMPTS)):
        shown.append((asked(page), page.locator("#repeated").is_visible()))
        page.locator("#next").click()
    assert [again for _, again in shown] == [
        name in [before for before, _ in shown[:place]] for place, (name, _) in enumerate(shown)
    ]
    rows = saved_rows(page)
    assert [row["prompt"] for row in rows] == [name for name, _ in shown]
    assert {row["answer"] for row in rows} == {""}
