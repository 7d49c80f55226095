"""The kinds of conditions: how much of a user a model sees, and what that is made from.

This is the one table of kinds. A new kind is an entry here, a function of `puppets.context_kinds` that
makes its contexts, and its settings in the config's schema. Read while Snakemake parses the workflow, so
it imports no scientific package.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

WHO_ASKS = "Does it matter who asks?"
"""What a study with users asks that names no question of its own: one that Yes can answer."""

Material = Literal["conversations", "vectors", "questions", "profiles", "memories", "recordings"]

ContextUnit = Literal["puppet", "puppet and item"]


class Kind(NamedTuple):
    """What is true of every condition of a kind.

    Attributes:
        materials: the tables that its contexts are made from, or the recordings that its answers come
            from; none where the model sees no user.
        phrase: how a question is asked under it, in the words of a reader.
        context_for: whether a context serves all items of its puppet, or one.
    """

    materials: frozenset[Material]
    phrase: str
    context_for: ContextUnit = "puppet"

    @property
    def has_user(self) -> bool:
        """Whether a user stands before the question."""
        return bool(self.materials)

    @property
    def has_contexts(self) -> bool:
        """Whether this workflow makes what stands before the question."""
        return self.has_user and "recordings" not in self.materials

    @property
    def has_conversations(self) -> bool:
        """Whether what the user brings are conversations of a corpus."""
        return "conversations" in self.materials

    @property
    def has_memory(self) -> bool:
        """Whether what the user brings was read off their conversations."""
        return "memories" in self.materials

    @property
    def is_retrieved(self) -> bool:
        """Whether its conversations are found by likeness to the question."""
        return "vectors" in self.materials


KINDS: Mapping[str, Kind] = {
    "none": Kind(frozenset(), "without a user"),
    "history": Kind(frozenset({"conversations"}), "after a user's conversation"),
    "rag": Kind(
        frozenset({"conversations", "vectors", "questions"}),
        "after the conversation most like the question",
        context_for="puppet and item",
    ),
    "profile": Kind(frozenset({"profiles"}), "with a user's profile"),
    "memory": Kind(frozenset({"memories"}), "with memories of a user"),
    "memory_relevant": Kind(
        frozenset({"memories"}), "with the memories that fit the question", "puppet and item"
    ),
    "recorded": Kind(frozenset({"recordings"}), "with a user, as recorded"),
}
"""By the setting `context` of a condition."""


def kind_of(condition: Mapping[str, Any]) -> Kind:
    """The kind of an entry of `conditions`."""
    return KINDS[condition["context"]]


def materials_of(condition: Mapping[str, Any]) -> frozenset[Material]:
    """The tables that the contexts of an entry of `conditions` are made from."""
    kind = kind_of(condition)
    profile: frozenset[Material] = frozenset({"profiles"})
    return kind.materials | (profile if condition.get("profile") else frozenset())


def counts_conversations(condition: Mapping[str, Any]) -> bool:
    """Whether an entry of `conditions` has a number of conversations; without a user it is 0."""
    kind = kind_of(condition)
    return kind.has_conversations or not kind.has_user


def has_user(condition: Mapping[str, Any]) -> bool:
    """Whether an entry of `conditions` puts a user before the question."""
    return kind_of(condition).has_user
