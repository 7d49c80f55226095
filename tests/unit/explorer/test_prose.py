"""The findings as HTML: what was text stays text, and links lead within the page."""

from fieldwork.explorer.prose import html_of
from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.links import answers_link, numbered_links


def test_markup_in_a_label_is_shown_as_text_and_a_dangerous_address_is_no_link() -> None:
    label = "<img src=x onerror=alert(1)> **not bold** [no link](javascript:alert(1)) `code` | bar"
    page = html_of(f"# Findings\n\n- {literal(label)}\n\n<script>alert(2)</script>\n")
    assert not [tag for tag in ("<img", "<script", "<strong>", "<a ") if tag in page]
    assert "**not bold**" in page
    assert "&lt;script&gt;" in page
    assert "<a" not in html_of("[x](javascript:alert(1)) [y](data:text/html,z)")


def test_links_to_the_page_stay_within_it() -> None:
    link = answers_link("35 %", model="m", task="t", condition="c", option='a"b<', base="first")
    page = html_of("\n".join(numbered_links([f"- fell to {link}"])))
    target = "#/answers?model=m&amp;task=t&amp;condition=c&amp;option=a%22b%3C&amp;base=first"
    assert f'<a href="{target}">35 %</a>' in page
    assert "[1]:" not in page


def test_headings_have_the_ids_that_the_text_links_to() -> None:
    page = html_of("# Title\n\nSee [all tests](#all-tests).\n\n## All tests\n")
    assert '<a href="#all-tests">' in page
    assert '<h2 id="all-tests">All tests</h2>' in page


def test_tables_have_no_inline_styles_and_scroll_by_themselves() -> None:
    page = html_of("| a | b |\n|---|---:|\n| 1 | 2 |\n")
    assert "style=" not in page
    assert '<td class="align-right">2</td>' in page
    assert page.startswith('<div class="wide" tabindex="0"><table>')
    assert page.rstrip().endswith("</table></div>")
