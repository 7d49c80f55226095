"""Embed a shard of the corpus; text embedded before is looked up.

In: <results>/embeddings/{corpus}/texts/{shard}.parquet.
Out: <results>/embeddings/{corpus}/shards/{shard}.parquet.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, streams
from fieldwork.encoder import Encoder, settings_of
from fieldwork.progress import Progress
from fieldwork.puppets.embedding import embed
from fieldwork.records.puppets import ConversationText


def main(
    texts: str, shard: str, store: str, embedding: dict[str, Any], threads: int | None
) -> None:
    """Embed."""
    stores = Path(store)
    encoder = Encoder(settings_of(embedding, threads), stores)
    with Progress("embed conversations", streams.count_rows([texts]), "texts") as progress:
        rows = streams.stream_rows(texts, ConversationText)
        streams.write_blocks(shard, embed(rows, encoder, stores, progress.update))


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        texts=snakemake.input.texts,
        shard=snakemake.output.shard,
        store=f"results/vectors/corpora/{snakemake.wildcards.corpus}",
        embedding=snakemake.params.embedding,
        threads=snakemake.threads,
    )
