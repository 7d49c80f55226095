"""Texts of memory: templates as shipped, the budget, and users of whom nothing is known."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.memory.formats import RememberedUser, memory_texts, remembered_users
from fieldwork.records.memory import Attribute, MemoryText, MemoryUser
from fieldwork.sections.conditions import MemoryLimits
from fieldwork.text_templates import TextTemplate, read_template
from unit.memory.conversations import attribute as attribute_of
from unit.memory.conversations import conversation

SHIPPED = sorted((Path(__file__).parents[3] / "resources/memory").glob("*_202*.txt"))
PLAIN = TextTemplate(
    "{% for a in attributes %}- {{ a.text }}\n{% endfor %}"
    "{% for c in conversations %}* {{ c.user_messages | first }}\n{% endfor %}",
    "t.txt",
)
LIMITS = MemoryLimits(recent=2, token_budget=1000)
TALKS = [conversation(f"Message {n}", name=f"c{n}", day=n) for n in (1, 2, 3)]


def attribute(number: int, kind: str = "fact") -> Attribute:
    day = datetime(2026, 1, 2, tzinfo=UTC)
    return attribute_of(
        f"a{number}", f"Attribute number {number}", place=number, kind=kind, stated_at=day
    )


def text_of(
    user: RememberedUser, template: TextTemplate = PLAIN, limits: MemoryLimits = LIMITS
) -> MemoryText:
    (made,) = memory_texts([user], template, limits)
    return made


def test_attributes_and_the_newest_conversations_are_put_into_the_template() -> None:
    made = text_of(RememberedUser("u1", None, [attribute(0), attribute(1)], TALKS))
    assert made.text == "- Attribute number 0\n- Attribute number 1\n* Message 2\n* Message 3"
    assert (made.attribute_ids, made.n_left_out) == (["a0", "a1"], 0)
    assert made.conversation_ids == ["c1", "c2", "c3"]


def test_what_does_not_fit_is_left_out_oldest_first_conversations_before_attributes() -> None:
    user = RememberedUser("u1", None, [attribute(n) for n in range(3)], TALKS)
    whole = text_of(user)
    sizes = {}
    for budget in range(1, 60):
        made = text_of(user, limits=MemoryLimits(recent=2, token_budget=budget))
        sizes[len(made.attribute_ids), made.text.count("*")] = made
        assert made.n_left_out == 5 - len(made.attribute_ids) - made.text.count("*")
    assert set(sizes) <= {(3, 2), (3, 1), (3, 0), (2, 0), (1, 0), (0, 0)}
    assert sizes[3, 2] == whole
    assert "Message 3" in sizes[3, 1].text
    assert sizes[1, 0].attribute_ids == ["a2"]
    assert sizes[0, 0].text == ""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_templates_say_everything_that_is_known(path: Path) -> None:
    kinds = ["fact", "preference", "interest", "plan"]
    known = [attribute(number, kind) for number, kind in enumerate(kinds)]
    undated = dataclasses.replace(attribute(4), stated_at=None, confidence=None)
    template = read_template(str(path))
    made = text_of(RememberedUser("u1", None, [*known, undated], TALKS), template)
    assert all(f"Attribute number {number}" in made.text for number in range(5))
    assert "2026-01-02" in made.text
    assert "None" not in made.text
    assert "{" not in made.text
    assert ("Message 3" in made.text) == ("conversations" in template.text)


def test_a_template_that_reaches_for_more_is_refused() -> None:
    user = RememberedUser("u1", None, [attribute(0)], [])
    for template in ("{{ secrets }}", "{{ attributes[0].text.__class__.__mro__ }}", "{% for %}"):
        with pytest.raises(StudyError, match=r"t\.txt: the template cannot be filled in"):
            text_of(user, PLAIN._replace(text=template))


def test_of_selected_attributes_each_question_has_a_text_even_where_nothing_matters() -> None:
    users = [MemoryUser(0, "u1", 1, 0, ["c1"]), MemoryUser(1, "u2", 1, 0, [])]
    by_id = {talk.conversation_id: talk for talk in TALKS}
    known = [attribute(0), attribute(1)]
    some = remembered_users(users, known, by_id, {"q1": {"a1"}, "q2": set()})
    found = {(u.user_id, u.item_id): [a.attribute_id for a in u.attributes] for u in some}
    assert found == {("u1", "q1"): ["a1"], ("u1", "q2"): [], ("u2", "q1"): [], ("u2", "q2"): []}
    everything = list(remembered_users(users, known, by_id))
    assert [(u.item_id, len(u.attributes)) for u in everything] == [(None, 2), (None, 0)]
