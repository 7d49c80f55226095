"""A message of a file: who speaks and what is said, whatever the tool that wrote it calls them.

Promises that only text goes on: of a message with text and pictures the text, of one without text
nothing. What is left out is counted, and a role that nobody explained is never guessed at.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name
from fieldwork.files.rows import cell_text

Spoken = dict[str, str | None]
"""A message as `role` and `content`; a role that is NULL makes its conversation unreadable."""

_TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
_MOST_NAMED = 5

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
    # what a program says to the model, and not the user
    None: "tool function functioncall functionresponse toolcall toolresult observation ipython",
}


class MessageReader:
    """Reads messages, and counts what it leaves out.

    Args:
        roles: what roles are that are not known here: `user`, `assistant`, `system`, or None for
            messages that are left out.
    """

    def __init__(self, roles: Mapping[str, str | None]) -> None:
        self._roles = {word: role for role, words in _SPEAKERS.items() for word in words.split()}
        self._roles |= {bare_name(word): role for word, role in roles.items()}
        self._known: dict[str, str | None] = {}
        self.left_out: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def knows(self, role: Any) -> bool:
        """Whether a cell is the name of a role."""
        return bare_name(cell_text(role)) in self._roles

    def read(self, role: Any, content: Any) -> Spoken | None:
        """The message; None where it is left out."""
        text = message_text(content)
        if text is None:
            self.left_out["messages without text"] += 1
            return None
        written = cell_text(role).strip()
        if not written:
            return {"role": None, "content": text}
        if written not in self._known:
            self._known[written] = self._roles.get(bare_name(written), "")
        speaker = self._known[written]
        if speaker == "":
            self.unknown[written] += 1
        elif speaker is None:
            self.left_out["messages of tools"] += 1
        return {"role": speaker, "content": text} if speaker else None

    def refuse_unknown(self, name: str) -> None:
        """Raise StudyError where a role was not known."""
        if not self.unknown:
            return
        most = ", ".join(
            f"{role[:40]!r} ({n})" for role, n in self.unknown.most_common(_MOST_NAMED)
        )
        raise StudyError(
            f"{name}: {self.unknown.total()} messages have a role that is not known: {most}; say in the "
            f"corpus's `roles` what each is: user, assistant, system, or null to leave its messages out"
        )


def message_text(content: Any) -> str | None:
    """The text of a message, the parts of a list under one another; None where there is none."""
    if isinstance(content, list):
        parts = [part for part in map(_part_text, content) if part]
        text = "\n\n".join(parts)
    elif isinstance(content, dict):
        text = _part_text(content) or ""
    else:
        text = cell_text(content)
    return text if text.strip() else None


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type", "text") not in _TEXT_PARTS:
        return None
    text = part.get("text") or part.get("refusal")
    return text if isinstance(text, str) else None
