"""Which files hold conversations, and which export, and so which person, each belongs to."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets.conversations.exports import (
    ConversationFile,
    conversation_files,
    own_file_format,
    public_format,
    stream_json,
    stream_records,
)

ROWS = [{"id": "1", "messages": []}, {"id": "2", "messages": []}]
JUNK = ("chat.html", "user.json", "message_feedback.json", "file-1.png", "._conversations.json")


def file_at(path: Path, content: str = "[]") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def archive(path: Path, names: Iterable[str], content: str = json.dumps(ROWS)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, content)
    return path


def test_of_an_unpacked_export_the_lists_of_conversations_are_read(tmp_path: Path) -> None:
    files = [file_at(tmp_path / "anna" / name) for name in (*JUNK, "conversations-000.json")]
    files += [file_at(tmp_path / "anna" / "conversations-001.json")]
    files += [file_at(tmp_path / "bert" / "Conversations.json")]
    chosen = conversation_files(files)
    assert [(file.path.name, file.export) for file in chosen] == [
        ("conversations-000.json", "anna"),
        ("conversations-001.json", "anna"),
        ("Conversations.json", "bert"),
    ]


def test_exports_are_read_as_they_are_downloaded(tmp_path: Path) -> None:
    names = ("deep/conversations-000.json", "conversations-001.json", "__MACOSX/conversations.json")
    path = archive(tmp_path / "anna.zip", [*JUNK, *names])
    chosen = conversation_files([path, file_at(tmp_path / "notes.csv")])
    assert chosen == [
        ConversationFile(path, "conversations-001.json", "anna.zip"),
        ConversationFile(path, "deep/conversations-000.json", "anna.zip"),
    ]
    assert [record.fields for record in stream_records(chosen[0])] == ROWS
    assert [place for place, _ in stream_json(chosen[1])] == ["entry 1", "entry 2"]


def test_names_are_as_long_as_it_takes_to_tell_exports_apart(tmp_path: Path) -> None:
    paths = [("a/2024", "conversations.json"), ("b/2024", "conversations.json"), ("b", "x.zip")]
    files = [file_at(tmp_path / folder / name) for folder, name in paths[:2]]
    files += [archive(tmp_path / "b" / "x.zip", ["conversations.json"])]
    assert [file.export for file in conversation_files(files)] == ["a/2024", "b/2024", "b/x.zip"]


def test_what_holds_no_conversations_is_refused(tmp_path: Path) -> None:
    for path, sentence in (
        (file_at(tmp_path / "a.docx"), r"a\.docx: this kind of file is not read; give the \.zip"),
        (archive(tmp_path / "b.zip", JUNK), r"b\.zip: holds no conversations\.json"),
        (file_at(tmp_path / "c.zip", "no archive"), r"c\.zip: the archive cannot be opened"),
    ):
        with pytest.raises(StudyError, match=sentence):
            conversation_files([path])
    path = archive(tmp_path / "d.zip", ["conversations.json"], "[1]")
    sentence = r"d\.zip: conversations\.json: entry 1 is not a JSON object"
    with pytest.raises(StudyError, match=sentence):
        list(stream_records(*conversation_files([path])))


TREE = json.dumps([{"mapping": {}, "current_node": None}])


def test_a_tree_of_messages_is_chatgpts(tmp_path: Path) -> None:
    trees = [
        archive(tmp_path / "a.zip", ["conversations.json"], TREE),
        file_at(tmp_path / "b" / "conversations.json", TREE),
    ]
    other = [
        archive(tmp_path / "c.zip", ["conversations.json"]),
        file_at(tmp_path / "d.csv", "a"),
        file_at(tmp_path / "e.jsonl", ""),
    ]
    any_name = file_at(tmp_path / "any_name.json", TREE)
    formats = [own_file_format(conversation_files(files)) for files in (trees, [any_name])]
    assert formats == ["chatgpt", "chatgpt"]
    assert {own_file_format(conversation_files([file])) for file in other} == {"messages"}
    assert public_format(other) is None
