"""How the contexts of each kind of condition are made: one function a kind of `fieldwork.conditions`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fieldwork import streams, tables
from fieldwork.encoder import Encoder
from fieldwork.puppets import contexts
from fieldwork.puppets.retrieval import ranking
from fieldwork.records.memory import MemoryText
from fieldwork.records.puppets import Context, Conversation, Profile
from fieldwork.records.tasks import Item


class Materials(NamedTuple):
    """What contexts are made from.

    Attributes:
        condition: its entry in the config.
        number: how many contexts of the same users come before these.
        n_puppets: how many puppets there are to be.
        seed: of every draw.
        encoder: makes what encodes questions, for retrieval.
        files: paths of the tables that the kind needs, by the names of `conditions.Material`.
    """

    condition: Any
    number: int
    n_puppets: int
    seed: int
    encoder: Callable[[], Encoder]
    files: Mapping[str, Any]

    def users(self) -> dict[str, list[str]]:
        return tables.read_groups(self.files["conversations"], "user_id", "conversation_id")

    def profiles(self) -> list[Profile]:
        """At least a profile for each puppet, where the condition brings profiles."""
        path = self.files.get("profiles")
        return tables.read_rows(path, Profile) if path else []


def make_contexts(materials: Materials) -> list[Context]:
    return MAKERS[materials.condition.context](materials)


def _random_histories(materials: Materials) -> list[Context]:
    draws = contexts.draw_random(
        materials.users(),
        materials.n_puppets,
        materials.condition,
        materials.seed,
        materials.number,
    )
    return _histories(materials, draws)


def _relevant_histories(materials: Materials) -> list[Context]:
    condition, users = materials.condition, materials.users()
    n_puppets, seed, encoder = materials.n_puppets, materials.seed, materials.encoder()
    questions = {
        i.item_id: i.question for i in tables.read_rows(materials.files["questions"], Item)
    }
    vectors = encoder.encode(list(questions.values()), "embed questions")
    puppets = condition.pool == "user" and contexts.choose_users(users, n_puppets, condition, seed)
    rank = ranking(
        dict(zip(questions, vectors, strict=True)),
        streams.read_blocks(materials.files["vectors"]),
        k=n_puppets * condition.conversations,
        candidates={i for user in puppets for i in users[user]} if puppets else None,
        threads=encoder.settings.threads,
    )
    draws = contexts.draw_relevant(
        users, list(questions), rank, n_puppets=n_puppets, condition=condition, seed=seed
    )
    return _histories(materials, draws)


def _histories(materials: Materials, draws: list[contexts.Draw]) -> list[Context]:
    ids = {i for draw in draws for i in draw.conversation_ids}
    rows = tables.read_lookup(
        materials.files["conversations"], Conversation, "conversation_id", ids
    )
    condition = materials.condition
    profiles = contexts.profiles_of(draws, materials.profiles(), condition.profile)
    return contexts.history_contexts(draws, rows, condition, profiles)


def _memories(materials: Materials) -> list[Context]:
    texts = tables.read_rows(materials.files["memories"], MemoryText)
    return contexts.memory_contexts(texts, materials.condition.role)


MAKERS: Mapping[str, Callable[[Materials], list[Context]]] = {
    "history": _random_histories,
    "rag": _relevant_histories,
    "profile": lambda m: contexts.profile_contexts(m.profiles()[: m.n_puppets], m.condition.role),
    "memory": _memories,
    "memory_relevant": _memories,
}
"""By the setting `context` of a condition; a kind without a user has no contexts."""
