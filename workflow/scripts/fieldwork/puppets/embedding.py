"""The text of a conversation that is embedded, and the embedding of one shard."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from fieldwork.encoder import Encoder, text_key
from fieldwork.puppets.sharding import store_of
from fieldwork.records.puppets import ConversationText, Message
from fieldwork.streams import KeyedBlock

EmbeddedText = Literal["user_turns", "first_user_turn", "all_turns"]


def conversation_text(messages: Sequence[Message], text: EmbeddedText) -> str:
    """The text of a conversation that is embedded, turns separated by a blank line.

    Encoders read only their first tokens (256 for all-MiniLM-L6-v2), so `all_turns` is mostly the
    first exchange.
    """
    if text == "all_turns":
        return "\n\n".join(m.content for m in messages)
    turns = [m.content for m in messages if m.role == "user"]
    return turns[0] if text == "first_user_turn" and turns else "\n\n".join(turns)


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
