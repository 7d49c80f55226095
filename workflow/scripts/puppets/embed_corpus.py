"""Embed a shard of the corpus; text embedded before is looked up.

In: <results>/embeddings/{corpus}/texts/{shard}.parquet.
Out: <results>/embeddings/{corpus}/shards/{shard}.parquet.
"""

from typing import Any

from fieldwork import stage, streams
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.progress import Progress
from fieldwork.puppets.embedding import embed
from fieldwork.records.puppets import ConversationText


def main(
    texts: str,
    encoder_choice: list[str],
    shard: str,
    corpus: str,
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Embed."""
    store = VECTORS / "corpora" / corpus
    encoder = Encoder(settings_of(embedding, threads, encoder_choice), store)
    with Progress("embed conversations", streams.count_rows([texts]), "texts") as progress:
        rows = streams.stream_rows(texts, ConversationText)
        streams.write_blocks(shard, embed(rows, encoder, store, progress.update))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
