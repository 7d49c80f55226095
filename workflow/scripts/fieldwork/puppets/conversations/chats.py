"""Conversations out of rows: a conversation a row, or a message a row, gathered by conversation.

Promises that a conversation is an id, a file and a user: numbers that begin anew in each file, or for
each user, never run into one another.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.rows import cell_text
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.columns import Layout, messages_at, value_at
from fieldwork.puppets.conversations.instants import instant
from fieldwork.puppets.conversations.messages import MessageReader, Spoken

_TRUE = ("true", "1", "yes", "ja", "oui", "wahr", "vrai")
_FALSE = ("false", "0", "no", "nein", "non", "falsch", "faux")


class Chat(NamedTuple):
    """A conversation as a file has it; None where the file does not say."""

    conversation_id: str | None
    user_id: str | None
    started_at: datetime | None
    language: str | None
    model: str | None
    toxic: bool | None
    redacted: bool | None
    messages: list[Spoken]


class Line(NamedTuple):
    """A message a row: what is needed to put conversations together again.

    `number` counts the rows of a file, `position` is NULL where the file has no such column.
    """

    file: int
    number: int
    conversation_id: str
    user_id: str | None
    position: float | None
    sent_at: datetime | None
    language: str | None
    model: str | None
    toxic: bool | None
    redacted: bool | None
    role: str | None
    content: str


def user_hash(name: str) -> str:
    """What a user is called in a study: whoever knows the name finds its user, but none reads it."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()


class RowReader:
    """Reads the rows of one file by its layout; times and flags that cannot be read are counted."""

    def __init__(self, layout: Layout, messages: MessageReader) -> None:
        self._columns = layout.columns
        self._keys = layout.keys or {}
        self._messages = messages
        self.unread: Counter[str] = Counter()

    def chats(self, records: Iterable[Record]) -> Iterator[Chat]:
        """Conversations, one a row."""
        for _, fields in records:
            entries = [e for e in messages_at(fields, self._columns["messages"]) if e]
            spoken = [m for entry in entries if (m := self._spoken(entry))]
            times = [t for entry in entries if (t := self._time(self._keys, entry))]
            yield Chat(
                conversation_id=self._text(fields, "conversation"),
                user_id=self._user(fields),
                started_at=min(times, default=self._time(self._columns, fields)),
                language=self._text(fields, "language"),
                model=self._text(fields, "model"),
                toxic=self._flag(fields, "toxic"),
                redacted=self._flag(fields, "redacted"),
                messages=spoken,
            )

    def lines(self, file: int, records: Iterable[Record], name: str) -> Iterator[Line]:
        """Messages, one a row; StudyError where a row belongs to no conversation."""
        for number, (place, fields) in enumerate(records):
            conversation = self._text(fields, "conversation")
            if conversation is None:
                raise StudyError(
                    f"{name}: {place} has no value in column {self._columns['conversation']!r}, so its "
                    f"message belongs to no conversation; write one, or delete the row"
                )
            spoken = self._messages.read(
                *(value_at(fields, self._columns[role]) for role in ("role", "text"))
            )
            if spoken is not None:
                yield self._line(file, number, conversation, fields, spoken)

    def _line(
        self, file: int, number: int, conversation: str, fields: Mapping[str, Any], spoken: Spoken
    ) -> Line:
        return Line(
            file=file,
            number=number,
            conversation_id=conversation,
            user_id=self._user(fields),
            position=self._position(fields),
            sent_at=self._time(self._columns, fields),
            language=self._text(fields, "language"),
            model=self._text(fields, "model"),
            toxic=self._flag(fields, "toxic"),
            redacted=self._flag(fields, "redacted"),
            role=spoken["role"],
            content=spoken["content"] or "",
        )

    def _spoken(self, entry: Any) -> Spoken | None:
        fields = entry if isinstance(entry, Mapping) else {}
        return self._messages.read(
            *(value_at(fields, self._keys[role]) for role in ("role", "text"))
        )

    def _cell(self, fields: Mapping[str, Any], role: str) -> Any:
        name = self._columns.get(role)
        return None if name is None else value_at(fields, name)

    def _text(self, fields: Mapping[str, Any], role: str) -> str | None:
        return cell_text(self._cell(fields, role)).strip() or None

    def _user(self, fields: Mapping[str, Any]) -> str | None:
        name = self._text(fields, "user")
        return None if name is None else user_hash(name)

    def _flag(self, fields: Mapping[str, Any], role: str) -> bool | None:
        word = cell_text(self._cell(fields, role)).strip().casefold()
        if word and word not in _TRUE + _FALSE:
            self.unread[role] += 1
        return word in _TRUE if word in _TRUE + _FALSE else None

    def _position(self, fields: Mapping[str, Any]) -> float | None:
        text = self._text(fields, "order")
        try:
            return None if text is None else float(text)
        except ValueError:
            self.unread["order"] += 1
            return None

    def _time(self, columns: Mapping[str, str], fields: Any) -> datetime | None:
        if "time" not in columns or not isinstance(fields, Mapping):
            return None
        cell = value_at(fields, columns["time"])
        read = instant(cell)
        if read is None and cell_text(cell).strip():
            self.unread["time"] += 1
        return read


# ---- from messages to conversations --------------------------------------------------------------


def gathered(lines: Sequence[Line], name: str) -> Iterator[Chat]:
    """The conversations of the messages that share an id in a file: one, or one for each user.

    Assistants' rows may name no user, or the assistant. Messages stand in the order of their positions,
    else of their times, else of their rows.

    Raises:
        StudyError: several users, and messages that could be to any of them.
    """
    users = {line.user_id for line in lines if line.role == "user" and line.user_id}
    # without text by the user, any other row that names one tells
    users = users or {line.user_id for line in lines if line.user_id}
    if len(users) <= 1:
        yield _chat(lines, next(iter(users), None))
        return
    if any(line.user_id not in users for line in lines):
        raise StudyError(
            f"{name}: conversation {lines[0].conversation_id!r} has messages of {len(users)} users, and "
            f"others that name none of them; name the user in each row, or say `columns: {{user: null}}` "
            f"where a conversation is to be a user"
        )
    for user in dict.fromkeys(line.user_id for line in lines):
        yield _chat([line for line in lines if line.user_id == user], user)


def _chat(lines: Sequence[Line], user: str | None) -> Chat:
    ordered = _in_order(lines)
    times = [line.sent_at for line in lines if line.sent_at]
    return Chat(
        conversation_id=lines[0].conversation_id,
        user_id=user,
        started_at=min(times, default=None),
        language=_first(line.language for line in ordered if line.role == "user"),
        model=_first(line.model for line in ordered),
        toxic=_any(line.toxic for line in lines),
        redacted=_any(line.redacted for line in lines),
        messages=[{"role": line.role, "content": line.content} for line in ordered],
    )


def _in_order(lines: Sequence[Line]) -> list[Line]:
    # what only some messages have puts none of them in order
    by_position = all(line.position is not None for line in lines)
    by_time = all(line.sent_at is not None for line in lines)

    def place(line: Line) -> tuple[float, float, int]:
        position = line.position if by_position and line.position is not None else 0.0
        sent = line.sent_at.timestamp() if by_time and line.sent_at is not None else 0.0
        return (position, sent, line.number)

    return sorted(lines, key=place)


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)


def _any(flags: Iterable[bool | None]) -> bool | None:
    known = [flag for flag in flags if flag is not None]
    return any(known) if known else None
