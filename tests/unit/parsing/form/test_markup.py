"""What Markdown makes of an answer is counted, and prose is what is left."""

import pytest

from fieldwork.parsing.form.markup import read_markup

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter."


@pytest.mark.parametrize(
    ("text", "n_items", "depth"),
    [
        ("no list", 0, 0),
        ("1. a\n2. b\n3. c", 3, 1),
        ("- a\n  - b\n    - c\n- d", 4, 3),
        ("1. a\n   - b\n   - c\n2. d", 4, 2),
        ("- a\n\nA paragraph.\n\n  - b", 2, 1),
        ("**1. Bold.** text\n**2. Bold.** text", 2, 1),
        ("---\n***\n- - -", 0, 0),
        ("It was in\n1984. So long.", 0, 0),
    ],
)
def test_lists(text: str, n_items: int, depth: int) -> None:
    markup = read_markup(text)
    assert (markup.list_items, markup.list_depth) == (n_items, depth)


@pytest.mark.parametrize(
    ("text", "n_tables", "n_blocks"),
    [
        (TABLE, 1, 0),
        ("a | b\n--|--\n1 | 2", 1, 0),
        ("a | b\nc | d", 0, 0),
        ("a\n---\nb", 0, 0),
        ("```\n| a | b |\n|---|---|\n```", 0, 1),
        ("~~~\n```\n~~~\n```\nb\n```", 0, 2),
        ("```\nnever closed", 0, 1),
        ("`a` and ```b``` inline", 0, 0),
    ],
)
def test_tables_and_code(text: str, n_tables: int, n_blocks: int) -> None:
    markup = read_markup(text)
    assert (markup.tables, markup.code_blocks) == (n_tables, n_blocks)


def test_prose_has_no_code_tables_headings_or_addresses() -> None:
    text = (
        f"# Head\n\nBefore **bold** [words](https://a.org).\n\n{TABLE}\n\n"
        "```python\nx = 1\n```\nSee https://b.org now."
    )
    assert read_markup(text).prose == ["Before bold words.", "After.", "See   now."]


def test_a_line_goes_on_where_a_small_letter_begins_the_next() -> None:
    prose = read_markup("This goes\non here\nNew line.\n- an item\nand its rest\n- another").prose
    assert prose == ["This goes on here", "New line.", "an item and its rest", "another"]


def test_links_and_images() -> None:
    markup = read_markup(
        "[words](https://a.org) [https://b.org](https://b.org) https://c.org <www.d.org>\n"
        '![](x.png) ![ ](y.png "t") ![A cat](z.png) <img src=q> <img alt="A dog">'
    )
    assert (markup.links, markup.bare_links) == (4, 3)
    assert (markup.images, markup.images_without_words) == (5, 3)


def test_headings_and_bold_spans() -> None:
    markup = read_markup(
        "## One\n#hashtag\n####### seven\n**a** and __b__ but not snake__case__x ** c **"
    )
    assert (markup.headings, markup.bold_spans) == (1, 2)
