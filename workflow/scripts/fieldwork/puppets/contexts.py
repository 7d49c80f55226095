"""What each puppet brings along: histories, retrieved histories and profiles, as chat messages.

Messages run from far to near: the question follows the last one. When a context is over its token
budget, whole conversations are left out from the far end and counted; no message is ever cut.
"""

import hashlib
import json
import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.puppets import Context, Conversation, Message, Profile

logger = logging.getLogger(__name__)

Pool = Literal["user", "corpus"]
Order = Literal["drawn", "chronological", "reversed"]
Users = Mapping[str, Sequence[str]]
Rank = Callable[[str, Sequence[str], int], list[str]]


class HistorySettings(NamedTuple):
    """How conversations become a puppet's context.

    Attributes:
        pool: `user`: a puppet is one user and brings that user's conversations; `corpus`: a puppet
            brings conversations of anyone.
        conversations: how many a puppet brings, before the budget.
        token_budget: estimated tokens the context may hold.
        order: `drawn` keeps the order of the draw (retrieved: least relevant first, so that the most
            relevant stands next to the question); `chronological` sorts by date; `reversed` keeps the
            conversations that `drawn` keeps, the other way round.
        out_of: how many are drawn for a puppet, of which it brings the last `conversations`; None for
            as many as it brings.
    """

    pool: Pool
    conversations: int
    token_budget: int
    order: Order
    out_of: int | None = None

    @property
    def drawn(self) -> int:
        """Conversations drawn for a puppet."""
        return self.out_of or self.conversations


class Draw(NamedTuple):
    """The conversations one puppet brings, far to near, before the budget."""

    puppet_id: str
    item_id: str | None
    conversation_ids: tuple[str, ...]


def draw_random(users: Users, n_puppets: int, settings: HistorySettings, seed: int) -> list[Draw]:
    """Random histories, one a puppet; asking for more puppets leaves the first ones as they are.

    Without `out_of`, puppets of the pool `corpus` share no conversation. With it each draws from a
    seed of its own, so that histories of all lengths are the ends of one draw.

    Args:
        users: user id → that user's conversation ids.

    Raises:
        StudyError: the corpus has fewer users, or conversations, than the puppets need.
    """
    n = settings.conversations
    if settings.pool == "user":
        chosen = choose_users(users, n_puppets, settings, seed)
        return [Draw(u, None, _drawn_last(u, users[u], settings, seed)) for u in chosen]
    pool = sorted(i for ids in users.values() for i in ids)
    names = [corpus_puppet(p) for p in range(n_puppets)]
    if settings.out_of is not None:
        _require(len(pool), settings.out_of, "conversations")
        return [Draw(name, None, _drawn_last(name, pool, settings, seed)) for name in names]
    _require(len(pool), n_puppets * n, "conversations")
    shuffled = random.Random(f"history:{seed}").sample(pool, len(pool))
    return [Draw(name, None, tuple(shuffled[p * n :][:n])) for p, name in enumerate(names)]


def _drawn_last(
    puppet: str, pool: Sequence[str], settings: HistorySettings, seed: int
) -> tuple[str, ...]:
    drawn = random.Random(f"history:{seed}:{puppet}").sample(sorted(pool), settings.drawn)
    return tuple(drawn[-settings.conversations :])


def draw_relevant(
    users: Users,
    item_ids: Sequence[str],
    rank: Rank,
    *,
    n_puppets: int,
    settings: HistorySettings,
    seed: int,
) -> list[Draw]:
    """Histories most relevant to each item.

    From the pool `corpus`, the `n_puppets × conversations` most similar conversations are dealt out
    in turn, so that with one conversation a puppet, puppet p brings the p-th most similar one. From
    the pool `user`, each puppet brings the most similar of its own.

    Args:
        rank: (item id, candidate conversation ids, k) → the k most similar, most similar first.
    """
    n = settings.conversations
    if settings.pool == "user":
        chosen = choose_users(users, n_puppets, settings, seed)
        return [
            Draw(u, item, tuple(reversed(rank(item, users[u], n))))
            for u in chosen
            for item in item_ids
        ]
    pool = sorted(i for ids in users.values() for i in ids)
    _require(len(pool), n_puppets * n, "conversations")
    ranked = {item: rank(item, pool, n_puppets * n) for item in item_ids}
    return [
        Draw(corpus_puppet(p), item, tuple(reversed(ranked[item][p::n_puppets])))
        for p in range(n_puppets)
        for item in item_ids
    ]


def corpus_puppet(index: int) -> str:
    """Id of a puppet that is no single user."""
    return f"corpus-{index:06d}"


def choose_users(users: Users, n_puppets: int, settings: HistorySettings, seed: int) -> list[str]:
    """The users that become puppets: a seeded order over all who have enough conversations."""
    able = sorted(u for u, ids in users.items() if len(ids) >= settings.drawn)
    _require(len(able), n_puppets, f"users with at least {settings.drawn} conversation(s)")
    return random.Random(f"users:{seed}").sample(able, len(able))[:n_puppets]


def _require(available: int, needed: int, what: str) -> None:
    if available < needed:
        raise StudyError(
            f"the corpus has {available} {what} after the filters, but the condition needs {needed} "
            f"(tasks.*.runs puppets); lower runs, conditions.*.conversations or out_of, loosen filters, "
            f"or choose a larger corpus"
        )


def history_contexts(
    draws: Sequence[Draw],
    conversations: Iterable[Conversation],
    settings: HistorySettings,
    profiles: Mapping[str, Message] | None = None,
) -> list[Context]:
    """Contexts from draws, within the token budget.

    Args:
        conversations: every conversation the draws name.
        profiles: by puppet, a message that stands before its conversations and is never left out; the
            conversations get what it leaves of the budget.
    """
    told = profiles or {}
    known = {row.conversation_id: row for row in conversations}
    contexts = [_history_context(d, known, settings, told.get(d.puppet_id)) for d in draws]
    if bare := sum(not context.conversation_ids for context in contexts):
        logger.warning(
            "%d of %d contexts hold no conversation, as the one next to the question alone is over "
            "token_budget %d: these puppets ask %s",
            bare,
            len(contexts),
            settings.token_budget,
            "with their profile alone" if told else "as blank calls do",
        )
    return contexts


def _history_context(
    draw: Draw,
    conversations: Mapping[str, Conversation],
    settings: HistorySettings,
    profile: Message | None,
) -> Context:
    drawn = [conversations[i] for i in draw.conversation_ids]
    if settings.order == "chronological":
        drawn.sort(key=_age)
    before = [profile] if profile else []
    taken = estimate_tokens(before)
    kept = _nearest_within(drawn, settings.token_budget - taken)
    if settings.order == "reversed":
        kept.reverse()
    messages = [*before, *(m for c in kept for m in c.messages)]
    return Context(
        context_id=context_id(messages),
        puppet_id=draw.puppet_id,
        item_id=draw.item_id,
        conversation_ids=[c.conversation_id for c in kept],
        messages=messages,
        n_tokens=taken + sum(c.n_tokens for c in kept),
        n_dropped=len(drawn) - len(kept),
    )


def _age(conversation: Conversation) -> tuple[bool, str, str]:
    # undated conversations count as oldest
    started = conversation.started_at
    return (
        started is not None,
        started.isoformat() if started else "",
        conversation.conversation_id,
    )


def _nearest_within(far_to_near: Sequence[Conversation], budget: int) -> list[Conversation]:
    total, kept = 0, []
    for conversation in reversed(far_to_near):
        total += conversation.n_tokens
        if total > budget:
            break
        kept.append(conversation)
    return kept[::-1]


def profiles_of(
    draws: Sequence[Draw], profiles: Sequence[Profile], role: str
) -> dict[str, Message]:
    """The message with its profile for each puppet: the first puppet drawn has the first profile.

    Args:
        profiles: as many as there are puppets, at least.
    """
    puppets = dict.fromkeys(draw.puppet_id for draw in draws)
    return {p: Message(role, profile.text) for p, profile in zip(puppets, profiles, strict=False)}


def profile_contexts(profiles: Sequence[Profile], role: str) -> list[Context]:
    """One context a profile: its text as a single message of `role`."""
    return [_profile_context(profile, role) for profile in profiles]


def _profile_context(profile: Profile, role: str) -> Context:
    messages = [Message(role, profile.text)]
    return Context(
        context_id=context_id(messages),
        puppet_id=profile.puppet_id,
        item_id=None,
        conversation_ids=[],
        messages=messages,
        n_tokens=estimate_tokens(messages),
        n_dropped=0,
    )


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Tokens of chat messages, estimated as UTF-8 bytes / 4, rounded up, plus 4 a message."""
    return sum(-(-len(m.content.encode("utf-8", "replace")) // 4) + 4 for m in messages)


def context_id(messages: Sequence[Message]) -> str:
    """Hash of the messages: 32 hex digits of sha256 over their JSON."""
    text = json.dumps([[m.role, m.content] for m in messages])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
