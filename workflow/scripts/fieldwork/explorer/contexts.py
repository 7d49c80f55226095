"""Contexts of a page: each stored once, under its id, with the places where its conversations begin.

Owns what a page shows of a context: all of it (`full`), the ids of its conversations (`ids`), or neither
(`none`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fieldwork import streams
from fieldwork.explorer.data_files import RowFiles
from fieldwork.records.puppets import Context

ContextForm = Literal["full", "ids", "none"]
ConversationSizes = Mapping[str, int]
"""Messages of each conversation, by its id."""


class ContextTable(NamedTuple):
    """A table of contexts, and the corpus that its conversations are from, where there is one."""

    path: str
    corpus: str | None


class ContextIndex(NamedTuple):
    """The contexts of a page.

    Attributes:
        rows: what the page knows of each before it loads any, in order.
        numbers: the place of each in `rows`, by its id.
    """

    rows: list[dict[str, Any]]
    numbers: dict[str, int]


def store_contexts(
    context_tables: Sequence[ContextTable],
    corpora: Sequence[str],
    form: ContextForm,
    files: RowFiles,
) -> ContextIndex:
    """Write every context once, and list them all.

    Args:
        corpora: tables of conversations, which say how long each is; of use for the form `full` only.
    """
    sizes_by_corpus = {
        Path(path).parent.name: dict(streams.stream_list_sizes(path, "conversation_id", "messages"))
        for path in (corpora if form == "full" else ())
    }
    index = ContextIndex([], {})
    for table in context_tables:
        sizes = sizes_by_corpus.get(table.corpus or "", {})
        for batch in streams.stream_rows(table.path, Context):
            for context in batch:
                if context.context_id not in index.numbers:
                    index.numbers[context.context_id] = len(index.rows)
                    index.rows.append(_row(context, sizes, form, files))
    return index


def _row(
    context: Context, sizes: ConversationSizes, form: ContextForm, files: RowFiles
) -> dict[str, Any]:
    place = None
    if form == "full":
        place = files.add({"id": context.context_id, "messages": [*_messages(context, sizes)]})
    return {
        "id": context.context_id,
        "file": place and place.file,
        "place": place and place.place,
        "n_tokens": context.n_tokens,
        "n_dropped": context.n_dropped,
        "conversation_ids": [] if form == "none" else context.conversation_ids,
    }


def _messages(context: Context, sizes: ConversationSizes) -> Iterator[dict[str, Any]]:
    starts = conversation_starts(context, sizes)
    for number, message in enumerate(context.messages):
        yield {"role": message.role, "content": message.content, "starts": number in starts}


def conversation_starts(context: Context, sizes: ConversationSizes) -> frozenset[int]:
    """Places of the messages that a conversation begins with; none where they cannot be known.

    Conversations are whole and in order. What stands before them is a profile or a text of the system.
    """
    lengths = [sizes.get(name, 0) for name in context.conversation_ids]
    n_before = len(context.messages) - sum(lengths)
    if not all(lengths) or n_before < 0:
        return frozenset()
    ends = accumulate(lengths, initial=n_before)
    return frozenset([*ends][:-1])
