"""Whether a text belongs to its prompt: the prompt in the answer, and answers to another prompt.

Owns the comparison of texts with prompts and with the options known for them. Promises to compare
words without case and punctuation, to say nothing of a text that shows no prompt and no known option,
and to put a text with equal claim to two prompts under its own.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from fieldwork.records.tasks import Item

Prompt = tuple[str, str]
"""A task and an item_id."""

_SHINGLE = 5
"""Words that stand in the same order before they count as copied."""
_SHOWN = 0.8
"""Share of a prompt's shingles from which on a text shows it: a line may be lost in copying."""
_LEAST_ENTRIES = 3
"""Entries that must be another prompt's options: one or two may be honest answers to both."""
_SHORT = 30
"""Words up to which the text of another question's option is the answer, and not a mention."""

_WORDS = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"^[ \t>]*(?:[-*•–+]|#{1,6}|\W{0,3}\d{1,3}[.):])[ \t]*")
_HEAD_END = re.compile(r":|：|[ \t][-–—][ \t]|—|[ \t]\(")
_CHROME = frozenset({"you", "said", "chatgpt", "gemini", "claude", "copilot", "prompt", "question"})
"""Words that a page puts around a prompt and that come along with it."""


class Known(NamedTuple):
    """What is known of a prompt, in plain words."""

    prompt: Prompt
    is_list: bool
    shingles: frozenset[tuple[str, ...]]
    question: str
    options: frozenset[str]


class Placed(NamedTuple):
    """What a text shows of prompts."""

    shows_own: bool
    rest: str
    """Words of the text that are not its own prompt's."""
    other: Prompt | None
    """The prompt it answers instead."""


def words_of(text: str) -> list[str]:
    """The words in lower case, without punctuation, whatever Unicode form they are written in."""
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


def known_prompts(items: Mapping[Prompt, Item]) -> dict[Prompt, Known]:
    """The prompts in the form that texts are compared with."""
    return {
        prompt: Known(
            prompt=prompt,
            is_list=item.kind == "list",
            shingles=_of_prompt(item.prompt),
            question=" ".join(words_of(item.question)),
            options=frozenset(" ".join(words_of(choice)) for choice in item.choices),
        )
        for prompt, item in items.items()
    }


def _of_prompt(prompt: str) -> frozenset[tuple[str, ...]]:
    words = words_of(prompt)
    return frozenset(_shingles(words, min(_SHINGLE, len(words))))


def without_prompt(text: str, prompt: str) -> str:
    """The lines after the prompt where a text begins with it, line by line; else the text as it is.

    Lines that a page puts around a prompt ("You said:") go with it. What is left is what a parser
    should read: a question's own options are no answer to it.
    """
    lines, wanted = text.splitlines(), words_of(prompt)
    at = 0
    for number, line in enumerate(lines):
        words = words_of(line)
        if wanted and at == len(wanted):
            if words and not _is_chrome(words):
                return "\n".join(lines[number:])
        elif words == wanted[at : at + len(words)]:
            at += len(words)
        elif at or not _is_chrome(words):
            return text
    return "" if wanted and at == len(wanted) else text


def _is_chrome(words: Sequence[str]) -> bool:
    return len(words) <= 2 and set(words) <= _CHROME


def place(text: str, own: Prompt, prompts: Mapping[Prompt, Known]) -> Placed:
    """Compare a text with all prompts, `own` being the one it was given for."""
    words = words_of(text)
    sizes = {len(next(iter(known.shingles), ())) for known in prompts.values()}
    found = {size: frozenset(_shingles(words, size)) for size in sizes}
    shown = {prompt: _share(found, known.shingles) for prompt, known in prompts.items()}
    best = max(shown.values(), default=0.0)
    shows_own = shown[own] >= _SHOWN and shown[own] >= best
    rest = _rest(words, prompts[own].shingles) if shows_own else words
    other = None
    if not shows_own:
        other = next((p for p, share in shown.items() if share >= _SHOWN and share == best), None)
        other = other or _question_of(words, own, prompts)
    other = other or _options_of(text, own, prompts) or _choice_of(words, own, prompts)
    return Placed(shows_own, " ".join(rest), other)


def _shingles(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)] if size else []


def _share(
    found: Mapping[int, Collection[tuple[str, ...]]], shingles: Collection[tuple[str, ...]]
) -> float:
    """Share of a prompt's shingles that a text has too; 0 for a prompt without words."""
    if not shingles:
        return 0.0
    same_size = found[len(next(iter(shingles)))]
    return sum(shingle in same_size for shingle in shingles) / len(shingles)


def _rest(words: Sequence[str], shingles: Collection[tuple[str, ...]]) -> list[str]:
    size = len(next(iter(shingles)))
    covered = [False] * len(words)
    for start in range(len(words) - size + 1):
        if tuple(words[start : start + size]) in shingles:
            covered[start : start + size] = [True] * size
    return [
        w for w, is_prompt in zip(words, covered, strict=True) if not is_prompt and w not in _CHROME
    ]


def _question_of(
    words: Sequence[str], own: Prompt, prompts: Mapping[Prompt, Known]
) -> Prompt | None:
    """Another prompt whose bare question stands in the text, where the own one does not."""
    text = f" {' '.join(words)} "
    asked = [p for p, k in prompts.items() if k.question and f" {k.question} " in text]
    long_enough = [p for p in asked if len(prompts[p].question.split()) >= _SHINGLE]
    return None if own in asked else next(iter(long_enough), None)


def _options_of(text: str, own: Prompt, prompts: Mapping[Prompt, Known]) -> Prompt | None:
    """Another list prompt whose options make up most of the entries, and are not the own one's."""
    entries = {" ".join(words_of(entry)) for entry in _entries(text)} - {""}
    foreign = entries - prompts[own].options
    counts = {
        prompt: len(foreign & known.options)
        for prompt, known in prompts.items()
        if known.is_list and prompt != own
    }
    best = max(counts, key=lambda prompt: counts[prompt], default=None)
    if best is None or counts[best] < _LEAST_ENTRIES or 2 * counts[best] <= len(entries):
        return None
    return best


def _entries(text: str) -> list[str]:
    """Beginnings of list entries; where no line has a marker, of all lines, or between commas."""
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if _MARKER.match(line)] or lines
    if len(marked) == 1:
        marked = marked[0].split(",")
    return [
        _HEAD_END.split(_MARKER.sub("", line).replace("*", ""), maxsplit=1)[0] for line in marked
    ]


def _choice_of(words: Sequence[str], own: Prompt, prompts: Mapping[Prompt, Known]) -> Prompt | None:
    """Another question with an option that a short text gives, and that the own one does not have."""
    if len(words) > _SHORT:
        return None
    text = f" {' '.join(words)} "
    if any(f" {option} " in text for option in prompts[own].options if option):
        return None
    for prompt, known in prompts.items():
        given = [o for o in known.options if " " in o and f" {o} " in text]
        if given and not known.is_list and prompt != own:
            return prompt
    return None
