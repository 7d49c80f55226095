"""What the columns of a file of conversations hold: as the config maps them, else by their names.

Owns the names that are known. A file is in one of two shapes: a conversation a row, with a list of
messages in one column, or a message a row. Promises that what was taken for what is said in one sentence,
and that a file whose columns are not understood is refused with the columns that are there.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import find_column, listed
from fieldwork.files.sheets import Record

ColumnMap = Mapping[str, str | None]
"""Columns by what they hold; None says that the file has no such column, whatever its names."""

Fields = Mapping[str, Any]

ABOUT = ("conversation", "user", "order", "time", "model", "language", "toxic", "redacted")
OF_A_MESSAGE = ("role", "text", "time")

_CALLED = {
    "messages": "messages conversation conversations chatmessages turns dialog dialogue chat history "
    "nachrichten gesprach unterhaltung",
    "conversation": "conversationid conversationhash conversationuuid convid chatid threadid sessionid "
    "dialogid dialogueid conversation chat thread session dialogue gesprachsid gesprach unterhaltung "
    "sitzung chatnr iddeconversation idconversation discussion conversacion",
    "user": "userid hashedip participantid user participant personid person accountuuid accountid "
    "account clientid customerid useruuid metadatauserid username nutzerid nutzer benutzerid benutzer "
    "teilnehmerid teilnehmer versuchsperson vp kundennummer utilisateurid utilisateur idutilisateur "
    "participante usuario",
    "order": "turnidentifier messageindex messageid order position turn turnid turnindex index step seq "
    "sequence messagenumber nr reihenfolge ordre",
    "time": "timestamp createdat createtime createddate created time datetime sentat startedat date "
    "zeitstempel zeitpunkt zeit datum uhrzeit horodatage heure dateheure fecha",
    "model": "model modelname modelslug defaultmodelslug modell modele",
    "language": "language lang locale sprache langue idioma",
    "toxic": "toxic toxisch toxique",
    "redacted": "redacted anonymised anonymized",
    "role": "role from sender author authorrole speaker who messagerole rolle absender sprecher "
    "sprecherin autor wer expediteur locuteur auteur rol",
    "text": "content text value message body utterance messagetext nachricht nachrichtentext inhalt "
    "aussage contenu texte contenido texto",
}
_ONLY_OF_CONVERSATIONS = "id uuid hash nr"


class Layout(NamedTuple):
    """How a file is read.

    Attributes:
        columns: column of a row by what it holds.
        keys: key of a message in the list of a row; None where a row is a message.
        unused: columns that nothing is read of.
    """

    columns: Mapping[str, str]
    keys: Mapping[str, str] | None
    unused: tuple[str, ...]

    def sentence(self) -> str:
        """What was taken for what."""
        named = ", ".join(f"{role} = {column}" for role, column in self.columns.items())
        inner = ", ".join(f"{role} = {key}" for role, key in (self.keys or {}).items())
        row = "a message a row" if self.keys is None else "a conversation a row"
        return (
            f"{row} ({named}{f'; in each message {inner}' if inner else ''}); "
            f"not used: {', '.join(self.unused) or 'none'}"
        )


def find_layout(
    file: str, sample: Sequence[Record], mapped: ColumnMap, is_role: Callable[[Any], bool]
) -> Layout:
    """The layout of a file, from some of its rows.

    Args:
        file: its name, for messages.
        mapped: what the config says; the rest is known by its name.
        is_role: whether a cell is the name of a role.

    Raises:
        StudyError: a mapped column is not there, or no column is known to hold what is needed.
    """
    rows = [record.fields for record in sample]
    guess = _Guess(mapped, rows)
    messages = _messages_column(rows, guess.names, mapped)
    entries = _entries(rows, messages) if messages else []
    inner = _names(entries)
    for role, name in mapped.items():
        if name is not None and name not in guess.names and name not in inner:
            what = f"has no column {name!r} (`columns.{role}` of the corpus)"
            raise _missing(file, what, guess.names)
    if messages is None:
        return _messages_a_row(file, rows, guess, is_role)
    guess.take("messages", messages)
    guess.take_all(ABOUT, also_called={"conversation": _ONLY_OF_CONVERSATIONS})
    keys = _Guess({role: name for role, name in mapped.items() if name in (None, *inner)}, entries)
    keys.take_all(OF_A_MESSAGE)
    for role in ("role", "text"):
        if role not in keys.columns:
            raise _missing(file, f"has no {role} known in its messages ({messages})", inner, role)
    return Layout(guess.columns, keys.columns, guess.unused())


def _messages_a_row(
    file: str, rows: Sequence[Fields], guess: "_Guess", is_role: Callable[[Any], bool]
) -> Layout:
    guess.take("role", _role_column(rows, guess, is_role))
    guess.take_all(("conversation", "text", *ABOUT))
    for role in ("conversation", "role", "text"):
        if role not in guess.columns:
            what = {
                "conversation": "the conversation's id",
                "role": "who speaks",
                "text": "the text",
            }
            known = f"no column is known to hold {what[role]}"
            raise _missing(file, known, guess.names, role)
    return Layout(guess.columns, None, guess.unused())


class _Guess:
    """Columns as they are taken, each once: the config's word, else the first name that is known."""

    def __init__(self, mapped: ColumnMap, rows: Sequence[Fields]) -> None:
        self._mapped = mapped
        self._whole = list(dict.fromkeys(name for row in rows for name in row))
        self._objects = {
            n for row in rows for n, value in row.items() if isinstance(value, Mapping)
        }
        self.names = _names(rows)
        self.columns: dict[str, str] = {}

    def take(self, role: str, name: str | None) -> None:
        """Say what a column holds."""
        if name is not None:
            self.columns[role] = name

    def take_all(self, roles: Sequence[str], also_called: Mapping[str, str] | None = None) -> None:
        """Look for the columns of roles that are not taken yet."""
        for role in roles:
            if role in self.columns:
                continue
            if role in self._mapped:
                name = self._mapped[role]
                self.take(role, name if name in self.names else None)
                continue
            called = f"{_CALLED[role]} {(also_called or {}).get(role, '')}".split()
            self.take(role, find_column(self.free(with_objects=role == "text"), called))

    def free(self, *, with_objects: bool = False) -> list[str]:
        """Columns that are not taken, nor mapped to anything; the fields of objects are columns."""
        taken = {*self.columns.values(), *self._mapped.values()}
        taken |= set() if with_objects else self._objects
        return [name for name in self.names if name not in taken]

    def mapped(self, role: str) -> str | None:
        """What the config says."""
        return self._mapped.get(role)

    def unused(self) -> tuple[str, ...]:
        """Columns that nothing is read of; of an object that is read of, none counts."""
        used = set(self.columns.values())
        used |= {name for name in self._objects if any(n.startswith(f"{name}.") for n in used)}
        return tuple(name for name in self._whole if name not in used)


def _role_column(
    rows: Sequence[Fields], guess: _Guess, is_role: Callable[[Any], bool]
) -> str | None:
    """The mapped column; else one that is called so, or one in which every cell is a known role."""
    if guess.mapped("role"):
        return guess.mapped("role")
    free = guess.free()
    known = [name for name in free if _all_roles(rows, name, is_role)]
    called = _CALLED["role"].split()
    return find_column(known, called) or next(iter(known), None) or find_column(free, called)


def _all_roles(rows: Sequence[Fields], name: str, is_role: Callable[[Any], bool]) -> bool:
    cells = [cell for row in rows if (cell := value_at(row, name)) not in (None, "")]
    return bool(cells) and all(is_role(cell) for cell in cells)


def _messages_column(rows: Sequence[Fields], names: Sequence[str], mapped: ColumnMap) -> str | None:
    if "messages" in mapped:
        return mapped["messages"]
    lists = [n for n in names if any(messages_at(row, n) for row in rows)]
    return find_column(lists, _CALLED["messages"].split())


def _entries(rows: Sequence[Fields], column: str) -> list[Fields]:
    return [entry for row in rows for entry in messages_at(row, column) if isinstance(entry, dict)]


def messages_at(fields: Fields, column: str) -> list[Any]:
    """The list in a cell, JSON where the cell is text; empty where there is none."""
    value = value_at(fields, column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            value = json.loads(value)
    return value if isinstance(value, list) else []


def value_at(fields: Fields, name: str) -> Any:
    """A field, or with a dot in the name a field of the object that a field is."""
    if name in fields:
        return fields[name]
    outer, _, inner = name.partition(".")
    held = fields.get(outer)
    return held.get(inner) if isinstance(held, Mapping) else None


def _names(rows: Sequence[Fields]) -> list[str]:
    """Names of fields in the order in which they appear, those of objects in them with a dot."""
    return list(dict.fromkeys(name for row in rows for name in _names_of(row)))


def _names_of(fields: Fields) -> Iterator[str]:
    for name, value in fields.items():
        yield name
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in value)


def _missing(file: str, what: str, names: Sequence[str], role: str | None = None) -> StudyError:
    way_out = "correct it"
    if role:
        usual = "conversation_id" if role == "conversation" else role
        way_out = f"call it `{usual}`, or name it in `columns.{role}` of the corpus"
    return StudyError(f"{file}: {what}, there are {listed(names)}; {way_out}")
