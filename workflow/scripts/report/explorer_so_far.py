"""Write the page of a study that still runs: what is there, and what is not there yet.

In: whatever tables of replies, contexts, questions and results are there. Out: <results>/explorer_so_far.
"""

from functools import partial
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.explorer.unfinished import write_unfinished
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.parsing.answers import parse_responses
from fieldwork.parsing.canonical import read_aliases
from fieldwork.parsing.canonical_answers import name_options
from fieldwork.parsing.corrections import correct_answers, read_corrections
from fieldwork.records.generation import Response
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.sections.asking import NameRules, ValueRules


def main(
    folder: str,
    plan: dict[str, list[str]],
    settings: dict[str, Any],
    reading: dict[str, Any],
    template: dict[str, Any],
) -> None:
    """Read the replies as they would be read in the end, and write the page anew."""
    write_unfinished(folder, plan, settings, template, partial(read_replies, reading=reading))


def read_replies(
    scratch: Path, files: dict[str, list[str]], reading: dict[str, Any]
) -> dict[str, list[str]]:
    """Read, merge and score the replies that are there; the tables are of use for the page alone."""
    items = tables.read_questions(files["questions"])
    corrections, rules = read_corrections(reading["overrides"]), ValueRules(**reading["values"])
    answers = [row for path in files["field"] for row in tables.read_rows(path, Answer)]
    for path in files["responses"]:
        rows = tables.read_rows(path, Response)
        own_items = {key: item for key, item in items.items() if key.task == Path(path).parts[-2]}
        parsed_answers = parse_responses(rows, own_items.values(), rules)
        texts = [row.text for row in rows]
        answers += correct_answers(parsed_answers, texts, own_items, corrections.readings)
    naming, cell = NameRules(**reading["naming"]), reading["smallest_cell"]
    spellings = {"aliases": read_aliases(reading["aliases"]), "overrides": corrections.names}
    names = name_options(answers, items, naming, smallest_cell=cell, **spellings)
    paths = [str(scratch / n) for n in ("answers.parquet", "items.csv", "runs.parquet")]
    tables.write_table(paths[0], names.answers, Answer)
    tables.write_table(paths[1], names.merges, MergedItem)
    frame = tables.read_frame(paths[0], Answer)
    runs = measure_runs(frame, tables.read_items(files["questions"]))
    tables.write_rows(paths[2], runs, RunAccuracy)
    return {"answers": paths[:1], "merges": paths[1:2], "accuracy_runs": paths[2:]}


if __name__ == "__main__":
    stage.run_script(main, snakemake)
