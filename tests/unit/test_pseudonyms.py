"""Nobody can tell whose pseudonym it is without the key, and everybody can with it."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork import tables
from fieldwork.privacy import pseudonym
from fieldwork.pseudonyms import (
    CONVERSATION,
    PUBLIC_KEY,
    USER,
    pseudonym_macro,
    user_key,
    user_pseudonym,
)
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.records.puppets import Conversation
from unit.puppets.corpus_filters import filters_of

TALK = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
KEYS = [PUBLIC_KEY, b"\x01" * 32, b"k" * 64, b"k" * 65]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "name", ["anna@example.org", " a ", "Zoe\u0308", "李", "x" * 500, "it's \\ \0"]
)
def test_sql_makes_the_pseudonym_that_python_makes(name: str, key: bytes) -> None:
    with tables.open_database() as database:
        database.execute(pseudonym_macro(key))
        query = "SELECT pseudonym('u', ?), pseudonym('u', NULL)"
        assert database.execute(query, [name]).fetchone() == (pseudonym(name, key, USER), None)


def test_a_study_has_a_key_and_a_file_may_name_users_as_the_tables_do(tmp_path: Path) -> None:
    first, second = (user_key(str(tmp_path / name / "key")) for name in ("a", "b"))
    assert first != second != PUBLIC_KEY == user_key(None)
    assert user_key(str(tmp_path / "a" / "key")) == first
    name = user_pseudonym("anna", PUBLIC_KEY)
    assert user_pseudonym(name, PUBLIC_KEY) == name == pseudonym("anna", PUBLIC_KEY, USER)
    assert user_pseudonym("anna", first) != name


def test_jobs_that_begin_at_once_have_one_key(tmp_path: Path) -> None:
    code = """import sys
from fieldwork.pseudonyms import user_key
print(user_key(sys.argv[1]).hex())"""
    command = [sys.executable, "-c", code, str(tmp_path / "keys" / "key")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def read(_: int) -> str:
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout

    with ThreadPoolExecutor(6) as pool:
        assert len({*pool.map(read, range(6))}) == 1
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["key"]


WILDCHAT = {"conversation_hash": "talk-of-anna", "hashed_ip": "ip-of-anna", "conversation": TALK}
OASST = {
    **{"message_id": "talk-of-anna", "parent_id": None, "user_id": "ip-of-anna", "text": "hello"},
    **{"role": "prompter", "message_tree_id": "talk-of-anna"},
}


@pytest.mark.parametrize(
    ("format", "row"),
    [
        ("wildchat", WILDCHAT),
        ("wildchat", {**WILDCHAT, "conversation": [t | {"turn_identifier": 3} for t in TALK]}),
        ("wildchat", {**WILDCHAT, "hashed_ip": ""}),
        ("lmsys", {"conversation_id": "talk-of-anna", "conversation": TALK}),
        ("oasst2", OASST),
        ("messages", {"id": "talk-of-anna", "user": "ip-of-anna", "messages": TALK}),
        ("messages", {"user": "ip-of-anna", "messages": TALK}),
    ],
)
@pytest.mark.parametrize("key", KEYS[:2])
def test_no_id_of_a_file_stands_in_the_table(
    tmp_path: Path, format: str, row: dict[str, object], key: bytes
) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    prepare_corpus([path], format=format, filters=filters_of(), out=out, key=key)
    (read,) = tables.read_rows(out, Conversation)
    assert "anna" not in json.dumps([read.conversation_id, read.user_id])
    assert read.user_id[0] == USER
    if row.get("hashed_ip") or row.get("user") or row.get("user_id"):
        assert read.user_id == pseudonym("ip-of-anna", key, USER)
    if format in ("lmsys", "oasst2"):
        assert read.conversation_id == pseudonym("talk-of-anna", key, CONVERSATION)
