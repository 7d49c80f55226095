"""Words, capitals and ends of sentences in texts of any script.

Owns the differences between scripts. Latin, Cyrillic and Greek have capitals and spaces; Arabic, Hebrew,
Devanagari and Hangul have spaces only; Chinese, Japanese, Thai and their neighbours have neither.
Promises that no capital is asked of a script without case, and that words are counted in all scripts.
"""

import re
import unicodedata

_IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_ALPHASYLLABIC = re.compile(f"[{_SOUTH_EAST_ASIAN}]")
_UNSPACED_TEXT = re.compile(f"[{_IDEOGRAPHS}{_SOUTH_EAST_ASIAN}]+")
_GEORGIAN = re.compile("[\u10d0-\u10ff\u1c90-\u1cbf]")
"""Georgian has capitals for whole words only, so that no name begins with one."""
_IDEOGRAPHS_A_WORD = 2
"""Most Chinese words are written with two characters; Japanese mixes one and more."""
_LETTERS_A_WORD = 5
"""Characters of a Thai, Lao, Khmer or Burmese word, vowel and tone signs counted."""
_CLAUSE_WORD = re.compile(
    r"[我你您他她它]|這|这|那[么麼些個个]|的话|的話|可以|能够|能夠|如果|因为|因為|所以|但|而且|并且|並且|还是|還是"
    r"|就是|不是|都是|[吗呢吧呀]|^(?:首先|其次|然后|然後|接着|接著|最后|最後)|^[是在有把被让讓为為对對从從也都还還就再如并並而且请請比]|^不(?!锈|銹)|[了着][^\W\d_]|[了过過着]$|没有|沒有|已经|已經"
    r"|です|ます|ました|ません|でしょう|ので|から$|けど|ください|という|している|して$|する$|した$|ない$|[がをはも]$"
    r"|습니다|입니다|[아어해여워와]요$|니다|และ.*(?:คือ|เป็น)|(?:يمكن|يجب|هذا|هذه|أن)\s|(?:है|हैं|था|थी)$"
)
"""Words of clauses that names hardly have, in scripts without capitals."""
_SENTENCE_END = (".", "!", "?", "。", "！", "？", "।", "؟", "…")
_TITLE_MARKS = ("《", "「", "『", "〈", "【", "“", '"')
_CLOSERS = " \t*_`\"'”’»」』）)]"


def count_words(text: str) -> int:
    """Words of the text: by spaces, and by length where a script puts none between words."""
    if text.isascii():
        return len(text.split())
    n_spaced_words = sum(
        any(map(str.isalnum, token)) for token in _UNSPACED_TEXT.sub(" ", text).split()
    )
    ideographs = len(_IDEOGRAPH.findall(text))
    letters = len(_ALPHASYLLABIC.findall(text))
    return n_spaced_words - (-ideographs // _IDEOGRAPHS_A_WORD) - (-letters // _LETTERS_A_WORD)


def has_case(text: str) -> bool:
    """Whether the first letter of the text is of a script that has capitals."""
    first = first_letter(text)
    return first is not None and _is_cased(first)


def _is_cased(letter: str) -> bool:
    return letter.lower() != letter.upper() and not _GEORGIAN.match(letter)


def is_unspaced(text: str) -> bool:
    """Whether the text is written mostly in a script without spaces between words."""
    n_unspaced = sum(len(part) for part in _UNSPACED_TEXT.findall(text))
    return n_unspaced > 0 and 2 * n_unspaced > sum(character.isalpha() for character in text)


def starts_small(text: str) -> bool:
    """Whether the text begins with a small letter; never so in a script without case."""
    first = first_letter(text, skip_digits=False)
    return first is not None and first.islower() and _is_cased(first)


def first_letter(text: str, *, skip_digits: bool = True) -> str | None:
    """The first letter, marks and quotes skipped; None where there is none or a digit stands first."""
    for character in text:
        if character.isdigit() and not skip_digits:
            return None
        if unicodedata.category(character).startswith("L"):
            return character
    return None


def ends_sentence(text: str) -> bool:
    """Whether the text ends as a sentence does, closing quotes and emphasis aside."""
    return text.rstrip(_CLOSERS).endswith(_SENTENCE_END)


def is_clause(text: str) -> bool:
    """Whether a text in a script without capitals holds a word that clauses have and names do not.

    In marks of titles (《…》) any words are a name.
    """
    if has_case(text) or text.lstrip("*_ ").startswith(_TITLE_MARKS):
        return False
    return _CLAUSE_WORD.search(text) is not None
