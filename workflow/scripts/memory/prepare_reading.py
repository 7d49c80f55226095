"""Choose the users who are memory_rows, and put the question to the reading model for each conversation.

In: conversations. Out: <results>/memory/users.parquet and <results>/tasks/memory.read.parquet.
"""

from fieldwork import stage, tables
from fieldwork.memory.reading import memory_users, reading_items
from fieldwork.puppets.contexts import users_in_order
from fieldwork.records.memory import MemoryUser
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.sections.memory import ReadingRules
from fieldwork.text_templates import read_template


def main(
    conversations: str,
    template: str,
    users: str,
    questions: str,
    rules: ReadingRules,
    n_users: int,
    at_least: int,
    seed: int,
) -> None:
    """Choose, write the questions."""
    ids = tables.read_groups(conversations, "user_id", "conversation_id")
    puppets = users_in_order(ids, n_users, at_least, seed)
    user_conversations = {i for user in puppets for i in ids[user]}
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", user_conversations)
    memory_rows = memory_users(puppets, talks.values(), rules)
    items = reading_items(memory_rows, talks, rules, read_template(template))
    tables.write_table(users, memory_rows, MemoryUser)
    tables.write_table(questions, items, Item)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
