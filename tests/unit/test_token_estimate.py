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
def test_a_message_counts_a_quarter_of_its_bytes_and_four_in_python_and_sql(
    text: str, tokens: int
) -> None:
    assert message_tokens(text) == tokens
    # a table holds no lone surrogates: they are replaced before a text is written
    stored = text.encode("utf-8", "replace").decode()
    query = f"SELECT {message_tokens_sql('content')} FROM (SELECT ?::VARCHAR AS content)"
    with duckdb.connect() as connection:
        assert connection.execute(query, [stored]).fetchall() == [(tokens,)]
