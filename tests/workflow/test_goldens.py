"""Six small studies come out as they did: tables, marks, pages and three exports, by their digests.

Pages of three of them are opened too: each kind of study has sections of its own, and axe reads them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from browser.conftest import seen, started_browser
from browser.study_pages import study_page
from goldens.replay import GOLDENS, Finished, digests_of, known_digests, replay
from workflow.conftest import REPOSITORY, Checkout

__all__ = ["seen", "study_page"]

pytestmark = pytest.mark.workflow

Results = Callable[[str], Path]
PAGES = ("field", "waves", "memory")
VIEWS = ("#/study", "#/question")
GRAVE = ("serious", "critical")
# it names no node of the rules that hold, which are most
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that ends with this file."""
    with started_browser() as started:
        yield started


def start_forks(
    home: Path, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> Finished:
    """Run Snakemake as the other tests do, whose forks need no module that sets the clock."""
    env = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    return Checkout(home, folder).snakemake(*arguments, env=env, cores=2)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of a study, made when they are first wanted."""
    made: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp("goldens") / name
            made[name] = replay(name, folder, REPOSITORY, start_forks)
        return made[name]

    return of


@pytest.mark.parametrize("name", GOLDENS)
def test_what_a_study_makes_is_what_it_made(name: str, results: Results) -> None:
    made, known = digests_of(results(name)), known_digests(name)
    assert known
    others = sorted(file for file in {*made, *known} if made.get(file) != known.get(file))
    assert not others, (
        "these differ: `tests/goldens/replay.py compare` says in which rows, and `accept` takes them "
        "over where that was meant (docs/architecture.md)"
    )


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_on_the_page(
    name: str, results: Results, study_page: Callable[..., Page]
) -> None:
    page = study_page(results(name))
    for view in VIEWS:
        page.evaluate("address => { location.hash = address; }", view)
        expect(page.locator("[aria-busy]")).to_have_count(0)
        page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
        violations = Axe().run(page, options=ONLY_VIOLATIONS).response["violations"]
        grave = [rule for rule in violations if rule["impact"] in GRAVE]
        assert not grave, view + json.dumps([[v["id"], v["nodes"][0]["html"]] for v in grave])
