"""The study's page in a real browser: from a mark to its answers, and the views behind them."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Explore, Seen
from browser.invented_study import ARABIC, HOSTILE, MARKDOWN, InventedPage, Row, write_page
from fieldwork.addresses import address
from fieldwork.explorer.linked_figures import mark_address

pytestmark = pytest.mark.browser

BIG = address(
    "answer",
    {"model": "alpha", "task": "lists", "condition": "history", "item": "cities", "puppet": "p03"},
)


def total_of(rows: Sequence[Row]) -> str:
    """What the page says of these answers."""
    return f"{len(rows)} answer{'s' * (len(rows) != 1)}, {sum(row.is_read for row in rows)} read"


def column(table: Locator, name: str) -> int:
    """The place of a column of a table of shares."""
    return table.locator("thead tr").first.locator("th").all_inner_texts().index(name)


def share(page: Page, option: str, label: str) -> Locator:
    """The cell of an option and a condition in the first table of shares."""
    table = page.locator("table.shares").first
    row = table.locator("tbody tr").filter(has=page.locator("th", has_text=option)).first
    return row.locator("th, td").nth(column(table, label))


def test_a_mark_leads_to_the_answers_it_was_computed_from(
    view: Explore, invented: InventedPage
) -> None:
    page = view()
    for mark in invented.marks:
        page.locator(f"#figure-fig1 #mark-fig1-{mark.number}").click()
        expect(page.locator(".total")).to_have_text(f"{mark.n} answers, {mark.n} read")
        assert page.evaluate("location.hash") == mark_address(mark)
        page.go_back()
        expect(page.locator("#start")).to_be_visible()


def test_a_mark_says_what_it_is_to_mouse_and_keyboard(
    view: Explore, invented: InventedPage
) -> None:
    page = view()
    page.locator("#mark-fig1-3").hover()
    expect(page.get_by_role("tooltip")).to_have_text(invented.marks[2].text)
    page.locator("#mark-fig1-4").focus()
    expect(page.get_by_role("tooltip")).to_have_text(invented.marks[3].text)
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    expect(page.get_by_role("link", name=invented.marks[3].text)).to_be_visible()
    page.get_by_text("Numbers of this figure").click()
    rows = page.locator("#figure-fig1 tbody tr")
    expect(rows).to_have_count(len(invented.marks))
    expect(rows.nth(1)).to_contain_text("0.1 to 0.9")


def test_tables_are_folded_until_they_are_printed_or_asked_for(explore: Explore) -> None:
    page = explore()
    table = page.locator("#all-tests table")
    expect(table).to_be_hidden()
    page.pdf()
    expect(table).to_be_visible()
    page.reload()
    expect(table).to_be_hidden()
    page.get_by_role("link", name="all tests").click()
    expect(table).to_be_visible()
    expect(page.locator("#all-tests")).to_be_in_viewport()
    # what the name of a condition stands for
    expect(page.locator("#all-tests abbr")).to_have_attribute(
        "title", "after the most similar conversation"
    )
    expect(page.locator("#start")).to_be_visible()
    page.get_by_role("link", name="the model alpha names other cities").click()
    page.go_back()
    expect(page.locator("#start")).to_be_visible()


def test_a_question_shows_shares_by_condition(view: Explore, invented: InventedPage) -> None:
    page = view("#/question?task=lists&item=cities&model=alpha")
    rows = [
        row
        for row in invented.rows
        if (row.model, row.item, row.condition) == ("alpha", "cities", "history") and row.is_read
    ]
    named = Counter(option for row in rows for option in row.options)
    for option, n in named.items():
        expect(share(page, option, "History <i>of chats</i>")).to_contain_text(f"({n})")
    share(page, "Paris", "History <i>of chats</i>").get_by_role("link").click()
    expect(page.locator(".total")).to_have_text(f"{named['Paris']} answers, {named['Paris']} read")


def test_two_conditions_beside_each_other(view: Explore, invented: InventedPage) -> None:
    page = view("#/compare?model=beta&task=lists&item=cities&condition=offline&other=history")
    cells = {
        name: [
            row
            for row in invented.rows
            if (row.model, row.item, row.condition) == ("beta", "cities", name)
        ]
        for name in ("offline", "history")
    }
    shares = {
        name: sum("Oslo" in row.options for row in rows) / len(rows) for name, rows in cells.items()
    }
    oslo = page.locator("table.shares tbody tr").filter(has_text="Oslo")
    difference = 100 * (shares["history"] - shares["offline"])
    expect(oslo.locator("td").last).to_have_text(f"+{difference:.1f} points")
    expect(oslo.locator("th")).to_contain_text("only in History")
    columns = page.locator(".beside > section")
    assert columns.count() == 2
    expect(columns.nth(0)).to_contain_text(total_of(cells["offline"]))
    expect(columns.nth(1)).to_contain_text(total_of(cells["history"]))
    assert columns.nth(0).locator(".card").count() == 3
    columns.nth(1).get_by_role("button", name="Show more").click()
    assert columns.nth(1).locator(".card").count() == 12
    expect(columns.nth(1).locator(".only").first).to_contain_text("only here")
    page.get_by_role("checkbox", name="Retrieval").check()
    expect(columns).to_have_count(3)
    expect(page.get_by_role("checkbox", name="Retrieval")).to_be_focused()


def test_a_user_has_a_conversation_and_answers(view: Explore, invented: InventedPage) -> None:
    page = view("#/user?puppet=p05&condition=history")
    expect(page.locator(".turn.system .text")).to_have_text(f"You talk to p05. {HOSTILE}")
    assert page.locator(".begins").all_inner_texts() == [
        f"Conversation {number} of 3" for number in (1, 2, 3)
    ]
    expect(page.locator(".turn.user .text").nth(1)).to_have_text("Question 2 of p05 on gardens")
    expect(page.locator(".turn.assistant [dir=auto]").first).to_contain_text(ARABIC)
    expect(page.locator("#view .facts")).to_contain_text("Conversations left out for length")
    rows = [row for row in invented.rows if (row.puppet, row.condition) == ("p05", "history")]
    expect(page.locator(".total")).to_have_text(total_of(rows))
    page.get_by_role("link", name="Retrieval").click()
    expect(page.get_by_text("Condition: Retrieval")).to_be_visible()
    assert "condition=rag" in page.url


@pytest.mark.parametrize("mode", ["ids", "none"])
def test_withheld_contexts_are_said_to_be(explore: Explore, tmp_path: Path, mode: str) -> None:
    study = write_page(tmp_path / "page", contexts=mode, withheld=["Contexts are left out."])
    page = explore("#/study", study=study)
    expect(page.locator("#withheld")).to_contain_text("Contexts are left out.")
    page.goto(study.url + "#/user?puppet=p05&condition=history")
    expect(page.get_by_text("withheld from this page")).to_be_visible()
    assert page.locator(".turn").count() == 0


def test_an_answer_shows_all_that_is_known_of_it(view: Explore) -> None:
    page = view(
        "#/answer?model=alpha&task=lists&condition=history&item=cities&puppet=p05&replicate=0"
    )
    expect(page.locator(".raw")).to_have_text("1. Pariis\n2. Rome")
    expect(page.locator("tr", has_text="Pariis").locator("td")).to_have_text(
        ["Pariis", "Paris", "likeness"]
    )
    call = page.locator("#view .facts").last
    for text in ("alpha-latest", "alpha-2026-11", "2026-11-22 10:00:00", "0.00042 USD", "1.25 s"):
        expect(call).to_contain_text(text)
    expect(page.get_by_text("You talk to p05")).to_be_hidden()
    page.get_by_text("Context that came before").click()
    expect(page.get_by_text("You talk to p05")).to_be_visible()
    page.get_by_role("link", name="The same question under the baseline").click()
    expect(page.locator(".total")).to_have_text("3 answers, 3 read")


def test_a_permalink_of_an_unknown_answer_says_so(view: Explore) -> None:
    page = view("#/answer?model=alpha&task=lists&condition=history&item=gone&puppet=p01")
    expect(page.get_by_text("no answer of this address")).to_be_visible()
    page.evaluate("location.hash = '#/strange?x=%E0%A4%A'")
    expect(page.locator("#start")).to_be_visible()


def test_hostile_texts_are_shown_and_nothing_runs(view: Explore) -> None:
    for fragment in (
        "#/question?task=lists&item=films",
        "#/question?task=quiz&item=planet",
        "#/compare?task=lists&item=films&model=alpha&condition=history&other=rag",
        "#/user?puppet=p01&condition=history",
        "#/answers?task=lists&item=films",
        "#/answers?random=1",
        "#/answer?model=alpha&task=lists&condition=history&item=cities&puppet=p01&replicate=0",
        "#/doubtful",
        "#/study",
        "#/answer?model=alpha&task=lists&condition=history&item=films&puppet=p01&replicate=0",
    ):
        page = view(fragment)
        main = page.locator("main")
        expect(main).to_contain_text(re.compile(r"<b>|<u>|<i>|# Heading"), use_inner_text=True)
        assert main.locator("b, u, i, img, main script").count() == 0, fragment
        assert page.evaluate("window.broken") is None, fragment
    assert MARKDOWN in page.locator(".raw .block").inner_text()


def test_a_megabyte_does_not_stop_the_page(view: Explore, invented: InventedPage) -> None:
    page = view(BIG)
    long = next(row.text for row in invented.rows if len(row.text) > 1_000_000)
    assert len(page.locator(".raw").inner_text()) < 10_000
    page.get_by_role("button", name=f"Show all {len(long):,} characters").click()
    expect(page.locator(".raw .block")).to_have_count(len(long) // 10_000 + 1)
    assert "".join(page.locator(".raw .block").all_text_contents()) == long
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".raw")).to_contain_text("I cannot help.")


def test_files_that_do_not_belong_together_or_are_gone(
    explore: Explore, tmp_path: Path, seen: Seen
) -> None:
    study = write_page(tmp_path / "page", counts={"answers": 7, "contexts": 1})
    page = explore("#/answers", study=study)
    expect(page.locator("#view")).to_contain_text("different versions")
    other = write_page(tmp_path / "other")
    (other.folder / "data" / "details-000.js").unlink()
    page = explore("#/answers", study=other)
    expect(page.locator("a.row").first).to_contain_text("details-000.js is missing")
    (other.folder / "data" / "answers.js").unlink()
    bare_page = explore("#/answers", study=other)
    expect(bare_page.locator("#view")).to_contain_text("answers.js is missing")
    # the browser says on its console what it did not find
    assert all("ERR_FILE_NOT_FOUND" in error for error in seen.errors)
    seen.errors.clear()
