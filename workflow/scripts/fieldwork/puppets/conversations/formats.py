"""The format of a corpus's files, where the config does not name it."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from fieldwork import streams
from fieldwork.files import sheets
from fieldwork.puppets.conversations.chatgpt import is_export
from fieldwork.puppets.conversations.exports import ConversationFile, stream_json

MESSAGES, CHATGPT = "messages", "chatgpt"
CONVERTED_FORMATS = (MESSAGES, CHATGPT)
"""Formats that are converted before they are filtered; public corpora are read as they are."""

_PUBLIC = {
    "oasst2": {"message_id", "parent_id", "user_id", "text", "role", "message_tree_id"},
    "lmsys": {"conversation_id", "conversation.role", "conversation.content", "openai_moderation"},
    "wildchat": {"conversation_hash", "conversation.role", "conversation.content"},
}
_PARQUET = ".parquet"


def public_format(files: Sequence[Path]) -> str | None:
    """The public corpus whose columns all files have; None where there is none.

    Raises:
        StudyError: a file whose name ends in .parquet is not Parquet.
    """
    if any(file.suffix.lower() != _PARQUET for file in files):
        return None
    columns = [streams.column_names(file) for file in files]
    return next(
        (
            name
            for name, required_columns in _PUBLIC.items()
            if all(required_columns <= file_columns for file_columns in columns)
        ),
        None,
    )


def own_file_format(files: Sequence[ConversationFile]) -> str:
    """`chatgpt` where the first entry of any JSON file is a tree of messages, else `messages`."""
    for file in files:
        if file.member is None and not sheets.is_json(file.path):
            continue
        for _, value in islice(stream_json(file), 1):
            if is_export(value):
                return CHATGPT
    return MESSAGES
