"""Select the attributes of each user that matter for each question.

In: attributes, questions, and a model's answers or people's judgements where these select.
Out: <results>/memory/selected/{task}/{condition}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.memory.selection import (
    ScoreSources,
    scorer,
    select_attributes,
)
from fieldwork.records.judging import Judgement, LearntScore
from fieldwork.records.memory import Attribute, SelectedAttribute
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from fieldwork.sections.conditions import SelectionRules
from fieldwork.sections.judging import Scale


def main(
    attributes: str,
    questions: str,
    model_answers: list[str],
    judgements: list[str],
    scores: list[str],
    selection_table: str,
    task: str,
    rules: SelectionRules,
    scale: Scale | None,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Score, select, write."""
    rows, items = tables.read_rows(attributes, Attribute), tables.read_rows(questions, Item)
    encoder = Encoder(settings_of(embedding, threads, encoder_choice), VECTORS / "memory.sqlite")
    sources = ScoreSources(
        answers=[a for path in model_answers for a in tables.read_rows(path, Answer)],
        judgements=[j for path in judgements for j in tables.read_rows(path, Judgement)],
        scores=[s for path in scores for s in tables.read_rows(path, LearntScore)],
        scale=scale,
        encode=encoder.encode,
    )
    score = scorer(rules.by, rows, items, task, sources)
    chosen_rows = select_attributes(rows, items, score, rules)
    tables.write_table(selection_table, list(chosen_rows), SelectedAttribute)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
