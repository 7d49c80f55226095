"""A section is one table that GitHub renders; a long one keeps what differs and counts the rest."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fieldwork.metrics.findings.answers import DISTANCE
from fieldwork.metrics.findings.layout import LONGEST, FindingsSection, section_lines
from fieldwork.metrics.findings.sections import MODEL, Section
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    HETEROGENEITY,
    OUTLINE,
    comparison_row,
    entropy_row,
    section,
)
from unit.metrics.findings.test_sections import CASES, OUTLINES


def rendered(section: FindingsSection) -> list[list[str]]:
    """The cells of a section's table as a reader sees them, headings first."""
    html = MarkdownIt("commonmark").enable("table").render("\n".join(section_lines(section)))
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]


@pytest.mark.parametrize(("declaration", "rows", "_"), CASES)
def test_a_section_renders_as_one_table(declaration: Section, rows: list[Any], _: str) -> None:
    outline = OUTLINES.get(declaration, FIELD_OUTLINE)
    for models in (outline.models, {**outline.models, "n": "Next"}):
        made = section(declaration, *rows, outline=outline._replace(models=models))
        table = rendered(made)
        assert table[0] == [heading.replace("<", "&lt;") for heading in made.columns]
        is_of_a_model = any(column is MODEL for column in declaration.columns)
        assert ("Model" in made.columns) == (len(models) > 1 and is_of_a_model)
        assert len(table) == len(made.findings) + 1 + bool(made.other_verdicts)
        assert {len(row) for row in table} == {len(made.columns)}


@given(st.text(st.sampled_from("ab1.)(*_`~[]<>&;#!-+=|\\\\ \n\t'\"é:/")))
def test_no_text_breaks_a_table(text: str) -> None:
    made = section(DISTANCE, comparison_row(0.01, text), comparison_row(0.9, "another"))
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
    tokens = markdown.parse("\n".join(section_lines(made)))
    contents = [
        "".join(child.content for child in token.children or [])
        for token in tokens
        if token.type == "inline"
    ]
    name = " ".join(text.split())
    numbers = ["+0.030", "0.010", "40, baseline 30", "differs"]
    assert contents[-len(made.columns) :] == ["rec", "RAG", "1/2", name, *numbers]


def test_a_long_table_keeps_what_differs_and_the_baseline() -> None:
    tasks = [f"t{k:02}" for k in range(LONGEST)]
    outline = OUTLINE._replace(tasks=tasks)
    rows = [entropy_row(None, None, condition="offline", task="t00")]
    rows += [entropy_row(0.01 if k == 7 else 0.5, task=task) for k, task in enumerate(tasks[:-1])]
    rows += [entropy_row(None, None, value=None, reason="nothing", task=tasks[-1])]
    table = rendered(section(HETEROGENEITY, *rows, outline=outline))
    rest = "28 not detected, 1 cannot be shown or have no test: metrics/estimates/lists.csv"
    assert [(row[0], row[1], row[-1]) for row in table[1:]] == [
        ("t00", "T1", "baseline"),
        ("t07", "RAG", "more varied"),
        ("29 more", "", rest),
    ]
    short = rendered(section(HETEROGENEITY, *rows[:-1], outline=outline))
    assert len(short) == LONGEST + 1
