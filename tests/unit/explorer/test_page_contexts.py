"""Contexts of the page: stored once, with the places where conversations begin."""

from pathlib import Path

import pytest

from fieldwork import tables
from fieldwork.explorer.contexts import ContextTable, conversation_starts, store_contexts
from fieldwork.explorer.data_files import RowFiles
from fieldwork.records.puppets import Context, Conversation, Message
from unit.explorer.test_data_files import files_of


def messages(n: int, *, profile: bool = False) -> list[Message]:
    turns = [Message("user" if k % 2 == 0 else "assistant", f"text {k}") for k in range(n)]
    return [Message("system", "You are talking to somebody."), *turns] if profile else turns


def context(name: str, ids: list[str], n: int, *, profile: bool = False) -> Context:
    return Context(name, f"puppet of {name}", None, ids, messages(n, profile=profile), 9, 2)


@pytest.mark.parametrize(
    ("shown_context", "starts"),
    [
        (context("x", ["one", "two"], 6), {0, 2}),
        (context("x", ["two", "one"], 6), {0, 4}),
        (context("x", ["one"], 2, profile=True), {1}),
        (context("x", [], 0, profile=True), set()),
        # a conversation that no corpus has, and one that was made shorter
        (context("x", ["gone", "one"], 6), set()),
        (context("x", ["two"], 2), set()),
    ],
)
def test_where_conversations_begin(shown_context: Context, starts: set[int]) -> None:
    assert conversation_starts(shown_context, {"one": 2, "two": 4}) == starts


@pytest.fixture
def corpora(tmp_path: Path) -> list[str]:
    """Two corpora, in which one id means conversations of different lengths."""
    for corpus, n in (("first", 2), ("second", 4)):
        rows = [Conversation("one", "user", None, None, None, n // 2, 9, messages(n))]
        tables.write_table(tmp_path / f"corpus/{corpus}/conversations.parquet", rows, Conversation)
    return sorted(map(str, tmp_path.glob("corpus/*/*.parquet")))


@pytest.fixture
def context_tables(tmp_path: Path) -> list[ContextTable]:
    shared, paths = context("a", ["one"], 2, profile=True), []
    for condition, own in (
        ("history", context("b", ["one"], 2)),
        ("again", context("c", ["one"], 4)),
    ):
        paths.append(tmp_path / f"contexts/t/{condition}.parquet")
        tables.write_table(paths[-1], [own, shared], Context)
    return [
        ContextTable(str(path), corpus)
        for path, corpus in zip(paths, ("first", "second"), strict=True)
    ]


def test_a_context_is_stored_once(
    tmp_path: Path, context_tables: list[ContextTable], corpora: list[str]
) -> None:
    with RowFiles(tmp_path, "contexts") as files:
        index = store_contexts(context_tables, corpora, "full", files)
    assert sorted(index.numbers) == ["a", "b", "c"]
    stored, shown = files_of(tmp_path)["contexts-000"], {}
    for name, number in index.numbers.items():
        row = index.rows[number]
        assert (row["id"], row["n_tokens"], row["n_dropped"]) == (name, 9, 2)
        assert row["conversation_ids"] == ["one"]
        assert stored[row["place"]]["id"] == name
        shown[name] = stored[row["place"]]["messages"]
    text = "You are talking to somebody."
    assert shown["a"][0] == {"role": "system", "content": text, "starts": False}
    assert [message["starts"] for message in shown["a"]] == [False, True, False]
    # the corpus of the condition says how long the conversation is
    assert [message["starts"] for message in shown["c"]] == [True, False, False, False]


@pytest.mark.parametrize(("form", "ids"), [("ids", ["one"]), ("none", [])])
def test_texts_are_left_out(
    tmp_path: Path, context_tables: list[ContextTable], form: str, ids: list[str]
) -> None:
    with RowFiles(tmp_path, "contexts") as files:
        index = store_contexts(context_tables, [], form, files)  # type: ignore[arg-type]
    assert not (tmp_path / "data").exists()
    assert len(index.rows) == 3
    for row in index.rows:
        assert (row["file"], row["place"], row["conversation_ids"]) == (None, None, ids)
