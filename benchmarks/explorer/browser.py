"""Opens a page in Chromium and asks it how long it took, in the page's own clock."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PATIENCE_MS = 60_000
# from the beginning of the navigation until the page has its answers and the browser has drawn
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.documentElement.dataset.ready) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.readyAfter = performance.now(); }));
}).observe(document, { attributes: true, childList: true, subtree: true });
"""
# the page listens to the same event, and was there first
FOLLOW = """
(address) => new Promise((done, fail) => {
  if (location.hash === address) fail(new Error(`the page is at ${address} already`));
  const begun = performance.now();
  addEventListener("hashchange", () => {
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  }, { once: true });
  location.hash = address;
})
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("no Chromium: apt install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def open_page(browser: Browser, folder: Path, address: str = "") -> tuple[Page, float]:
    """The page as a reader opens it the first time, and the seconds until it can be used."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto((folder / "index.html").as_uri() + address)
    page.wait_for_function("window.readyAfter !== undefined")
    return page, float(page.evaluate("window.readyAfter")) / 1000


def follow(page: Page, address: str) -> float:
    """Seconds from a change of the address until the browser has drawn what it leads to."""
    return float(page.evaluate(FOLLOW, address)) / 1000
