"""Read the replies of the reading model as statements, and merge near-equal ones into attributes.

In: responses to memory.read, and the conversations. Out: <results>/memory/statements.parquet and
attributes.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.memory.merging import merge_statements
from fieldwork.memory.reading import Form
from fieldwork.memory.statements import read_statements
from fieldwork.records.generation import Response
from fieldwork.records.memory import Attribute, MemoryUser, Statement
from fieldwork.records.puppets import Conversation
from fieldwork.sections.memory import MergeRules


def main(
    responses: str,
    users: str,
    conversations: str,
    statements: str,
    attributes: str,
    form: Form,
    merging: MergeRules,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Read, merge, write."""
    ids = {i for user in tables.read_rows(users, MemoryUser) for i in user.conversation_ids}
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", ids)
    rows_stated = [
        statement
        for reply in tables.read_rows(responses, Response)
        for statement in read_statements(reply, talks[reply.item_id], form)
    ]
    encoder = Encoder(settings_of(embedding, threads, encoder_choice), VECTORS / "memory.sqlite")
    memory = merge_statements(rows_stated, talks, encoder.encode, merging)
    tables.write_table(statements, memory.statements, Statement)
    tables.write_table(attributes, memory.attributes, Attribute)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
