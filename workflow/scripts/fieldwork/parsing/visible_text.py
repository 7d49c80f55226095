"""The part of a reply that is meant to be read.

Owns the removal of reasoning blocks, channel markers, code fences and HTML around an answer. Promises
linear time on any input and never adds a word.
"""

import re

_REASONING_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)\b[^<>\n]{0,80}>"
    r"|\[(/?)think\]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|message\|>)?")
_CONTROL_TOKEN = re.compile(r"<\|[a-z_]{1,30}\|>")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_LIST_TAG = re.compile(r"<li\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<(?:br|/p|/li|/h[1-6]|/?ol|/?ul)\b[^<>]{0,80}>", re.IGNORECASE)
_OTHER_TAG = re.compile(
    r"</?(?:p|b|i|u|em|strong|span|div|h[1-6]|answer|final_answer|final|output|response)"
    r"(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u00ad]")


def visible_text(text: str | None) -> str:
    """Return the reply without reasoning, code fence lines, HTML tags and invisible characters.

    A reasoning block that never closes hides the rest of the reply; one that closes without having
    been opened (chat templates put the opening tag into the prompt) hides all that stands before.
    Blank lines around the answer are dropped, indentation is kept. Empty where nothing is left.
    """
    if not text:
        return ""
    visible = without_reasoning(text).replace("\r\n", "\n").replace("\r", "\n")
    visible = _INVISIBLE.sub("", visible).replace("\u00a0", " ").replace("\u2028", "\n")
    visible = _FENCE.sub("", visible)
    visible = _LIST_TAG.sub("\n- ", visible)
    visible = _OTHER_TAG.sub("", _BREAK_TAG.sub("\n", visible))
    return visible.strip("\n").rstrip() if visible.strip() else ""


def without_reasoning(text: str) -> str:
    """The reply without its reasoning and the control tokens of a chat; its markup stays."""
    channels = list(_FINAL_CHANNEL.finditer(text))
    return _CONTROL_TOKEN.sub("", _without_blocks(text[channels[-1].end() :] if channels else text))


def _without_blocks(text: str) -> str:
    visible_parts: list[str] = []
    is_hidden = False
    start = 0
    for tag in _REASONING_TAG.finditer(text):
        closes = bool(tag.group(1) or tag.group(2))
        if closes and not is_hidden:
            visible_parts.clear()
        elif not closes and not is_hidden:
            visible_parts.append(text[start : tag.start()])
        is_hidden = not closes
        start = tag.end()
    if not is_hidden:
        visible_parts.append(text[start:])
    return "".join(visible_parts)
