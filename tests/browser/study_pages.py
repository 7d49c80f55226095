"""Pages of studies that Snakemake ran: their marks, followed in a browser, and counted by SQL."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Browser, Locator, Page

from browser.conftest import Seen, watched_pages
from fieldwork import tables
from fieldwork.records.figures import FigureMark

Visit = Callable[..., Page]

MARKS_A_FIGURE = 2
"""Marks of a figure that are clicked, from its first to its last."""

_COUNTED = """
WITH runs AS (
    SELECT model, task, condition, puppet_id, replicate
    FROM read_parquet('RESULTS/metrics/accuracy_runs.parquet') WHERE is_counted
), counted AS (
    SELECT answers.*, runs.model IS NOT NULL AS in_run, min(answers.replicate) OVER (
        PARTITION BY answers.model, answers.task, answers.condition, answers.item_id, answers.puppet_id
    ) AS first_replicate
    FROM read_parquet('RESULTS/answers/answers.parquet') AS answers
    LEFT JOIN runs ON (answers.model, answers.task, answers.condition, answers.replicate)
        = (runs.model, runs.task, runs.condition, runs.replicate)
        AND answers.puppet_id IS NOT DISTINCT FROM runs.puppet_id
    WHERE outcome <> 'failed' AND (kind = 'choice' OR len(items) > 0)
)
SELECT count(*) FROM counted WHERE """


@pytest.fixture
def study_page(browser: Browser, seen: Seen) -> Iterator[Visit]:
    """Opens a view of the page of a study's folder."""
    with watched_pages(browser, seen) as open_address:

        def open_view(results: Path, fragment: str = "") -> Page:
            page = open_address((results / "explorer/index.html").as_uri() + fragment)
            page.locator("html[data-ready]").wait_for()
            return page

        yield open_view


def marks_of(results: Path, figure: str) -> list[FigureMark]:
    return tables.read_rows(results / f"figures/{figure}.marks.parquet", FigureMark)


def sample(marks: list[FigureMark]) -> list[FigureMark]:
    """Some marks from all over a figure, always the same."""
    step = max(1, (len(marks) - 1) // (MARKS_A_FIGURE - 1))
    return marks[::step]


def follow(link: Locator) -> None:
    """Click a mark, or press Enter on one that lies below another at its middle."""
    link.scroll_into_view_if_needed()
    is_on_top = link.evaluate(
        """link => {
            const box = link.getBoundingClientRect();
            const place = [box.x + box.width / 2, box.y + box.height / 2];
            return document.elementFromPoint(...place)?.closest("a") === link;
        }"""
    )
    if is_on_top:
        link.click()
    else:
        link.press("Enter")


def n_answers(results: Path, mark: FigureMark) -> int:
    """The answers behind a mark, by SQL over the study's own tables and not by the page's data."""
    names = ("model", "task", "item_id", "condition", "puppet_id", "replicate", "kind")
    parameters: dict[str, Any] = {
        name: value for name in names if (value := getattr(mark, name)) is not None
    }
    filters = [f"{name} = ${name}" for name in parameters]
    if mark.answer == "unknown":
        filters.append("letter IS NULL")
    elif mark.answer is not None:
        filters.append("(letter = $answer OR list_contains(items, $answer))")
        parameters["answer"] = mark.answer
    match mark.base:
        case "first":
            filters.append("(puppet_id IS NULL OR replicate = first_replicate)")
        case "runs":
            filters.append("in_run")
        case "read":
            filters.append("(letter IS NOT NULL OR len(items) > 0)")
    ((n,),) = duckdb.execute(
        _COUNTED.replace("RESULTS", str(results)) + " AND ".join(filters), parameters
    ).fetchall()
    return int(n)
