"""One name for what is written in several ways.

Owns the merging of written options into canonical ones within one prompt. Promises that every
mention is mapped, that the result does not depend on the order of the mentions, and that merging
the canonical names again changes nothing. A person's overrides go before everything else.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from fieldwork.parsing.likeness import Likeness, are_common_nouns

Rule = Literal["override", "alias", "exact", "near"]

_EQUAL = 100
"""Threshold at which forms with equal keys are one, and no others."""
_ARTICLES = ("the ", "a ", "an ")
_MARKS = re.compile(r"[®©™℠]|[\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
_DROPPED = re.compile(r"[*_`~'’‘ʼ´\"“”„«»‹›()\[\]{}<>《》「」『』【】.!?¡¿…|]|(?<=\d),(?=\d{3})")
_JOINING_SLASH = re.compile(r"(?<=[^\W\d_]{3})\s{0,2}/\s{0,2}(?=[^\W\d_]{3})")
_SPACED = re.compile(r"[-‐‑‒–—―/\\:;,、，。；：・·]+|\s+")
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)


class Merge(NamedTuple):
    """What a written option is counted under, and why."""

    canonical: str
    rule: Rule
    """`override` (a person decided), `alias`, `exact` (equal keys) or `near` (keys almost equal)."""


class _Group(NamedTuple):
    """Written forms with one key."""

    key: str
    name: str
    mentions: int
    fixed: bool
    """The name comes from an alias or an override and gives way to no other."""


def comparison_key(written: str) -> str:
    """What two spellings of one name share.

    NFKC and case folding; quotes, markup, brackets and sentence punctuation removed; hyphens, colons
    and commas as spaces, and slashes too, but between words; there they are 'and', as '&' is; leading
    English articles dropped; diacritics dropped from Latin letters only, where they seldom tell names
    apart. '+', '#' and '$' stay, since 'C', 'C#' and 'C++' differ. The key of a key is the key itself.
    A name made of nothing but punctuation keeps its case-folded form.
    """
    text = unicodedata.normalize("NFKC", _MARKS.sub("", written)).casefold()
    text = _JOINING_SLASH.sub(" and ", unicodedata.normalize("NFKC", text).replace("&", " and "))
    text = _fold_latin(text)
    text = " ".join(_SPACED.sub(" ", _DROPPED.sub("", text)).split())
    while text.startswith(_ARTICLES):
        text = text.split(" ", 1)[1]
    return text or " ".join(unicodedata.normalize("NFKC", written).casefold().split())


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
    words must reach (see `likeness`). In this order: overrides; aliases; forms with equal keys
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
    decided = {comparison_key(written): name for written, name in sorted(overrides.items())}
    known = {comparison_key(written): name for written, name in sorted(aliases.items())}
    targets = _targets(overrides.values(), aliases.values())
    merged: dict[str, Merge] = {}
    open_forms: dict[str, list[str]] = defaultdict(list)
    for written in sorted(mentions):
        key = comparison_key(written)
        if written in overrides or key in decided:
            merged[written] = Merge(overrides.get(written, decided.get(key, "")), "override")
        elif key in known:
            name = targets[comparison_key(known[key])]
            merged[written] = Merge(name, "exact" if written == name else "alias")
        else:
            open_forms[key].append(written)
    representatives = _representatives(_groups(open_forms, mentions, targets), threshold)
    for key, forms in open_forms.items():
        for written in forms:
            merged[written] = representatives[key]
    return {written: merged[written] for written in mentions}


def _targets(decided: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Spelling of each target by key: an override's before an alias's, then by alphabet."""
    spelling: dict[str, str] = {}
    for names in (decided, known):
        for name in sorted(set(names)):
            spelling.setdefault(comparison_key(name), name)
    return spelling


def _groups(
    open_forms: Mapping[str, list[str]], mentions: Mapping[str, int], targets: Mapping[str, str]
) -> list[_Group]:
    """Groups of equal keys, and the targets: those first, then the commoner before the rarer."""
    groups = [_Group(key, name, 0, fixed=True) for key, name in targets.items()]
    for key, forms in open_forms.items():
        if key not in targets:
            commonest = min(forms, key=lambda form: (-mentions[form], len(form), form))
            total = sum(mentions[form] for form in forms)
            groups.append(_Group(key, commonest, total, fixed=False))
    return sorted(
        groups, key=lambda group: (not group.fixed, -group.mentions, len(group.key), group.key)
    )


def _representatives(groups: Iterable[_Group], threshold: float) -> dict[str, Merge]:
    """Each group's own name, or that of the most similar group before it that stands for itself."""
    ordered = list(groups)
    likeness = Likeness(threshold, common_nouns=are_common_nouns(group.key for group in ordered))
    chosen: dict[str, Merge] = {}
    for group in ordered:
        is_open = not group.fixed and threshold < _EQUAL
        nearest = likeness.nearest(group.key) if is_open else None
        if nearest is None:
            likeness.add(group.key)
            chosen[group.key] = Merge(group.name, "exact")
        else:
            chosen[group.key] = Merge(chosen[nearest].canonical, "near")
    return chosen


def _fold_latin(text: str) -> str:
    """Drop the marks of Latin letters; other scripts keep theirs, which are letters there."""
    folded: list[str] = []
    after_latin = False
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character) and after_latin:
            continue
        after_latin = character.isascii() and character.isalpha()
        folded.append(character)
    return unicodedata.normalize("NFC", "".join(folded)).translate(_UNDECOMPOSED)
