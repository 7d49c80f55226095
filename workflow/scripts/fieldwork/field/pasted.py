"""Whether a text belongs to its prompt: the prompt in the answer, and answers to another prompt.

Owns the comparison of texts with prompts and with the options known for them. Promises to compare
words without case and punctuation, to find nothing in a text without a prompt and a listed option,
and to put a text with equal claim to two prompts under its own.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from fieldwork.records.tasks import Item

PromptKey = tuple[str, str]
"""A task and an item_id."""

_SHINGLE_WORDS = 5
"""Words that stand in the same order before they count as copied."""
_SHOWN_SHARE = 0.8
"""Share of a prompt's shingles from which on a text shows it: a line may be lost in copying."""
_LEAST_ENTRIES = 3
"""Entries that must be another prompt's options: one or two may be honest answers to both."""
_MOST_WORDS_OF_AN_ANSWER = 30
"""Words up to which the text of another question's option is the answer, and not a mention."""

_WORDS = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"^[ \t>]*(?:[-*•–+]|#{1,6}|\W{0,3}\d{1,3}[.):])[ \t]*")
_HEAD_END = re.compile(r":|：|[ \t][-–—][ \t]|—|[ \t]\(")
_CHROME = frozenset({"you", "said", "chatgpt", "gemini", "claude", "copilot", "prompt", "question"})
"""Words that a page puts around a prompt and that come along with it."""


class PromptWords(NamedTuple):
    """A prompt, its question and its options, as words that texts are compared with."""

    is_list: bool
    shingles: frozenset[tuple[str, ...]]
    question: str
    options: frozenset[str]


class PromptMatch(NamedTuple):
    """Which prompts a text repeats or answers."""

    shows_own_prompt: bool
    rest: str
    """Words of the text that are not its own prompt's."""
    other_prompt: PromptKey | None
    """The prompt it answers instead."""


def words_of(text: str) -> list[str]:
    """The words in lower case, without punctuation, whatever Unicode form they are written in."""
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


def words_by_prompt(items: Mapping[PromptKey, Item]) -> dict[PromptKey, PromptWords]:
    """The words of each prompt that texts are compared with."""
    return {
        prompt: PromptWords(
            is_list=item.kind == "list",
            shingles=frozenset(_shingles(words_of(item.prompt))),
            question=" ".join(words_of(item.question)),
            options=frozenset(" ".join(words_of(choice)) for choice in item.choices),
        )
        for prompt, item in items.items()
    }


def without_prompt(text: str, prompt: str) -> str:
    """The lines after the prompt where a text begins with it, line by line; else the text as it is.

    Lines that a page puts around a prompt ("You said:") go with it. What is left is what a parser
    should read: a question's own options are no answer to it.
    """
    lines, prompt_words = text.splitlines(), words_of(prompt)
    n_matched = 0
    for number, line in enumerate(lines):
        words = words_of(line)
        if prompt_words and n_matched == len(prompt_words):
            if words and not _is_chrome(words):
                return "\n".join(lines[number:])
        elif words == prompt_words[n_matched : n_matched + len(words)]:
            n_matched += len(words)
        elif n_matched or not _is_chrome(words):
            return text
    return "" if prompt_words and n_matched == len(prompt_words) else text


def _is_chrome(words: Sequence[str]) -> bool:
    return len(words) <= 2 and set(words) <= _CHROME


def match_prompts(
    text: str, own_prompt: PromptKey, prompts: Mapping[PromptKey, PromptWords]
) -> PromptMatch:
    """Compare a text with all prompts, `own_prompt` being the one it was given for."""
    words = words_of(text)
    sizes = {len(next(iter(prompt_words.shingles), ())) for prompt_words in prompts.values()}
    text_shingles = {size: frozenset(_shingles(words, size)) for size in sizes}
    shares = {
        prompt: _share(text_shingles, prompt_words.shingles)
        for prompt, prompt_words in prompts.items()
    }
    best_share = max(shares.values(), default=0.0)
    shows_own_prompt = shares[own_prompt] >= _SHOWN_SHARE and shares[own_prompt] >= best_share
    rest = _rest(words, prompts[own_prompt].shingles) if shows_own_prompt else words
    other_prompt = None
    if not shows_own_prompt:
        nearest = max(shares, key=lambda prompt: shares[prompt])
        is_shown = shares[nearest] >= _SHOWN_SHARE
        other_prompt = nearest if is_shown else _prompt_by_question(words, own_prompt, prompts)
    other_prompt = (
        other_prompt
        or _prompt_by_options(text, own_prompt, prompts)
        or _prompt_by_choice(words, own_prompt, prompts)
    )
    return PromptMatch(shows_own_prompt, " ".join(rest), other_prompt)


def _shingles(words: Sequence[str], size: int | None = None) -> list[tuple[str, ...]]:
    """The runs of words; without a size the usual ones, or all words of a shorter text."""
    size = min(_SHINGLE_WORDS, len(words)) if size is None else size
    starts = range(len(words) - size + 1) if size else ()
    return [tuple(words[start : start + size]) for start in starts]


def _share(
    text_shingles: Mapping[int, Collection[tuple[str, ...]]], shingles: Collection[tuple[str, ...]]
) -> float:
    """Share of a prompt's shingles that a text has too; 0 for a prompt without words."""
    if not shingles:
        return 0.0
    same_size = text_shingles[len(next(iter(shingles)))]
    return sum(shingle in same_size for shingle in shingles) / len(shingles)


def _rest(words: Sequence[str], shingles: Collection[tuple[str, ...]]) -> list[str]:
    size = len(next(iter(shingles)))
    prompt_places = set[int]()
    for start, shingle in enumerate(_shingles(words, size)):
        prompt_places |= set(range(start, start + size)) if shingle in shingles else set()
    return [w for n, w in enumerate(words) if n not in prompt_places and w not in _CHROME]


def _prompt_by_question(
    words: Sequence[str], own_prompt: PromptKey, prompts: Mapping[PromptKey, PromptWords]
) -> PromptKey | None:
    """Another prompt whose bare question stands in the text, where the own one does not."""
    text = f" {' '.join(words)} "
    in_text = [
        p for p, other in prompts.items() if other.question and f" {other.question} " in text
    ]
    certain = (p for p in in_text if len(prompts[p].question.split()) >= _SHINGLE_WORDS)
    return None if own_prompt in in_text else next(certain, None)


def _prompt_by_options(
    text: str, own_prompt: PromptKey, prompts: Mapping[PromptKey, PromptWords]
) -> PromptKey | None:
    """Another list prompt whose options make up most of the entries, and are not the own one's."""
    entries = {" ".join(words_of(entry)) for entry in _entries(text)} - {""}
    foreign_entries = entries - prompts[own_prompt].options
    counts = {
        prompt: len(foreign_entries & prompt_words.options)
        for prompt, prompt_words in prompts.items()
        if prompt_words.is_list and prompt != own_prompt
    }
    best_prompt = max(counts, key=lambda prompt: counts[prompt], default=own_prompt)
    n = counts.get(best_prompt, 0)
    return best_prompt if n >= _LEAST_ENTRIES and 2 * n > len(entries) else None


def _entries(text: str) -> list[str]:
    """Beginnings of list entries; where no line has a marker, of all lines, or between commas."""
    lines = [line for line in text.splitlines() if line.strip()]
    entry_lines = [line for line in lines if _MARKER.match(line)] or lines
    if len(entry_lines) == 1:
        entry_lines = entry_lines[0].split(",")
    return [
        _HEAD_END.split(_MARKER.sub("", line).replace("*", ""), maxsplit=1)[0]
        for line in entry_lines
    ]


def _prompt_by_choice(
    words: Sequence[str], own_prompt: PromptKey, prompts: Mapping[PromptKey, PromptWords]
) -> PromptKey | None:
    """Another question with an option that a short text gives, and that the own one does not have."""
    if len(words) > _MOST_WORDS_OF_AN_ANSWER:
        return None
    text = f" {' '.join(words)} "
    if any(f" {option} " in text for option in prompts[own_prompt].options if option):
        return None
    for prompt, other in prompts.items():
        is_other_choice = prompt != own_prompt and not other.is_list
        if is_other_choice and any(" " in o and f" {o} " in text for o in other.options):
            return prompt
    return None
