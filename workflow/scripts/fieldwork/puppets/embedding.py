"""The text of a conversation that is embedded, the shard it belongs to, and the embedding of one shard.

Vectors are kept in a fixed number of stores, and the work is cut into any number of shards. A store
belongs to one shard at a time. So no two jobs write to one file, and another number of shards reuses all
vectors that were computed before. A conversation's id alone decides, so that new data moves nothing.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from fieldwork import tables
from fieldwork.encoder import Encoder, text_key
from fieldwork.records.puppets import Conversation, ConversationText, Message
from fieldwork.streams import KeyedBlock

EmbeddedText = Literal["user_turns", "first_user_turn", "all_turns"]

N_STORES = 64
N_TRIAL_TEXTS = 32


def store_of(conversation_id: str) -> int:
    """The store that keeps a conversation's vector: 0 to `N_STORES` - 1."""
    digest = hashlib.sha256(conversation_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % N_STORES


def shard_of(conversation_id: str, n_shards: int) -> int:
    """The shard that embeds a conversation: 0 to `n_shards` - 1.

    Raises:
        ValueError: `n_shards` is not between 1 and `N_STORES`.
    """
    if not 1 <= n_shards <= N_STORES:
        raise ValueError(f"n_shards must be between 1 and {N_STORES}, not {n_shards}")
    return store_of(conversation_id) % n_shards


def conversation_text(messages: Sequence[Message], text: EmbeddedText) -> str:
    """The text of a conversation that is embedded, turns separated by a blank line.

    Encoders read only their first tokens (256 for all-MiniLM-L6-v2), so `all_turns` is mostly the
    first exchange.
    """
    if text == "all_turns":
        return "\n\n".join(m.content for m in messages)
    turns = [m.content for m in messages if m.role == "user"]
    return turns[0] if text == "first_user_turn" and turns else "\n\n".join(turns)


def trial_texts(conversations: str, text: EmbeddedText) -> list[str]:
    """Texts of all lengths on which an encoder is tried.

    Args:
        conversations: Parquet file in WildChat's schema with `N_TRIAL_TEXTS` conversations or more.
    """
    columns = tables.read_arrow(conversations).column("conversation").to_pylist()
    every = len(columns) // N_TRIAL_TEXTS
    return [
        conversation_text([Message(turn["role"], turn["content"]) for turn in turns], text)
        for turns in columns[::every][:N_TRIAL_TEXTS]
    ]


def texts_by_shard(
    blocks: Iterable[Sequence[Conversation]], n_shards: int, text: EmbeddedText
) -> Iterator[tuple[int, ConversationText]]:
    """What is embedded of each conversation, after the number of its shard."""
    for conversations in blocks:
        for row in conversations:
            words = ConversationText(row.conversation_id, conversation_text(row.messages, text))
            yield shard_of(row.conversation_id, n_shards), words


def embed(
    batches: Iterable[Sequence[ConversationText]],
    encoder: Encoder,
    stores: Path,
    report: Callable[[int], None],
) -> Iterator[KeyedBlock]:
    """The vectors of a shard, batch by batch; vectors in a store are not computed again.

    Args:
        stores: folder of the stores, `00.sqlite` and so on.
        report: called with the number of texts that are done.
    """
    for rows in batches:
        ids, texts = [row.conversation_id for row in rows], [row.text for row in rows]
        files = [stores / f"{store_of(i):02d}.sqlite" for i in ids]
        vectors = encoder.encode_into(texts, files, report)
        yield KeyedBlock(ids, [text_key(text) for text in texts], vectors)
