"""The page of a study that Snakemake ran: marks lead to the answers that the study's tables count."""

import re

import duckdb
import pytest
from playwright.sync_api import expect

from browser.study_pages import Visit, follow, marks_of, n_answers, sample, study_page
from fieldwork.explorer.linked_figures import mark_address
from workflow.conftest import Checkout

__all__ = ["study_page"]

pytestmark = pytest.mark.browser

FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks")


@pytest.mark.parametrize("figure", FIGURES)
def test_marks_lead_to_the_answers_that_the_tables_count(
    quickstart: Checkout, study_page: Visit, figure: str
) -> None:
    results = quickstart.results()
    marks = marks_of(results, figure)
    page = study_page(results)
    assert page.locator(f"#figure-{figure} a.mark").count() == len(marks) > 3
    for mark in sample(marks):
        follow(page.locator(f"#mark-{figure}-{mark.number}"))
        n = n_answers(results, mark)
        assert n > 0, mark
        # figures of whole runs, curves and users count answers only where their table does
        assert mark.n in (n, None), mark
        expect(page.locator(".total")).to_contain_text(
            re.compile(rf"^{n:,} answers?, [\d,]+ read$")
        )
        assert page.evaluate("location.hash") == mark_address(mark)
        page.go_back()
        expect(page.locator("#start")).to_be_visible()


def test_numbers_of_the_findings_lead_to_their_answers(
    quickstart: Checkout, study_page: Visit
) -> None:
    page = study_page(quickstart.results())
    links = page.locator(".findings :is(li, td) > a[href^='#/answers']")
    n_links = links.count()
    assert n_links > 0
    # some from all over the findings, always the same
    for k in range(0, n_links, max(1, n_links // 8)):
        text = links.nth(k).inner_text()
        links.nth(k).click()
        total = page.locator(".total")
        expect(total).to_contain_text("answer")
        if not re.match(r"0(\.0)? ", text):
            expect(total).not_to_have_text(re.compile("^0 answers"))
        page.go_back()
        expect(page.locator("#start")).to_be_visible()


def test_two_conditions_side_by_side_have_the_shares_of_the_tables(
    quickstart: Checkout, study_page: Visit
) -> None:
    results = quickstart.results()
    query = (
        "SELECT answer, any_value(n_named) FILTER (condition = 'offline'), "
        "any_value(n_named) FILTER (condition = 'history'), any_value(item_id) "
        f"FROM read_parquet('{results}/metrics/item_shares.parquet') "
        "WHERE task = 'recommendations' AND item_id = 'hobbies' GROUP BY answer"
    )
    shares = {
        name: (offline or 0, user or 0)
        for name, offline, user, _ in duckdb.execute(query).fetchall()
    }
    fragment = (
        "#/compare?task=recommendations&item=hobbies&condition=offline&other=history&base=first"
    )
    page = study_page(results, fragment)
    rows = page.locator("table.shares tbody tr")
    page_shares = {}
    for k in range(rows.count()):
        name = rows.nth(k).locator("th").first.inner_text().split("\n")[0]
        numbers = re.findall(r"\((\d+)\)", rows.nth(k).inner_text())
        if len(numbers) == 2:
            page_shares[name] = (int(numbers[0]), int(numbers[1]))
    # the page lists so many at once, the commonest first
    shown = {name: pair for name, pair in shares.items() if any(pair)}
    assert page_shares.items() <= shown.items()
    assert len(page_shares) == min(len(shown), 25)
    assert max(map(sum, page_shares.values())) == max(map(sum, shown.values()))
