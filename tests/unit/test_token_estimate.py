import duckdb
import pytest

from fieldwork.token_estimate import message_tokens, message_tokens_sql

TOKENS_BY_TEXT = {
    "": 4,
    "a": 5,
    "abcd": 5,
    "abcde": 6,
    "é": 5,
    "日本": 6,
    "😀😀": 6,
    "👩‍👩‍👧": 9,
    "a\0b": 5,
    "'); --": 6,
    "\ud800": 5,
    "\ud83d\ud83d\ud83d\ud83d\ud83d": 6,
    "x" * 101: 30,
}


@pytest.mark.parametrize(("text", "tokens"), TOKENS_BY_TEXT.items())
def test_a_message_counts_a_quarter_of_its_bytes_and_four(text: str, tokens: int) -> None:
    assert message_tokens(text) == tokens


@pytest.mark.parametrize("text", TOKENS_BY_TEXT)
def test_python_and_sql_give_the_same_number(text: str) -> None:
    # a table holds no lone surrogates: they are replaced before a text is written
    stored = text.encode("utf-8", "replace").decode()
    with duckdb.connect() as connection:
        (row,) = connection.execute(
            f"SELECT {message_tokens_sql('content')} FROM (SELECT ?::VARCHAR AS content)", [stored]
        ).fetchall()
    assert row == (message_tokens(text),)
