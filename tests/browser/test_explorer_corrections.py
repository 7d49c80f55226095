"""Corrections on the study's page: written, kept, saved as the file that `parsing.overrides` reads."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Explore, read_csv, save_file
from browser.invented_study import HOSTILE, InventedPage, Row
from fieldwork.files.cells import plain_cell

pytestmark = pytest.mark.browser

COLUMNS = ["task", "item_id", "raw", "canonical", "text_sha256", "reading"]


def row_of(study: InventedPage, item: str, puppet: str) -> Row:
    """An answer of the model alpha with a history."""
    return next(
        row
        for row in study.rows
        if (row.model, row.condition, row.item, row.puppet) == ("alpha", "history", item, puppet)
    )


def card_of(page: Page, item: str, puppet: str) -> Locator:
    """The card of an answer, opened."""
    card = page.locator(".card").filter(has_text=f"{puppet} ·").filter(has_text=f"/ {item}")
    card.get_by_text("Correct this reading").click()
    return card


def saved(page: Page) -> list[dict[str, str]]:
    """Rows of the file, as the workflow reads them."""
    file = save_file(page, "Download corrections.csv")
    assert file.name == "corrections.csv"
    rows = read_csv(file)
    assert all(list(row) == COLUMNS for row in rows)
    return [{name: plain_cell(cell) for name, cell in row.items()} for row in rows]


def correction(**cells: str) -> dict[str, str]:
    """A row of the file."""
    return dict.fromkeys(COLUMNS, "") | cells


def test_doubtful_answers_by_kind(view: Explore, invented: InventedPage) -> None:
    page = view("#/doubtful")
    for name, bit in {"unread": 1, "refused": 2, "truncated": 4, "merged": 8, "length": 16}.items():
        n = sum(bool(row.doubt & bit) for row in invented.rows)
        expect(page.locator(f"[data-doubt={name}]")).to_contain_text(f": {n}")
    page.locator("[data-doubt=merged]").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card")).to_contain_text("Pariis")
    page.keyboard.press("j")
    expect(page.locator(".card h2 a")).to_be_focused()


def test_corrections_become_a_file(explore: Explore, invented: InventedPage) -> None:
    page = explore("#/doubtful")
    card = card_of(page, "cities", "p01")
    card.get_by_label("The options of the reply, one a line").fill('Paris\n\n  =Rome, "x"\n')
    card.get_by_role("button", name="Keep this reading").click()
    expect(card).to_contain_text("Corrected here, not yet in the numbers")
    expect(card.get_by_text("Correct this reading")).to_be_focused()
    card = card_of(page, "cities", "p04")
    card.get_by_label("There is no answer in it").check()
    card.get_by_role("button", name="Keep this reading").click()
    card = card_of(page, "capital", "p02")
    card.get_by_label("What the reply answers").select_option("C")
    card.get_by_role("button", name="Keep this reading").click()
    card = card_of(page, "cities", "p05")
    card.get_by_label("“Pariis” counts as").fill("Pariis, a village")
    card.get_by_role("button", name="Keep these names").click()
    expect(page.get_by_text("4 corrections", exact=True)).to_be_visible()
    rows = saved(page)
    assert rows == [
        correction(
            task="lists",
            item_id="cities",
            text_sha256=row_of(invented, "cities", "p01").sha256,
            reading='Paris\n=Rome, "x"',
        ),
        correction(
            task="lists",
            item_id="cities",
            text_sha256=row_of(invented, "cities", "p04").sha256,
        ),
        correction(
            task="quiz",
            item_id="capital",
            text_sha256=row_of(invented, "capital", "p02").sha256,
            reading="C",
        ),
        correction(task="lists", item_id="cities", raw="Pariis", canonical="Pariis, a village"),
    ]
    page.reload()
    expect(page.get_by_text("4 corrections", exact=True)).to_be_visible()
    expect(page.locator(".card .pending")).to_have_count(4)
    assert saved(page) == rows


def test_a_correction_can_be_undone_and_read_again(
    explore: Explore, invented: InventedPage, tmp_path: Path
) -> None:
    one = row_of(invented, "cities", "p01")
    fragment = (
        "#/answer?model=alpha&task=lists&condition=history&item=cities&puppet=p01&replicate=0"
    )
    page = explore(fragment)
    page.get_by_text("Correct this reading").click()
    page.get_by_label("The options of the reply, one a line").fill(HOSTILE)
    page.get_by_role("button", name="Keep this reading").click()
    expect(page.get_by_text("Corrected here, not yet in the numbers")).to_be_visible()
    page.get_by_role("link", name="To check").click()
    rows = saved(page)
    assert rows == [
        correction(task="lists", item_id="cities", text_sha256=one.sha256, reading=HOSTILE)
    ]
    file = save_file(page, "Download corrections.csv")
    page.get_by_text("List of corrections").click()
    page.get_by_role("region", name="Corrections").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("0 corrections", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("0 corrections", exact=True)).to_be_visible()
    page.get_by_label("Go on with a corrections.csv").set_input_files(file)
    expect(page.get_by_text("1 correction", exact=True)).to_be_visible()
    assert saved(page) == rows
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    page.get_by_label("Go on with a corrections.csv").set_input_files(tmp_path / "other.csv")
    expect(page.get_by_text("has not the columns")).to_be_visible()
