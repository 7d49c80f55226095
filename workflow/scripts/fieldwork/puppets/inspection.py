"""What is in files of conversations and personas: shown to a person before there is a study.

The files are read as a study reads them, so that the counts are those of the study.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.files import json_values, texts
from fieldwork.files.headers import find_column, name_list
from fieldwork.files.sheets import is_json
from fieldwork.files.sheets import stream_records as stream_rows
from fieldwork.puppets.conversations.columns import find_layout
from fieldwork.puppets.conversations.exports import (
    MESSAGES,
    conversation_files,
    own_file_format,
    public_format,
    stream_records,
)
from fieldwork.puppets.conversations.messages import MessageReader
from fieldwork.puppets.conversations.spellings import joined_spellings
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.puppets.filters import NOT_IN_CORPUS
from fieldwork.puppets.personas import distinct_texts
from fieldwork.records.puppets import Conversation
from fieldwork.sections.corpora import FiltersSection

MAX_TURNS = 5
"""The paper's minimum of messages by a user; no study draft asks for more."""
_SAMPLE = 200
_PERSONA_NAMES = (
    "persona personatext description profile character beschreibung profil personenbeschreibung "
    "personnage portrait text"
)


class CorpusGuess(NamedTuple):
    """What files of conversations hold.

    Attributes:
        format: the setting `format`.
        columns: the setting `columns`; empty where the files differ, or need none.
        n_conversations: conversations with text by a user.
        users: number of users by the minimum of messages that one of their conversations must have.
        flags: those of `exclude_toxic` and `exclude_redacted` that the files have a column for.
    """

    format: str
    columns: Mapping[str, str]
    n_conversations: int
    users: Mapping[int, int]
    flags: frozenset[str]


def guess_corpus(files: Sequence[Path]) -> CorpusGuess:
    """Read the files as a corpus and count who is in it.

    Raises:
        StudyError: they cannot be read, or hold no conversation.
    """
    with TemporaryDirectory(prefix="fieldwork-") as folder:
        out = Path(folder) / "conversations.parquet"
        filters = FiltersSection(min_user_turns=1)
        funnel = prepare_corpus(files, format=None, filters=filters, out=out)
        rows = tables.read_columns(out, Conversation, ["user_id", "n_user_turns"])
    filters_with_column = {
        step.filter for step in funnel if not step.setting.endswith(f"({NOT_IN_CORPUS})")
    }
    format = public_format(files) or own_file_format(conversation_files(files))
    return CorpusGuess(
        format=format,
        columns=_columns(files) if format == MESSAGES else {},
        n_conversations=len(rows),
        users={m: len({user for user, n in rows if n >= m}) for m in range(1, MAX_TURNS + 1)},
        flags=frozenset({"exclude_toxic", "exclude_redacted"} & filters_with_column),
    )


def _columns(files: Sequence[Path]) -> dict[str, str]:
    """The setting `columns`, where it is the same for all files."""
    knows = MessageReader({}).knows
    maps = []
    for file in conversation_files(files):
        sample = list(islice(joined_spellings(file.name, stream_records(file), {}), _SAMPLE))
        if sample:
            layout = find_layout(file.name, sample, {}, knows)
            maps.append({**layout.columns, **(layout.keys or {})})
    return maps[0] if all(one == maps[0] for one in maps) else {}


class PersonaGuess(NamedTuple):
    """The setting `column` of a file of personas, and how many distinct personas it holds."""

    column: str | None
    n_personas: int


def guess_personas(path: Path) -> PersonaGuess:
    """Guess which column holds the personas, and count them.

    Raises:
        StudyError: the file cannot be read, or no column has a usual name of personas.
    """
    column = None if path.suffix.lower() == texts.PLAIN else _persona_column(path)
    return PersonaGuess(column, len(distinct_texts(texts.read_texts([path], column))))


def _persona_column(path: Path) -> str | None:
    """The column; None where the file holds plain texts."""
    if is_json(path) and any(
        isinstance(value, str) for _, value in islice(json_values.stream_values(path), 1)
    ):
        return None
    rows = [fields for _, fields in islice(stream_rows(path), _SAMPLE)]
    names = list(dict.fromkeys(name for row in rows for name in row if name))
    if len(names) == 1:
        return names[0]
    column = find_column(names, _PERSONA_NAMES.split())
    if column is None:
        raise StudyError(
            f"{path}: no column has a usual name of personas (there are {name_list(names)}); rename one "
            f"to `persona`, or write a .txt file with one persona a line"
        )
    return column
