"""Ask the reading model to state once more what raters would reject.

In: attributes, conversations, and the score_rows scores of the attributes. Out:
<results>/tasks/memory.refine.parquet.
"""

from fieldwork import stage, tables
from fieldwork.memory.reading import Form
from fieldwork.memory.verification import (
    evidence_ids,
    refining_items,
    rejected_attributes,
)
from fieldwork.records.judging import LearntScore
from fieldwork.records.memory import Attribute
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.text_templates import read_template


def main(
    attributes: str,
    conversations: str,
    scores: list[str],
    template: str,
    questions: str,
    form: Form,
    keep_above: float,
) -> None:
    """Write the questions."""
    score_rows = [score for path in scores for score in tables.read_rows(path, LearntScore)]
    rows = rejected_attributes(tables.read_rows(attributes, Attribute), score_rows, keep_above)
    ids = evidence_ids(rows)
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", ids)
    items = refining_items(rows, talks, form, read_template(template))
    tables.write_table(questions, list(items), Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
