"""What puppets bring: drawn by seed, kept within budget whole, and known by its content."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.puppets.contexts import (
    Draw,
    choose_users,
    context_id,
    corpus_puppet,
    draw_random,
    draw_relevant,
    estimate_tokens,
    history_contexts,
    profile_contexts,
    profiles_of,
)
from fieldwork.records.puppets import Context, Conversation, Message, Profile
from fieldwork.sections.conditions import HistoryCondition

Pool = Literal["user", "corpus"]
HistoryOrder = Literal["drawn", "chronological", "reversed"]
USERS = {f"u{u:02d}": [f"u{u:02d}-c{c}" for c in range(1 + u % 4)] for u in range(24)}
ALL = sorted(i for ids in USERS.values() for i in ids)


def settings(
    pool: Pool = "user",
    conversations: int = 1,
    budget: int = 1_000,
    order: HistoryOrder = "drawn",
    out_of: int | None = None,
) -> HistoryCondition:
    return HistoryCondition(
        label="History",
        context="history",
        pool=pool,
        conversations=conversations,
        token_budget=budget,
        order=order,
        out_of=out_of,
    )


def conversation(name: str, tokens: int = 10, day: int | None = None) -> Conversation:
    started = None if day is None else datetime(2024, 1, day, tzinfo=UTC)
    messages = [Message("user", f"{name}?"), Message("assistant", f"{name}!")]
    return Conversation(name, "u", started, None, None, 1, tokens, messages)


def context(draw: Sequence[str], corpus: Sequence[Conversation], **form: Any) -> Context:
    (made,) = history_contexts([Draw("p", "item", tuple(draw))], corpus, settings(**form))
    return made


def rank(item: str, candidates: Sequence[str], k: int) -> list[str]:
    """Item `x` likes ids from the start of the alphabet, other items from its end."""
    return sorted(candidates, reverse=item != "x")[:k]


# ---- random histories ----------------------------------------------------------------------------


@pytest.mark.parametrize("pool", ["user", "corpus"])
@given(n=st.integers(1, 5), c=st.integers(1, 3), seed=st.integers(0, 99), more=st.integers(0, 6))
def test_more_puppets_leave_the_first_as_they_are_whatever_the_order_of_the_corpus(
    pool: Pool, n: int, c: int, seed: int, more: int
) -> None:
    few = draw_random(USERS, n, settings(pool, c), seed)
    shuffled = {user: USERS[user][::-1] for user in reversed(USERS)}
    assert draw_random(shuffled, n + more, settings(pool, c), seed)[:n] == few


@pytest.mark.parametrize("pool", ["user", "corpus"])
def test_the_seed_decides(pool: Pool) -> None:
    first, second = (draw_random(USERS, 5, settings(pool, 2), seed) for seed in (1, 2))
    assert first != second


@pytest.mark.parametrize("conversations", [1, 2])
def test_contexts_of_a_user_share_no_conversation(conversations: int) -> None:
    form = settings("user", conversations, out_of=4)
    first, second = (draw_random(USERS, 5, form, seed=1, number=k) for k in (0, 1))
    assert first == draw_random(USERS, 5, form, seed=1)
    assert [d.puppet_id for d in first] == [d.puppet_id for d in second]
    for one, other in zip(first, second, strict=True):
        assert len(one.conversation_ids) == len(other.conversation_ids) == conversations
        assert not set(one.conversation_ids) & set(other.conversation_ids)
        assert set(other.conversation_ids) <= set(USERS[other.puppet_id])


def test_the_corpus_is_dealt_out_without_repeats() -> None:
    draws = draw_random(USERS, 6, settings("corpus", 10), seed=1)
    assert [d.puppet_id for d in draws] == [f"corpus-{p:06d}" for p in range(6)]
    assert sorted(i for d in draws for i in d.conversation_ids) == ALL


@given(n=st.integers(1, 5), seed=st.integers(0, 99), more=st.integers(0, 1))
@pytest.mark.parametrize("pool", ["user", "corpus"])
def test_shorter_histories_are_the_near_end_of_longer_ones(
    pool: Pool, n: int, seed: int, more: int
) -> None:
    longest, *shorter = (
        draw_random(USERS, n, settings(pool, conversations, out_of=4), seed)
        for conversations in (4, 3, 2, 1)
    )
    for length, draws in zip((3, 2, 1), shorter, strict=True):
        ids = [(draw.puppet_id, draw.conversation_ids) for draw in draws]
        assert ids == [(whole.puppet_id, whole.conversation_ids[-length:]) for whole in longest]
    assert draw_random(USERS, n + more, settings(pool, 4, out_of=4), seed)[:n] == longest


@pytest.mark.parametrize(
    ("pool", "conversations", "puppets", "message"),
    [
        ("user", 1, 25, "the corpus has 24 users with at least 1 conversation(s)"),
        ("user", 4, 7, "the corpus has 6 users with at least 4 conversation(s)"),
        ("corpus", 1, 61, "the corpus has 60 conversations after its filters"),
        ("corpus", 10, 7, "but the condition needs 70 (tasks.*.runs puppets)"),
    ],
)
def test_too_small_a_corpus_is_a_sentence(
    pool: Pool, conversations: int, puppets: int, message: str
) -> None:
    form, pattern = settings(pool, conversations), re.escape(message) + ".*lower runs"
    with pytest.raises(StudyError, match=pattern):
        draw_random(USERS, puppets, form, 0)
    with pytest.raises(StudyError, match=pattern):
        draw_relevant(USERS, ["x"], rank, n_puppets=puppets, condition=form, seed=0)


# ---- retrieved histories -------------------------------------------------------------------------


def test_with_one_conversation_puppet_p_brings_the_pth_most_relevant() -> None:
    draws = draw_relevant(
        USERS, ["x", "y"], rank, n_puppets=5, condition=settings("corpus"), seed=0
    )
    for item, nearest in (("x", ALL[:5]), ("y", ALL[::-1][:5])):
        own = [(d.puppet_id, d.conversation_ids) for d in draws if d.item_id == item]
        assert own == [(corpus_puppet(p), (name,)) for p, name in enumerate(nearest)]


def test_several_are_dealt_in_turn_with_the_most_relevant_nearest() -> None:
    draws = draw_relevant(USERS, ["x"], rank, n_puppets=2, condition=settings("corpus", 3), seed=0)
    first, second = (tuple(ALL[n] for n in places) for places in ((4, 2, 0), (5, 3, 1)))
    assert [d.conversation_ids for d in draws] == [first, second]


def test_a_user_brings_the_most_relevant_of_its_own() -> None:
    form = settings("user", 2)
    draws = draw_relevant(USERS, ["x", "y"], rank, n_puppets=3, condition=form, seed=4)
    assert [d.puppet_id for d in draws[::2]] == choose_users(USERS, 3, form, 4)
    for draw in draws:
        own = sorted(USERS[draw.puppet_id])
        assert draw.conversation_ids[-1] == (own[0] if draw.item_id == "x" else own[-1])
        assert len(draw.conversation_ids) == 2


# ---- budget and order ----------------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(1, 200))
@example([5, 100, 10], 20).via("a far one that would fit must not jump over a nearer one")
@example([0, 0, 20], 20)
@example([10, 10, 10], 29)
def test_whole_conversations_are_left_out_from_the_far_end(tokens: list[int], budget: int) -> None:
    corpus = [conversation(f"c{i}", n) for i, n in enumerate(tokens)]
    names = [c.conversation_id for c in corpus]
    made = context(names, corpus, budget=budget)
    n_dropped = next(k for k in range(len(tokens) + 1) if sum(tokens[k:]) <= budget)
    assert made.conversation_ids == names[n_dropped:]
    assert (made.n_dropped, made.n_tokens) == (n_dropped, sum(tokens[n_dropped:]))
    assert made.messages == [message for one in corpus[n_dropped:] for message in one.messages]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("drawn", ["b", "none", "c", "a"]), ("chronological", ["none", "a", "b", "c"])],
)
def test_order_of_the_conversations(order: HistoryOrder, expected: list[str]) -> None:
    corpus = [conversation(name, day=day) for name, day in (("a", 1), ("b", 2), ("c", 30))]
    corpus.append(conversation("none"))
    assert context(["b", "none", "c", "a"], corpus, order=order).conversation_ids == expected


@pytest.mark.parametrize("budget", [1_000, 20])
def test_reversed_brings_the_same_conversations_the_other_way_round(budget: int) -> None:
    corpus = [conversation(name) for name in "abc"]
    drawn, turned = (
        context("abc", corpus, budget=budget, order=order) for order in ("drawn", "reversed")
    )
    assert turned.conversation_ids == drawn.conversation_ids[::-1]
    assert (turned.n_dropped, turned.n_tokens) == (drawn.n_dropped, drawn.n_tokens)
    assert turned.context_id != drawn.context_id


# ---- profiles before histories -------------------------------------------------------------------


def with_profiles(role: str, budget: int) -> list[Context]:
    draws = [Draw(p, item, ("a", "b")) for p in ("p", "q") for item in ("x", "y")]
    profiles = [Profile(f"profile-{i}", "persona", [], f"profile {i}") for i in range(3)]
    return history_contexts(
        draws,
        [conversation("a"), conversation("b")],
        settings(budget=budget),
        profiles_of(draws, profiles, role),
    )


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_puppet_keeps_one_profile_before_its_conversations(role: str) -> None:
    made = with_profiles(role, 1_000)
    first, again, second, second_again = (c.messages[0] for c in made)
    assert first == again != second == second_again
    assert {first.role, second.role} == {role}
    assert {first.content, second.content} < {"profile 0", "profile 1", "profile 2"}
    assert all(c.conversation_ids == ["a", "b"] and len(c.messages) == 5 for c in made)
    assert made[0].n_tokens == 20 + estimate_tokens([Message(role, "profile 0")])


@pytest.mark.parametrize(("budget", "kept"), [(27, ["a", "b"]), (26, ["b"]), (16, []), (1, [])])
def test_conversations_get_what_the_profile_leaves_of_the_budget(
    budget: int, kept: list[str]
) -> None:
    # the profile takes 7 tokens, a conversation 10
    for made in with_profiles("system", budget):
        assert made.conversation_ids == kept
        assert made.messages[0].content.startswith("profile")
        assert made.n_dropped == 2 - len(kept)


# ---- ids and tokens ------------------------------------------------------------------------------


def test_the_id_depends_on_the_messages_alone() -> None:
    corpus = [conversation("a", 5, day=1), conversation("b", 7)]
    draws = [Draw("p", "x", ("a", "b")), Draw("q", None, ("a", "b")), Draw("p", "x", ("b", "a"))]
    first, second, third = history_contexts(draws, corpus, settings())
    assert first.context_id == second.context_id != third.context_id
    assert (first.puppet_id, first.item_id) == ("p", "x")
    assert (second.puppet_id, second.item_id) == ("q", None)


def test_the_id_is_pinned() -> None:
    # paid answers are found again by it: a change here is a change of every study
    assert context_id([Message("user", "Hé")]) == "3437a840f674acb681c79b9386615b3a"


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_profile_is_one_message(role: str) -> None:
    assert profiles_of([Draw("p", None, ("a",))], [], role) == {}
    profile = Profile("profile-0007", "A nurse.", ["I run."], "About the user: {A nurse.}")
    (made,) = profile_contexts([profile], role)
    messages = [Message(role, "About the user: {A nurse.}")]
    n_tokens = estimate_tokens(messages)
    assert made == Context(
        context_id(messages), "profile-0007", None, [], messages, n_tokens, n_dropped=0
    )
