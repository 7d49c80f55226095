"""ChatGPT's export: a list of conversations, each of them a tree of messages.

Owns the tree. A conversation is the path from the root to `current_node`, so a regenerated answer or an
edited question is in it once. Only texts between user and assistant are kept. System messages, custom
instructions, messages to and from tools, and messages that the page hides are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files.json_values import json_value
from fieldwork.puppets.conversations.branches import path_to
from fieldwork.puppets.conversations.chats import OTHER_BRANCHES, Chat
from fieldwork.puppets.conversations.messages import SpokenMessage, instant

_TEXT_KINDS = ("text", "multimodal_text")
_SPEECH_PARTS = ("audio_transcription",)
_REFERENCE = re.compile("\ue200([^\ue201]*)\ue201")
"""A source, a place or a picture, which the page shows in another form."""
_SIGNS = re.compile("[\ue200-\ue20f]")

Node = Mapping[str, Any]


def is_export(value: Any) -> bool:
    """Whether the entry of a list is a conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


class TreeReader:
    """Reads conversations of exports, and counts the messages that it leaves out."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()

    def read(self, value: Any, user: str, place: str) -> Chat:
        """One conversation.

        Raises:
            StudyError: the entry is not a conversation.
        """
        if not is_export(value):
            raise StudyError(
                f"{place} has no `mapping` of messages, so it is not a conversation of ChatGPT's export; "
                f"remove `format` of the corpus, or give the conversations.json of an export"
            )
        nodes: Mapping[str, Any] = value["mapping"]
        path = list(_path(nodes, _leaf(nodes, value.get("current_node"))))
        n_messages = sum(1 for n in nodes.values() if isinstance(n, dict) and n.get("message"))
        self.left_out[OTHER_BRANCHES] += n_messages - len(path)
        exchange = [(m, spoken_message) for m in path if (spoken_message := self._message(m))]
        times = [t for message, _ in exchange if (t := instant(message.get("create_time")))]
        return Chat(
            conversation_id=_word(value.get("conversation_id")) or _word(value.get("id")),
            user_id=user,
            started_at=min(times, default=instant(value.get("create_time"))),
            language=None,
            model=_model(exchange) or _word(value.get("default_model_slug")),
            is_toxic=None,
            is_redacted=None,
            messages=[spoken_message for _, spoken_message in exchange],
        )

    def _message(self, message: Node) -> SpokenMessage | None:
        role = _inside(message, "author").get("role")
        reason = _reason_to_leave_out(message, role)
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


def _model(exchange: list[tuple[Node, SpokenMessage]]) -> str | None:
    models = (
        _word(_inside(message, "metadata").get("model_slug"))
        for message, spoken_message in exchange
        if spoken_message["role"] == "assistant"
    )
    return next((model for model in models if model), None)


# ---- the tree ------------------------------------------------------------------------------------


def _leaf(nodes: Mapping[str, Any], current: Any) -> str | None:
    """Where the path ends: at the current node, else at the last child's last child, from the root."""
    if isinstance(current, str) and current in nodes:
        return current
    node_id = next((n for n, node in nodes.items() if _parent(node) not in nodes), None)
    visits = set[str]()
    while node_id is not None and node_id not in visits:
        visits.add(node_id)
        children = nodes[node_id].get("children") if isinstance(nodes[node_id], dict) else None
        present_children = [c for c in children or () if isinstance(c, str) and c in nodes]
        if not present_children:
            return node_id
        node_id = present_children[-1]
    return node_id


def _parent(node: Any) -> str | None:
    return _word(node.get("parent")) if isinstance(node, dict) else None


def _path(nodes: Mapping[str, Any], leaf: str | None) -> Iterator[Node]:
    """The messages from the root to a leaf; a loop among the nodes ends the path."""
    parents = {node_id: _parent(node) for node_id, node in nodes.items()}
    for node_id in path_to(leaf, parents):
        message = nodes[node_id].get("message") if isinstance(nodes[node_id], dict) else None
        if isinstance(message, dict):
            yield message


# ---- a message -----------------------------------------------------------------------------------


def _reason_to_leave_out(message: Node, role: Any) -> str | None:
    """Why a message is left out; None for a text between user and assistant."""
    content, metadata = _inside(message, "content"), _inside(message, "metadata")
    if role == "tool" or message.get("recipient") not in (None, "all"):
        return "messages of tools"
    if role not in ("user", "assistant"):
        return "system messages"
    marks = ("is_visually_hidden_from_conversation", "is_user_system_message")
    if any(metadata.get(name) for name in marks):
        return "hidden messages"
    kind = content.get("content_type", "text")
    if kind in ("user_editable_context", "model_editable_context"):
        return "hidden messages"
    if message.get("channel") == "analysis" or kind not in _TEXT_KINDS:
        return "thoughts, code and results of tools"
    return None


def _text(content: Node) -> str:
    parts = content.get("parts")
    texts = parts if isinstance(parts, list) else [content.get("text")]
    texts = [
        part.get("text")
        if isinstance(part, dict) and part.get("content_type") in _SPEECH_PARTS
        else part
        for part in texts
    ]
    text_with_references = "\n\n".join(
        text for text in texts if isinstance(text, str) and text.strip()
    )
    visible_text = _SIGNS.sub("", _REFERENCE.sub(_visible_text, text_with_references))
    return visible_text if visible_text.strip() else ""


def _visible_text(reference: re.Match[str]) -> str:
    """The text that a reader sees of a reference: the name of a page, place or thing, or nothing."""
    kind, *fields = reference[1].split("\ue202")
    if kind == "url" and fields:
        return fields[0]
    if kind == "entity" and fields:
        with suppress(ValueError):
            entity = json_value(fields[0])
            if isinstance(entity, list) and len(entity) > 1:
                return str(entity[1])
    return ""
