"""A section is one table that GitHub renders; a long one keeps what differs and counts the rest."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fieldwork.metrics.findings import answers
from fieldwork.metrics.findings.layout import LONGEST, FindingsSection, section_lines
from fieldwork.metrics.findings.page import sections
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    claims_of,
    comparison_row,
    entropy_row,
    group_row,
    heterogeneity,
    variance_row,
)
from unit.metrics.findings.test_page import TABLES

METHODS = Path(__file__).resolve().parents[4] / "docs" / "methods.md"


def rendered(section: FindingsSection) -> list[list[str]]:
    """The cells of a section's table as a reader sees them, headings first."""
    html = MarkdownIt("commonmark").enable("table").render("\n".join(section_lines(section)))
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]


def test_a_section_renders_as_one_table() -> None:
    for section in sections(TABLES, FIELD_OUTLINE):
        table = rendered(section)
        assert table[0] == [heading.replace("<", "&lt;") for heading in section.columns]
        assert len(table) == len(section.findings) + 1 + bool(section.other_verdicts)
        assert {len(row) for row in table} == {len(section.columns)}


@given(st.text(st.sampled_from("ab1.)(*_`~[]<>&;#!-+=|\\\\ \n\t'\"é:/")))
def test_no_text_breaks_a_table(text: str) -> None:
    section = answers.distance(
        [comparison_row(0.01, text), comparison_row(0.9, "another")],
        claims_of(*[comparison_row(0.01, text), comparison_row(0.9, "another")]),
        OUTLINE,
    )
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
    tokens = markdown.parse("\n".join(section_lines(section)))
    contents = [
        "".join(child.content for child in token.children or [])
        for token in tokens
        if token.type == "inline"
    ]
    row = contents[-len(section.columns) :]
    assert row == [
        "rec",
        "RAG",
        "1/2",
        " ".join(text.split()),
        "+0.030",
        "0.010",
        "40, baseline 30",
        "differs",
    ]


def test_a_section_names_its_tables_and_its_method() -> None:
    text = "\n".join(
        section_lines(
            answers.who_asks([variance_row(0.01)], claims_of(*[variance_row(0.01)]), OUTLINE)
        )
    )
    assert text.startswith("### Who asks, and in which context\n\n")
    assert (
        "([metrics/variance.csv](metrics/variance.csv), [method](../../docs/methods.md#variance"
        in text
    )


def test_every_method_is_a_heading_of_the_docs() -> None:
    headings = re.findall(r"^#+ (.+)$", METHODS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {
        name
        for section in sections(TABLES, FIELD_OUTLINE)
        for name in re.findall(r"methods\.md#([^)]*)\)", "\n".join(section_lines(section)))
    }
    assert len(named) > 10
    assert named <= set(headings)


def test_a_long_table_keeps_what_differs_and_the_baseline() -> None:
    tasks = [f"t{k:02}" for k in range(LONGEST)]
    outline = OUTLINE._replace(tasks=tasks)
    rows = [entropy_row(None, None, condition="offline", task="t00")]
    rows += [entropy_row(0.01 if k == 7 else 0.5, task=task) for k, task in enumerate(tasks[:-1])]
    rows += [entropy_row(None, None, value=None, reason="nothing", task=tasks[-1])]
    table = rendered(heterogeneity(rows, claims_of(*rows), outline))
    assert [(row[0], row[1], row[-1]) for row in table[1:]] == [
        ("t00", "T1", "baseline"),
        ("t07", "RAG", "more varied"),
        (
            "29 more",
            "",
            "28 not detected, 1 cannot be shown or have no test: metrics/estimates/lists.csv",
        ),
    ]
    short = rendered(heterogeneity(rows[:-1], claims_of(*rows[:-1]), outline))
    assert len(short) == LONGEST + 1


def test_a_long_table_of_groups_does_not_lose_a_difference() -> None:
    rows = [group_row(variable=f"v{k}", p_value=0.01 if k % 2 else 0.9) for k in range(40)]
    study = TABLES._replace(group_differences=rows, claims=claims_of(*rows))
    (section, *_) = [s for s in sections(study, FIELD_OUTLINE)
                     if s.title.startswith("Groups")]  # fmt: skip
    assert len(rendered(section)) == 1 + 20 + 1


def test_without_rows_a_section_says_so() -> None:
    assert section_lines(answers.who_asks([], claims_of(), OUTLINE)) == [
        "### Who asks, and in which context", "", "No condition of this study has a user.", "",
    ]  # fmt: skip
