"""Learn what raters would say of each unit from what they said of other users' units.

In: units, and judgements of some of them. Out: <results>/judging/learnt/{units}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.judging.learning import learnt_scores
from fieldwork.records.judging import Judgement, LearntScore, UnitText
from fieldwork.sections.judging import Scale


def main(
    texts: str,
    judgements: str,
    scores: str,
    scale: Scale,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Learn and write."""
    encoder = Encoder(settings_of(embedding, threads, encoder_choice), VECTORS / "judging.sqlite")
    units, rows = tables.read_rows(texts, UnitText), tables.read_rows(judgements, Judgement)
    score_rows = learnt_scores(units, rows, scale, encoder.encode)
    tables.write_table(scores, score_rows, LearntScore)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
