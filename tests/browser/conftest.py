"""One Chromium for all tests of pages, what these are made of, and what each page promises."""

import csv
import io
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from browser.invented_study import InventedPage, write_page
from fieldwork import answer_pages, page_texts
from fieldwork.field.kit import web_page
from fieldwork.field.kit.survey import Survey, survey_of
from fieldwork.records.tasks import Item
from unit.shipped_pages import page_template

# a busy machine is no failure
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }});"
)
KIT = Path(__file__).parents[2] / "resources" / "field_kit"
CONSENT = "# A heading\n\nYou take part in a test.\n\n- one point\n- another, with <b>markup</b>"

PROMPTS = {
    "cars": "Recommend five cars.",
    "letters": 'Which is first?\n\nA. "one" & two\nB. <b>three</b> \\n {n}\nAnswer:',
    "ending": "</script><script>window.broken = true</script><!-- $& $1",
    "scripts": "Γειά σου, 你好 — 🦊 five options, please.",
    "long": "word " * 60 + "a" * 120,
}
SETTINGS: dict[str, Any] = {
    "platforms": {},
    "repeats": 1,
    "groups": {
        "group": {"question": "Which of these?", "options": ["Red & blue", "Green", "None"]},
        "age": {"question": "How old are you?", "options": ["18 to 39", "40 or older"]},
    },
}
LABELS = {"alpha-1": "Alpha", "beta-2": 'Beta, with "memory"'}


@dataclass(frozen=True)
class Written:
    """A survey and the address of its page."""

    survey: Survey
    address: str
    keys: list[str] = field(default_factory=list)


def write_survey(folder: Path, consent: str = CONSENT, **settings: Any) -> Written:
    """A page with these settings of `field_kit` beside those above."""
    items = {
        "demo": [
            Item(name, "list", name, text, [], None, None, "test") for name, text in PROMPTS.items()
        ]
    }
    return render_survey(folder, items, SETTINGS | settings, LABELS, consent)


def render_survey(
    folder: Path,
    items: Mapping[str, Sequence[Item]],
    settings: Mapping[str, Any],
    labels: Mapping[str, str],
    consent: str = CONSENT,
) -> Written:
    """The page of a survey, as the kit writes it."""
    survey = survey_of("a <test>", items, settings, labels)
    words = page_texts.read_words(KIT / "texts_en.yaml", KIT / "texts_en.yaml")
    file = folder / "survey.html"
    content = web_page.survey_content(survey, words)
    page = answer_pages.render(page_template("field_kit"), content, words, consent)
    file.write_text(page, encoding="utf-8")
    return Written(survey, file.as_uri(), [prompt.key for prompt in survey.prompts])


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Debian's Chromium; nothing is downloaded.

    Its event loop is in the way of tests that run their own, so it ends with the tests that need it.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium: apt install chromium")
    # root has no sandbox
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of this folder."""
    with started_browser() as started:
        yield started


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The survey that most tests fill in."""
    return write_survey(tmp_path_factory.mktemp("survey"))


@dataclass
class Seen:
    """What a page did that it should not."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Fail where a page had an error or asked for anything that is not a file of its own."""
        assert not self.errors
        leaving = [url for url in self.requests if not url.startswith(("file://", "blob:"))]
        assert not leaving


@pytest.fixture
def seen() -> Seen:
    """Errors and requests of the test's pages; a test fails where there were any."""
    return Seen()


@contextmanager
def watched_pages(browser: Browser, seen: Seen) -> Iterator[Callable[..., Page]]:
    """Opens addresses, each with storage of its own; errors and requests are kept, and none may leave."""
    contexts: list[BrowserContext] = []

    def open_page(address: str, script: str = "", **options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("console", lambda m: seen.errors.append(m.text) if m.type == "error" else None)
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    seen.check()


@pytest.fixture
def visit(browser: Browser, written: Written, seen: Seen) -> Iterator[Callable[..., Page]]:
    """Opens the survey as a participant of its own; `query`, `script` and options of a context."""
    with watched_pages(browser, seen) as open_address:

        def open_page(
            query: str = "", script: str = "", survey: Written = written, **options: Any
        ) -> Page:
            return open_address(survey.address + query, script, **options)

        yield open_page


@pytest.fixture(scope="session")
def invented(tmp_path_factory: pytest.TempPathFactory) -> InventedPage:
    """The page of a study that nobody ran."""
    return write_page(tmp_path_factory.mktemp("study") / "explorer")


Explore = Callable[..., Page]


@pytest.fixture
def explore(browser: Browser, invented: InventedPage, seen: Seen) -> Iterator[Explore]:
    """Opens a study's page anew at an address of its views, and waits for its answers."""
    with watched_pages(browser, seen) as open_address:

        def open_view(
            fragment: str = "", script: str = "", study: InventedPage = invented, **options: Any
        ) -> Page:
            page = open_address(study.url + fragment, script, **options)
            page.locator("html[data-ready]").wait_for()
            return page

        yield open_view


@pytest.fixture(scope="package")
def open_study(browser: Browser, invented: InventedPage) -> Iterator[tuple[Page, Seen]]:
    """The page of the invented study, opened once, and what it did that it should not."""
    seen = Seen()
    with watched_pages(browser, seen) as open_address:
        page = open_address(invented.url)
        page.locator("html[data-ready]").wait_for()
        yield page, seen


@pytest.fixture
def view(open_study: tuple[Page, Seen]) -> Iterator[Explore]:
    """Goes to a view in the page that is open already: for tests that leave nothing behind in it."""
    page, seen = open_study

    def go(fragment: str = "#/study") -> Page:
        to_view(page, fragment)
        return page

    yield go
    seen.check()


# by way of the first view, so that each is built anew
TO_VIEW = """async address => {
  for (const place of ["#/study", address]) {
    if (location.hash === place) continue;
    const shown = new Promise(done => addEventListener("hashchange", done, {once: true}));
    location.hash = place;
    await shown;
  }
}"""


def to_view(page: Page, fragment: str) -> None:
    """Go to a view of a study's page, and wait until it is shown."""
    page.evaluate(TO_VIEW, fragment)
    expect(page.locator("[aria-busy]")).to_have_count(0)


# ---- what every page promises -------------------------------------------------------------------------

GRAVE = """async only => {
  const { violations } = await axe.run({ resultTypes: ["violations"], ...only });
  return violations.filter(rule => ["serious", "critical"].includes(rule.impact))
    .map(rule => [rule.id, rule.nodes[0].html]);
}"""
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}


def check_access(page: Page) -> None:
    """Axe finds nothing serious in a page as it is, by light and, as to colours, in the dark."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(GRAVE, {}) == [], page.url
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(GRAVE, COLOURS) == [], f"{page.url}, dark"


def reach(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, and see that it shows."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"no visible focus on {selector}"
            return
    raise AssertionError(f"Tab never reaches {selector}")


def refusals(page: Page, seen: Seen) -> list[str]:
    """Directives of the page's policy that refuse a fetch, an image, a handler and a style."""
    refused, ran = page.evaluate(
        """async () => {
          const refused = [];
          document.addEventListener("securitypolicyviolation", e => refused.push(e.effectiveDirective));
          await fetch("http://127.0.0.1:9/").catch(() => null);
          document.body.append(Object.assign(new Image(), {src: "http://127.0.0.1:9/x.png"}));
          document.body.insertAdjacentHTML("beforeend", "<b id=x onclick='window.ran = 1'>x</b>");
          document.body.insertAdjacentHTML("beforeend", "<i style='color: red'>y</i>");
          document.getElementById("x").click();
          await new Promise(done => setTimeout(done, 100));
          return [refused.sort(), window.ran ?? null];
        }"""
    )
    assert ran is None
    # the browser says on its console what it refused
    assert seen.errors
    assert all("Content Security Policy" in error for error in seen.errors)
    seen.errors.clear()
    seen.requests[:] = [url for url in seen.requests if "127.0.0.1:9" not in url]
    return list(refused)


def save_file(page: Page, button: str) -> Path:
    """The file that a button saves, under the name that the page gives it."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = Path(download.value.path())
    return path.rename(path.with_name(download.value.suggested_filename))


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of a file that a page saved; a spreadsheet would run no cell of it as a formula."""
    text = path.read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert not [
        cell for row in rows for cell in row.values() if cell.startswith(tuple("=+-@\t\r\n"))
    ]
    return rows
