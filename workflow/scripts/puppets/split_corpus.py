"""Cut what is embedded of the corpus into shards, by conversation id.

In: <results>/corpus/{corpus}/conversations.parquet.
Out: <results>/embeddings/{corpus}/texts/{shard}.parquet.
"""

from fieldwork import stage, streams
from fieldwork.puppets.embedding import EmbeddedText, texts_by_shard
from fieldwork.records.puppets import Conversation, ConversationText


def main(conversations: str, outputs: list[str], text: EmbeddedText) -> None:
    """Split."""
    blocks = streams.stream_rows(conversations, Conversation)
    streams.write_parts(outputs, texts_by_shard(blocks, len(outputs), text), ConversationText)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
