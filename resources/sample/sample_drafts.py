"""Composes the sample's conversations from the building blocks in `source/`.

Owns who the simulated users are and what they say; promises equal drafts for equal seeds. All text
is invented for this project.
"""

import hashlib
import json
import random
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

SOURCE = Path(__file__).parent / "source"
N_USERS = 64
N_REGULAR = 56
"""The first users have several long English conversations; the rest only what filters drop."""
MIN_WORDS = 10
LONG_TURNS = (5, 6, 6, 7, 8)
SHORT_TURNS = (1, 2, 3, 4)
MODELS = ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-0301", "gpt-4-0314", "gpt-4-1106-preview")
PLACES = (
    ("United States", "California", "en-US,en;q=0.9"),
    ("United States", "Ohio", "en-US,en;q=0.9"),
    ("United Kingdom", "England", "en-GB,en;q=0.8"),
    ("Canada", "Ontario", "en-CA,en;q=0.9"),
    ("Australia", "Victoria", "en-AU,en;q=0.9"),
    ("India", "Karnataka", "en-IN,en;q=0.8"),
    ("Nigeria", "Lagos", "en-NG,en;q=0.7"),
    ("Ireland", None, "en-IE,en;q=0.9"),
)
FIRST_DAY = datetime(2023, 4, 10, tzinfo=UTC)


class Exchange(NamedTuple):
    """What a user wrote and what was answered."""

    user: str
    assistant: str


@dataclass(frozen=True)
class Topic:
    """Building blocks of one topic: `source/topics/<name>.toml`."""

    cases: Sequence[tuple[str, str]]
    tried: Sequence[str]
    details: Sequence[str]
    questions: Sequence[str]
    advice: Sequence[str]
    personas: Sequence[str]
    sentences: Sequence[str]


@dataclass(frozen=True)
class User:
    """A simulated user: where from, interested in what, and what he or she says about that."""

    hashed_ip: str
    country: str
    state: str | None
    header: Mapping[str, str]
    topics: Sequence[str]
    facts: Sequence[str]
    lower_case: bool


@dataclass(frozen=True)
class Draft:
    """A conversation before it becomes a row."""

    user: User
    exchanges: Sequence[Exchange]
    started_at: datetime
    model: str
    language: str = "English"
    toxic_turn: int | None = None
    redacted_turn: int | None = None
    hash_of: str | None = None


class Deck:
    """Deals the entries of a list in random order and starts anew once all are dealt."""

    def __init__(self, entries: Iterable[Any], rng: random.Random) -> None:
        self._entries = list(entries)
        self._rng = rng
        self._remaining: list[Any] = []

    def deal(self) -> Any:
        """Return the next entry."""
        if not self._remaining:
            self._remaining = self._rng.sample(self._entries, len(self._entries))
        return self._remaining.pop()


def load(name: str) -> dict[str, Any]:
    """Return `source/<name>.toml`."""
    return tomllib.loads((SOURCE / f"{name}.toml").read_text(encoding="utf-8"))


def load_topics() -> dict[str, Topic]:
    """Return every topic by name, in the order of their names."""
    names = sorted(path.stem for path in (SOURCE / "topics").glob("*.toml"))
    return {name: Topic(**load(f"topics/{name}")) for name in names}


def make_users(topics: Sequence[str], phrases: Mapping[str, Any], seed: int) -> list[User]:
    """Return the users; each has a home, a trade, a habit and two or three topics."""
    rng = random.Random(f"users:{seed}")
    interests = Deck(topics, rng)
    return [_user(index, interests, phrases, rng) for index in range(N_USERS)]


def _user(index: int, interests: Deck, phrases: Mapping[str, Any], rng: random.Random) -> User:
    country, state, language = PLACES[index % len(PLACES)]
    job, home, habit = (rng.choice(phrases[name]) for name in ("jobs", "homes", "habits"))
    topics = sorted({interests.deal() for _ in range(rng.choice((2, 3)))})
    agent = f"Mozilla/5.0 (synthetic; user {index:02d}) Sample/1.0"
    return User(
        hashed_ip=hashlib.sha256(f"synthetic user {index}".encode()).hexdigest(),
        country=country,
        state=state,
        header={"accept-language": language, "user-agent": agent},
        topics=topics,
        facts=(f"I am {job}.", f"I live {home}.", habit, f"I am {job} and I live {home}."),
        lower_case=index % 9 == 4,
    )


def write_dialogue(
    user: User, topic: Topic, phrases: Mapping[str, Any], n_turns: int, rng: random.Random
) -> list[Exchange]:
    """Compose a conversation of `n_turns` exchanges about one case of a topic."""
    subject, problem = rng.choice(list(topic.cases))
    decks = {
        "tried": Deck(topic.tried, rng),
        "detail": Deck(topic.details, rng),
        "question": Deck(topic.questions, rng),
        "fact": Deck(user.facts, rng),
    }
    advice = rng.sample(list(topic.advice), len(topic.advice))
    frames = _frames(phrases, n_turns, rng)
    leads, tails = Deck(phrases["leads"], rng), Deck(phrases["tails"], rng)
    exchanges = []
    for frame in frames:
        words = {name: deck.deal() for name, deck in decks.items()}
        words |= {"subject": subject, "problem": _capital(problem), "problem_lower": problem}
        words["fact_lower"] = words["fact"]
        message = Template(frame).substitute(words)
        is_farewell = frame in phrases["farewells"]
        if not is_farewell and (rng.random() < 0.15 or len(message.split()) < MIN_WORDS):
            message = f"{message} {_aside(topic, user, rng)} {decks['question'].deal()}"
        advice_sentences = [
            _take_closest(advice, message) for _ in range(rng.choice((1, 1, 1, 2, 2, 2)))
        ]
        lead = Template(leads.deal()).substitute(words)
        answer = " ".join(part for part in (lead, *advice_sentences, tails.deal()) if part)
        if is_farewell:
            answer = f"{rng.choice(phrases['goodbyes'])} {advice_sentences[0]}"
        exchanges.append(Exchange(message.lower() if user.lower_case else message, answer))
    return exchanges


def _frames(phrases: Mapping[str, Any], n_turns: int, rng: random.Random) -> list[str]:
    """Sentence frames of a conversation: an opening, questions, at times a doubt and a goodbye."""
    followups, doubts = Deck(phrases["followups"], rng), Deck(phrases["pushback"], rng)
    middle = [
        (doubts if rng.random() < 0.25 else followups).deal() for _ in range(max(0, n_turns - 1))
    ]
    if n_turns > 3 and rng.random() < 0.6:
        middle[-1] = rng.choice(phrases["closings"] + phrases["farewells"])
    return [rng.choice(phrases["openers"]), *middle]


def _take_closest(advice: list[str], message: str) -> str:
    """Take from `advice` the sentence that shares most long words with what was asked."""
    # word beginnings stand for stems: `prune` and `pruning` should meet
    stems = {word[:5] for word in message.lower().split() if len(word) > 4}

    def n_shared(sentence: str) -> int:
        return sum(word[:5] in stems for word in sentence.lower().split() if len(word) > 4)

    best = max(advice, key=n_shared)
    advice.remove(best)
    return best


def _aside(topic: Topic, user: User, rng: random.Random) -> str:
    """A few sentences by the way, so that lengths vary as they do in chats."""
    count = rng.choice((1, 1, 2, 3, 4))
    details = rng.sample(list(topic.details), min(count, len(topic.details)))
    return " ".join([*details, rng.choice(list(user.facts))])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def make_drafts(
    users: Sequence[User], topics: Mapping[str, Topic], phrases: Mapping[str, Any], seed: int
) -> list[Draft]:
    """Return all conversations: long ones, short ones, and those the filters are there for."""
    rng = random.Random(f"conversations:{seed}")
    drafts = []
    for index, user in enumerate(users):
        n_long = 3 + index % 3 if index < N_REGULAR else 0
        lengths = [rng.choice(LONG_TURNS) for _ in range(n_long)]
        lengths += [rng.choice(SHORT_TURNS) for _ in range(2 + index % 4)]
        interests = Deck(user.topics, rng)
        for n_turns in lengths:
            exchanges = write_dialogue(user, topics[interests.deal()], phrases, n_turns, rng)
            drafts.append(_draft(user, exchanges, rng))
    long_drafts = [draft for draft in drafts if len(draft.exchanges) >= LONG_TURNS[0]]
    special_drafts = [
        *_drafts_to_filter(users, topics, phrases, rng),
        *_foreign_drafts(users, rng),
        *_copies(long_drafts, users),
    ]
    return sorted([*drafts, *special_drafts], key=_by_time)


def _by_time(draft: Draft) -> tuple[datetime, str]:
    return draft.started_at, draft.user.hashed_ip


def _draft(user: User, exchanges: Sequence[Exchange], rng: random.Random) -> Draft:
    minutes = rng.randrange(330 * 24 * 60)
    model = rng.choices(MODELS, weights=(6, 2, 1, 1))[0]
    return Draft(user, exchanges, FIRST_DAY + timedelta(minutes=minutes), model)


def _drafts_to_filter(
    users: Sequence[User],
    topics: Mapping[str, Topic],
    phrases: Mapping[str, Any],
    rng: random.Random,
) -> Iterator[Draft]:
    """Long English conversations that are flagged as toxic, redacted, or hold an empty message."""
    for number, kind in enumerate(["toxic"] * 16 + ["redacted"] * 16 + ["empty"] * 6):
        user = users[number * 5 % N_USERS]
        name = user.topics[number % len(user.topics)]
        draft = _draft(user, write_dialogue(user, topics[name], phrases, 6, rng), rng)
        turn = rng.randrange(1, 6)
        if kind == "toxic":
            text = f"{rng.choice(phrases['grumbles'])} {draft.exchanges[turn].user}"
            yield replace(draft, exchanges=_with_message(draft, turn, text), toxic_turn=turn)
        elif kind == "redacted":
            text = f"{draft.exchanges[turn].user} {rng.choice(phrases['private'])}"
            yield replace(draft, exchanges=_with_message(draft, turn, text), redacted_turn=turn)
        else:
            yield replace(draft, exchanges=_with_message(draft, turn, ""))


def _with_message(draft: Draft, turn: int, text: str) -> list[Exchange]:
    exchanges = list(draft.exchanges)
    exchanges[turn] = exchanges[turn]._replace(user=text)
    return exchanges


def _foreign_drafts(users: Sequence[User], rng: random.Random) -> Iterator[Draft]:
    """Five conversations in each other language."""
    for number, (language, pairs) in enumerate(load("languages").items()):
        for repeat in range(5):
            pair_numbers = sorted(rng.sample(range(len(pairs)), 6 - repeat % 2))
            user = users[(number * 5 + repeat) * 3 % N_USERS]
            draft = _draft(user, [Exchange(*pairs[i]) for i in pair_numbers], rng)
            yield replace(draft, language=language)


def _copies(long: Sequence[Draft], users: Sequence[User]) -> Iterator[Draft]:
    """Three conversations under a hash that is taken: in WildChat the hash is not unique.

    One is copied by another user, one repeated by the same user, one a shorter state of another.
    """
    later = timedelta(days=1, minutes=7)
    first, second = long[0], long[10]
    third = next(draft for draft in long[20:] if len(draft.exchanges) > LONG_TURNS[1])
    yield replace(
        first, user=users[40], started_at=first.started_at + later, hash_of=conversation_hash(first)
    )
    yield replace(second, started_at=second.started_at + later, hash_of=conversation_hash(second))
    yield replace(
        third,
        exchanges=third.exchanges[:5],
        started_at=third.started_at + later,
        hash_of=conversation_hash(third),
    )


def conversation_hash(draft: Draft) -> str:
    """Return the 32 hexadecimal digits a draft is known by."""
    if draft.hash_of:
        return draft.hash_of
    text = json.dumps([draft.user.hashed_ip, draft.exchanges], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
