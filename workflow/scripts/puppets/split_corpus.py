"""Cut what is embedded of the corpus into shards, by conversation id.

In: <results>/corpus/{corpus}/conversations.parquet.
Out: <results>/embeddings/{corpus}/texts/{shard}.parquet.
"""

from fieldwork import stage, streams
from fieldwork.puppets.embedding import EmbeddedText, conversation_text, shard_of
from fieldwork.records.puppets import Conversation, ConversationText


def main(conversations: str, outputs: list[str], text: EmbeddedText) -> None:
    """Split."""
    streams.write_parts(
        outputs,
        (
            (
                shard_of(row.conversation_id, len(outputs)),
                ConversationText(row.conversation_id, conversation_text(row.messages, text)),
            )
            for rows in streams.stream_rows(conversations, Conversation)
            for row in rows
        ),
        ConversationText,
    )


if __name__ == "__main__":
    stage.run_script(main, snakemake)
