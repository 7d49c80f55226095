"""Write what is put before the questions of a task: attributes and recent conversations, by a template.

In: users, their attributes and conversations, and what is selected for each question.
Out: <results>/memory/texts/{task}/{condition}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.memory.formats import memory_texts, remembered_users
from fieldwork.memory.selection import selected_ids
from fieldwork.records.memory import Attribute, MemoryText, MemoryUser, SelectedAttribute
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.sections.conditions import MemoryLimits
from fieldwork.text_templates import read_template


def main(
    users: str,
    attributes: str,
    conversations: str,
    selections: list[str],
    questions: str,
    template: str,
    texts: str,
    n_puppets: int,
    limits: MemoryLimits,
) -> None:
    """Write the texts of the first users, as many as the task has puppets."""
    memory_rows = tables.read_rows(users, MemoryUser)[:n_puppets]
    ids = {i for user in memory_rows for i in user.conversation_ids}
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", ids)
    items = [item_id for (item_id,) in tables.read_columns(questions, Item, ["item_id"])]
    selection = [s for path in selections for s in tables.read_rows(path, SelectedAttribute)]
    of_items = selected_ids(items, selection) if selections else None
    known_users = remembered_users(
        memory_rows, tables.read_rows(attributes, Attribute), talks, of_items
    )
    tables.write_table(
        texts, list(memory_texts(list(known_users), read_template(template), limits)), MemoryText
    )


if __name__ == "__main__":
    stage.run_script(main, snakemake)
