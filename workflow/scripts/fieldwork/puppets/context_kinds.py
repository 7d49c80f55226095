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
        settings: the condition's entry in the config.
        n_puppets: how many puppets there are to be.
        seed: of every draw.
        encoder: makes what encodes questions, for retrieval.
        files: paths of the tables that the kind needs, by the names of `conditions.Material`.
    """

    settings: Mapping[str, Any]
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

    def history_settings(self) -> contexts.HistorySettings:
        fields = contexts.HistorySettings._fields
        return contexts.HistorySettings(**{name: self.settings[name] for name in fields})


def make_contexts(materials: Materials) -> list[Context]:
    return MAKERS[materials.settings["context"]](materials)


def _random_histories(materials: Materials) -> list[Context]:
    settings = materials.history_settings()
    draws = contexts.draw_random(materials.users(), materials.n_puppets, settings, materials.seed)
    return _histories(materials, draws, settings)


def _relevant_histories(materials: Materials) -> list[Context]:
    settings, users = materials.history_settings(), materials.users()
    n_puppets, seed, encoder = materials.n_puppets, materials.seed, materials.encoder()
    questions = {
        i.item_id: i.question for i in tables.read_rows(materials.files["questions"], Item)
    }
    vectors = encoder.encode(list(questions.values()), "embed questions")
    puppets = settings.pool == "user" and contexts.choose_users(users, n_puppets, settings, seed)
    rank = ranking(
        dict(zip(questions, vectors, strict=True)),
        streams.read_blocks(materials.files["vectors"]),
        k=n_puppets * settings.conversations,
        candidates={i for user in puppets for i in users[user]} if puppets else None,
        threads=encoder.settings.threads,
    )
    draws = contexts.draw_relevant(
        users, list(questions), rank, n_puppets=n_puppets, settings=settings, seed=seed
    )
    return _histories(materials, draws, settings)


def _histories(
    materials: Materials, draws: list[contexts.Draw], settings: contexts.HistorySettings
) -> list[Context]:
    ids = {i for draw in draws for i in draw.conversation_ids}
    rows = tables.read_lookup(
        materials.files["conversations"], Conversation, "conversation_id", ids
    )
    role = materials.settings["profile"]
    profiles = contexts.profiles_of(draws, materials.profiles(), role)
    return contexts.history_contexts(draws, rows, settings, profiles)


def _memories(materials: Materials) -> list[Context]:
    texts = tables.read_rows(materials.files["memories"], MemoryText)
    return contexts.memory_contexts(texts, materials.settings["role"])


MAKERS: Mapping[str, Callable[[Materials], list[Context]]] = {
    "history": _random_histories,
    "rag": _relevant_histories,
    "profile": lambda m: contexts.profile_contexts(m.profiles()[: m.n_puppets], m.settings["role"]),
    "memory": _memories,
    "memory_relevant": _memories,
}
"""By the setting `context` of a condition; a kind without a user has no contexts."""
