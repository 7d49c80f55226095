"""The part of a reply that is meant to be read.

Owns what a model thinks before its answer, in whatever marks a server leaves it; where its turn ends; and
the removal of markers, code fences and HTML around the answer. Promises linear time on any input and
never adds a word.
"""

import logging
import re
from collections.abc import Sequence

from fieldwork.readable_texts import without_invisible

logger = logging.getLogger(__name__)

_THINKS = (
    r"(?:think|thought|reasoning|reflection|analysis|scratchpad|rationale|monologue|deliberation)"
)
_NAME = rf"[\w:.▁-]{{0,30}}{_THINKS}[\w:.▁-]{{0,30}}"
_THOUGHT_MARK = re.compile(
    rf"(?:<[|｜]?|◁)(?P<close>/)?[|｜]?(?P<name>{_NAME})(?:\s[^<>\n]{{0,80}})?(?:[|｜]?>|▷)"
    r"|\[(?:(?P<closes_bracket>/)?think)\]"
    # channels of harmony, and of Gemma, whose mark without a bar before it closes
    rf"|<\|channel\|?>\s*(?P<channel>{_THINKS}\w*|commentary)\b(?:[^<>\n]{{0,80}})?(?:<\|message\|>)?"
    r"|(?P<closes><channel\|>|<\|channel\|?>\s*final\b\s*(?:<\|message\|>)?)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?:end|stop|close)[_▁-]", re.IGNORECASE)
_LOST_CHANNELS = re.compile(r"\s*analysis(?=[A-Z])")
_LOST_FINAL = "assistantfinal"
_FIRST_TAG = re.compile(r"\s*<(?P<name>[\w:.|-]{1,40})(?:\s[^<>\n]{0,80})?>")
_OF_ANSWERS = re.compile(
    r"answer|final|output|response|result|solution|reply|choice|option|letter|list|item|json|xml|code"
    r"|text|title|name|(?:[bpiu]|em|strong|span|div|h[1-6]|[uo]l|li|br|table|t[rdh]|a|html|body|center|font)$",
    re.IGNORECASE,
)
"""Tags around what is meant to be read; another one around the beginning of a reply hides it."""

_USER = r"(?:(?:#{1,4}[ ]*)?(?:human|user)|#{1,4}[ ]*(?:instruction|input))"
_MODEL = r"(?:(?:#{1,4}[ ]*)?(?:assistant|model|ai|bot|gpt)|#{1,4}[ ]*(?:response|output))"
_START_MARK = (
    r"<\|(?:im_start|start_header_id|start|user|system|START_OF_TURN_TOKEN)\|>|<start_of_turn>"
    r"|<｜(?:User|Assistant)｜>|\[INST\]|<s>(?=\s*\[INST\])"
)
_END_MARK = (
    r"<\|(?:im_end|endoftext|eot_id|eom_id|end_of_text|end|return|endofresponse|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>"
)
_FIRST_ROLE = re.compile(
    rf"\s*(?:{_START_MARK})\s*(?:{_MODEL}\s*(?:<\|(?:end_header_id|message)\|>)?\s*\n?)?",
    re.IGNORECASE,
)
_TURN_MARK = re.compile(f"{_START_MARK}|{_END_MARK}", re.IGNORECASE)
_USERS_LINE = re.compile(rf"^{_USER}(?::|[ ]*$)", re.IGNORECASE | re.MULTILINE)
_MODELS_LINE = re.compile(rf"^{_MODEL}(?::|[ ]*$)", re.IGNORECASE | re.MULTILINE)

_CONTROL_TOKEN = re.compile(r"<\|[a-z_]{1,30}\|>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_LIST_TAG = re.compile(r"<li\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<(?:br|/p|/li|/h[1-6]|/?ol|/?ul)\b[^<>]{0,80}>", re.IGNORECASE)
_OTHER_TAG = re.compile(
    r"</?(?:p|b|i|u|em|strong|span|div|h[1-6]|answer|final_answer|final|output|response)"
    r"(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)


def visible_text(text: str | None) -> str:
    """The reply without reasoning, later turns, code fence lines, HTML tags and invisible characters.

    A reasoning block that never closes hides the rest of the reply; one that closes without having
    been opened (chat templates put the opening tag into the prompt) hides all that stands before.
    Blank lines around the answer are dropped, indentation is kept. Empty where nothing is left.
    """
    if not text:
        return ""
    visible = without_reasoning(text).replace("\r\n", "\n").replace("\r", "\n")
    visible = without_invisible(visible).replace("\u00a0", " ").replace("\u2028", "\n")
    visible = _FENCE.sub("", visible)
    visible = _LIST_TAG.sub("\n- ", visible)
    visible = _OTHER_TAG.sub("", _BREAK_TAG.sub("\n", visible))
    return visible.strip("\n").rstrip() if visible.strip() else ""


def without_reasoning(text: str) -> str:
    """The model's own turn without its reasoning and the control tokens of a chat; its markup stays."""
    return _CONTROL_TOKEN.sub("", own_turn(_without_thoughts(text)))


def has_later_turns(text: str | None) -> bool:
    """Whether a reply goes on after the end of the model's turn: its server has no stop token."""
    thoughtless = _without_thoughts(text or "")
    rest = thoughtless[len(_turn_end(thoughtless)[1]) :]
    return bool(_TURN_MARK.sub("", rest).strip())


def warn_of_later_turns(replies: Sequence[str | None]) -> None:
    """Say in the log how many replies go on after the end of the model's turn."""
    if n_later := sum(map(has_later_turns, replies)):
        logger.warning(
            "%d of %d replies go on after the end of the model's turn, and are read up to there: set the "
            "stop token of the model's server",
            *(n_later, len(replies)),
        )


def own_turn(text: str) -> str:
    """The reply up to the first mark that ends a turn, or begins a user's."""
    return _turn_end(text)[0]


def _turn_end(text: str) -> tuple[str, str]:
    """The turn without the mark of its own beginning, and with it."""
    first = _FIRST_ROLE.match(text)
    start = first.end() if first else 0
    ends = [
        mark.start()
        for mark in _TURN_MARK.finditer(text, start)
        # struck text in HTML
        if text[start : mark.start()].strip() and not (mark[0] == "</s>" and "<s>" in text)
    ]
    line = _USERS_LINE.search(text, start)
    while line and not text[start : line.start()].strip():
        line = _USERS_LINE.search(text, line.end())
    # a reply that begins with a role is a dialogue that was asked for
    is_dialogue = _USERS_LINE.match(text, start) or _MODELS_LINE.match(text, start)
    if line and not is_dialogue and _MODELS_LINE.search(text, line.end()):
        ends.append(line.start())
    end = min(ends, default=len(text))
    return text[start:end], text[:end]


def _without_thoughts(text: str) -> str:
    if channel := _LOST_CHANNELS.match(text):
        _, final, answer = text[channel.end() :].rpartition(_LOST_FINAL)
        return answer if final else ""
    text = _without_first_block(text)
    visible_parts: list[str] = []
    is_hidden = False
    start = 0
    for mark in _THOUGHT_MARK.finditer(text):
        is_end = bool(mark["name"]) and bool(_ENDS.match(mark["name"]))
        closes = bool(mark["close"] or mark["closes_bracket"] or mark["closes"] or is_end)
        if closes and not is_hidden:
            visible_parts.clear()
        elif not closes and not is_hidden:
            visible_parts.append(text[start : mark.start()])
        is_hidden = not closes
        start = mark.end()
    if not is_hidden:
        visible_parts.append(text[start:])
    return "".join(visible_parts)


def _without_first_block(text: str) -> str:
    """The reply without a block in tags of an unknown name that is all its beginning."""
    tag = _FIRST_TAG.match(text)
    is_known = tag is None or _OF_ANSWERS.search(tag["name"]) or re.search(_THINKS, tag["name"])
    if tag is None or is_known:
        return text
    closing = f"</{tag['name']}>"
    end = text.rfind(closing)
    rest = text[end + len(closing) :] if end >= tag.end() else ""
    return rest if rest.strip() else text
