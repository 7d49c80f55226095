"""Draw what raters are given: attributes, attributes beside questions, answers, or pairs of answers.

In: attributes and conversations, questions, and responses, as far as the units are made from them; groups
of users.
Out: <results>/judging/texts/{units}.parquet.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.files.texts import read_table
from fieldwork.judging.units import StudyTexts, UnitSettings, units_of, user_groups
from fieldwork.parsing.answer_words import in_words
from fieldwork.pseudonyms import user_key
from fieldwork.records.generation import Response
from fieldwork.records.judging import UnitKind, UnitText
from fieldwork.records.memory import Attribute
from fieldwork.records.puppets import Conversation


def main(
    attributes: list[str],
    conversations: list[str],
    questions: list[str],
    responses: list[str],
    groups: list[str],
    texts: str,
    key_file: str | None,
    kind: UnitKind,
    settings: dict[str, Any],
) -> None:
    """Draw and write; the files of responses are named after their conditions."""
    rows = [a for path in attributes for a in tables.read_rows(path, Attribute)]
    ids = {one.conversation_id for attribute in rows for one in attribute.evidence}
    talks: dict[str, Conversation] = {}
    for path in conversations:
        talks |= tables.read_by_key(path, Conversation, "conversation_id", ids)
    items = tables.read_questions(questions)
    answers: dict[str, list[Response]] = {}
    for path in responses:
        replies = in_words(tables.read_rows(path, Response), items)
        answers.setdefault(Path(path).stem, []).extend(replies)
    sources = StudyTexts(rows, talks, items, answers)
    rows_of_users = [row for path in groups for row in read_table(path, ("user_id", "group"))]
    of_users = user_groups(rows_of_users, user_key(key_file)) if rows_of_users else {}
    units = units_of(kind, sources, UnitSettings(**settings, groups=of_users))
    tables.write_table(texts, units, UnitText)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
