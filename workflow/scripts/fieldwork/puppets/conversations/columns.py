"""What the columns of a file of conversations hold: by the setting `columns`, else by their names.

Owns the usual names of such columns. A file has one of three layouts: one conversation a row, with a list
of messages in one column; one message a row; or one exchange a row, a prompt and its response. Promises a
sentence that says how each column is read. A file whose columns are not understood is refused, and the
message lists its columns.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import find_column, name_list
from fieldwork.files.json_values import json_value
from fieldwork.files.rows import is_empty
from fieldwork.files.sheets import Record

ColumnMap = Mapping[str, str | None]
"""Columns by what they hold; None says that the file has no such column, even if a name looks so."""

Fields = Mapping[str, Any]

ABOUT = ("conversation", "user", "order", "time", "model", "language", "toxic", "redacted")
_OF_A_MESSAGE_ROW = {
    "conversation": "the conversation's id",
    "role": "the speaker",
    "text": "the text",
}
OF_A_MESSAGE = ("role", "text", "plain_text", "time", "message", "parent")

_USUAL_NAMES = {
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
    # where the parts of a message have no text, it stands beside them
    "plain_text": "text",
    "message": "messageid messageuuid uuid id",
    "parent": "parentmessageid parentmessageuuid parentid parentuuid parentmessage parent",
    "prompt": "prompt userprompt usermessage question instruction query input userinput human frage "
    "anfrage eingabe",
    "response": "response assistantresponse modelresponse assistantmessage answer output modeloutput "
    "completion reply assistant antwort ausgabe reponse",
    # what an instruction is about
    "prompt_input": "input",
    "leaf": "currentleafmessageuuid currentleafmessageid currentleaf currentnode currentmessageid",
}
_ONLY_OF_CONVERSATIONS = "id uuid hash nr"
KNOWN_NAMES = frozenset(" ".join(_USUAL_NAMES.values()).split())
"""The usual names of columns that are read, as `bare_name` has them."""


class ConversationLayout(NamedTuple):
    """How a file is read.

    Attributes:
        columns: columns of a row by what they hold.
        keys: keys of a message in a row's list by what they hold; None where a row has no list.
        unused_columns: columns that are not read.
    """

    columns: Mapping[str, str]
    keys: Mapping[str, str] | None
    unused_columns: tuple[str, ...]

    @property
    def has_exchanges(self) -> bool:
        """Whether a row is a prompt and its response."""
        return "prompt" in self.columns

    @property
    def has_conversations(self) -> bool:
        """Whether no other row belongs to a row's conversation."""
        return self.keys is not None or (self.has_exchanges and "conversation" not in self.columns)

    def sentence(self) -> str:
        columns = ", ".join(f"{role} = {column}" for role, column in self.columns.items())
        inner = ", ".join(f"{role} = {key}" for role, key in (self.keys or {}).items())
        row = "one message a row" if self.keys is None else "one conversation a row"
        row = "one prompt and its response a row" if self.has_exchanges else row
        return (
            f"{row} ({columns}{f'; in each message {inner}' if inner else ''}); "
            f"not used: {', '.join(self.unused_columns) or 'none'}"
        )


def find_layout(
    file: str, sample: Sequence[Record], column_map: ColumnMap, is_role: Callable[[Any], bool]
) -> ConversationLayout:
    """The layout of a file, from some of its rows.

    Raises:
        StudyError: a column of the setting is not there, or a needed column has no usual name.
    """
    rows = [record.fields for record in sample]
    guess = _ColumnGuess(column_map, rows)
    messages = _messages_column(rows, guess.names, column_map)
    lists = [messages_at(row, messages) for row in rows] if messages else []
    entries = [entry for entries in lists for entry in entries if isinstance(entry, dict)]
    inner = _names(entries)
    for role, name in column_map.items():
        if name is not None and name not in guess.names and name not in inner:
            problem = f"has no column {name!r}, which `columns.{role}` of the corpus names"
            raise _missing(file, problem, guess.names)
    if messages is None:
        return _exchange_a_row(rows, column_map, is_role) or _messages_a_row(
            file, rows, guess, is_role
        )
    guess.columns["messages"] = messages
    guess.take_all((*ABOUT, "leaf"), more_names={"conversation": _ONLY_OF_CONVERSATIONS})
    key_map = {role: name for role, name in column_map.items() if name in (None, *inner)}
    keys = _ColumnGuess(key_map, entries)
    keys.take_all(OF_A_MESSAGE)
    for role in ("role", "text"):
        if role not in keys.columns:
            problem = (
                f"the messages in column {messages!r} have no key with a usual name for the {role}"
            )
            raise _missing(file, problem, inner, role)
    return ConversationLayout(guess.columns, keys.columns, guess.unused_columns())


def _exchange_a_row(
    rows: Sequence[Fields], column_map: ColumnMap, is_role: Callable[[Any], bool]
) -> ConversationLayout | None:
    """The layout of a file of prompts and responses; None for any other, such as one of messages."""
    guess = _ColumnGuess(column_map, rows)
    if not (column_map.get("prompt") or column_map.get("response")):
        messages = _ColumnGuess(column_map, rows)
        if _take_messages(messages, rows, is_role):
            return None
    guess.take_all(("prompt", "response"))
    if "prompt" not in guess.columns or "response" not in guess.columns:
        return None
    guess.take_all(("prompt_input", *ABOUT))
    return ConversationLayout(guess.columns, None, guess.unused_columns())


def _messages_a_row(
    file: str, rows: Sequence[Fields], guess: "_ColumnGuess", is_role: Callable[[Any], bool]
) -> ConversationLayout:
    if not _take_messages(guess, rows, is_role):
        role = next(role for role in _OF_A_MESSAGE_ROW if role not in guess.columns)
        problem = f"no column has a usual name for {_OF_A_MESSAGE_ROW[role]}"
        raise _missing(file, problem, guess.names, role)
    return ConversationLayout(guess.columns, None, guess.unused_columns())


def _take_messages(
    guess: "_ColumnGuess", rows: Sequence[Fields], is_role: Callable[[Any], bool]
) -> bool:
    """Look for the columns of a message a row; whether those are there that it needs."""
    if role := _role_column(rows, guess, is_role):
        guess.columns["role"] = role
    guess.take_all(("conversation", "text", "plain_text", *ABOUT, "message", "parent"))
    return guess.columns.keys() >= _OF_A_MESSAGE_ROW.keys()


class _ColumnGuess:
    """Assigns each column once: by the setting, else to the first role whose usual names include it."""

    def __init__(self, column_map: ColumnMap, rows: Sequence[Fields]) -> None:
        self.column_map = column_map
        self._whole = list(dict.fromkeys(name for row in rows for name in row))
        self._objects = {
            n for row in rows for n, value in row.items() if isinstance(value, Mapping)
        }
        self.names = _names(rows)
        self._columns_with_values = {
            name for name in self.names if any(not is_empty(value_at(row, name)) for row in rows)
        }
        self.columns: dict[str, str] = {}

    def take_all(self, roles: Sequence[str], more_names: Mapping[str, str] | None = None) -> None:
        """Look for the columns of roles that have none yet."""
        for role in roles:
            if role in self.columns:
                continue
            if role in self.column_map:
                name = self.column_map[role] if self.column_map[role] in self.names else None
            else:
                candidates = f"{_USUAL_NAMES[role]} {(more_names or {}).get(role, '')}".split()
                free = self.free(with_objects=role == "text")
                # an empty column may have the better name, and what is meant stands in another
                with_values = [name for name in free if name in self._columns_with_values]
                name = find_column(with_values, candidates) or find_column(free, candidates)
            if name is not None:
                self.columns[role] = name

    def free(self, *, with_objects: bool = False) -> list[str]:
        """Columns without a role; the fields of objects count as columns."""
        used_columns = {*self.columns.values(), *self.column_map.values()}
        used_columns |= set() if with_objects else self._objects
        return [name for name in self.names if name not in used_columns]

    def unused_columns(self) -> tuple[str, ...]:
        """Columns that are not read; an object with a field that is read counts as read."""
        used_columns = set(self.columns.values())
        used_columns |= {
            name for name in self._objects if any(n.startswith(f"{name}.") for n in used_columns)
        }
        return tuple(name for name in self._whole if name not in used_columns)


def _role_column(
    rows: Sequence[Fields], guess: _ColumnGuess, is_role: Callable[[Any], bool]
) -> str | None:
    """The column that the setting names; else one with a usual name, or whose cells are all roles."""
    if guess.column_map.get("role"):
        return guess.column_map["role"]
    free = guess.free()
    role_columns = [name for name in free if _all_roles(rows, name, is_role)]
    candidates = _USUAL_NAMES["role"].split()
    names = (find_column(role_columns, candidates), *role_columns, find_column(free, candidates))
    return next((name for name in names if name), None)


def _all_roles(rows: Sequence[Fields], name: str, is_role: Callable[[Any], bool]) -> bool:
    cells = [cell for row in rows if (cell := value_at(row, name)) not in (None, "")]
    return bool(cells) and all(is_role(cell) for cell in cells)


def _messages_column(
    rows: Sequence[Fields], names: Sequence[str], column_map: ColumnMap
) -> str | None:
    if "messages" in column_map:
        return column_map["messages"]
    lists = [n for n in names if any(messages_at(row, n) for row in rows)]
    return find_column(lists, _USUAL_NAMES["messages"].split())


def messages_at(fields: Fields, column: str) -> list[Any]:
    """The list in a cell, or in its JSON text; empty where there is no list."""
    value = value_at(fields, column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            value = json_value(value)
    return value if isinstance(value, list) else []


def value_at(fields: Fields, name: str) -> Any:
    """The value of a field; `account.uuid` is the field `uuid` of the object `account`."""
    if name in fields:
        return fields[name]
    outer, _, inner = name.partition(".")
    value = fields.get(outer)
    return value.get(inner) if isinstance(value, Mapping) else None


def _names(rows: Sequence[Fields]) -> list[str]:
    """Names of fields in order of appearance; those inside an object follow its name and a dot."""
    names: dict[str, None] = {}
    for name, value in ((name, value) for row in rows for name, value in row.items()):
        inner = value if isinstance(value, Mapping) else ()
        names |= dict.fromkeys([name, *(f"{name}.{key}" for key in inner)])
    return list(names)


def _missing(file: str, problem: str, names: Sequence[str], role: str | None = None) -> StudyError:
    advice = "correct the setting"
    if role:
        usual_name = "conversation_id" if role == "conversation" else role
        advice = f"rename one to `{usual_name}`, or name it in `columns.{role}` of the corpus"
    return StudyError(f"{file}: {problem} (there are {name_list(names)}); {advice}")
