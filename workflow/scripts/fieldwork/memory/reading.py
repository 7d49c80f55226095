"""Conversations as a model reads them: whose, which, and the question that asks for attributes.

Turns are numbered from 1, all messages counted. In the form `sentences` the model chooses among the
user's own sentences: whatever it states has been said, and a model too small to write may read as well.
"""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from fieldwork.records.memory import MemoryUser
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.sections.memory import ReadingRules
from fieldwork.text_templates import TextTemplate, render

logger = logging.getLogger(__name__)

Form = Literal["statements", "sentences"]

# a sentence ends with its mark and the space after it, or with the line
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|[\r\n]+")
_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System"}
SHORTEST_SENTENCE = 4
"""Letters or digits that a sentence must have to be one."""


class UserSentence(NamedTuple):
    """A sentence that a user wrote, and the turns in which it stands."""

    text: str
    turns: tuple[int, ...]


def sentences_of(conversation: Conversation) -> list[UserSentence]:
    """What the user stated, sentence by sentence; one that is repeated comes once, with all its turns.

    A question says nothing of the person by itself, so questions are left out.
    """
    turns: dict[str, list[int]] = {}
    for number, message in enumerate(conversation.messages, start=1):
        if message.role != "user":
            continue
        for part in _SENTENCE_END.split(message.content):
            sentence = " ".join(part.split())
            is_question = sentence.endswith(("?", "？"))
            if not is_question and sum(map(str.isalnum, sentence)) >= SHORTEST_SENTENCE:
                turns.setdefault(sentence, []).append(number)
    return [UserSentence(text, tuple(dict.fromkeys(numbers))) for text, numbers in turns.items()]


def transcript(conversation: Conversation) -> str:
    """The conversation as one text, each turn with its number and speaker."""
    return "\n\n".join(
        f"[{number}] {_SPEAKERS.get(message.role, message.role)}: {message.content.strip()}"
        for number, message in enumerate(conversation.messages, start=1)
    )


def age(conversation: Conversation) -> tuple[str, str]:
    """Sorts conversations from the oldest to the newest; undated ones come first."""
    started_at = conversation.started_at
    return started_at.isoformat() if started_at else "", conversation.conversation_id


def memory_users(
    puppets: Sequence[str], conversations: Iterable[Conversation], rules: ReadingRules
) -> list[MemoryUser]:
    """Which conversations of each puppet are read: the newest ones that are short enough.

    Args:
        puppets: user ids, in the order in which they become puppets.
        conversations: all of these users, in any order.
    """
    by_user: dict[str, list[Conversation]] = {user: [] for user in puppets}
    for conversation in conversations:
        by_user[conversation.user_id].append(conversation)
    users = []
    for place, (user, rows) in enumerate(by_user.items()):
        rows.sort(key=age)
        short = [c for c in rows if c.n_tokens <= rules.longest]
        read = [c.conversation_id for c in short[-rules.conversations :]]
        users.append(MemoryUser(place, user, len(rows), len(rows) - len(short), read))
    if n_long := sum(user.n_long for user in users):
        logger.warning(
            "%d conversations are longer than memory.longest, %d tokens, and are not read",
            *(n_long, rules.longest),
        )
    return users


def reading_items(
    users: Sequence[MemoryUser],
    conversations: Mapping[str, Conversation],
    rules: ReadingRules,
    template: TextTemplate,
) -> list[Item]:
    """The question to the reading model, one for each conversation.

    Args:
        conversations: by id.
        template: of the prompt; it may use `conversation` and `n`.

    Raises:
        StudyError: the template cannot be filled in.
    """
    ids = [i for user in users for i in user.conversation_ids]
    items = [_reading_item(conversations[i], rules, template) for i in ids]
    return [item for item in items if item is not None]


def _reading_item(
    conversation: Conversation, rules: ReadingRules, template: TextTemplate
) -> Item | None:
    sentences = [sentence.text for sentence in sentences_of(conversation)]
    if not sentences:
        return None
    n = rules.per_conversation
    n = min(n, len(sentences)) if rules.form == "sentences" else n
    values = {"conversation": transcript(conversation), "n": n}
    prompt = render(template, values)
    is_quoted = rules.form == "sentences"
    return Item(
        item_id=conversation.conversation_id,
        kind="text",
        question=prompt,
        prompt=prompt,
        choices=sentences if is_quoted else [],
        gold=None,
        subject=None,
        provenance=f"conversation {conversation.conversation_id} of user {conversation.user_id}",
        list_length=n if is_quoted else None,
    )
