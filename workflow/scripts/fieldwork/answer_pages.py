"""The web page on which people answer: one page, whose content is the survey or what raters judge.

Promises that nothing is loaded and nothing is sent: everything is in the file. Whatever stands in a
prompt, a conversation or a text is shown and never run: markup is escaped, texts of the study are data,
and the page's policy names the hashes of its one script and its one style.
"""

import html
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fieldwork.files import texts
from fieldwork.page_templates import fill, inline_text, page_policy, script_json
from fieldwork.page_texts import is_draft, paragraphs

_PART = re.compile(r"<!-- (\w+) -->\n")


class PageTemplate(NamedTuple):
    """The parts of a page as they are shipped.

    Attributes:
        page: what every page has, as HTML.
        content: HTML of this one, in parts that begin with their name as a comment: about, task, files.
        style, script: of both.
        source: the content's own file name, for messages.
    """

    page: str
    content: str
    style: str
    script: str
    source: str


class PageContent(NamedTuple):
    """What a page asks.

    Attributes:
        view: the name of the view with the task, which its texts `step_…` and `back_to_…` have too.
        data: what the script reads, as JSON; without the texts.
        parts: HTML for placeholders of the content alone, by name.
    """

    view: str
    data: Mapping[str, Any]
    parts: Mapping[str, str] = {}


def read_template(sources: Mapping[str, str]) -> PageTemplate:
    """The parts by the names of a rule's inputs.

    Args:
        sources: paths of `page`, `page_style`, `page_script`, `content`, `content_script` and, where the
            content has one, `content_style`.

    Raises:
        StudyError: a file cannot be read.
    """
    page, content = (texts.read_text(sources[name]) for name in ("page", "content"))
    styles = [sources[name] for name in ("page_style", "content_style") if name in sources]
    scripts = [sources[name] for name in ("page_script", "content_script")]
    style, script = ("".join(map(texts.read_text, paths)) for paths in (styles, scripts))
    return PageTemplate(page, content, style, script, sources["content"])


def render(
    template: PageTemplate, content: PageContent, words: Mapping[str, str], consent: str
) -> str:
    """The whole page.

    Args:
        words: its texts, by name.
        consent: what people agree to, which may be a draft.

    Raises:
        StudyError: the template has an unknown placeholder.
    """
    style, script = inline_text(template.style), inline_text(template.script)
    word_parts = {f"text {name}": html.escape(text) for name, text in words.items()}
    content_html = fill(template.content, {**word_parts, **content.parts}, template.source)
    _, *named_parts = _PART.split(content_html)
    draft = f'<p class="note warning" role="note">{html.escape(words["draft"])}</p>'
    values = word_parts | {
        "policy": html.escape(page_policy(style, script), quote=True),
        "css": style,
        "js": script,
        "data": script_json({**content.data, "texts": dict(words)}),
        "consent": paragraphs(consent),
        "draft": draft if is_draft(consent) else "",
        "view": content.view,
        "step": word_parts[f"text step_{content.view}"],
        "back": word_parts[f"text back_to_{content.view}"],
        **dict(zip(named_parts[::2], named_parts[1::2], strict=True)),
    }
    return fill(template.page, values, template.source)
