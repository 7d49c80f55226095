"""ChatGPT's export: a list of conversations, each a tree of messages of which one path was kept.

Owns the tree. A conversation is the path from `current_node` up to the root, so that answers which were
asked for again and questions that were written anew stand in it once. Only what user and assistant said
to each other goes on: neither system messages and custom instructions, nor tools and what is said to
them, nor what the page hides; of a message with pictures the text.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.puppets.conversations.chats import Chat
from fieldwork.puppets.conversations.instants import instant
from fieldwork.puppets.conversations.messages import Spoken

_SAID = ("text", "multimodal_text")
_SPOKEN_PARTS = ("audio_transcription",)
_REFERENCE = re.compile("\ue200([^\ue201]*)\ue201")
"""A source, a place or a picture that the page shows in another form."""
_SIGNS = re.compile("[\ue200-\ue20f]")

Node = Mapping[str, Any]


def is_export(value: Any) -> bool:
    """Whether the entry of a list is a conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


class TreeReader:
    """Reads conversations of exports, and counts what it leaves out."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()

    def read(self, value: Any, user: str, place: str) -> Chat:
        """A conversation.

        Args:
            user: what the user is called.
            place: of the conversation, for messages.

        Raises:
            StudyError: the entry is no conversation.
        """
        if not is_export(value):
            raise StudyError(
                f"{place} has no `mapping` of messages, as conversations of ChatGPT's export do; leave "
                f"`format` out, or give the conversations.json of an export"
            )
        nodes: Mapping[str, Any] = value["mapping"]
        path = list(_path(nodes, _leaf(nodes, value.get("current_node"))))
        self.left_out["messages of other branches"] += _n_messages(nodes.values()) - len(path)
        kept = [(message, spoken) for message in path if (spoken := self._spoken(message))]
        times = [t for message, _ in kept if (t := instant(message.get("create_time")))]
        return Chat(
            conversation_id=_word(value.get("conversation_id")) or _word(value.get("id")),
            user_id=user,
            started_at=_earliest(times, value),
            language=None,
            model=_model(kept) or _word(value.get("default_model_slug")),
            toxic=None,
            redacted=None,
            messages=[spoken for _, spoken in kept],
        )

    def _spoken(self, message: Node) -> Spoken | None:
        role = _inside(message, "author").get("role")
        reason = _hidden(message, role)
        text = "" if reason else _text(_inside(message, "content"))
        if not text:
            self.left_out[reason or "messages without text"] += 1
            return None
        return {"role": str(role), "content": text}


def _inside(value: Node, key: str) -> Node:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _earliest(times: list[datetime], value: Node) -> datetime | None:
    return min(times, default=instant(value.get("create_time")))


def _model(kept: list[tuple[Node, Spoken]]) -> str | None:
    models = (
        _word(_inside(message, "metadata").get("model_slug"))
        for message, spoken in kept
        if spoken["role"] == "assistant"
    )
    return next((model for model in models if model), None)


# ---- the tree ------------------------------------------------------------------------------------


def _n_messages(nodes: Any) -> int:
    return sum(1 for node in nodes if isinstance(node, dict) and node.get("message"))


def _leaf(nodes: Mapping[str, Any], current: Any) -> str | None:
    """Where the path ends: the current node, else the last child of each from the root on."""
    if isinstance(current, str) and current in nodes:
        return current
    place = next((n for n, node in nodes.items() if _parent(node) not in nodes), None)
    seen = set[str]()
    while place is not None and place not in seen:
        seen.add(place)
        children = nodes[place].get("children") if isinstance(nodes[place], dict) else None
        there = [c for c in children or () if isinstance(c, str) and c in nodes]
        if not there:
            return place
        place = there[-1]
    return place


def _parent(node: Any) -> str | None:
    return _word(node.get("parent")) if isinstance(node, dict) else None


def _path(nodes: Mapping[str, Any], leaf: str | None) -> Iterator[Node]:
    """The messages from the root to a leaf; a tree that bites its tail ends where it does."""
    way: list[Node] = []
    seen = set[str]()
    place = leaf
    while place is not None and place in nodes and place not in seen:
        seen.add(place)
        message = nodes[place].get("message") if isinstance(nodes[place], dict) else None
        if isinstance(message, dict):
            way.append(message)
        place = _parent(nodes[place])
    yield from reversed(way)


# ---- a message -----------------------------------------------------------------------------------


def _hidden(message: Node, role: Any) -> str | None:
    """Why a message is none between user and assistant; None for one that is."""
    content, metadata = _inside(message, "content"), _inside(message, "metadata")
    if role == "tool" or message.get("recipient") not in (None, "all"):
        return "messages of tools"
    if role not in ("user", "assistant"):
        return "system messages"
    if metadata.get("is_visually_hidden_from_conversation") or metadata.get(
        "is_user_system_message"
    ):
        return "hidden messages"
    kind = content.get("content_type", "text")
    if kind in ("user_editable_context", "model_editable_context"):
        return "hidden messages"
    if message.get("channel") == "analysis" or kind not in _SAID:
        return "thoughts, code and results of tools"
    return None


def _text(content: Node) -> str:
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else [content.get("text")]
    said = "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())
    shown = _SIGNS.sub("", _REFERENCE.sub(_shown, said))
    return shown if shown.strip() else ""


def _part(part: Any) -> Any:
    if isinstance(part, dict):
        return part.get("text") if part.get("content_type") in _SPOKEN_PARTS else None
    return part


def _shown(reference: re.Match[str]) -> str:
    """What a reader sees of a reference: the name of a page, place or thing; of a source nothing."""
    kind, *fields = reference[1].split("\ue202")
    if kind == "url" and fields:
        return fields[0]
    if kind == "entity" and fields:
        with suppress(ValueError):
            named = json.loads(fields[0])
            if isinstance(named, list) and len(named) > 1:
                return str(named[1])
    return ""
