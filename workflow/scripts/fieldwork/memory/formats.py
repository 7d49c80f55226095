"""Texts of memory, as products put them before a question: attributes and recent conversations.

Within the budget the newest attributes and conversations stay. What does not fit is left out whole and
counted, conversations before attributes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.memory.reading import age
from fieldwork.records.memory import Attribute, MemoryText, MemoryUser
from fieldwork.records.puppets import Conversation
from fieldwork.sections.conditions import MemoryLimits
from fieldwork.text_templates import TextTemplate, render
from fieldwork.token_estimate import message_tokens


class RememberedUser(NamedTuple):
    """What is remembered of a user for a question, or for all.

    Attributes:
        attributes: in the order of memory.
        conversations: all that were read, the oldest first.
    """

    user_id: str
    item_id: str | None
    attributes: Sequence[Attribute]
    conversations: Sequence[Conversation]


def memory_texts(
    users: Sequence[RememberedUser], template: TextTemplate, limits: MemoryLimits
) -> Iterator[MemoryText]:
    """The text of each user; empty where nothing is known.

    Args:
        template: it may use `attributes` and `conversations`.

    Raises:
        StudyError: the template cannot be filled in.
    """
    for user in users:
        yield _memory_text(user, template, limits)


def _memory_text(user: RememberedUser, template: TextTemplate, limits: MemoryLimits) -> MemoryText:
    attributes = list(user.attributes)
    recent = list(user.conversations[-limits.recent :]) if limits.recent else []
    n_all = len(attributes) + len(recent)
    text = _fill(attributes, recent, template)
    while text and message_tokens(text) > limits.token_budget:
        # the oldest comes first
        del (recent or attributes)[0]
        text = _fill(attributes, recent, template)
    evidence_ids = [one.conversation_id for a in attributes for one in a.evidence]
    return MemoryText(
        user_id=user.user_id,
        item_id=user.item_id,
        text=text,
        attribute_ids=[attribute.attribute_id for attribute in attributes],
        conversation_ids=list(dict.fromkeys([*evidence_ids, *(c.conversation_id for c in recent)])),
        n_left_out=n_all - len(attributes) - len(recent),
    )


def _fill(
    attributes: Sequence[Attribute],
    conversations: Sequence[Conversation],
    template: TextTemplate,
) -> str:
    if not attributes and not conversations:
        return ""
    values = {
        "attributes": [_attribute_values(attribute) for attribute in attributes],
        "conversations": [_conversation_values(c) for c in conversations],
    }
    return render(template, values)


def _attribute_values(attribute: Attribute) -> dict[str, Any]:
    return {
        "text": attribute.text,
        "kind": attribute.kind,
        "confidence": attribute.confidence,
        "date": attribute.stated_at.date().isoformat() if attribute.stated_at else "",
        "turns": len(attribute.evidence),
    }


def _conversation_values(conversation: Conversation) -> dict[str, Any]:
    started_at = conversation.started_at
    messages = [{"role": m.role, "text": m.content} for m in conversation.messages]
    return {
        "date": started_at.date().isoformat() if started_at else "",
        "time": started_at.strftime("%Y-%m-%dT%H:%M") if started_at else "",
        "messages": messages,
        "user_messages": [m["text"] for m in messages if m["role"] == "user"],
    }


def remembered_users(
    users: Sequence[MemoryUser],
    attributes: Sequence[Attribute],
    conversations: Mapping[str, Conversation],
    ids_by_item: Mapping[str, set[str]] | None = None,
) -> Iterator[RememberedUser]:
    """What is put before a question: all attributes once, or those selected for each question.

    Args:
        conversations: by id, those that were read.
        ids_by_item: attribute ids by item, of all users; None for all attributes.
    """
    for user in users:
        own_attributes = [a for a in attributes if a.user_id == user.user_id]
        conversations_read = sorted((conversations[i] for i in user.conversation_ids), key=age)
        if ids_by_item is None:
            yield RememberedUser(user.user_id, None, own_attributes, conversations_read)
            continue
        for item, ids in ids_by_item.items():
            matching_attributes = [
                attribute for attribute in own_attributes if attribute.attribute_id in ids
            ]
            yield RememberedUser(user.user_id, item, matching_attributes, conversations_read)
