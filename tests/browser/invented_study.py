"""A small study that nobody ran, as the files of its page: two models, five conditions, six questions.

Some texts are hostile: markup, script, the end of a script, Markdown, scripts from right to left, and
a reply of a megabyte.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.explorer.linked_figures import mark_address
from fieldwork.explorer.page import PageFigure, PageParts, render
from fieldwork.records.figures import FigureMark

PARTS = Path(__file__).parents[2] / "resources" / "explorer"
HOSTILE = (
    "<b>bold</b> <img src=x onerror='window.broken = 1'></script><script>window.broken = 1</script>"
)
ARABIC = "السلام عليكم: 1. باريس 2. لندن"
HEBREW = "שלום, התשובה היא A"
LONG = "A long line of a reply. " * 43_700
MARKDOWN = "# Heading\n\n- **Alien**\n- [link](javascript:window.broken=1)\n\n```js\nalert(1)\n```"
FORMULA = '=HYPERLINK("http://127.0.0.1:9/";"x")'
DETAILS_ROWS = 60
CONTEXTS_ROWS = 10

CITIES = ("Paris", "London", "Rome", "Tokyo", "Lima", "Oslo")
LISTS = {
    "cities": ("Recommend two cities.", CITIES),
    "films": ("Recommend two films.\n\n" + HOSTILE, ("Alien", "Brazil", "Casablanca", HOSTILE)),
    "cars": ("Recommend two cars.", ("Volvo", "Tesla", "Fiat", FORMULA)),
}
CHOICES = {
    "capital": ("Which is the capital of Peru?", ("Lima", "Rome", "Oslo", "Paris"), "A"),
    "planet": ("Which planet is the largest?", ("Mars", "Jupiter", "Venus", HOSTILE), "B"),
    "sum": ("What is 1 + 1?", ("1", "2", "3", "4"), "B"),
}
MODELS = ("alpha", "beta")
PUPPETS = tuple(f"p{number:02}" for number in range(1, 13))


class Arm(NamedTuple):
    """A condition: its name, label, users, repeats and temperature."""

    name: str
    label: str
    puppets: tuple[str | None, ...]
    repeats: int
    temperature: float | None


ARMS = (
    Arm("offline", "Offline", (None,), 3, 1.0),
    Arm("offline_again", "Offline, temperature 0", (None,), 3, 0.0),
    Arm("history", "History <i>of chats</i>", PUPPETS, 1, 1.0),
    Arm("rag", "Retrieval", PUPPETS[:6], 1, 1.0),
    Arm("profile", "Profile", PUPPETS[6:], 1, 1.0),
)

PHRASES = {
    "offline": "without a user",
    "offline_again": "repeated without a user",
    "history": "after a user's conversation",
    "rag": "after the most similar conversation",
    "profile": "with a user's profile",
}


@dataclass(frozen=True)
class Row:
    """An answer, and all that the page says of it."""

    model: str
    task: str
    condition: str
    item: str
    puppet: str | None
    replicate: int
    text: str
    options: tuple[str, ...] = ()
    letter: str | None = None
    strict: str | None = None
    reason: str | None = None
    outcome: str = "ok"
    doubt: int = 0
    rule: str = "exact"
    temperature: float | None = None

    @property
    def kind(self) -> str:
        """Kind of its item."""
        return "list" if self.item in LISTS else "choice"

    @property
    def is_read(self) -> bool:
        """Whether it has a reading."""
        return bool(self.options) or self.letter is not None

    @property
    def base(self) -> int:
        """Bits of the sets that it belongs to."""
        arrived = self.outcome != "failed"
        return arrived | 2 * self.is_read | 4 * arrived | 8 * (self.kind == "choice")

    @property
    def sha256(self) -> str:
        """Hash of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """Its place in the table."""
        return (self.model, self.task, self.condition, self.item, self.puppet or "", self.replicate)


def answer_rows() -> list[Row]:
    """All answers in the order of the table."""
    rows = [
        _row(model, arm, item, puppet, repeat)
        for model in MODELS
        for arm in ARMS
        for item in (*LISTS, *CHOICES)
        for puppet in arm.puppets
        for repeat in range(arm.repeats)
    ]
    return [_oddity(row) for row in sorted(rows, key=lambda row: row.key)]


def _row(model: str, arm: Arm, item: str, puppet: str | None, repeat: int) -> Row:
    number = int(
        hashlib.sha256(f"{model}{arm.name}{item}{puppet}{repeat}".encode()).hexdigest(), 16
    )
    row = Row(model, "", arm.name, item, puppet, repeat, "", temperature=arm.temperature)
    if item in LISTS:
        # options that come with a user only: the last of each question
        names = LISTS[item][1][: None if puppet else -1]
        pair = (names[number % len(names)], names[(number + 1) % len(names)])
        text = f"Here are two:\n1. {pair[0]}\n2. {pair[1]}\n"
        return replace(row, task="lists", text=text, options=pair)
    letter = "ABCD"[number % 4]
    return replace(row, task="quiz", text=letter, letter=letter, strict=letter)


_UNREAD = {"letter": None, "strict": None}
_ODDITIES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("cities", "p01"): {"text": HOSTILE, "options": (), "reason": "no list found", "doubt": 1},
    ("cities", "p02"): {"text": ARABIC, "options": ("Paris", "London")},
    ("cities", "p03"): {"text": LONG, "doubt": 16},
    ("cities", "p04"): {"text": "I cannot help.", "options": (), "reason": "refused",
                        "outcome": "refused", "doubt": 2},
    ("cities", "p05"): {"text": "1. Pariis\n2. Rome", "options": ("Paris", "Rome"),
                        "rule": "near", "doubt": 8},
    ("films", "p01"): {"text": MARKDOWN, "options": ("Alien", "Brazil")},
    ("films", "p02"): {"text": "1. Alien\n2. Bra", "options": ("Alien",),
                       "outcome": "truncated", "doubt": 4},
    ("capital", "p01"): {"text": HEBREW, "letter": "A", "strict": None},
    ("capital", "p02"): {"text": "Well, who knows?", **_UNREAD, "reason": "no letter found", "doubt": 1},
    ("sum", "p01"): {"text": "", **_UNREAD, "reason": "empty", "outcome": "empty", "doubt": 1},
    ("sum", "p02"): {"text": "", **_UNREAD, "reason": "failed", "outcome": "failed"},
}  # fmt: skip
"""By item and user: answers of alpha after a history as they also come, hostile, unread or cut off."""


def _oddity(row: Row) -> Row:
    is_plain = row.model != "alpha" or row.condition != "history" or row.puppet is None
    return row if is_plain else replace(row, **_ODDITIES.get((row.item, str(row.puppet)), {}))


@dataclass
class InventedPage:
    """The written page and what it was made of."""

    folder: Path
    rows: list[Row]
    marks: list[FigureMark] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address of the page without a fragment."""
        return (self.folder / "index.html").as_uri()


def write_page(folder: Path, rows: Sequence[Row] | None = None, **changes: Any) -> InventedPage:
    """The page in a folder; `changes` replace parts of its block `study`."""
    rows = answer_rows() if rows is None else list(rows)
    (folder / "data").mkdir(parents=True)
    contexts = _contexts(rows)
    marks = _marks(rows)
    study = _study(rows, contexts, marks) | changes
    columns = _columns(rows, contexts, study["contexts"])
    _write(folder, "answers", columns)
    for number, first in enumerate(study["details"]):
        block = rows[first : first + DETAILS_ROWS]
        _write(folder, f"details-{number:03}", [_detail(row) for row in block])
    if study["contexts"] == "full":
        entries = list(contexts.values())
        for number, first in enumerate(range(0, len(entries), CONTEXTS_ROWS)):
            _write(folder, f"contexts-{number:03}", entries[first : first + CONTEXTS_ROWS])
    (folder / "index.html").write_text(_html(study, marks), encoding="utf-8")
    return InventedPage(folder, list(rows), marks)


def _write(folder: Path, name: str, value: Any) -> None:
    text = f"fieldwork.receive({json.dumps(name)}, {json.dumps(value)});\n"
    (folder / "data" / f"{name}.js").write_text(text, encoding="utf-8")


def context_key(row: Row) -> str | None:
    """What the context of an answer depends on."""
    return f"{row.condition}/{row.puppet}" if row.puppet else None


def _contexts(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    keys = sorted({key for row in rows if (key := context_key(row))})
    return {key: _context(key) for key in keys}


def _context(key: str) -> dict[str, Any]:
    condition, puppet = key.split("/")
    messages = [{"role": "system", "content": f"You talk to {puppet}. {HOSTILE}", "starts": False}]
    for number in range(1, 4) if condition != "profile" else ():
        question = f"Question {number} of {puppet} on gardens"
        messages.append({"role": "user", "content": question, "starts": True})
        reply = f"Reply {number}: {ARABIC}"
        messages.append({"role": "assistant", "content": reply, "starts": False})
    return {"id": hashlib.sha256(key.encode()).hexdigest(), "messages": messages}


def _columns(rows: Sequence[Row], contexts: Mapping[str, Any], mode: str) -> dict[str, Any]:
    puppets = sorted({row.puppet for row in rows if row.puppet})
    outcomes = sorted({row.outcome for row in rows})
    reasons = sorted({row.reason for row in rows if row.reason})
    names = sorted({name for row in rows for name in row.options})
    keys = list(contexts)
    items = [*LISTS, *CHOICES]
    return {
        "model": [MODELS.index(row.model) for row in rows],
        "item": [items.index(row.item) for row in rows],
        "condition": [[arm.name for arm in ARMS].index(row.condition) for row in rows],
        "puppet": [puppets.index(row.puppet) if row.puppet else -1 for row in rows],
        "replicate": [row.replicate for row in rows],
        "outcome": [outcomes.index(row.outcome) for row in rows],
        "reason": [reasons.index(row.reason) if row.reason else -1 for row in rows],
        "letter": ["ABCD".index(row.letter) if row.letter else -1 for row in rows],
        "strict": ["ABCD".index(row.strict) if row.strict else -1 for row in rows],
        "options": [[names.index(name) for name in row.options] or None for row in rows],
        "base": [row.base for row in rows],
        "doubt": [row.doubt for row in rows],
        "context": [
            keys.index(key) if mode != "none" and (key := context_key(row)) else -1 for row in rows
        ],
        "length": [len(row.text) for row in rows],
        "puppets": puppets,
        "outcomes": outcomes,
        "reasons": reasons,
        "names": names,
        "contexts": [
            {
                "id": contexts[key]["id"],
                "file": f"contexts-{place // CONTEXTS_ROWS:03}" if mode == "full" else None,
                "place": place % CONTEXTS_ROWS,
                "n_tokens": 1000 + place,
                "n_dropped": place % 3,
                "conversation_ids": [f"c{place}-{number}" for number in range(3)],
            }
            for place, key in enumerate(keys)
        ],
    }  # fmt: skip


def _detail(row: Row) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "text": row.text,
        "sha256": row.sha256,
        "returned_model": f"{row.model}-2026-11",
        "finish_reason": "length" if row.outcome == "truncated" else "stop",
        "input_tokens": 812,
        "output_tokens": 21,
        "cost_usd": 0.00042,
        "latency_s": 1.25,
        "attempts": 1,
        "started_at": "2026-11-22T10:00:00Z",
        "temperature": row.temperature,
        "max_tokens": 256,
        "seed": 7,
        "ledger_key": hashlib.sha256(repr(row.key).encode()).hexdigest(),
        "source": "ledger",
        "defects": [],
    }
    if row.options:
        raws = [line.partition(". ")[2] for line in row.text.splitlines() if line[:1].isdigit()]
        detail["written"] = [
            {"raw": raw, "name": name, "rule": row.rule if raw != name else "exact"}
            for raw, name in zip(raws or row.options, row.options, strict=False)
        ]
    if row.letter and row.model == "beta":
        detail["probabilities"] = [
            [letter, 0.7 if letter == row.letter else 0.1] for letter in "ABCD"
        ]
    return detail


def _marks(rows: Sequence[Row]) -> list[FigureMark]:
    """A mark for each model, condition and the option Paris: its share of the answers that count."""
    marks: list[FigureMark] = []
    none = dict.fromkeys(("puppet_id", "replicate", "answer", "kind"))
    about = {"measure": "share of Paris", "task": "lists", "item_id": "cities", "base": "counted"}
    for model, arm in itertools.product(MODELS, ARMS):
        place = (model, arm.name, "cities")
        cell = [row for row in rows if (row.model, row.condition, row.item) == place]
        n = sum(row.is_read for row in cell)
        n_paris = sum("Paris" in row.options for row in cell)
        mark = FigureMark(
            number=len(marks) + 1,
            model=model,
            condition=arm.name,
            value=n_paris / n if n else None,
            ci_low=0.1,
            ci_high=0.9,
            n=n,
            left=40 * len(marks) + 31,
            top=190 - 180 * n_paris / max(n, 1),
            width=18,
            height=18,
            text=f"{model}, {arm.label}: {n_paris} of {n} name Paris",
            **about,
            **none,
        )
        marks.append(mark)
    return marks


def _study(
    rows: Sequence[Row], contexts: Mapping[str, Any], marks: Sequence[FigureMark]
) -> dict[str, Any]:
    items = [
        {"task": "lists", "item": item, "kind": "list", "question": text, "prompt": text,
         "choices": [], "gold": None, "subject": None}
        for item, (text, _) in LISTS.items()
    ] + [
        {"task": "quiz", "item": item, "kind": "choice", "question": text,
         "prompt": text + "".join(f"\n{letter}. {c}" for letter, c in zip("ABCD", choices, strict=True)),
         "choices": list(choices), "gold": gold, "subject": "facts"}
        for item, (text, choices, gold) in CHOICES.items()
    ]  # fmt: skip
    return {
        "name": "invented <b>&</b>",
        "question": "Is it <b>so</b>?",
        "version": "0123456789ab",
        "baseline": "offline",
        "models": [
            {"name": name, "label": f"Model {name} <u>&amp;</u>", "asked": f"{name}-latest", "note": None}
            for name in MODELS
        ],
        "conditions": [
            {"name": arm.name, "label": arm.label, "phrase": PHRASES[arm.name],
             "has_user": arm.puppets[0] is not None,
             "temperature": arm.temperature}
            for arm in ARMS
        ],
        "tasks": ["lists", "quiz"],
        "items": items,
        "figures": [{"name": "fig1", "title": "1: options named"}],
        "marks": {
            "fig1": [
                {"number": mark.number, "text": mark.text, "address": mark_address(mark),
                 "value": mark.value, "low": mark.ci_low, "high": mark.ci_high, "n": mark.n}
                for mark in marks
            ]
        },
        "counts": {"answers": len(rows), "contexts": len(contexts)},
        "details": list(range(0, len(rows), DETAILS_ROWS)),
        "contexts": "full",
        "field": False,
        "missing": [],
        "withheld": [],
        "report": "../report.zip",
    }  # fmt: skip


def _html(study: Mapping[str, Any], marks: Sequence[FigureMark]) -> str:
    scripts = sorted((PARTS / "scripts").glob("*.js"))
    parts = PageParts(
        (PARTS / "page.html").read_text(encoding="utf-8"),
        (PARTS / "page.css").read_text(encoding="utf-8"),
        tuple(path.read_text(encoding="utf-8") for path in scripts),
        "page.html",
    )
    findings = (
        '<h2 id="in-short">In short</h2>\n'
        '<ul><li>With a history, <a href="#/answers?task=lists&amp;item=cities&amp;condition=history">'
        'the model alpha names other cities</a> (<a href="#all-tests">all tests</a>).</li></ul>\n'
        "<p><strong>Warning:</strong> invented.</p>\n"
        '<h2 id="question-by-question">Question by question</h2>\n<p>How to read it.</p>\n'
        f"{_question('Which cities?', '70 %', '8.5 %')}{_question('Which tools?', '20 %', '20 %')}"
        '<h2 id="what-this-cannot-say">What this cannot say</h2>\n<ul><li>Much.</li></ul>\n'
        '<h2 id="tables">Tables</h2>\n<p>How to read them.</p>\n'
        '<h3 id="all-tests">All tests</h3>\n<p>Of all.</p>\n'
        '<div class="wide" tabindex="0"><table><thead><tr><th>Measure</th></tr></thead>'
        f"<tbody><tr><td>{'wide ' * 9}{'x' * 60}</td></tr>"
        "<tr><td>Retrieval</td></tr></tbody></table></div>"
        '<h2 id="how-it-was-made">How it was made</h2>\n<p>By hand.</p>'
    )
    return render(
        parts, study, findings, [PageFigure("fig1", "1: options named", _svg(marks), marks)]
    )


def _question(text: str, share: str, user_share: str) -> str:
    """A question and its table, as Markdown gives it."""
    return (
        f'<h3 id="q">{text}</h3>\n<div class="wide" tabindex="0"><table><thead><tr><th>Asked</th>'
        "<th>Differs?</th><th>Rome</th><th>Answers</th></tr></thead><tbody>"
        f"<tr><td>without a user</td><td></td><td>{share}</td><td>40</td></tr>"
        f"<tr><td>after a conversation</td><td><strong>yes</strong></td><td>{user_share}</td>"
        "<td>40</td></tr></tbody></table></div>\n"
    )


def _svg(marks: Sequence[FigureMark]) -> str:
    """A figure as matplotlib writes it: styles in attributes, marks without links."""
    points = "".join(
        f'<circle cx="{mark.left + 9}" cy="{mark.top + 9}" r="6" style="fill: #1f5f8b"/>'
        for mark in marks
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 220" width="440pt" height="220pt">'
        "<style>*{stroke-linejoin: round}</style>"
        f'<path d="M20 205H430" style="stroke: #666666"/>{points}</svg>'
    )
