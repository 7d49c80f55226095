"""Whose conversations are read, which of them, and the question that asks for attributes."""

import pytest

from fieldwork.errors import StudyError
from fieldwork.memory.reading import (
    memory_users,
    reading_items,
    sentences_of,
)
from fieldwork.records.tasks import Item
from fieldwork.sections.memory import ReadingRules
from fieldwork.text_templates import TextTemplate
from unit.memory.conversations import conversation

TEMPLATE = "Read:\n{{ conversation }}\nName {{ n }}."
STATEMENTS = ReadingRules(conversations=2, longest=100, form="statements", per_conversation=5)
SENTENCES = STATEMENTS.model_copy(update={"form": "sentences"})


def test_sentences_are_what_the_user_states_with_the_turns_they_stand_in() -> None:
    talk = conversation(
        "I am a nurse. Is that fine?  I work  at night!\nI own a dog",
        "I am a bot.",
        "I am a nurse. Ok.",
    )
    assert [(s.text, s.turns) for s in sentences_of(talk)] == [
        ("I am a nurse.", (1, 3)),
        ("I work at night!", (1,)),
        ("I own a dog", (1,)),
    ]


def test_the_newest_conversations_that_are_short_enough_are_read() -> None:
    talks = [
        conversation("a", name="new", day=9),
        conversation("a", name="long", day=8, n_tokens=101),
        conversation("a", name="undated", day=None),
        conversation("a", name="old", day=2),
        conversation("a", name="middle", day=5),
        conversation("a", name="other", user="u2"),
    ]
    first, second = memory_users(["u2", "u1"], talks, STATEMENTS)
    assert (first.place, first.user_id, first.conversation_ids) == (0, "u2", ["other"])
    assert (second.place, second.n_conversations, second.n_long) == (1, 5, 1)
    assert second.conversation_ids == ["middle", "new"]


def test_a_free_question_has_no_lines_to_choose_from_and_a_held_one_has() -> None:
    (free,), (held,) = (
        items("I am a nurse. I own a dog. I like tea.", r) for r in (STATEMENTS, SENTENCES)
    )
    assert (free.kind, free.choices, free.list_length) == ("text", [], None)
    assert (held.kind, held.list_length) == ("text", 3)
    assert held.choices == ["I am a nurse.", "I own a dog.", "I like tea."]
    assert free.prompt.endswith("Name 5.")
    assert held.prompt.endswith("Name 3.")
    # a conversation in which the user states nothing is not asked about
    assert items("Why? How?", SENTENCES) == []
    with pytest.raises(StudyError, match=r"t\.txt: .*conversation, n"):
        items("I am a nurse.", STATEMENTS, "{{ chat }}")


def items(text: str, rules: ReadingRules, template: str = TEMPLATE) -> list[Item]:
    talk = conversation(text)
    users = memory_users(["u1"], [talk], rules)
    return reading_items(users, {"c1": talk}, rules, TextTemplate(template, "t.txt"))
