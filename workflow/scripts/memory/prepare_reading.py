"""Choose the users who are memory_rows, and put the question to the reading model for each conversation.

In: conversations. Out: <results>/memory/users.parquet and <results>/tasks/memory.read.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.memory.reading import ReadingSettings, memory_users, reading_items
from fieldwork.puppets.contexts import users_in_order
from fieldwork.records.memory import MemoryUser
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.text_templates import read_template


def main(
    conversations: str,
    template: str,
    users: str,
    questions: str,
    settings: dict[str, Any],
    n_users: int,
    at_least: int,
    seed: int,
) -> None:
    """Choose, write the questions."""
    ids = tables.read_groups(conversations, "user_id", "conversation_id")
    puppets = users_in_order(ids, n_users, at_least, seed)
    user_conversations = {i for user in puppets for i in ids[user]}
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", user_conversations)
    reading = ReadingSettings(**settings)
    memory_rows = memory_users(puppets, talks.values(), reading)
    items = reading_items(memory_rows, talks, reading, read_template(template), template)
    tables.write_table(users, memory_rows, MemoryUser)
    tables.write_table(questions, items, Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
