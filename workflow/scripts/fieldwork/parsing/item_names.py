"""From one list entry to the name it holds.

Owns what is part of a name and what is description: markup is taken off, a description after a
colon, a spaced dash or in parentheses is dropped, quotes around the whole and punctuation at the
end are removed. Promises that a name is made of words of the entry, in their order.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.parsing.writing_systems import count_words, has_case, is_unspaced, starts_small

_MAX_ENTRY = 2_000
"""Characters of an entry that are looked at: a name stands at its beginning."""
_TITLE_WORDS = 6
"""Longest second half of a title such as 'Mission: Impossible'."""

_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\((?:[^()\n]|\([^()\n]*\)){0,500}\)")
_FOOTNOTE = re.compile(r"\[\^?\d{1,3}\]|【\d{1,3}[^】\n]{0,40}】")
# `[link]` is what stands for an address in a masked answer of the field
_URL = re.compile(r"<?\bhttps?://[^\s<>]{1,500}>?|<?\[link\]>?")
_CHECKBOX = re.compile(r"^\[[ xX✓]\]\s+")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~|<>])")
_EMPHASIS = re.compile(r"\*{1,3}|~~|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`{1,2}")
_MARKS = re.compile(r"[*_~`]")
_LEADING_EMPHASIS = re.compile(
    r"^(?:\*\*\*(?P<a>[^*\n]{1,300})\*\*\*|\*\*(?P<b>[^*\n]{1,300})\*\*|__(?P<c>[^_\n]{1,300})__"
    r"|\*(?P<d>[^*\n]{1,300})\*|_(?P<e>[^_\n]{1,300})_(?!\w)|`(?P<f>[^`\n]{1,300})`)"
)
_LEADING_QUOTE = re.compile(
    r"^(?:\"(?P<a>[^\"\n]{1,200})\"|“(?P<b>[^”\n]{1,200})”|«\s?(?P<c>[^»\n]{1,200}?)\s?»"
    r"|《(?P<d>[^》\n]{1,200})》|「(?P<e>[^」\n]{1,200})」|『(?P<f>[^』\n]{1,200})』"
    r"|【(?P<g>[^】\n]{1,200})】|„(?P<h>[^“”\n]{1,200})[“”]|‘(?P<i>[^’\n]{1,200})’(?!\w)"
    r"|'(?P<j>[^'\n]{1,200})'(?!\w)|〈(?P<k>[^〉\n]{1,200})〉|［(?P<l>[^］\n]{1,200})］)"
)
_LABEL = re.compile(
    r"^\W{0,3}(?P<label>[^\W\d_][^:：\n]{0,30}?)[*_]{0,3}(?::(?=[\s*_])|：)"
    r"(?:[*_]{1,3}(?=\s))?\s*(?=\S)"
)
_YEAR = r"(?:1[5-9]|20)\d\d"
_AFTER_TITLE = re.compile(
    rf"\s*(?:$|[^\w\s&+/'’-]|-\s)|\s+(?:{_YEAR}(?!\d)|(?!(?:and|or|und|et|y|e|и)\b)[^\W\d_])"
)
_PARENTHESES = re.compile(
    r"\s\((?:[^()\n]|\([^()\n]{0,100}\)){0,400}\)|(?<=\S)\s?（[^（）\n]{0,400}）"
    rf"|(?<=\S)\s?[(\[]{_YEAR}[^()\[\]\n]{{0,20}}[)\]]"
)
_OPEN_PARENTHESIS = re.compile(r"(?:\s\(|（)[^()（）]*$")
_DATE = re.compile(rf"\s?[(\[]{_YEAR}[^()\[\]\n]{{0,20}}[)\]]\s?[:：]")
"""A year after a title and before its description."""
_CLOSING_YEAR = re.compile(rf"(?:,\s{{0,2}}|\s[-–—/]\s){_YEAR}$")
_OPENING_YEAR = re.compile(rf"[(\[]{_YEAR}[)\]]\s+(?=\w)")
_OTHER_TITLE = re.compile(r"(?:\s|[,;:]\s?)or[:,]\s.*$|[;:]\s?or\s.*$|\sor$", re.IGNORECASE)
_DASH = re.compile(
    r"\s(?:-{1,3}|[–—―‒−])(?:\s|$)|(?<=\w)\s?[—―]{1,2}\s?(?=\w)|\s?――|\s(?:=>|->|→)\s|\s\|\s"
)
_COLON = re.compile(r"[:](?=\s|$)|：|(?<=\*)[:]")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{4})[.!?](?=\s+[A-ZÀ-ÞА-Я])|(?<=\w)[。！？]")
_RELATIVE = re.compile(
    r",\s+(?:known\s+for|which|who|where|offering|featuring|famous\s+for|renowned|because|thanks\s+to|starring"
    r"|(?:directed|written|created|produced|composed|performed|founded|based|set|released|published)\s+(?:by|in|on)"
    r"|due\s+to|located|with\s+(?:its|their|a|an|the))\b"
)
_CLAUSE = re.compile(r"[，,]")
_ENTRY_WORDS = 10
"""Words of an entry in a script without spaces from which it holds more than a name."""
_NAME_CHARACTERS = 12
"""Longest name before a comma in Chinese or Japanese: what follows it is a clause about the name."""
_CLAUSE_CHARACTERS = 6
_EDGES = " \t\n*_`~\"'“”«»‹›„‚‘’《》「」『』【】〈〉|"
_TRAILING = _EDGES + ".,;:。、，；：．…·•-–—"
_LEADING = _EDGES + ",;:。、，；：•·-–—"
_JOINT = re.compile(r"^(?:[\w'’/+-]|\s?&|\s+(?:and|or|und|et|y|e|и)\s+[*_\"“])")
_CURLY, _CURLY_PAIR = re.compile(r"[“”]"), re.compile(r"“[^“”]*”")
_LONE_QUOTE = re.compile(r'(?<!\d)"')
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}$")


class NameCut(NamedTuple):
    """A name, and the place of the colon in it that may or may not begin a description."""

    name: str
    before_colon: str
    """The part before the colon, equal to `name` where there is none."""
    is_title: bool
    """Markup, quotes or a later separator show that the colon belongs to the name."""


def item_names(entries: Sequence[str]) -> tuple[str, ...]:
    """Names of the entries of one list, in order; entries without a word are dropped.

    A colon begins a description where all entries have one, or where what follows is longer than a
    title's second half or not capitalised like one; else it is part of a title.
    """
    cuts = [_cut(entry) for entry in _without_label(entries)]
    is_usual = all(cut.before_colon != cut.name for cut in cuts if not cut.is_title)
    names = (_decide(cut, is_usual=is_usual) for cut in cuts)
    return tuple(name for name in names if any(character.isalnum() for character in name))


def _without_label(entries: Sequence[str]) -> Sequence[str]:
    """The entries without the words before a colon that all of them begin with ('Title:')."""
    labels = [_LABEL.match(entry) for entry in entries]
    names = {label["label"].casefold() if label else None for label in labels}
    if len(labels) < 2 or len(names) > 1 or None in names:
        return entries
    return [entry[label.end() :] for entry, label in zip(entries, labels, strict=True) if label]


def plain_text(text: str) -> str:
    """The text without links, footnotes, emphasis marks and backslash escapes."""
    return _without_emphasis(_without_links(text))


def _decide(cut: NameCut, *, is_usual: bool) -> str:
    if cut.is_title or cut.before_colon == cut.name:
        return cut.name
    tail = cut.name[len(cut.before_colon) :].lstrip(" :：")
    return cut.name if _is_capitalised(tail) and not is_usual else cut.before_colon


def _cut(entry: str) -> NameCut:
    content = _CHECKBOX.sub("", _without_links(entry[:_MAX_ENTRY]).strip())
    content = _without_leading_symbols(content)
    emphasis = _LEADING_EMPHASIS.match(content)
    if emphasis:
        inner = next(group for group in emphasis.groups() if group is not None).strip()
        rest = content[emphasis.end() :]
        return _cut_marked(inner, rest)
    return _cut_plain(content)


def _cut_marked(inner: str, rest: str) -> NameCut:
    """Cut an entry whose beginning is set off by emphasis or quotes."""
    inner = _without_leading_symbols(inner)
    if not any(character.isalnum() for character in inner):
        return _cut_plain(inner + rest)
    if _JOINT.match(rest) and not inner.endswith((":", "：", ".", " ")):
        return _cut_plain(inner + rest)
    cut = _cut_plain(inner)
    if cut.is_title or cut.before_colon == cut.name:
        return cut
    tail = cut.name[len(cut.before_colon) :].lstrip(" :：")
    is_title = count_words(tail) <= _TITLE_WORDS and has_case(tail) and not starts_small(tail)
    return cut._replace(is_title=is_title)


def _cut_plain(content: str) -> NameCut:
    text = _without_emphasis(content)
    title = _quoted_title(text)
    if title:
        return NameCut(name=title, before_colon=title, is_title=True)
    text = _without_other_title(text)
    colon, dash, date = _COLON.search(text), _DASH.search(text, 1), _DATE.search(text, 1)
    is_title = colon is not None and _closes_title(text, colon, dash)
    if date is not None and (dash is None or date.start() < dash.start()):
        is_title, text, dash = True, text[: date.start()], None
    text = text[: dash.start()] if dash else text
    text = _without_parentheses(text)
    for stop in (_SENTENCE_END, _RELATIVE):
        end = stop.search(text)
        text = text[: end.start()] if end else text
    text = _without_clause(_without_other_title(text.rstrip()))
    colon = _COLON.search(text)
    name = _tidy(text)
    name_before_colon = _tidy(text[: colon.start()]) if colon else name
    return NameCut(
        name=name,
        before_colon=name_before_colon or name,
        is_title=is_title and name_before_colon != name,
    )


def _without_links(text: str) -> str:
    """The text without links, addresses and footnotes, which most texts do not hold."""
    if "[" in text or "【" in text:
        text = _FOOTNOTE.sub("", _LINK.sub(r"\1", text))
    return _URL.sub("", text) if "http" in text or "[link]" in text else text


def _without_emphasis(text: str) -> str:
    return _ESCAPE.sub(r"\1", _EMPHASIS.sub("", text) if _MARKS.search(text) else text).strip()


def _quoted_title(text: str) -> str | None:
    """The title in quotes that the entry begins with; None where the quotes are not a name's own.

    Words in small letters after the quotes are description ('"Alien" by Ridley Scott'), others are
    part of the name ('"Weird Al" Yankovic'). What describes a title outside quotes does so within.
    """
    quotation = _LEADING_QUOTE.match(text)
    if not quotation:
        return None
    text_after = _AFTER_TITLE.match(text[quotation.end() :])
    goes_on = text_after is None or (
        text_after.group()[-1:].isalpha() and not starts_small(text_after.group())
    )
    if goes_on and text[0] not in "《「『【〈":
        return None
    inner = next(group for group in quotation.groups() if group is not None)
    return _tidy(_without_other_title(_without_parentheses(inner))) or _tidy(inner)


def _without_other_title(text: str) -> str:
    """The text without a second title: 'Dr. Strangelove or: How I …' is 'Dr. Strangelove'."""
    return _OTHER_TITLE.sub("", text) if "or" in text.casefold() else text


def _without_parentheses(text: str) -> str:
    """The text without what stands in parentheses, and without a year at its end."""
    bare = text = _OPENING_YEAR.sub("", text, count=1) if text[:1] in "([" else text
    if any(bracket in text for bracket in "(（["):
        bare = _OPEN_PARENTHESIS.sub("", _PARENTHESES.sub("", text))
    return _CLOSING_YEAR.sub("", bare.rstrip(_EDGES))


def _without_clause(text: str) -> str:
    """A short name in a script without spaces between words, without the clause that follows it.

    A comma joins the clause in Chinese and Japanese, a space does in Thai and its neighbours.
    """
    if not is_unspaced(text):
        return text
    if count_words(text) > _ENTRY_WORDS and " " in text.strip():
        name = text.split(maxsplit=1)[0]
        return name if 1 < count_words(name) <= _TITLE_WORDS else text
    comma = _CLAUSE.search(text)
    if comma is None or not 0 < comma.start() <= _NAME_CHARACTERS:
        return text
    return text[: comma.start()] if len(text) - comma.end() >= _CLAUSE_CHARACTERS else text


def _closes_title(text: str, colon: re.Match[str], dash: re.Match[str] | None) -> bool:
    """Whether a description begins only after the colon's half, as in 'Alien: Covenant - scary'."""
    if dash is None or dash.start() < colon.start():
        return False
    half = text[colon.end() : dash.start()].strip()
    return _is_capitalised(half)


def _is_capitalised(half: str) -> bool:
    """Whether the half is short and written like a title: small words only may be in lower case.

    In a script without case nothing is: there a colon begins a description.
    """
    words = half.split()
    if not any(has_case(word) for word in words):
        return bool(words) and all(word.isdigit() for word in words)
    return 0 < len(words) <= _TITLE_WORDS and all(
        word[:1].isupper() or not word[:1].isalpha() or len(word) <= 3 for word in words
    )


def _without_leading_symbols(text: str) -> str:
    """Drop emoji, arrows and other symbols that stand before the name."""
    for index, character in enumerate(text):
        category = unicodedata.category(character)
        if category in {"So", "Sk", "Sm", "Mn", "Me", "Cf", "Zs", "Cc"}:
            continue
        return text[index:]
    return ""


def _tidy(text: str) -> str:
    """Collapse white space and take quotes and punctuation off both ends."""
    name = " ".join(text.split()).lstrip(_LEADING).rstrip(_EDGES)
    name = _without_lone_quote(
        name.removeprefix("[").removesuffix("]") if name[:1] == "[" else name
    )
    while (
        name and unicodedata.category(name[-1]) in {"So", "Sk", "Mn", "Cf"} and name[-1] > "\u2000"
    ):
        name = name[:-1].rstrip(_EDGES)
    if _ABBREVIATION.search(name):
        return name
    return name.rstrip(_TRAILING)


def _without_lone_quote(name: str) -> str:
    """The name without double quotes that nothing closes or opens; after a digit one is an inch."""
    if ("“" in name or "”" in name) and _CURLY.search(_CURLY_PAIR.sub("", name)):
        name = name.replace("“", "").replace("”", "")
    return name if name.count('"') % 2 == 0 else _LONE_QUOTE.sub("", name, count=1)
