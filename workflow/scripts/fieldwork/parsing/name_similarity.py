"""Which names are spellings of the same name.

Owns the comparison of comparison keys. Promises a symmetric answer that depends on the two keys and on
whether the names of the prompt are common nouns, and time that grows with the number of similar keys
rather than of all keys.

Two keys are alike where they have the same numbers (digits, Roman numerals, number words: a sequel is
another film) and, articles within left out and 'or' read as 'and',
- the same letters once spaces are removed ('spider man', 'spiderman'), or
- as many words, in which words differ as a plural does from its singular ('fund', 'funds'): any number
  of words in a name of several; in a name of one word only where the prompt's names are common nouns,
  since 'Aliens' is another film than 'Alien', or
- as many words, all equal but one, and that one a likely misspelling: the same first letter, no digit,
  an optimal string alignment distance of 1 (2 from ten letters on, with equal endings: 'consulting' is
  no slip for 'consultant') and a Jaro-Winkler similarity of at least the threshold. In short words one
  letter makes another word: a replaced letter counts from seven letters on, swapped ones from five, an
  added one from six, from five where it doubles its neighbour, and within a word of four or more where
  other words of the name are equal, or
- the same words in another order, plurals as above, without a word such as 'of' or 'to' that order
  gives its meaning: what 'and' joins, or a name of three words turned round.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from rapidfuzz.distance import OSA, JaroWinkler

_ARTICLES = frozenset(("the", "a", "an"))
_ORDERING = re.compile(
    r"of|to|from|by|over|under|on|in|into|onto|at|with|without|for|before|after|vs|versus|than|through"
    r"|between|de|del|di|da|du|des|von|zu|aus|per|par|para|por|sur|на|в|из|от|для|с"
)
"""Prepositions: the words around them cannot change places."""
_COUNTING = re.compile(
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|(?:thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|first|second|third|fourth|fifth"
    r"|sixth|seventh|eighth|ninth|tenth|once|twice|half"
)
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK")
_NUMERAL = re.compile(r"(?:x{0,3}(?:ix|iv|v?i{0,3}))")
_ENDING = re.compile(r"(?:ies|es|s|y|e)$")
_DERIVING = "nrdy"
"""Last letters that make another word of a word: 'Austria' and 'Austrian', 'ride' and 'rider'."""
_LONG_LETTERS = 12
_CACHED_KEYS = 50_000
_SAME_LETTERS, _PLURAL, _OTHER_SPACES, _OTHER_ORDER = 100.0, 99.0, 98.5, 98.0
"""Similarities of names that differ in no letter: of several a name joins the one with the highest."""
_COMMON_PAIRS = 2
"""Names of several words with a plural beside them from which a prompt's names are common nouns."""


class SimilarityIndex:
    """The keys added so far; finds the one that a new key is most similar to."""

    def __init__(self, threshold: float, *, common_nouns: bool) -> None:
        self._similarity = partial(similarity, threshold=threshold, common_nouns=common_nouns)
        self._order: dict[str, int] = {}
        self._by_trait: dict[tuple[str, ...], list[str]] = defaultdict(list)

    def add(self, key: str) -> None:
        """Add a key that is merged into no other."""
        self._order[key] = len(self._order)
        for trait in _traits(key):
            self._by_trait[trait].append(key)

    def nearest(self, key: str) -> str | None:
        """The most similar key, of equals the one added first; None where no key is alike."""
        candidates = dict.fromkeys(
            other for trait in _traits(key) for other in self._by_trait.get(trait, ())
        )
        scores = {
            other: score
            for other in candidates
            if (score := self._similarity(key, other)) is not None
        }
        return min(scores, key=lambda other: (-scores[other], self._order[other]), default=None)


def are_common_nouns(keys: Iterable[str]) -> bool:
    """Whether the names of a prompt are common nouns: some occur in the singular and in the plural."""
    stems: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for key in keys:
        words = _words(key)
        if len(words) > 1:
            stems[tuple(map(_stem, words))].add(" ".join(words))
    return sum(len(forms) > 1 for forms in stems.values()) >= _COMMON_PAIRS


def similarity(first: str, second: str, *, threshold: float, common_nouns: bool) -> float | None:
    """Similarity of two alike keys, at most 100; None where they are not alike."""
    if _numbers(first) != _numbers(second):
        return None
    words, other_words = _words(first), _words(second)
    if "".join(words) == "".join(other_words):
        return _SAME_LETTERS
    if len(words) != len(other_words):
        return _OTHER_SPACES if _is_spaced_alike(words, other_words) else None
    differing = [
        sorted(pair, key=len) for pair in zip(words, other_words, strict=True) if len(set(pair)) > 1
    ]
    if (len(words) > 1 or common_nouns) and all(_is_plural(*pair) for pair in differing):
        return _PLURAL
    if len(differing) == 1:
        short, long = differing[0]
        return _misspelling(short, long, threshold, is_only_word=len(words) == 1)
    return _OTHER_ORDER if _is_reordered(words, other_words) else None


def _is_spaced_alike(words: Sequence[str], other_words: Sequence[str]) -> bool:
    """Whether names differ in spaces and plurals, or in these and in the order of what 'and' joins."""
    one, other = "".join(map(_stem, words)), "".join(map(_stem, other_words))
    if min(len(words), len(other_words)) > 1 and one == other and len(one) >= _LONG_LETTERS:
        return True
    have_and = "and" in words and "and" in other_words
    return have_and and _spaceless_parts(words) == _spaceless_parts(other_words)


def _is_reordered(words: Sequence[str], other_words: Sequence[str]) -> bool:
    """Whether the words are the same but for their order and plurals, and the order means nothing.

    What 'and' joins may change places, after first words and before last ones that both names share; else
    a name of three words and more may be turned round.
    """
    has_same_words = sorted(map(_stem, words)) == sorted(map(_stem, other_words))
    if not has_same_words or any(map(_ORDERING.fullmatch, words)):
        return False
    if "and" not in words:
        return len(words) > 2
    first = _length_of_common_start(words, other_words)
    last = _length_of_common_start(words[::-1], other_words[::-1])
    return any(
        _joined_parts(words[start : len(words) - end])
        == _joined_parts(other_words[start : len(other_words) - end])
        for start in range(first + 1)
        for end in range(last + 1)
    )


def _length_of_common_start(words: Sequence[str], other_words: Sequence[str]) -> int:
    """How many words the two begin with alike, plurals as singulars."""
    pairs = enumerate(zip(words, other_words, strict=True))
    return next((n for n, (one, other) in pairs if _stem(one) != _stem(other)), len(words))


def _joined_parts(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """What 'and' joins, in any order, plurals as singulars."""
    parts = " ".join(words).split(" and ")
    return Counter(tuple(map(_stem, part.split())) for part in parts)


def _spaceless_parts(words: Sequence[str]) -> list[str]:
    """What 'and' joins, without spaces and plurals, in alphabetic order."""
    return sorted(_stem(part.replace(" ", "")) for part in " ".join(words).split(" and "))


def _misspelling(short: str, long: str, threshold: float, *, is_only_word: bool) -> float | None:
    if short[0] != long[0] or len(short) < 4 or not (_is_word(short) and _is_word(long)):
        return None
    if long in (short + "s", short + "es"):
        return None
    distance = OSA.distance(short, long)
    if distance > 1 and (distance > 2 or len(short) < 10 or short[-3:] != long[-3:]):
        return None
    if distance == 1 and not _is_likely_slip(short, long, is_only_word=is_only_word):
        return None
    score = 100.0 * JaroWinkler.similarity(short, long)
    return score if score >= threshold else None


def _is_likely_slip(short: str, long: str, *, is_only_word: bool) -> bool:
    """Whether one edit of this sort is more likely a slip than another word of that length."""
    if len(short) == len(long):
        is_transposition = sorted(short) == sorted(long)
        return len(long) >= (5 if is_transposition else 7)
    if _undouble(short) == _undouble(long):
        return len(long) >= 5
    if long[:-1] == short and long[-1] in _DERIVING:
        return False
    return len(short) >= 6 or (not is_only_word and short[-1] == long[-1])


def _is_plural(short: str, long: str) -> bool:
    """English plurals of three letters and more; 'Mar' is none of 'Mars' in a name of one word."""
    if len(short) < 3 or long.endswith("ss") or not _is_word(long):
        return False
    if long == short + "s":
        return True
    if short.endswith(_SIBILANT) and long == short + "es":
        return True
    return short.endswith("y") and long == short[:-1] + "ies"


@lru_cache(maxsize=_CACHED_KEYS)
def _words(key: str) -> tuple[str, ...]:
    words = tuple("and" if word == "or" else word for word in key.split())
    return tuple(word for word in words if word not in _ARTICLES) or words


def _traits(key: str) -> set[tuple[str, ...]]:
    """What alike keys share at least one of: letters, stems in any order, or all words but one."""
    words = _words(key)
    frames = {
        (str(place), *words[:place], word[0], *words[place + 1 :])
        for place, word in enumerate(words)
    }
    stems = [_stem(word) for word in words]
    whole = {
        ("", "".join(words)),
        ("stem", "".join(stems)),
        ("stems", *sorted(stems)),
        ("parts", *_spaceless_parts(words)),
    }
    return whole | frames


@lru_cache(maxsize=_CACHED_KEYS)
def _stem(word: str) -> str:
    """The word without what plurals differ in: equal for a word and its plural."""
    return _ENDING.sub("", word) if len(word) > 3 else word.removesuffix("s")


@lru_cache(maxsize=_CACHED_KEYS)
def _numbers(key: str) -> tuple[str, ...]:
    """Digits, Roman numerals and number words of the key: names that differ in one are different."""
    digits = re.findall(r"\d+", key)
    words = (word for word in key.split() if _NUMERAL.fullmatch(word) or _COUNTING.fullmatch(word))
    return tuple(sorted([*digits, *words]))


def _undouble(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)


def _is_word(word: str) -> bool:
    """Letters of an alphabet only: in other scripts one character is a word or half of one."""
    return word.isalpha() and unicodedata.name(word[0], "").startswith(_ALPHABETS)
