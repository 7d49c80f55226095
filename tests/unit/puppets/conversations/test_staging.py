"""Real conversations in every shape that people have them in become the same corpus."""

import csv
import json
import logging
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.privacy import pseudonym
from fieldwork.pseudonyms import CONVERSATION, PUBLIC_KEY, user_pseudonym
from fieldwork.puppets.conversations.staging import USUAL_NAMES, ColumnsAndRoles
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.records.puppets import Conversation, FunnelStep
from fieldwork.sections.corpora import FiltersSection
from fieldwork.tables import read_rows
from unit.puppets.corpus_filters import filters_of

REAL = Path(__file__).parents[5] / "shared" / "data" / "conversations"
LONG_ENOUGH = filters_of(min_user_turns=2)

Chats = list[dict[str, Any]]


class Prepared(NamedTuple):
    rows: list[Conversation]
    funnel: dict[str, FunnelStep]


def prepare(
    *files: Path,
    format: str | None = None,
    reading: ColumnsAndRoles = USUAL_NAMES,
    filters: FiltersSection = LONG_ENOUGH,
) -> Prepared:
    out = files[0].parent / "out" / "conversations.parquet"
    funnel = prepare_corpus(list(files), format=format, filters=filters, out=out, reading=reading)
    assert [path.name for path in out.parent.iterdir()] == ["conversations.parquet"]
    return Prepared(read_rows(out, Conversation), {step.filter: step for step in funnel})


@pytest.fixture(scope="module")
def chats() -> Chats:
    """The last request of each programmer and task holds the whole conversation."""
    if not REAL.is_dir():
        pytest.skip(f"no real extracts at {REAL}")
    frame = pd.read_parquet(REAL / "realhumaneval_chat_turns.parquet")
    last = frame.sort_values("n_request_messages").groupby(["programmer_id", "task_name"]).tail(1)
    rows: Chats = []
    for row in last.itertuples():
        messages = (*row.request, {"role": "assistant", "content": row.response})
        talk = [
            {"role": m["role"], "content": m["content"]}
            for m in messages
            if m["content"].strip() and m["role"] != "system"
        ]
        # in a table of messages an assistant's row names no user
        if any(m["role"] == "user" for m in talk):
            rows.append({"id": f"task-{row.row}", "user": str(row.programmer_id), "messages": talk})
    return rows


# ---- shapes --------------------------------------------------------------------------------------


def as_wildchat(chats: Chats, path: Path) -> None:
    names = {"id": "conversation_hash", "user": "hashed_ip", "messages": "conversation"}
    rows = [{names[key]: value for key, value in chat.items()} for chat in chats]
    pq.write_table(pa.Table.from_pylist(rows), path)


def as_json_lines(chats: Chats, path: Path) -> None:
    path.write_text("\n".join(map(json.dumps, chats)))


def as_sharegpt(chats: Chats, path: Path) -> None:
    names = {"user": "human", "assistant": "gpt"}
    talks = [
        [{"from": names[m["role"]], "value": m["content"]} for m in chat["messages"]]
        for chat in chats
    ]
    rows = [
        {"id": chat["id"], "user_id": chat["user"], "conversations": talk}
        for chat, talk in zip(chats, talks, strict=True)
    ]
    path.write_text(json.dumps(rows))


def as_semicolons(chats: Chats, path: Path) -> None:
    """A message a row, in no order at all: positions say it."""
    rows = [
        [c["id"], c["user"] if m["role"] == "user" else "", m["role"], m["content"], str(n)]
        for c in chats
        for n, m in enumerate(c["messages"])
    ]
    random.Random(7).shuffle(rows)
    with path.open("w", newline="", encoding="utf-16") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([["Chat ID", "User", "Role", "Message", "Position"], *rows])


@pytest.fixture(scope="module")
def expected(chats: Chats, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    path = tmp_path_factory.mktemp("wildchat") / "a.parquet"
    as_wildchat(chats, path)
    return prepare(path, format="wildchat")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("write", "name"),
    [(as_json_lines, "a.jsonl"), (as_sharegpt, "a.json"), (as_semicolons, "a.csv")],
)
def test_real_conversations_are_the_same_corpus_in_every_shape(
    chats: Chats,
    expected: Prepared,
    tmp_path: Path,
    write: Callable[[Chats, Path], None],
    name: str,
) -> None:
    write(chats, tmp_path / name)
    read = prepare(tmp_path / name)
    assert len(read.rows) == 246
    assert read == expected


# ---- what files do not have ----------------------------------------------------------------------

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


ALL = filters_of()
STRICT = FiltersSection(min_user_turns=1, languages=["English"])


def test_filters_on_what_a_file_does_not_say_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = lines(tmp_path / "a.jsonl", {"messages": TALK, "toxic": None})
    with caplog.at_level(logging.WARNING):
        read = prepare(path, filters=STRICT)
    assert len(read.rows) == 1
    assert read.funnel["languages"].setting == "English (not in this corpus)"
    assert caplog.messages == [
        f"{path}: the corpus has no column for languages, exclude_toxic, exclude_redacted, so every "
        "conversation passes; turn a filter off in the corpus's `filters` if that is right"
    ]


def test_filters_on_what_some_rows_say_drop_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = lines(
        tmp_path / "a.jsonl",
        {"id": 1, "messages": TALK, "language": "English", "toxic": False, "redacted": False},
        {"id": 2, "messages": TALK},
        {"id": 3, "messages": TALK, "language": "English", "toxic": True},
    )
    with caplog.at_level(logging.WARNING):
        read = prepare(path, filters=STRICT)
    assert read.funnel["exclude_toxic"].rows_out == len(read.rows) == 1
    assert [read.funnel[name].rows_out for name in ("languages", "exclude_toxic")] == [2, 1]
    assert caplog.messages == []


def test_without_users_each_conversation_is_one(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "bye"}]
    path = lines(tmp_path / "a.jsonl", {"messages": TALK}, {"messages": other}, {"messages": TALK})
    read = prepare(path, filters=ALL)
    assert len({row.user_id for row in read.rows}) == len(read.rows) == 2
    assert read.funnel["distinct"].rows_out == 2


def test_each_export_is_a_user(tmp_path: Path) -> None:
    content = {"content_type": "text", "parts": ["hi"]}
    message = {"author": {"role": "user"}, "content": content, "recipient": "all"}
    node = {"message": message, "parent": None, "children": []}
    talk = {"id": "c", "mapping": {"m": node}, "current_node": "m"}
    files = [tmp_path / name for name in ("anna.zip", "bert.zip")]
    for file in files:
        with zipfile.ZipFile(file, "w") as export:
            export.writestr("conversations.json", json.dumps([talk]))
            export.writestr("user.json", "{}")
    users = {row.user_id for row in prepare(*files, filters=ALL).rows}
    assert users == {user_pseudonym(file.name, PUBLIC_KEY) for file in files}


def test_ids_that_begin_anew_in_each_file_never_run_together(tmp_path: Path) -> None:
    header = "chat_id,role,text\n"
    for name, word in (("a", "one"), ("b", "two")):
        (tmp_path / f"{name}.csv").write_text(f"{header}1,user,{word}\n1,bot,{word} too\n")
    read = prepare(tmp_path / "a.csv", tmp_path / "b.csv", filters=ALL)
    assert sorted(len(row.messages) for row in read.rows) == [2, 2]
    first, second = (row.conversation_id.partition("-") for row in read.rows)
    # the pseudonym of 1, and a hash of what was said
    assert first[0] == second[0] == pseudonym("1", PUBLIC_KEY, CONVERSATION)
    assert first[2] != second[2]


def test_the_map_of_the_config_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y;z;w\n1;Kundin;hi;u1\n1;Maschine;hello;\n1;note;-;\n")
    reading = ColumnsAndRoles(
        {"conversation": "x", "role": "y", "text": "z", "user": "w"},
        {"Maschine": "assistant", "note": None},
    )
    (row,) = prepare(tmp_path / "a.csv", filters=ALL, reading=reading).rows
    assert [(m.role, m.content) for m in row.messages] == [("user", "hi"), ("assistant", "hello")]
    assert row.user_id == user_pseudonym("u1", PUBLIC_KEY)


def test_what_was_read_as_what_is_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    messages = [*TALK, {"role": "tool", "content": "x"}]
    row = {"id": 1, "messages": messages, "date": "3/4/2025", "x": 1}
    path = lines(tmp_path / "a.jsonl", row)
    with caplog.at_level(logging.INFO):
        prepare(path, filters=ALL)
    assert (
        f"{path}: one conversation a row (messages = messages, conversation = id, time = date; in each "
        "message role = role, text = content); not used: x"
    ) in caplog.messages
    assert "1 conversations read; left out: 1 messages of tools" in caplog.messages
    assert "1 cells of column date cannot be read as time" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "format", "message"),
    [
        ("a.csv", "chat_id,role,text\n", None, "the corpus has no rows"),
        ("a.jsonl", "[1", None, "a.jsonl"),
        ("a.json", '{"messages": []}\n', "chatgpt", "has no `mapping` of messages"),
        ("a.jsonl", '{"messages": []}', "wildchat", "`format: wildchat` needs Parquet files"),
        ("a.parquet", "PAR1", None, "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: str, format: str | None, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(StudyError) as caught:
        prepare(tmp_path / name, format=format)
    assert str(tmp_path / name) in str(caught.value)
    assert message in str(caught.value)
    assert not list(tmp_path.glob("out/*"))


FLAGGED = {"conversation_id": "1", "openai_moderation": [{"flagged": False}]}


@pytest.mark.parametrize(
    ("row", "name"), [({"conversation_hash": "1"}, "wildchat"), (FLAGGED, "lmsys")]
)
def test_public_corpora_are_known_by_their_columns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, row: dict[str, Any], name: str
) -> None:
    rows = [row | {"conversation": TALK}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with caplog.at_level(logging.INFO):
        guessed = prepare(tmp_path / "a.parquet", filters=ALL)
    assert f"read as `format: {name}`" in caplog.messages
    assert guessed == prepare(tmp_path / "a.parquet", filters=ALL, format=name)
