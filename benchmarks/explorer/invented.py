"""A study of invented answers, as the tables that a page is made from.

Two models answer lists and letters under three conditions, two of them with users. Some replies cannot be
read, some are refused, cut off or failed; some options are spelt in two ways. Equal arguments give equal
tables.
"""

import dataclasses
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from fieldwork import tables
from fieldwork.cells import mark_counted
from fieldwork.explorer.folder import PageTables
from fieldwork.explorer.study_data import PageSettings
from fieldwork.records.generation import Response
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.puppets import Context, Conversation, Message
from fieldwork.records.tasks import Item

MODELS = {"alpha": "Alpha 7B", "beta": "Beta 70B"}
CONDITIONS = {"offline": "Offline", "history": "History", "profile": "Profile"}
N_LISTS, N_CHOICES = 10, 40
REPLICATES = 2
SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ren",
    "ta",
    "vo",
    "zu",
    "sel",
    "pan",
    "dor",
    "fi",
    "gra",
    "hu",
    "jin",
)
WORDS = (
    "the",
    "of",
    "a",
    "user",
    "asked",
    "about",
    "plants",
    "cars",
    "travel",
    "music",
    "and",
    "then",
    "fine",
)
SETTINGS = PageSettings(
    name="invented",
    question=None,
    baseline="offline",
    models={name: {"label": label, "asked": name, "note": None} for name, label in MODELS.items()},
    conditions={
        name: {
            "label": label,
            "has_user": name != "offline",
            "temperature": 1,
            "corpus": "invented" if name == "history" else None,
        }
        for name, label in CONDITIONS.items()
    },
    max_tokens={"lists": 512, "letters": 5},
    seed=1,
    contexts="full",
    field=False,
    figures={},
    withheld=(),
)


class _Reply(NamedTuple):
    answer: Answer
    response: Response


def make_tables(folder: Path, n_answers: int) -> PageTables:
    """Write the tables of a study of about so many answers; it has a user for each 600 of them."""
    per_user = len(MODELS) * (N_LISTS + N_CHOICES) * REPLICATES
    n_users = max(2, round(n_answers / per_user / len(CONDITIONS)))
    items = {"lists": [*_list_items()], "letters": [*_choice_items()]}
    for task, rows in items.items():
        tables.write_table(folder / f"tasks/{task}.parquet", rows, Item)
    conversations = [_conversation(number) for number in range(n_users)]
    corpus = folder / "corpus/invented/conversations.parquet"
    tables.write_table(corpus, conversations, Conversation)
    contexts = {
        "history": [_history(conversation) for conversation in conversations],
        "profile": [_profile(number) for number in range(n_users)],
    }
    for task in items:
        for condition, rows in contexts.items():
            tables.write_table(folder / f"contexts/{task}/{condition}.parquet", rows, Context)
    answers: list[Answer] = []
    for model in MODELS:
        for task, task_items in items.items():
            for condition in CONDITIONS:
                users = contexts.get(condition, [None] * n_users)
                replies = [*_replies(model, task, condition, task_items, users)]
                answers += [reply.answer for reply in replies]
                path = folder / f"responses/{model}/{task}/{condition}.parquet"
                tables.write_table(path, [reply.response for reply in replies], Response)
    tables.write_table(folder / "answers/answers.parquet", mark_counted(answers), Answer)
    tables.write_table(folder / "answers/items.csv", _merges(answers), MergedItem)
    runs = [*_runs(answers)]
    tables.write_table(folder / "metrics/accuracy_runs.parquet", runs, RunAccuracy)
    return tables_in(folder)


def tables_in(folder: Path) -> PageTables:
    """The tables of a study that `make_tables` wrote."""

    def files(pattern: str) -> list[str]:
        return sorted(map(str, folder.glob(pattern)))

    return PageTables(
        answers=files("answers/answers.parquet"),
        merges=files("answers/items.csv"),
        questions=files("tasks/*.parquet"),
        responses=files("responses/*/*/*.parquet"),
        contexts=files("contexts/*/*.parquet"),
        corpora=files("corpus/*/conversations.parquet"),
        accuracy_runs=files("metrics/accuracy_runs.parquet"),
        field_answers=[],
        findings=[],
        figures=[],
        marks=[],
    )


def _list_items() -> Iterator[Item]:
    for number in range(N_LISTS):
        question = f"Which five {_name(random.Random(number))} would you recommend?"
        yield Item(f"list-{number:02d}", "list", question, question, [], None, None, "invented", 5)


def _choice_items() -> Iterator[Item]:
    for number in range(N_CHOICES):
        draw = random.Random(f"choice {number}")
        choices = [_name(draw) for _ in range(4)]
        question = f"Which of these is the {_name(draw)} of {_name(draw)}?"
        options = "\n".join(
            f"{letter}. {text}" for letter, text in zip("ABCD", choices, strict=True)
        )
        prompt = f"{question}\n{options}\nAnswer:"
        gold, subject = draw.choice("ABCD"), f"subject-{number % 5}"
        yield Item(
            f"choice-{number:02d}", "choice", question, prompt, choices, gold, subject, "invented"
        )


def _name(draw: random.Random) -> str:
    return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(2, 4))).capitalize()


def _text(draw: random.Random, n_words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(n_words))


def _conversation(number: int) -> Conversation:
    draw = random.Random(f"conversation {number}")
    turns = [
        Message(role, _text(draw, draw.randint(20, 120)))
        for _ in range(draw.randint(2, 6))
        for role in ("user", "assistant")
    ]
    name = f"conversation-{number:06d}"
    return Conversation(name, f"user-{number:06d}", None, None, None, len(turns) // 2, 500, turns)


def _history(conversation: Conversation) -> Context:
    return Context(
        context_id=f"{hash_of(conversation.conversation_id)}",
        puppet_id=conversation.user_id,
        item_id=None,
        conversation_ids=[conversation.conversation_id],
        messages=conversation.messages,
        n_tokens=500,
        n_dropped=0,
    )


def _profile(number: int) -> Context:
    draw = random.Random(f"profile {number}")
    message = Message("system", f"You talk to somebody who likes {_name(draw)}.")
    puppet = f"profile-{number:06d}"
    return Context(hash_of(puppet), puppet, None, [], [message], 12, 0)


def hash_of(text: str) -> str:
    """An id of 32 hex digits."""
    return f"{random.Random(text).getrandbits(128):032x}"


def _replies(
    model: str, task: str, condition: str, items: list[Item], users: list[Context] | list[None]
) -> Iterator[_Reply]:
    for item in items:
        for number, context in enumerate(users):
            for replicate in range(REPLICATES):
                repeat = replicate if context else number * REPLICATES + replicate
                draw = random.Random(f"{model} {task} {condition} {item.item_id} {number} {repeat}")
                yield _reply(
                    _blank(model, task, condition, item, context, repeat), item, context, draw
                )


def _blank(
    model: str, task: str, condition: str, item: Item, context: Context | None, repeat: int
) -> Answer:
    return Answer(
        model=model,
        task=task,
        condition=condition,
        item_id=item.item_id,
        puppet_id=context and context.puppet_id,
        replicate=repeat,
        kind=item.kind,
        outcome="ok",
        raw_items=None,
        items=None,
        letter_strict=None,
        letter=None,
        reason=None,
        n_asked=item.list_length,
    )


def _reply(answer: Answer, item: Item, context: Context | None, draw: random.Random) -> _Reply:
    chance, text = draw.random(), None
    change = dataclasses.replace
    if chance < 0.01:
        answer = change(answer, outcome="failed", reason="failed")
    elif chance < 0.03:
        answer, text = change(answer, reason="refused"), "I am sorry, but I cannot help with that."
    elif chance < 0.05:
        reason = "no list found" if item.kind == "list" else "no letter found"
        answer, text = change(answer, reason=reason), _text(draw, draw.randint(5, 300))
    elif item.kind == "choice":
        letter = draw.choices("ABCD", weights=(5, 3, 1, 1))[0]
        strict = letter if chance < 0.8 else None
        text = letter if strict else f"The answer is {letter}."
        answer = change(answer, letter=letter, letter_strict=strict)
    else:
        names = [_option(item, draw) for _ in range(5)]
        raw = [name.upper() if draw.random() < 0.1 else name for name in names]
        text = "\n".join(f"{place}. {name}" for place, name in enumerate(raw, start=1))
        outcome = "truncated" if chance < 0.07 else "ok"
        unique_names = [*dict.fromkeys(names)]
        answer = change(answer, outcome=outcome, raw_items=raw, items=unique_names, n_items=5)
    return _Reply(answer, _response(answer, context, text, draw))


def _option(item: Item, draw: random.Random) -> str:
    place = min(int(draw.paretovariate(0.8)), 200)
    return _name(random.Random(f"{item.item_id} {place}"))


def _response(
    answer: Answer, context: Context | None, text: str | None, draw: random.Random
) -> Response:
    has_failed = text is None
    began = datetime(2026, 11, 22, 10, tzinfo=UTC) + timedelta(seconds=draw.randrange(3600))
    return Response(
        model=answer.model,
        task=answer.task,
        condition=answer.condition,
        item_id=answer.item_id,
        context_id=context and context.context_id,
        puppet_id=answer.puppet_id,
        replicate=answer.replicate,
        ledger_key=hash_of(f"{answer}") * 2,
        text=text,
        outcome=answer.outcome,
        finish_reason=None if has_failed else "stop",
        returned_model=answer.model,
        fingerprint=None,
        input_tokens=600 if context else 100,
        cached_tokens=0,
        cache_write_tokens=None,
        output_tokens=len(text or "") // 4,
        reasoning_tokens=None,
        cost_usd=0.0001,
        latency_s=round(draw.uniform(0.2, 3), 3),
        attempts=1,
        started_at=began,
        dispatch="live",
        service_tier=None,
        request_id=None,
        temperature_sent=True,
        price_as_of="2026-11-01",
        defects=[],
    )


def _merges(answers: list[Answer]) -> list[MergedItem]:
    counts: dict[tuple[str, str, str, str], int] = {}
    for answer in answers:
        for raw in answer.raw_items or ():
            key = (answer.task, answer.item_id, raw, raw.capitalize())
            counts[key] = counts.get(key, 0) + 1
    return [
        MergedItem(task, item, raw, name, "exact" if raw == name else "near", n)
        for (task, item, raw, name), n in sorted(counts.items())
    ]


def _runs(answers: list[Answer]) -> Iterator[RunAccuracy]:
    seen: dict[tuple[str, str, str], dict[tuple[str, int], None]] = {}
    for answer in answers:
        if answer.kind == "choice":
            arm = (answer.model, answer.task, answer.condition)
            seen.setdefault(arm, {})[answer.puppet_id or "", answer.replicate] = None
    for (model, task, condition), runs in seen.items():
        for number, (puppet, replicate) in enumerate(sorted(runs)):
            yield RunAccuracy(
                model=model,
                task=task,
                condition=condition,
                run=number,
                puppet_id=puppet or None,
                replicate=replicate,
                em_strict=0.5,
                em_flexible=0.5,
                format_failure=0.0,
                n_items=N_CHOICES,
                n_subjects=5,
                is_counted=not puppet or replicate == 0,
            )


def commonest_option(item_id: str) -> str:
    """The option that most answers to a list name."""
    return _name(random.Random(f"{item_id} 1"))


def count_answers(sources: PageTables) -> int:
    """Answers in the tables."""
    return sum(len(tables.read_columns(path, Answer, ["model"])) for path in sources.answers)
