"""The site of the documents: `make docs` builds it into site/, and a link that leads nowhere fails.

Its sources are the project's own files, so that a link holds in the repository and in the site alike.
"""

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]

project = "Fieldwork"
author = "The Fieldwork developers"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "docs/*", "benchmarks/**/*.md", "resources/variants/README.md"]
# parts of pages, and folders that would be searched for nothing
exclude_patterns = ["benchmarks/*/page*.md", "benchmarks/*/readme_table.md"]
exclude_patterns += [
    ".*",
    "logs",
    "my",
    "profiles",
    "results",
    "site",
    "studies",
    "tests",
    "workflow",
]
# as deep as links of the documents go; named as a repository's page names them
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Fieldwork"
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_show_copyright = False
# a fence without a language is what a reader enters
highlight_language = "text"
# index.html, where a server looks for the first page
html_extra_path = ["front"]


def without_folders(_: Sphinx, page: str, source: list[str]) -> None:
    """A link to a folder of the repository is its words: a site has no folders to show."""
    home = (ROOT / page).parent

    def shown(link: re.Match[str]) -> str:
        return link[1] if (home / link[2]).is_dir() else link[0]

    source[0] = re.sub(r"\[([^]]+)\]\(([^)#:]+)\)", shown, source[0])


def setup(app: Sphinx) -> None:
    """What Sphinx does not do by itself."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", without_folders)
