"""Conversations from rows: one conversation a row, or messages and exchanges grouped by conversation.

Promises that a conversation is identified by id, file and user together. Ids that start again in each
file, or for each user, are therefore never confused.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.rows import cell_text
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.branches import BranchMessage, chosen_branch
from fieldwork.puppets.conversations.columns import ConversationLayout, messages_at, value_at
from fieldwork.puppets.conversations.messages import (
    MessageReader,
    SpokenMessage,
    instant,
    message_text,
)

_TRUE = ("true", "1", "yes", "ja", "oui", "wahr", "vrai")
OTHER_BRANCHES = "messages of other branches"
_FALSE = ("false", "0", "no", "nein", "non", "falsch", "faux")


class Chat(NamedTuple):
    """A conversation as a file has it; None where the file does not say."""

    conversation_id: str | None
    user_id: str | None
    started_at: datetime | None
    language: str | None
    model: str | None
    is_toxic: bool | None
    is_redacted: bool | None
    messages: list[SpokenMessage]


class MessageRow(NamedTuple):
    """A row that holds one message, with all that its conversation needs.

    `number` is the message's place in the file; `position` is NULL where the file has no such column, and
    `content` for a message that is left out: others may follow it.
    """

    file: int
    number: int
    conversation_id: str
    user_id: str | None
    position: float | None
    sent_at: datetime | None
    language: str | None
    model: str | None
    is_toxic: bool | None
    is_redacted: bool | None
    role: str | None
    content: str | None
    message_id: str | None = None
    parent_id: str | None = None


class RowReader:
    """Reads the rows of one file by its layout, and counts times and flags that cannot be read."""

    def __init__(self, layout: ConversationLayout, messages: MessageReader) -> None:
        self._layout, self._columns = layout, layout.columns
        self._keys = layout.keys or {}
        self._messages = messages
        self.unread_cells: Counter[str] = Counter()

    def chats(self, records: Iterable[Record]) -> Iterator[Chat]:
        """The conversations of a file with one conversation a row."""
        for _, fields in records:
            if self._layout.has_exchanges:
                yield self._exchange_chat(fields)
                continue
            entries = self._branch_of(
                [e for e in messages_at(fields, self._columns["messages"]) if e], fields
            )
            messages = [m for entry in entries if (m := self._message(entry))]
            times = [t for entry in entries if (t := self._time(self._keys, entry))]
            started_at = min(times, default=self._time(self._columns, fields))
            name = self._text(fields, "conversation")
            yield Chat(name, self._text(fields, "user"), started_at, *self._about(fields), messages)

    def _exchange_chat(self, fields: Mapping[str, Any]) -> Chat:
        messages = [m for m in self._exchange(fields) if m]
        started_at = self._time(self._columns, fields)
        return Chat(None, self._text(fields, "user"), started_at, *self._about(fields), messages)

    def _exchange(self, fields: Mapping[str, Any]) -> list[SpokenMessage | None]:
        """A prompt, with what it is about below it, and its response."""
        prompts = [message_text(self._cell(fields, role)) for role in ("prompt", "prompt_input")]
        prompt = "\n\n".join(text for text in prompts if text)
        response = self._cell(fields, "response")
        return [self._messages.read("user", prompt), self._messages.read("assistant", response)]

    def message_rows(self, file: int, records: Iterable[Record], name: str) -> Iterator[MessageRow]:
        """The messages of a file, one or an exchange a row; StudyError for one without a conversation."""
        for number, (place, fields) in enumerate(records):
            conversation = self._text(fields, "conversation")
            if conversation is None:
                raise StudyError(
                    f"{name}: {place} is empty in column {self._columns['conversation']!r}, so its "
                    f"message belongs to no conversation; write the conversation's id, or delete the row"
                )
            for place_in_row, message in enumerate(self._row_messages(fields)):
                yield MessageRow(
                    file,
                    2 * number + place_in_row,
                    conversation,
                    self._text(fields, "user"),
                    self._position(fields),
                    self._time(self._columns, fields),
                    *self._about(fields),
                    message["role"] if message else None,
                    message["content"] or "" if message else None,
                    self._text(fields, "message"),
                    self._text(fields, "parent"),
                )

    def _row_messages(self, fields: Mapping[str, Any]) -> list[SpokenMessage | None]:
        """The messages of a row; None for one without text that others may follow."""
        if self._layout.has_exchanges:
            return [m for m in self._exchange(fields) if m]
        message = self._read(fields, self._columns)
        return [message] if message is not None or "parent" in self._columns else []

    def _branch_of(self, entries: list[Any], fields: Mapping[str, Any]) -> list[Any]:
        """The entries of the branch that the file names, or of the latest one."""
        if "parent" not in self._keys or not all(isinstance(e, Mapping) for e in entries):
            return entries
        times = [
            instant(value_at(e, self._keys["time"])) if "time" in self._keys else None
            for e in entries
        ]
        if all(times):
            order = sorted(range(len(entries)), key=lambda k: (times[k], k))
            entries = [entries[k] for k in order]
        ids = [
            BranchMessage(
                *(
                    cell_text(value_at(e, self._keys[r])).strip() or None
                    for r in ("message", "parent")
                )
            )
            for e in entries
        ]
        places = chosen_branch(ids, self._text(fields, "leaf"))
        self._messages.left_out[OTHER_BRANCHES] += len(entries) - len(places)
        return [entries[k] for k in places]

    def _about(
        self, fields: Mapping[str, Any]
    ) -> tuple[str | None, str | None, bool | None, bool | None]:
        """Language, model, and whether it is toxic or redacted."""
        language, model = self._text(fields, "language"), self._text(fields, "model")
        return language, model, self._flag(fields, "toxic"), self._flag(fields, "redacted")

    def _message(self, entry: Any) -> SpokenMessage | None:
        return self._read(entry if isinstance(entry, Mapping) else {}, self._keys)

    def _read(self, fields: Mapping[str, Any], names: Mapping[str, str]) -> SpokenMessage | None:
        content = value_at(fields, names["text"])
        if "plain_text" in names and message_text(content) is None:
            content = value_at(fields, names["plain_text"])
        return self._messages.read(value_at(fields, names["role"]), content)

    def _cell(self, fields: Mapping[str, Any], role: str) -> Any:
        name = self._columns.get(role)
        return None if name is None else value_at(fields, name)

    def _text(self, fields: Mapping[str, Any], role: str) -> str | None:
        return cell_text(self._cell(fields, role)).strip() or None

    def _flag(self, fields: Mapping[str, Any], role: str) -> bool | None:
        word = cell_text(self._cell(fields, role)).strip().casefold()
        if word and word not in _TRUE + _FALSE:
            self.unread_cells[role] += 1
        return word in _TRUE if word in _TRUE + _FALSE else None

    def _position(self, fields: Mapping[str, Any]) -> float | None:
        text = self._text(fields, "order")
        try:
            return None if text is None else float(text)
        except ValueError:
            self.unread_cells["order"] += 1
            return None

    def _time(self, columns: Mapping[str, str], fields: Any) -> datetime | None:
        if "time" not in columns or not isinstance(fields, Mapping):
            return None
        cell = value_at(fields, columns["time"])
        moment = instant(cell)
        if moment is None and cell_text(cell).strip():
            self.unread_cells["time"] += 1
        return moment


# ---- from messages to conversations --------------------------------------------------------------


def gather_chats(rows: Sequence[MessageRow], name: str, left_out: Counter[str]) -> Iterator[Chat]:
    """The conversations of the message rows that share an id in a file: one, or one for each user.

    The assistant's rows may name no user, or the assistant. Messages are ordered by position, else by
    time, else by row.

    Raises:
        StudyError: there are several users, and messages that could belong to any of them.
    """
    users = {row.user_id for row in rows if row.role == "user" and row.user_id}
    # where no row of a user has text, any other row that names one decides
    users = users or {row.user_id for row in rows if row.user_id}
    if len(users) <= 1:
        yield _chat(rows, next(iter(users), None), left_out)
        return
    if any(row.user_id not in users for row in rows):
        raise StudyError(
            f"{name}: conversation {rows[0].conversation_id!r} has messages of {len(users)} users and "
            f"messages without a user; name the user in each row, or say `columns: {{user: null}}` if "
            f"each conversation shall count as one user"
        )
    for user in dict.fromkeys(row.user_id for row in rows):
        yield _chat([row for row in rows if row.user_id == user], user, left_out)


def _chat(rows: Sequence[MessageRow], user: str | None, left_out: Counter[str]) -> Chat:
    ordered_rows = _in_order(rows)
    places = chosen_branch([BranchMessage(row.message_id, row.parent_id) for row in ordered_rows])
    left_out[OTHER_BRANCHES] += len(ordered_rows) - len(places)
    ordered_rows = [row for k in places if (row := ordered_rows[k]).content is not None]
    times = [row.sent_at for row in rows if row.sent_at]
    return Chat(
        conversation_id=rows[0].conversation_id,
        user_id=user,
        started_at=min(times, default=None),
        language=_first(row.language for row in ordered_rows if row.role == "user"),
        model=_first(row.model for row in ordered_rows),
        is_toxic=_any(row.is_toxic for row in rows),
        is_redacted=_any(row.is_redacted for row in rows),
        messages=[{"role": row.role, "content": row.content} for row in ordered_rows],
    )


def _in_order(rows: Sequence[MessageRow]) -> list[MessageRow]:
    # a position or time that only some messages have cannot order them
    by_position = all(row.position is not None for row in rows)
    by_time = all(row.sent_at is not None for row in rows)

    def place(row: MessageRow) -> tuple[float, float, int]:
        position = row.position if by_position and row.position is not None else 0.0
        seconds = row.sent_at.timestamp() if by_time and row.sent_at is not None else 0.0
        return (position, seconds, row.number)

    return sorted(rows, key=place)


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)


def _any(flags: Iterable[bool | None]) -> bool | None:
    values = [flag for flag in flags if flag is not None]
    return any(values) if values else None
