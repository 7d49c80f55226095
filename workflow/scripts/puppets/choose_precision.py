"""Find out once which precision `embedding.precision: auto` stands for in this study.

In: the sample conversations, to try both on. Out: <results>/encoder.csv; resources/precision/ keeps it.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import EncoderSettings
from fieldwork.encoder_settings import choose_precision
from fieldwork.puppets.embedding import trial_texts
from fieldwork.records.puppets import EncoderChoice


def main(
    conversations: str, encoder: str, study: str, embedding: dict[str, Any], threads: int
) -> None:
    """Measure, or take what was measured before."""
    settings = EncoderSettings(
        embedding["model"], embedding["batch_size"], embedding["device"], threads=threads
    )
    texts = trial_texts(conversations, embedding["text"])
    tables.write_table(encoder, [choose_precision(study, settings, texts)], EncoderChoice)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
