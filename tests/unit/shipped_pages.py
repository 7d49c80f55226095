"""The pages that people fill in, as they are shipped."""

from pathlib import Path

from fieldwork.answer_pages import PageTemplate, read_template

RESOURCES = Path(__file__).resolve().parents[2] / "resources"


def page_sources(kit: str) -> dict[str, str]:
    """The paths of a page's parts, by the names of the inputs of its rule."""
    parts = {
        "page": "pages/answer_page.html",
        "page_style": "pages/answer_page.css",
        "page_script": "pages/answer_page.js",
        "content": f"{kit}/content.html",
        "content_style": f"{kit}/content.css",
        "content_script": f"{kit}/content.js",
    }
    paths = {name: RESOURCES / part for name, part in parts.items()}
    return {name: str(path) for name, path in paths.items() if path.exists()}


def page_template(kit: str) -> PageTemplate:
    """A page as it is shipped, of `field_kit` or `review_kit`."""
    return read_template(page_sources(kit))
