"""The study's page for everyone: axe, light and dark, a telephone, the keyboard; nothing leaves it."""

import pytest
from playwright.sync_api import expect

from browser.conftest import Explore, Seen, check_access, reach, refusals, to_view

pytestmark = pytest.mark.browser

VIEWS = (
    "#/study",
    "#/question",
    "#/question?task=lists&item=films",
    "#/compare?task=quiz&item=planet&condition=offline&other=history",
    "#/user",
    "#/user?puppet=p05&condition=history",
    "#/answers",
    "#/answers?random=3",
    "#/answers?q=Paris",
    "#/answer?model=alpha&task=lists&condition=history&item=cities&puppet=p05&replicate=0",
    "#/answer?model=beta&task=quiz&condition=rag&item=planet&puppet=p01&replicate=0",
    "#/doubtful",
)
UNFOLD = "document.querySelectorAll('details').forEach(box => { box.open = true; })"


def test_axe_finds_nothing_serious_in_any_view(explore: Explore) -> None:
    page = explore(reduced_motion="reduce")
    for fragment in VIEWS:
        to_view(page, fragment)
        page.evaluate(UNFOLD)
        check_access(page)


def test_a_telephone_scrolls_one_way(explore: Explore) -> None:
    page = explore(viewport={"width": 360, "height": 740})
    for fragment in VIEWS:
        to_view(page, fragment)
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, fragment


def test_the_keyboard_goes_from_a_mark_to_an_answer(explore: Explore) -> None:
    page = explore()
    keys = page.keyboard
    reach(page, "#mark-fig1-1")
    for number in (2, 3):
        keys.press("ArrowRight")
        expect(page.locator(f"#mark-fig1-{number}")).to_be_focused()
    expect(page.get_by_role("tooltip")).to_be_visible()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Answers", level=1)).to_be_focused()
    reach(page, "a.row")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Answer of")
    reach(page, "summary")
    keys.press("Enter")
    expect(page.locator(".turn").first).to_be_visible()
    keys.press("j")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_nothing_can_leave_the_page(explore: Explore, seen: Seen) -> None:
    policy = ["connect-src", "img-src", "script-src-attr", "style-src-attr"]
    assert refusals(explore("#/answers"), seen) == policy
