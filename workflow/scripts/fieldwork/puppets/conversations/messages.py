"""A message of a file: its speaker, text and time, whatever the tool that wrote the file calls them.

Promises that only text is kept: of a message with text and pictures the text, of a message without text
nothing. Messages that are left out are counted, and an unknown role is never guessed. Times are ISO 8601,
days with dots, or a number since 1970.
"""

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name
from fieldwork.files.rows import cell_text

SpokenMessage = dict[str, str | None]
"""A message as `role` and `content`; a NULL role makes its conversation unreadable."""

_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "voice_note", "audio_transcription")
# where such a part has its text; in `parts` and `content` it may be in parts again
_TEXT_KEYS = ("text", "refusal", "value", "content", "parts")
_MOST_NAMED = 5
_NUMBER = re.compile(r"\d{9,19}(\.\d+)?")
_TIMES_AFTER_DAYS = (" %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", "")

_SPEAKERS: dict[str | None, str] = {
    "user": (
        "user human prompter customer client me you person participant visitor enduser "
        "nutzer nutzerin benutzer benutzerin kunde kundin mensch utilisateur utilisatrice humain usuario"
    ),
    "assistant": (
        "assistant gpt chatgpt bot chatbot ai model modelassistant llm claude gemini bard copilot agent "
        "assistent assistentin ki modell assistante modele ia asistente"
    ),
    "system": "system developer systemprompt systeme sistema",
    # what a program tells the model
    None: "tool function functioncall functionresponse toolcall toolresult observation ipython",
}


class MessageReader:
    """Reads messages, and counts those it leaves out.

    Args:
        roles: meaning of roles under other names: `user`, `assistant`, `system`, or None for messages
            that are left out.
    """

    def __init__(self, roles: Mapping[str, str | None]) -> None:
        self._roles = {word: role for role, words in _SPEAKERS.items() for word in words.split()}
        self._roles |= {bare_name(word): role for word, role in roles.items()}
        self._speakers: dict[str, str | None] = {}
        self.left_out: Counter[str] = Counter()
        self.unknown_roles: Counter[str] = Counter()

    def knows(self, role: Any) -> bool:
        """Whether a cell is the name of a role."""
        return bare_name(cell_text(role)) in self._roles

    def read(self, role: Any, content: Any) -> SpokenMessage | None:
        text = message_text(content)
        if text is None:
            self.left_out["messages without text"] += 1
            return None
        role_name = cell_text(role).strip()
        if not role_name:
            return {"role": None, "content": text}
        if role_name not in self._speakers:
            self._speakers[role_name] = self._roles.get(bare_name(role_name), "")
        speaker = self._speakers[role_name]
        if speaker == "":
            self.unknown_roles[role_name] += 1
        elif speaker is None:
            self.left_out["messages of tools"] += 1
        return {"role": speaker, "content": text} if speaker else None

    def refuse_unknown(self, name: str) -> None:
        """Raise StudyError where a role was unknown."""
        if not self.unknown_roles:
            return
        examples = ", ".join(
            f"{role[:40]!r} ({n})" for role, n in self.unknown_roles.most_common(_MOST_NAMED)
        )
        raise StudyError(
            f"{name}: {self.unknown_roles.total()} messages have an unknown role: {examples}; say in the "
            f"corpus's `roles` what each means: user, assistant, system, or null to leave its messages "
            f"out"
        )


def message_text(content: Any) -> str | None:
    """The text of a message, with a blank line between the parts of a list; None where there is none."""
    text = _text_of(content) if isinstance(content, list | dict) else cell_text(content)
    return text if text.strip() else None


def _text_of(part: Any) -> str:
    """The text of a part, which may have parts itself; empty for pictures, thoughts and tools."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "\n\n".join(text for text in map(_text_of, part) if text)
    if not isinstance(part, dict) or part.get("type", "text") not in _TEXT_PARTS:
        return ""
    return next((text for key in _TEXT_KEYS if (text := _text_of(part.get(key)))), "")


# ---- times ---------------------------------------------------------------------------------------


def instant(value: Any) -> datetime | None:
    """The time in UTC, or None where it cannot be read; a time without a zone is taken as UTC.

    A number counts seconds, milliseconds, microseconds or nanoseconds since 1970, depending on its size.
    A day with slashes is not read, because 3/4/2025 is a different day in different countries.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    text = str(value).strip()
    if _NUMBER.fullmatch(text):
        return _since_1970(float(text))
    return _from_text(text)


def _from_text(text: str) -> datetime | None:
    with suppress(ValueError):
        return _in_utc(datetime.fromisoformat(re.sub(r" ?(UTC|GMT)$", "+00:00", text)))
    for form in _TIMES_AFTER_DAYS:
        with suppress(ValueError):
            return _in_utc(datetime.strptime(text, f"%d.%m.%Y{form}"))
    return None


def _in_utc(value: datetime) -> datetime | None:
    with suppress(OverflowError, ValueError):
        return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
    return None


def _since_1970(number: float) -> datetime | None:
    for largest, unit in ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        if number < largest:
            with suppress(OverflowError, ValueError, OSError):
                return datetime.fromtimestamp(number / unit, UTC)
    return None
