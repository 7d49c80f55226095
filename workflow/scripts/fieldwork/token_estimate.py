"""The estimate of tokens: one rule for every model, as no tokenizer is known for most of them.

A chat message counts its UTF-8 bytes / 4, rounded up, and 4 tokens more (docs/models.md). The rule is
here twice, for Python and for DuckDB; both give the same number for the same text.
"""

BYTES_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
TOKENS_PER_BYTE = 1 / BYTES_PER_TOKEN


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8; a lone surrogate counts as the `?` that takes its place in a file."""
    return len(text.encode("utf-8", "replace"))


def message_tokens(text: str) -> int:
    """Estimated tokens of one chat message with this text."""
    return -(-utf8_size(text) // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE


def message_tokens_sql(text: str) -> str:
    """The same as an SQL expression of DuckDB.

    Args:
        text: an expression that gives the message's text.
    """
    return f"((strlen({text}) + {BYTES_PER_TOKEN - 1}) // {BYTES_PER_TOKEN} + {TOKENS_PER_MESSAGE})"
