"""Draw what raters are given: attributes, attributes beside questions, answers, or pairs of answers.

In: attributes and conversations, questions, and responses, as far as the units are made from them.
Out: <results>/judging/texts/{units}.parquet.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.judging.units import StudyTexts, UnitSettings, units_of
from fieldwork.records.generation import Response
from fieldwork.records.judging import UnitKind, UnitText
from fieldwork.records.memory import Attribute
from fieldwork.records.puppets import Conversation


def main(
    attributes: list[str],
    conversations: list[str],
    questions: list[str],
    responses: list[str],
    texts: str,
    kind: UnitKind,
    settings: dict[str, Any],
) -> None:
    """Draw and write; the files of responses are named after their conditions."""
    rows = [a for path in attributes for a in tables.read_rows(path, Attribute)]
    ids = {one.conversation_id for attribute in rows for one in attribute.evidence}
    answers: dict[str, list[Response]] = {}
    for path in responses:
        answers.setdefault(Path(path).stem, []).extend(tables.read_rows(path, Response))
    sources = StudyTexts(
        rows, _by_id(conversations, ids), tables.read_questions(questions), answers
    )
    tables.write_table(texts, units_of(kind, sources, UnitSettings(**settings)), UnitText)


def _by_id(paths: Sequence[str], ids: set[str]) -> dict[str, Conversation]:
    rows = [r for p in paths for r in tables.read_lookup(p, Conversation, "conversation_id", ids)]
    return {row.conversation_id: row for row in rows}


if __name__ == "__main__":
    stage.run_script(main, snakemake)
