"""The context of each puppet: histories, retrieved histories and profiles, as chat messages.

Messages run from far to near: the question follows the last one. Where a context exceeds its token
budget, whole conversations are left out from the far end and counted. No message is ever cut.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.keyed_order import KeyedPool, draw_in_turn
from fieldwork.records.memory import MemoryText
from fieldwork.records.puppets import Context, Conversation, Message, Profile
from fieldwork.sections.conditions import HistoryCondition
from fieldwork.token_estimate import message_tokens

logger = logging.getLogger(__name__)

Users = Mapping[str, Sequence[str]]
Ranker = Callable[[str, Sequence[str], int], list[str]]


class Draw(NamedTuple):
    """The conversations one puppet brings, far to near, before the budget."""

    puppet_id: str
    item_id: str | None
    conversation_ids: tuple[str, ...]


def draw_random(
    users: Users, n_puppets: int, condition: HistoryCondition, seed: int, number: int = 0
) -> list[Draw]:
    """Random histories, one a puppet; more puppets, users or conversations do not change the others.

    Without `out_of`, puppets of the pool `corpus` share no conversation. With it, each puppet draws with
    its own seed, so that a shorter history is the end of a longer one.

    Args:
        users: user id → that user's conversation ids.
        number: how many contexts of the same user take their conversations from the end of the draw
            before this one.

    Raises:
        StudyError: the corpus has fewer users, or conversations, than the puppets need.
    """
    n = condition.conversations
    if condition.pool == "user":
        puppet_users = choose_users(users, n_puppets, condition, seed)
        pools = {u: KeyedPool(users[u]) for u in puppet_users}
        return [
            Draw(u, None, _end_of_draw(u, pools[u], condition, seed, number)) for u in puppet_users
        ]
    pool = KeyedPool(i for ids in users.values() for i in ids)
    names = [corpus_puppet(p) for p in range(n_puppets)]
    if condition.out_of is not None:
        _require(len(pool.ids), condition.out_of, "conversations")
        return [
            Draw(name, None, _end_of_draw(name, pool, condition, seed, number)) for name in names
        ]
    _require(len(pool.ids), n_puppets * n, "conversations")
    draws = draw_in_turn(pool, names, n, seed, "history")
    return [Draw(name, None, tuple(draw)) for name, draw in zip(names, draws, strict=True)]


def _end_of_draw(
    puppet: str, pool: KeyedPool, condition: HistoryCondition, seed: int, number: int
) -> tuple[str, ...]:
    draw = pool.draw(condition.n_drawn, seed, "history", puppet)
    end = len(draw) - number * condition.conversations
    return tuple(draw[end - condition.conversations : end])


def draw_relevant(
    users: Users,
    item_ids: Sequence[str],
    rank: Ranker,
    *,
    n_puppets: int,
    condition: HistoryCondition,
    seed: int,
) -> list[Draw]:
    """Histories most relevant to each item.

    From the pool `corpus`, puppets take turns through the `n_puppets × conversations` most similar
    conversations; with one conversation each, puppet p brings the p-th most similar one. From the pool
    `user`, each puppet brings the most similar of its own conversations.

    Args:
        rank: (item id, candidate conversation ids, k) → the k most similar, most similar first.
    """
    n = condition.conversations
    if condition.pool == "user":
        puppet_users = choose_users(users, n_puppets, condition, seed)
        return [
            Draw(u, item, tuple(reversed(rank(item, users[u], n))))
            for u in puppet_users
            for item in item_ids
        ]
    pool = sorted(i for ids in users.values() for i in ids)
    _require(len(pool), n_puppets * n, "conversations")
    ranking = {item: rank(item, pool, n_puppets * n) for item in item_ids}
    return [
        Draw(corpus_puppet(p), item, tuple(reversed(ranking[item][p::n_puppets])))
        for p in range(n_puppets)
        for item in item_ids
    ]


def corpus_puppet(index: int) -> str:
    """Id of a puppet that brings conversations of several users."""
    return f"corpus-{index:06d}"


def choose_users(users: Users, n_puppets: int, condition: HistoryCondition, seed: int) -> list[str]:
    """The users that become puppets of a condition with histories."""
    return users_in_order(users, n_puppets, condition.n_drawn, seed)


def users_in_order(users: Users, n_puppets: int, at_least: int, seed: int) -> list[str]:
    """The users that become puppets: the first who have enough conversations, in an order by the seed.

    Args:
        at_least: conversations that a user must have.

    Raises:
        StudyError: there are fewer such users.
    """
    able = KeyedPool(u for u, ids in users.items() if len(ids) >= at_least)
    _require(len(able.ids), n_puppets, f"users with at least {at_least} conversation(s)")
    return able.draw(n_puppets, seed, "users")


def _require(n_available: int, n_needed: int, noun: str) -> None:
    if n_available < n_needed:
        raise StudyError(
            f"the corpus has {n_available} {noun} after its filters, but the condition needs {n_needed} "
            f"(tasks.*.runs puppets); lower runs, conditions.*.conversations or out_of, loosen the "
            f"filters, or choose a larger corpus"
        )


def history_contexts(
    draws: Sequence[Draw],
    conversations: Iterable[Conversation],
    condition: HistoryCondition,
    profiles: Mapping[str, Message] | None = None,
) -> list[Context]:
    """Contexts from draws, within the token budget.

    Args:
        conversations: every conversation the draws name.
        profiles: by puppet, a message before its conversations that is never left out; the conversations
            share the rest of the budget.
    """
    profile_messages = profiles or {}
    conversation_by_id = {row.conversation_id: row for row in conversations}
    contexts = [
        _history_context(d, conversation_by_id, condition, profile_messages.get(d.puppet_id))
        for d in draws
    ]
    if n_bare := sum(not context.conversation_ids for context in contexts):
        with_profile = "with their profile alone"
        rest = with_profile if profile_messages else "without a context, as blank calls do"
        logger.warning(
            "%d of %d contexts hold no conversation, because the one next to the question exceeds "
            "token_budget %d; these puppets ask %s",
            *(n_bare, len(contexts), condition.token_budget, rest),
        )
    return contexts


def _history_context(
    draw: Draw,
    conversations: Mapping[str, Conversation],
    condition: HistoryCondition,
    profile: Message | None,
) -> Context:
    draw_order = [conversations[i] for i in draw.conversation_ids]
    if condition.order == "chronological":
        draw_order.sort(key=_age)
    profile_messages = [profile] if profile else []
    profile_tokens = estimate_tokens(profile_messages)
    conversations_left = _nearest_within(draw_order, condition.token_budget - profile_tokens)
    if condition.order == "reversed":
        conversations_left.reverse()
    messages = [*profile_messages, *(m for c in conversations_left for m in c.messages)]
    return Context(
        context_id=context_id(messages),
        puppet_id=draw.puppet_id,
        item_id=draw.item_id,
        conversation_ids=[c.conversation_id for c in conversations_left],
        messages=messages,
        n_tokens=profile_tokens + sum(c.n_tokens for c in conversations_left),
        n_dropped=len(draw_order) - len(conversations_left),
    )


def _age(conversation: Conversation) -> tuple[bool, str, str]:
    # undated conversations count as oldest
    started_at = conversation.started_at.isoformat() if conversation.started_at else ""
    return (bool(started_at), started_at, conversation.conversation_id)


def _nearest_within(far_to_near: Sequence[Conversation], budget: int) -> list[Conversation]:
    total, nearest = 0, []
    for conversation in reversed(far_to_near):
        total += conversation.n_tokens
        if total > budget:
            break
        nearest.append(conversation)
    return nearest[::-1]


def profiles_of(
    draws: Sequence[Draw], profiles: Sequence[Profile], role: str
) -> dict[str, Message]:
    """For each puppet the message with its profile, which no other puppet has.

    Args:
        profiles: at least as many as there are puppets, or none.
    """
    if not profiles:
        return {}
    puppets = [*dict.fromkeys(draw.puppet_id for draw in draws)]
    texts = {profile.puppet_id: profile.text for profile in profiles}
    names = draw_in_turn(KeyedPool(texts), puppets, 1, "profiles")
    return {p: Message(role, texts[name]) for p, [name] in zip(puppets, names, strict=True)}


def profile_contexts(profiles: Sequence[Profile], role: str) -> list[Context]:
    """One context for each profile: its text as a single message of `role`."""
    contexts = []
    for profile in profiles:
        messages = [Message(role, profile.text)]
        n_tokens = estimate_tokens(messages)
        contexts.append(
            Context(context_id(messages), profile.puppet_id, None, [], messages, n_tokens, 0)
        )
    return contexts


def memory_contexts(texts: Sequence[MemoryText], role: str) -> list[Context]:
    """One context for each text: a single message of `role`, or none where nothing is known."""
    contexts = []
    for text in texts:
        messages = [Message(role, text.text)] if text.text else []
        contexts.append(
            Context(
                context_id=context_id(messages),
                puppet_id=text.user_id,
                item_id=text.item_id,
                conversation_ids=text.conversation_ids,
                messages=messages,
                n_tokens=estimate_tokens(messages),
                n_dropped=text.n_left_out,
            )
        )
    if n_bare := sum(not context.messages for context in contexts):
        logger.warning(
            "%d of %d contexts are empty, as nothing is known of the user or nothing matters for the "
            "question; these puppets ask as blank calls do",
            *(n_bare, len(contexts)),
        )
    return contexts


def estimate_tokens(messages: Sequence[Message]) -> int:
    return sum(message_tokens(message.content) for message in messages)


def context_id(messages: Sequence[Message]) -> str:
    """Hash of the messages: 32 hex digits of sha256 over their JSON."""
    text = json.dumps([[m.role, m.content] for m in messages])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
