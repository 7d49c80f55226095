"""Letters that a reply names but does not choose.

Owns negations before and after a letter, exceptions, and options that other people may choose.
"""

import re

from fieldwork.parsing.letters import LetterClaim

_CHARACTERS_BEFORE = 80
_CHARACTERS_AFTER = 140

_NEGATION = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bneither|\bnor|\bcannot|\bincorrect|\bwrong|\bexclude[sd]?|\bunlikely"
    r"|\beliminated?|\bruled?\s+out|\binstead\s+of|\brather\s+than|\bfalse\s+that|\bother\s+than|\bexcept)"
    r"(?:[\s*_]+(?:think|believe|say|agree|true|that|likely|sure|mean|be|the|a|an|case|if|it|is|as|with"
    r"|necessarily|certain|convinced|correct|right|best|option|choice|answer|options|pick|choose"
    r"|select|to|want|for)){0,8}[\s*_(\"]*$",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"(?:\beliminat\w{1,4}|\bexclud\w{1,4}|\brul\w{1,4}\s+out|\bneither|\breject\w{0,4})\s+(?:options?\s+|choices?\s+)?"
    r"(?:[(*]{0,3}[A-Z][)*]{0,3}\s{0,2}(?:,\s{0,2}(?:and|or|nor)?|and|or|nor|&)\s{0,2}){1,9}[(*]{0,3}$",
    re.IGNORECASE,
)
"""A series of letters after a verb that rules them out."""
_NONE_OF = re.compile(
    r"\b(?:none|neither|not\s+(?:any|all|both)|no\s+one|all|both|each|every|any)\b[^.\n]{0,30}"
    r"(?:\(?[A-Z]\)?\s*(?:,|and|or|nor|/|&)\s*){0,9}(?:and|or|nor)?[\s(*]*$",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"\b(?:all|every|everything|each|any|none|no|nothing|both|always|only)\b[^.\n]{0,120}?"
    r"\b(?:except(?:\s+for)?|but|other\s+than|apart\s+from|besides|save)\s+"
    r"(?:(?:for|the|option|options|choice|answer|statement|letter|is)\s+){0,3}[*_(\"]{0,4}$",
    re.IGNORECASE,
)
_REJECTION = re.compile(
    r"^[)\]}*_\"'.\s]{0,4}(?:\([^()\n]{0,80}\)\s{0,2})?"
    r"(?:\b(?:is|are|was|were|would\s+be|seems?|must\s+be|could\s+be|can\s+be)\s{1,3}"
    r"(?:also\s+|clearly\s+|obviously\s+|therefore\s+|definitely\s+|simply\s+)?"
    r"(?:not\b(?!\s+only)|incorrect|wrong\b|false\b|invalid|ruled\s+out|eliminated|out\b|impossible"
    r"|unlikely|excluded)"
    r"|(?:is|are|was|does|do|would|could|should|can)(?:\s?not\b(?!\s+only)|n['’]t\b|['’]t\b)"
    r"|[:–—-]\s?\*{0,2}(?:incorrect|wrong|not\s+correct|eliminated)\b"
    r"|(?:(?:is|are|was|seems?|looks?|sounds?|may\s+be|might\s+be)\s+(?:\w+\s+){0,2}\w+)?,?\s+but\s+(?:(?:it|this|that)(?:['’]s|\s+is|\s+would\s+be)\s+"
    r"|is\s+)?(?:actually\s+)?(?:wrong|incorrect|false|mistaken|a\s+mistake|not\s+(?:correct|right|true))\b)",
    re.IGNORECASE,
)
_FIRST_THOUGHT = re.compile(
    r"\b(?:(?:I|we)\s+(?:had\s+)?(?:at\s+first|first|initially|originally)|(?:at\s+first|first|initially|originally),?\s+(?:I|we)(?:\s+had)?)"
    r"\s+(?:\w+\s+){1,7}$",
    re.IGNORECASE,
)
"""'I first thought that the …': the speaker takes back the letter that follows."""
_OTHER_PEOPLE = re.compile(
    r"\b(?:(?:some|others?|people|many|most|someone|individuals?|respondents?|they|you|participants?)"
    r"|one(?=\s+(?:may|might|could|can|would|will)\b))\s+(?:of\s+\w+\s+)?(?:people\s+)?(?:may|might|could|can|would|will)?"
    r"(?:\s+(?:choose|pick|select|say|answer|think|argue|guess)(?:\s+that|\s+options?|\s+choice)?)?\s*[(*]{0,3}$",
    re.IGNORECASE,
)


_SERIES_BEFORE = re.compile(r"\(?\b[A-Z]\)?\s*(?:,\s*(?:and|or|nor)?|and|or|nor|&)\s*[(*]{0,3}$")
_SERIES_AFTER = re.compile(
    r"[)*_\s]{0,4}(?:,\s*(?:and|or)?|and|or|&)\s*(?:options?\s|choices?\s)?[(*]{0,3}[A-Z](?!\w|['’])"
    r"|[^.\n]{0,120}?\b(?:and|or)\s+(?:options?\s|choices?\s)?\([A-Z]\)"
)


def is_denied(text: str, claim: LetterClaim) -> bool:
    """Whether the text denies the letter or leaves it to others. An exception from all is no denial."""
    text_before = text[max(0, claim.start - _CHARACTERS_BEFORE) : claim.start]
    if _OTHER_PEOPLE.search(text_before) or _REJECTION.match(
        text[claim.end : claim.end + _CHARACTERS_AFTER]
    ):
        return True
    if _RULED_OUT.search(text_before) or _FIRST_THOUGHT.search(text_before):
        return True
    return _NEGATION.search(text_before) is not None and _EXCEPTION.search(text_before) is None


def is_one_of_several(text: str, claim: LetterClaim) -> bool:
    """Whether the letter is one of a group: 'all of (A), (B) and (C)', 'none of them', '(A) or (B)'."""
    text_before = text[max(0, claim.start - 2 * _CHARACTERS_BEFORE) : claim.start]
    return _NONE_OF.search(text_before) is not None or is_in_series(text, claim)


def is_in_series(text: str, claim: LetterClaim) -> bool:
    """Whether other letters stand beside the letter: '(A), (B) and (C)', '(A) Paris or (B) Rome'."""
    text_before = text[max(0, claim.start - 2 * _CHARACTERS_BEFORE) : claim.start]
    text_after = text[claim.end : claim.end + 2 * _CHARACTERS_AFTER]
    return bool(_SERIES_BEFORE.search(text_before) or _SERIES_AFTER.match(text_after))
