"""Select the attributes of each user that matter for each question.

In: attributes, questions, and a model's answers or people's judgements where these select.
Out: <results>/memory/selected/{task}/{condition}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder, settings_of
from fieldwork.memory.selection import (
    SelectionSettings,
    all_scores,
    answered_shares,
    bm25_scores,
    encoder_scores,
    judged_scores,
    people_shares,
    select_attributes,
)
from fieldwork.records.judging import Judgement
from fieldwork.records.memory import Attribute, SelectedAttribute
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item


def main(
    attributes: str,
    questions: str,
    model_answers: list[str],
    judgements: list[str],
    selection_table: str,
    task: str,
    settings: dict[str, Any],
    yes_options: dict[str, Any] | None,
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Score, select, write."""
    rows, items = tables.read_rows(attributes, Attribute), tables.read_rows(questions, Item)
    match settings["by"]:
        case "encoder":
            encoder = Encoder(settings_of(embedding, threads), VECTORS / "memory.sqlite")
            scores = encoder_scores(rows, items, encoder.encode)
        case "model":
            answers = [a for path in model_answers for a in tables.read_rows(path, Answer)]
            scores = judged_scores(answered_shares(answers, task))
        case "people" if yes_options is not None:
            judgement_rows = [j for path in judgements for j in tables.read_rows(path, Judgement)]
            scores = judged_scores(people_shares(judgement_rows, task, **yes_options))
        case "bm25":
            scores = bm25_scores
        case _:
            scores = all_scores
    selection = select_attributes(rows, items, scores, SelectionSettings(**settings))
    tables.write_table(selection_table, list(selection), SelectedAttribute)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
