"""The one name that a question asks for.

Owns which words of a reply are that name: the whole reply, its only entry, or what is set off in it, less
an author, a reason or a label. Promises that a sentence without such words gives none.
"""

import re
from collections.abc import Sequence

from fieldwork.parsing.inline_lists import asks_for
from fieldwork.parsing.item_names import item_names, plain_text
from fieldwork.parsing.line_markers import ReplyLine
from fieldwork.parsing.unmarked_lists import is_title, is_title_line
from fieldwork.parsing.writing_systems import count_words, ends_sentence, has_case, is_clause

_NAME_WORDS = 10
"""Most words of a name; titles are longer than other names."""
_FEW_WORDS, _CASELESS_WORDS = 3, 6
"""So many words are a name without capitals, and in a script that has none."""
_MAX_LINE = 400

_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})([^*\n]+)\1(?!\w)|(?<!\w)(__?)([^_\n]+)\3(?!\w)")
_QUOTATION = re.compile(
    r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|《([^》\n]+)》|「([^」\n]+)」|『([^』\n]+)』"
)
_LABEL = re.compile(r"^\W{0,3}([^\W\d_][^:：\n]{0,30}?)[*_]{0,3}[:：][*_]{0,3}\s*(?=\S)")
_ANSWER = re.compile(r"answer|name|title|antwort|respuesta|réponse|答案", re.IGNORECASE)
_CHOICE = re.compile(
    r"^(?:.{0,80}?\b(?:I(?:['’]d|['’]ll|\s+would|\s+will)?\s+(?:\w+ly\s+)?(?:choose|pick|say|name|recommend|suggest|select|admire|like|love"
    r"|prefer|go\s+(?:with|for))(?:\s+(?:the\s+)?(?:most|best|to\s+\w+))?|(?:my\s|(?:the|one|an?)\s[^.,:;]{0,40}?\b(?:I|best|most|favou?rite)\b)"
    r"[^.,:;]{0,60}?\s(?:is|would\s+be))\s+)",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"\s+(?:is|would\s+be)\s+(?:my|the\s+(?:one|best|most|answer)|one\s+of)\b.*$")
_REASON = re.compile(
    r"(?:,?\s+(?:because|since)\s|,\s+(?:as|for|which)\s|;\s|\s+for\s+(?:its|their|his|her)\s).*$"
)
_AUTHOR = re.compile(r"\s+by\s+(?!Me\b|You\b)(?=[^\W_])[^a-z].{0,60}$")
_INTERJECTION = re.compile(r"^[^.!?*\"“]{1,40}!\s+(?=\S)")
_FORMULA = re.compile(r"[=<>{}\\]")
_NO_NAME = re.compile(
    r"^\W*(?:I|it|this|that|there|these|those|you|we|he|she|they|as|if|yes|no|none|nothing|sorry|sure|certainly"
    r"|absolutely|great|okay|well|hello|hi|thanks?)\b",
    re.IGNORECASE,
)


def one_name(lines: Sequence[ReplyLine], *, question: str) -> str | None:
    """The name in the first line that does not announce it; None where it holds none, or several."""
    texts = [line for line in lines if line.kind != "blank"]
    if len(texts) > 1 and _announces(texts[0].content):
        texts = texts[1:]
    kinds = [line.kind for line in texts[:2]]
    if not texts or kinds in (["number", "number"], ["bullet", "bullet"]):
        return None
    if not all(ends_sentence(line.content) for line in texts[1:] if line.kind == "plain"):
        return None
    content = _INTERJECTION.sub("", texts[0].content[:_MAX_LINE].strip())
    label = _LABEL.match(content)
    if label and (_ANSWER.fullmatch(label[1]) or asks_for(question, label[1])):
        content = content[label.end() :]
    return _set_off(content) or _plain_name(content)


def _announces(content: str) -> bool:
    return content.rstrip("*_ ").endswith((":", "：", "!")) and not _EMPHASIS.search(content)


def _set_off(content: str) -> str | None:
    """The one name in emphasis, or in quotes that open the line or follow a word of choosing."""
    spans = {match[2] or match[4] for match in _EMPHASIS.finditer(content)}
    if not spans and (is_title_line(content) or _CHOICE.match(content)):
        spans = {match[match.lastindex or 0] for match in _QUOTATION.finditer(content)}
    names = item_names([*spans])
    return names[0] if len(names) == 1 and count_words(names[0]) <= _NAME_WORDS else None


def _plain_name(content: str) -> str | None:
    """The line as a name, without the words of choosing, the reason and the author."""
    text = plain_text(content)
    choice = _CHOICE.match(text)
    text = _VERDICT.sub("", _REASON.sub("", text[choice.end() :] if choice else text))
    if text.endswith(",") or _FORMULA.search(text):
        return None
    names = item_names([_AUTHOR.sub("", text)])
    return names[0] if names and _is_name(names[0]) else None


def _is_name(name: str) -> bool:
    """Whether the words are few and no sentence, or each but short ones has a capital."""
    words = count_words(name)
    if not has_case(name):
        return 0 < words <= _CASELESS_WORDS and not is_clause(name)
    if words <= _FEW_WORDS and not _NO_NAME.match(name) and not name.endswith("?"):
        return True
    return 1 < words <= _NAME_WORDS and is_title(name)
