"""The study's page for everyone: axe, light and dark, a telephone, the keyboard; nothing leaves it."""

import json
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from browser.conftest import Seen

pytestmark = pytest.mark.browser
Explore = Callable[..., Page]

GRAVE = ("serious", "critical")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_view(explore: Explore, scheme: str) -> None:
    page = explore(color_scheme=scheme, reduced_motion="reduce")
    axe = Axe()
    for fragment in VIEWS:
        page.evaluate("address => { location.hash = address; }", fragment)
        expect(page.locator("[aria-busy]")).to_have_count(0)
        page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
        page.wait_for_timeout(150)
        grave = [v for v in axe.run(page).response["violations"] if v["impact"] in GRAVE]
        assert not grave, fragment + json.dumps([[v["id"], v["nodes"][0]["html"]] for v in grave])


def test_a_telephone_scrolls_one_way(explore: Explore) -> None:
    page = explore(viewport={"width": 360, "height": 740})
    for fragment in VIEWS:
        page.evaluate("address => { location.hash = address; }", fragment)
        expect(page.locator("[aria-busy]")).to_have_count(0)
        page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
        page.wait_for_timeout(50)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, fragment


def test_the_keyboard_goes_from_a_mark_to_an_answer(explore: Explore) -> None:
    page = explore()
    keys = page.keyboard

    def reach(selector: str) -> None:
        """Tab until it has the focus, and see that it shows."""
        for _ in range(40):
            keys.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"no visible focus on {selector}"
                return
        raise AssertionError(f"Tab never reaches {selector}")

    reach("#mark-fig1-1")
    for number in (2, 3):
        keys.press("ArrowRight")
        expect(page.locator(f"#mark-fig1-{number}")).to_be_focused()
    expect(page.get_by_role("tooltip")).to_be_visible()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Answers", level=1)).to_be_focused()
    reach("a.row")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Answer of")
    reach("summary")
    keys.press("Enter")
    expect(page.locator(".turn").first).to_be_visible()
    keys.press("j")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_nothing_can_leave_the_page(explore: Explore, seen: Seen) -> None:
    page = explore("#/answers")
    blocked = page.evaluate(
        """async () => {
          const told = [];
          document.addEventListener("securitypolicyviolation", e => told.push(e.effectiveDirective));
          await fetch("http://127.0.0.1:9/").catch(() => null);
          document.body.append(Object.assign(new Image(), {src: "http://127.0.0.1:9/x.png"}));
          document.body.insertAdjacentHTML("beforeend", "<b id=x onclick='window.ran = 1'>x</b>");
          document.body.insertAdjacentHTML("beforeend", "<i style='color: red'>y</i>");
          document.getElementById("x").click();
          await new Promise(done => setTimeout(done, 100));
          return [told.sort(), window.ran ?? null];
        }"""
    )
    assert blocked == [["connect-src", "img-src", "script-src-attr", "style-src-attr"], None]
    # the browser says on its console what it refused
    assert all("Content Security Policy" in error for error in seen.errors)
    seen.errors.clear()
    seen.requests[:] = [url for url in seen.requests if "127.0.0.1:9" not in url]
