"""Lists of answers on the study's page: filters, search, ten at random, windows and keys."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from browser.conftest import Explore
from browser.invented_study import InventedPage, answer_rows, write_page

pytestmark = pytest.mark.browser
SLOW_FILES = """(() => {
  const append = HTMLHeadElement.prototype.append;
  HTMLHeadElement.prototype.append = function (...nodes) {
    const [script] = nodes;
    if (String(script.src).includes("details")) setTimeout(() => append.apply(this, nodes), 400);
    else append.apply(this, nodes);
  };
})();"""


def test_filters_are_the_address_and_the_address_is_the_filters(
    explore: Explore, view: Explore, invented: InventedPage
) -> None:
    page = view("#/answers")
    rows = invented.rows
    expect(page.locator(".total")).to_have_text(
        f"{len(rows)} answers, {sum(row.is_read for row in rows)} read"
    )
    form = page.get_by_role("form", name="Filters")
    form.get_by_label("Model").select_option("alpha")
    form.get_by_label("Condition").select_option("history")
    form.get_by_label("Kind").select_option("choice")
    form.get_by_label("Option or letter").fill("unknown")
    form.get_by_label("Option or letter").press("Enter")
    expect(page.locator(".total")).to_have_text("3 answers, 0 read")
    form.get_by_label("Which answers").select_option("all")
    expect(page.locator(".total")).to_have_text("2 answers, 0 read")
    address = page.url
    page.go_back()
    expect(page.locator(".total")).to_have_text("3 answers, 0 read")
    page.go_forward()
    other = explore(address.partition("index.html")[2])
    expect(other.locator(".total")).to_have_text("2 answers, 0 read")
    expect(other.get_by_role("form", name="Filters").get_by_label("Model")).to_have_value("alpha")


def test_the_search_reads_replies(view: Explore, invented: InventedPage) -> None:
    page = view("#/study")
    page.keyboard.press("/")
    expect(page.get_by_label("Search in replies")).to_be_focused()
    page.keyboard.type("TOKYO")
    page.keyboard.press("Enter")
    n = sum("Tokyo" in row.text for row in invented.rows)
    expect(page.locator(".total")).to_have_text(f"{n} answers, {n} read")
    assert page.evaluate("location.hash") == "#/answers?q=TOKYO"
    expect(page.locator("a.row mark").first).to_have_text("Tokyo")
    form = page.get_by_role("form", name="Filters")
    form.get_by_label("Model").select_option("beta")
    n = sum("Tokyo" in row.text and row.model == "beta" for row in invented.rows)
    expect(page.locator(".total")).to_have_text(f"{n} answers, {n} read")


def test_the_search_reads_contexts_where_it_should(view: Explore, invented: InventedPage) -> None:
    page = view("#/answers?q=of%20p03%20on%20gardens")
    expect(page.locator(".total")).to_have_text("0 answers, 0 read")
    page.get_by_label("search contexts too").check()
    rows = [r for r in invented.rows if r.puppet == "p03" and r.condition in ("history", "rag")]
    expect(page.locator(".total")).to_contain_text(f"{len(rows)} answers")


def test_a_search_can_be_cancelled(explore: Explore) -> None:
    page = explore("#/answers?q=Paris", script=SLOW_FILES)
    expect(page.get_by_text("files of replies")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The search was cancelled")).to_be_visible()
    expect(page.locator(".total")).to_contain_text("read")


def test_ten_at_random_are_the_same_for_everyone_and_blind(explore: Explore, view: Explore) -> None:
    page = view("#/answers?task=lists")
    page.get_by_role("button", name="Ten at random").click()
    cards = page.locator(".card")
    expect(cards).to_have_count(10)
    expect(page.locator(".total")).to_contain_text("10 of 180 answers")
    shown = cards.all_inner_texts()
    assert not any("Offline" in text or "alpha" in text or "p0" in text for text in shown)
    other = explore(page.url.partition("index.html")[2])
    expect(other.locator(".card")).to_have_count(10)
    expect(other.locator("[aria-busy]")).to_have_count(0)
    questions = [card.locator(".reading").inner_text() for card in cards.all()]
    assert [
        card.locator(".reading").inner_text() for card in other.locator(".card").all()
    ] == questions
    cards.first.get_by_role("button", name="Reveal").click()
    expect(cards.first.locator("a")).to_contain_text(re.compile("alpha|beta"))
    page.get_by_role("button", name="Reveal all").click()
    expect(page.locator(".card a")).to_have_count(10)
    address = page.url
    page.get_by_role("button", name="Another ten").click()
    expect(page.locator(".card a")).to_have_count(0)
    assert page.url != address
    page.go_back()
    expect(page.locator(".card")).to_have_count(10)
    assert page.url == address


@pytest.fixture(scope="module")
def long_study(tmp_path_factory: pytest.TempPathFactory) -> InventedPage:
    """A study of some thousands of answers."""
    rows = [
        replace(row, replicate=1000 * row.replicate + repeat, text=row.text[:2000])
        for row in answer_rows()
        for repeat in range(12)
    ]
    return write_page(tmp_path_factory.mktemp("long") / "page", rows)


def test_only_a_window_of_a_long_list_is_in_the_page(
    explore: Explore, long_study: InventedPage
) -> None:
    page = explore("#/answers", study=long_study)
    n = len(long_study.rows)
    expect(page.locator(".total")).to_contain_text(f"{n:,} answers")
    rows = page.locator("a.row")
    assert 5 < rows.count() < 60
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    last = page.locator(f"li[aria-posinset='{n}']")
    expect(last).to_be_visible()
    expect(last).not_to_contain_text("…")
    assert rows.count() < 60
    last.locator("a").click()
    expect(page.get_by_text(f"Answer {n:,} of {n:,} in")).to_be_visible()
    page.go_back()
    expect(last).to_be_visible()


def test_the_list_by_keyboard(explore: Explore, long_study: InventedPage) -> None:
    page = explore("#/answers", study=long_study)
    for _ in range(40):
        page.keyboard.press("j")
    focused = page.locator("li:has(a:focus)")
    expect(focused).to_have_attribute("aria-posinset", "40")
    expect(focused).to_be_in_viewport()
    page.keyboard.press("k")
    expect(focused).to_have_attribute("aria-posinset", "39")
    for _ in range(30):
        page.keyboard.press("Tab")
    expect(focused).to_have_attribute("aria-posinset", "69")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_text("Answer 69 of")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_text("Answer 70 of")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.get_by_text("Answer 69 of")).to_be_visible()


def test_keys_are_told_and_can_be_switched_off(explore: Explore) -> None:
    page = explore("#/answers")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    dialog.get_by_label("use these keys").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_label("Search in replies")).not_to_be_focused()
