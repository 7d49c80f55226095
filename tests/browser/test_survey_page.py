"""The survey page in a real browser: filled, reloaded, saved, with keyboard and telephone."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from browser.conftest import PROMPTS, Seen, Written, write_survey
from fieldwork.field import columns, sources
from fieldwork.field.kit.survey import page_columns, page_map
from fieldwork.field.raw_answers import FieldPrompt
from fieldwork.files.cells import plain_cell

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]

VIEWS = ("welcome", "about", "prompts", "finish")
NASTY = {
    "demo/cars": '=HYPERLINK("x";"y")\n- a, b; c\r\n\tend ',
    "demo/letters": "- Tesla\n- \"Quoted\", with comma\n\n* 'five'",
    "demo/ending": "</script><b>bold</b> & 'so' \\ \u2028 new",
    "demo/scripts": "'=already guarded' 🦊🏳️‍🌈 你好 ñ",
    "demo/long": "+1\n" + "x" * 5000,
}
NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }});"
)
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


def saved(page: Page, button: str) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = Path(download.value.path())
    renamed = path.with_name(download.value.suggested_filename)
    return path.rename(renamed)


def saved_json(page: Page) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(saved(page, "Save a copy").read_text(encoding="utf-8"))
    return loaded


def saved_rows(page: Page) -> list[dict[str, str]]:
    """Rows of the CSV, as the import reads them."""
    text = saved(page, "Save my answers").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert not [
        cell for row in rows for cell in row.values() if cell.startswith(tuple("=+-@\t\r\n"))
    ]
    return [{name: plain_cell(cell) for name, cell in row.items()} for row in rows]


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
    expect(page.get_by_text("You have answered 5 of 5 prompts.")).to_be_visible()
    rows = saved_rows(page)
    kept = saved_json(page)
    columns = page_map(written.survey, "folder")["columns"]
    assert list(rows[0]) == page_columns(written.survey)
    assert [row[columns["prompt"]] for row in rows] == order
    assert [row[columns["position"]] for row in rows] == ["1", "2", "3", "4", "5"]
    for row, entry in zip(rows, kept["answers"], strict=True):
        assert row[columns["answer"]] == in_box(NASTY[row["prompt"]])
        assert entry["answer"] == row["answer"]
        assert (entry["prompt"], entry["position"]) == (row["prompt"], int(row["position"]))
        assert entry["asked"] == PROMPTS[row["prompt"].removeprefix("demo/")]
    # the second question about the participant was left out
    told = {(r["participant"], r["platform"], r["model"], r["group"], r["age"]) for r in rows}
    assert told == {("A-01", 'Beta, with "memory"', "beta-2", "Red & blue", "")}
    assert rows[0]["started"] <= rows[0]["ended"]
    assert kept["survey"] == rows[0]["survey"] == written.survey.digest


def test_what_a_participant_is_called_is_in_no_file_name(visit: Visit) -> None:
    page = visit("?participant=secret-code")
    to_prompts(page, code=None)
    for _ in range(5):
        page.locator("#next").click()
    assert "secret" not in saved(page, "Save my answers").name


def test_each_participant_has_an_order_of_their_own(visit: Visit) -> None:
    orders = []
    for number in range(4):
        page = visit(f"?participant=P{number}")
        to_prompts(page, code=None)
        shown = answer_all(page, dict.fromkeys(NASTY, "x"))
        assert [entry["prompt"] for entry in saved_json(page)["answers"]] == shown
        assert sorted(shown) == sorted(NASTY)
        orders.append(tuple(shown))
    # by chance once in 120³
    assert len(set(orders)) > 1


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


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?PROLIFIC_PID=5f00&STUDY_ID=1", "5f00"),
        ("?participant=B%2D7", "B-7"),
        ("", ""),
    ],
)
def test_the_code_is_taken_from_the_link(visit: Visit, query: str, code: str) -> None:
    page = visit(query)
    consent(page)
    field = page.get_by_label("Your participant code")
    assert field.input_value() == code
    assert field.evaluate("box => box.readOnly") == bool(code)


@pytest.mark.parametrize("script", ["", NO_CLIPBOARD], ids=["clipboard", "without clipboard"])
def test_a_prompt_is_copied_and_its_copy_is_no_answer(visit: Visit, script: str) -> None:
    page = visit(script=script)
    to_prompts(page)
    page.get_by_role("button", name="Copy prompt").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    box = page.get_by_label("Copy the whole")
    box.focus()
    page.keyboard.press("Control+v")
    assert box.input_value() == page.locator("#prompt").text_content()
    expect(page.get_by_text("This is the prompt itself.")).to_be_visible()


def test_where_nothing_can_be_copied_the_prompt_is_selected(visit: Visit) -> None:
    page = visit(script=NO_CLIPBOARD + "document.execCommand = () => false;")
    to_prompts(page)
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
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_role("button", name="Erase", exact=True).click()
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


@pytest.mark.parametrize(
    "answer", ["new Promise(() => {})", "Promise.reject(new Error('refused'))"]
)
def test_a_browser_that_does_not_answer_still_shows_the_page(visit: Visit, answer: str) -> None:
    # without an answer Chromium may still lose the storage of a page opened as a file
    page = visit(script=f"IDBFactory.prototype.databases = () => {answer};")
    to_prompts(page)
    expect(page.locator("#prompts-title")).to_have_text("Prompt 1 of 5")


def test_two_tabs_of_one_link_are_one_survey(visit: Visit, written: Written) -> None:
    first = visit()
    second = first.context.new_page()
    second.goto(written.address)
    expect(second.locator("#welcome")).to_be_visible()
    to_prompts(first)
    expect(second.locator("#prompts-title")).to_have_text("Prompt 1 of 5")
    assert asked(second) == asked(first)
    second.get_by_label("Copy the whole").fill("of the second tab")
    expect(first.get_by_label("Copy the whole")).to_have_value("of the second tab")
    first.locator("#next").click()
    first.get_by_label("Copy the whole").fill("of the first")
    third = first.context.new_page()
    third.goto(written.address)
    expect(third.get_by_label("Copy the whole")).to_have_value("of the first")
    third.get_by_role("button", name="Erase everything").click()
    third.get_by_role("button", name="Erase", exact=True).click()
    for page in (first, second):
        expect(page.locator("#welcome")).to_be_visible()
        expect(page.get_by_label("I have read this information")).not_to_be_checked()
    assert first.evaluate("localStorage.length") == 0


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit()
    keys = page.keyboard

    def reach(selector: str) -> None:
        """Tab until it has the focus, and see that it shows."""
        for _ in range(20):
            keys.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"no visible focus on {selector}"
                return
        raise AssertionError(f"Tab never reaches {selector}")

    reach(".skip")
    keys.press("Enter")
    reach("#agree")
    keys.press("Space")
    reach("#consent-form button")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "about-title"
    reach("#participant")
    keys.type("K7")
    reach("[name=model]")
    keys.press("Space")
    reach("[name=group-0]")
    keys.press("ArrowDown")
    reach("#about-form .main")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "prompts-title"
    for number in range(len(PROMPTS)):
        reach("#copy")
        keys.press("Enter")
        expect(page.get_by_text("Copied.")).to_be_visible()
        reach("#answer")
        keys.type(f"answer {number}")
        reach("#next")
        keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "finish-title"
    with page.expect_download() as download:
        reach("#csv")
        keys.press("Enter")
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["answer"] for row in rows] == [f"answer {n}" for n in range(len(PROMPTS))]
    assert {(row["participant"], row["model"], row["group"]) for row in rows} == {
        ("K7", "alpha-1", "Green")
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_telephone(visit: Visit, scheme: str) -> None:
    page = visit(
        viewport={"width": 360, "height": 740}, color_scheme=scheme, reduced_motion="reduce"
    )
    axe = Axe()

    def check(view: str) -> None:
        expect(page.locator(f"#{view}")).to_be_visible()
        grave = [v for v in axe.run(page).response["violations"] if v["impact"] in GRAVE]
        assert not grave, json.dumps([[v["id"], v["nodes"][0]["html"]] for v in grave])
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


GRAVE = ("serious", "critical")
# what fingers must hit, by the 44 pixels of WCAG 2.5.5; a label counts for its box
TOO_SMALL = """[...document.querySelectorAll("button, .tick, textarea, input[type=text]")]
  .filter(e => e.checkVisibility()).map(e => [e.id || e.textContent, e.getBoundingClientRect()])
  .filter(([, box]) => box.height < 44 || box.width < 44).map(([name]) => name)"""


def test_nothing_can_leave_the_page(visit: Visit, seen: Seen) -> None:
    page = visit()
    blocked = page.evaluate(
        """async () => {
          const told = [];
          document.addEventListener("securitypolicyviolation", e => told.push(e.effectiveDirective));
          await fetch("http://127.0.0.1:9/").catch(() => null);
          document.body.append(Object.assign(new Image(), {src: "http://127.0.0.1:9/x.png"}));
          document.body.insertAdjacentHTML("beforeend", "<b id=x onclick='window.ran = 1'>x</b>");
          document.getElementById("x").click();
          await new Promise(done => setTimeout(done, 100));
          return [told.sort(), window.ran ?? null, window.broken ?? null];
        }"""
    )
    assert blocked == [["connect-src", "img-src", "script-src-attr"], None, None]
    # the browser says on its console what it refused
    assert seen.errors
    assert all("Content Security Policy" in error for error in seen.errors)
    seen.errors.clear()
    seen.requests[:] = [url for url in seen.requests if "127.0.0.1:9" not in url]


def test_a_prompt_asked_again_says_so(visit: Visit, tmp_path: Path) -> None:
    page = visit(survey=write_survey(tmp_path, consent="Draft [REPLACE: who]", repeats=2))
    expect(page.get_by_text("Draft: the consent text")).to_be_visible()
    to_prompts(page)
    told = []
    for _ in range(2 * len(PROMPTS)):
        told.append((asked(page), page.locator("#repeated").is_visible()))
        page.locator("#next").click()
    assert [again for _, again in told] == [
        name in [before for before, _ in told[:place]] for place, (name, _) in enumerate(told)
    ]
    rows = saved_rows(page)
    assert [row["prompt"] for row in rows] == [name for name, _ in told]
    assert {row["answer"] for row in rows} == {""}


def test_the_import_reads_what_the_page_saved(
    visit: Visit, written: Written, tmp_path: Path
) -> None:
    page = visit("?participant=A-01")
    to_prompts(page, code=None)
    order = answer_all(page, NASTY)
    saved(page, "Save my answers").rename(tmp_path / "answers.csv")
    told = {"models": {}, "skip_prompts": [], "rows": {}, **page_map(written.survey, "folder")}
    asked_for = [FieldPrompt(prompt.task, prompt.item_id) for prompt in written.survey.prompts]
    sheet = sources.read_sheet(tmp_path / "answers.csv")
    read = columns.read_field(
        [sheet], columns.ColumnMap(told, asked_for, [*written.survey.platforms])
    )
    found = {f"{a.prompt.task}/{a.prompt.item_id}": (a.position, a.text) for a in read.answers}
    assert found == {key: (order.index(key) + 1, in_box(NASTY[key])) for key in NASTY}
    assert {(a.participant, a.platform, a.model) for a in read.answers} == {
        ("A-01", 'Beta, with "memory"', "beta-2")
    }
    assert [(m.variable, m.group) for m in read.members] == [("group", "Red & blue")]
