"""Texts of pages that people fill in: words by name, consents, and what a person must still write.

A text that someone must complete has places `[REPLACE: what]`.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from fieldwork.config.yaml_files import read_yaml
from fieldwork.errors import StudyError

_DRAFT_MARK = "[REPLACE"


def is_draft(text: str) -> bool:
    """Whether a person must still write a part of it."""
    return _DRAFT_MARK in text


def paragraphs(text: str) -> str:
    """HTML of a text of headings (`#`), lists (`-`) and paragraphs, blank lines between them.

    Everything else is shown as it stands, markup included.
    """
    blocks = re.split(r"\n\s*\n", text.strip())
    return "\n".join(line for block in blocks for line in _block(block.strip()))


def _block(block: str) -> Iterator[str]:
    if not block:
        return
    if block.startswith("#"):
        heading, _, rest = block.partition("\n")
        yield f"<h3>{html.escape(heading.lstrip('#').strip())}</h3>"
        yield from _block(rest.strip())
    elif block.startswith("- "):
        items = (item.strip() for item in re.split(r"(?:^|\n)- ", block) if item.strip())
        yield "<ul>" + "".join(f"<li>{_line(item)}</li>" for item in items) + "</ul>"
    else:
        yield f"<p>{_line(block)}</p>"


def _line(text: str) -> str:
    return html.escape(" ".join(text.split()))


def read_words(path: str | Path, shipped_path: str | Path) -> dict[str, str]:
    """The texts of the page, by name.

    Args:
        shipped_path: the file with every text that the page needs.

    Raises:
        StudyError: a text is missing or unknown, or is not a text.
    """
    words, shipped_words = read_yaml(path).settings, read_yaml(shipped_path).settings
    for name in shipped_words:
        if name not in words:
            raise StudyError(
                f"{path}: the text {name!r} is missing; copy it from {shipped_path} and translate it"
            )
    for name, text in words.items():
        if name not in shipped_words:
            raise StudyError(f"{path}: {name!r} is not a text of the page; remove it")
        if not isinstance(text, str):
            raise StudyError(f"{path}: {name} is not a text; put it in quotation marks")
    return words
