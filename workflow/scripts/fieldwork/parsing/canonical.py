"""One canonical name for all spellings of an option.

Owns the merging of spellings within one prompt. Promises that every spelling has a canonical name,
that the result does not depend on the order of the mentions, and that merging the canonical names
again changes nothing. The overrides that a person wrote decide first.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from fieldwork.files import texts
from fieldwork.parsing.name_similarity import SimilarityIndex, are_common_nouns

Rule = Literal["override", "alias", "exact", "near"]

_EQUAL = 100
"""Threshold at which only spellings with equal keys are merged."""
_ARTICLES = ("the ", "a ", "an ")
_MARKS = re.compile(r"[®©™℠]|[\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
_PUNCTUATION = re.compile(
    r"[*_`~'’‘ʼ´\"“”„«»‹›()\[\]{}<>《》「」『』【】.!?¡¿…|]|(?<=\d),(?=\d{3})"
)
_JOINING_SLASH = re.compile(r"(?<=[^\W\d_]{3})\s{0,2}/\s{0,2}(?=[^\W\d_]{3})")
_SEPARATORS = re.compile(r"[-‐‑‒–—―/\\:;,、，。；：・·]+|\s+")
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)


class Merge(NamedTuple):
    """The name that a spelling is counted under, and the rule that decided."""

    canonical: str
    rule: Rule
    """`override` (a person decided), `alias`, `exact` (equal keys) or `near` (keys almost equal)."""


class _SpellingGroup(NamedTuple):
    key: str
    name: str
    mentions: int
    is_fixed: bool
    """Whether an alias or an override sets the name, so that no other name replaces it."""


def read_aliases(paths: Sequence[str]) -> list[dict[str, str]]:
    """Rows of files of aliases, each with task, item_id (empty for every item), canonical, written."""
    columns = ("task", "item_id", "canonical", "written")
    return [row for path in paths for row in texts.read_table(path, columns)]


def comparison_key(spelling: str) -> str:
    """The key that equal names share, however they are spelt.

    NFKC and case folding; quotes, markup, brackets and sentence punctuation removed; hyphens, colons
    and commas as spaces, and slashes too, but between words; there they are 'and', as '&' is; leading
    English articles dropped; diacritics dropped from Latin letters only, where they seldom tell names
    apart. '+', '#' and '$' stay, since 'C', 'C#' and 'C++' differ. The key of a key is the key itself.
    A name made of nothing but punctuation keeps its case-folded form.
    """
    text = unicodedata.normalize("NFKC", _MARKS.sub("", spelling)).casefold()
    text = _JOINING_SLASH.sub(" and ", unicodedata.normalize("NFKC", text).replace("&", " and "))
    text = _fold_latin(text)
    text = " ".join(_SEPARATORS.sub(" ", _PUNCTUATION.sub("", text)).split())
    while text.startswith(_ARTICLES):
        text = text.split(" ", 1)[1]
    return text or " ".join(unicodedata.normalize("NFKC", spelling).casefold().split())


def canonicalise(
    mentions: Mapping[str, int],
    *,
    aliases: Mapping[str, str],
    overrides: Mapping[str, str],
    threshold: float = 92.0,
) -> dict[str, Merge]:
    """Canonical name of every written option of one prompt.

    `mentions` counts how often each form was written; `aliases` and `overrides` map a written form
    (or its key) to a canonical name; `threshold` is the similarity, 0 to 100, that two differing
    words must reach (see `name_similarity`). In this order: overrides; aliases; forms with equal keys
    under the commonest form (of equally common ones the shortest, then the first in the alphabet);
    a rarer name that is almost a commoner one joins it. Names joined to are never joined further,
    so that no chain of small differences connects two distant names. A form whose key is that of
    the target of an override or alias takes the target's spelling.

    Raises ValueError where a count is negative or the threshold lies outside 0 to 100.
    """
    if not 0 <= threshold <= 100:
        raise ValueError(f"threshold must lie between 0 and 100, not {threshold}")
    if any(count < 0 for count in mentions.values()):
        raise ValueError("mentions must be counts of 0 or more")
    override_names = {
        comparison_key(spelling): name for spelling, name in sorted(overrides.items())
    }
    alias_names = {comparison_key(spelling): name for spelling, name in sorted(aliases.items())}
    targets = _targets(overrides.values(), aliases.values())
    merges: dict[str, Merge] = {}
    open_forms: dict[str, list[str]] = defaultdict(list)
    for spelling in sorted(mentions):
        key = comparison_key(spelling)
        if spelling in overrides or key in override_names:
            merges[spelling] = Merge(
                overrides.get(spelling, override_names.get(key, "")), "override"
            )
        elif key in alias_names:
            name = targets[comparison_key(alias_names[key])]
            merges[spelling] = Merge(name, "exact" if spelling == name else "alias")
        else:
            open_forms[key].append(spelling)
    representatives = _representatives(_groups(open_forms, mentions, targets), threshold)
    for key, forms in open_forms.items():
        for spelling in forms:
            merges[spelling] = representatives[key]
    return {spelling: merges[spelling] for spelling in mentions}


def _targets(override_names: Iterable[str], alias_names: Iterable[str]) -> dict[str, str]:
    """Spelling of each target by key: an override's before an alias's, then by alphabet."""
    spelling_by_key: dict[str, str] = {}
    for names in (override_names, alias_names):
        for name in sorted(set(names)):
            spelling_by_key.setdefault(comparison_key(name), name)
    return spelling_by_key


def _groups(
    open_forms: Mapping[str, list[str]], mentions: Mapping[str, int], targets: Mapping[str, str]
) -> list[_SpellingGroup]:
    """Groups of equal keys, and the targets: those first, then the commoner before the rarer."""
    groups = [_SpellingGroup(key, name, 0, is_fixed=True) for key, name in targets.items()]
    for key, forms in open_forms.items():
        if key not in targets:
            commonest = min(forms, key=lambda form: (-mentions[form], len(form), form))
            total = sum(mentions[form] for form in forms)
            groups.append(_SpellingGroup(key, commonest, total, is_fixed=False))
    return sorted(
        groups, key=lambda group: (not group.is_fixed, -group.mentions, len(group.key), group.key)
    )


def _representatives(groups: Sequence[_SpellingGroup], threshold: float) -> dict[str, Merge]:
    """Each group's own name, or that of the most similar group before it that stands for itself."""
    index = SimilarityIndex(threshold, common_nouns=are_common_nouns(group.key for group in groups))
    merges_by_key: dict[str, Merge] = {}
    for group in groups:
        is_open = not group.is_fixed and threshold < _EQUAL
        nearest = index.nearest(group.key) if is_open else None
        if nearest is None:
            index.add(group.key)
            merges_by_key[group.key] = Merge(group.name, "exact")
        else:
            merges_by_key[group.key] = Merge(merges_by_key[nearest].canonical, "near")
    return merges_by_key


def _fold_latin(text: str) -> str:
    """Drop the marks of Latin letters; other scripts keep theirs, which are letters there."""
    letters: list[str] = []
    after_latin = False
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character) and after_latin:
            continue
        after_latin = character.isascii() and character.isalpha()
        letters.append(character)
    return unicodedata.normalize("NFC", "".join(letters)).translate(_BASE_LETTERS)
