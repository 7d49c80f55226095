"""Sentences in which a reply states a letter.

Owns patterns of two strengths: statements of the answer ('the answer is B', 'I choose B') and
verdicts on an option ('B is correct', 'it's B'). A closing statement wins over every verdict before it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from fieldwork.parsing.letters import (
    LetterClaim,
    claims,
    is_denied,
    is_one_of_several,
    is_variable,
    letter_pattern,
)

_NOUN = (
    r"(?:answers?|ans\.?|solution|antwort|lösung|respuesta|réponse|reponse|risposta|resposta|antwoord|απάντηση|svar|cevap"
    r"|odpowiedź|odpověď|ответ(?:ом)?|відповідь|उत्तर|الإجابة|الجواب"
    r"|правильный\s+вариант|верный\s+вариант|правильна\s+відповідь|đáp\s+án|câu\s+trả\s+lời|jawaban(?:nya)?)"
)
_CJK_NOUN = r"(?:答案|答え|正解|解答|정답|选项|選項|选择|選擇|答|คําตอบ)"
"""The Thai word is spelt as NFKC normalisation leaves it."""
OPTION = r"(?:options?|choices?|alternative|letter|selection|opción|opção|вариант|选项|選項)"
_CHOOSE = (
    r"(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)?\s+with|opt\s+for|vote\s+for|settle\s+on"
    r"|choosing|selecting|picking|went\s+with|elijo|wähle|choisis|scelgo|escolho|выбираю|opto\s+por|me\s+decido\s+por|entscheide\s+mich\s+für|选择|选)"
)
_RIGHT = r"(?:correct|right|best|true|accurate|appropriate|valid|closest|proper|final)"
_RIGHT_ONE = (
    r"(?:correct|right|best|better|closest|proper|final|answer"
    r"|most\s+(?:likely|plausible|probable|appropriate|accurate))"
)
_TRUE = r"(?:true|accurate|valid|appropriate)"
_LINK_WORD = (
    r"(?:is|are|was|would|should|must|will|be|has|to|have|seems?|appears?|likely|most|probably|thus"
    r"|therefore|clearly|indeed|then|hence|simply|actually|still|definitely|the|given|by|for|of|this"
    r"|question|problem|final|correct|right|best|options?|choices?|letter|number|statement|in|either"
    r"|closest|approximately|only|both|either|you|asked|ist|lautet|daher|es|est|è|é|sono|la|le|l'|el|der|die|das"
    r"|opción|correct[ae]|corrett?[ao]|cert[ao]|exacte|giusta|richtige?|buchstabe|lettre|lettera|вариант|буква|это|la\s+lettera|a\s+letra|letra|är|er|είναι|jest|là|adalah|đúng|الصحيحة|الصحيح|هي|هو|है|은|는|이다)"
)
_GAP_TOKEN = (
    rf"(?:{_LINK_WORD}(?!\w)|[:=—–>→*_`~\"'“”‘’$]|-(?!\w)|\\\(|\\\[|\\boxed\b|\\text(?:bf|rm|it)?\b"
    r"|\\math(?:bf|rm|it)?\b|\\fbox\b|\\,|\{|是|为|為|は|คือ|ที่ถูกต้อง|:|选项|選項|应该|應該|应|選|选)"
)
_GAP = rf"(?:\s{{0,6}}{_GAP_TOKEN}){{0,14}}\s{{0,6}}"
_FILLERS = re.compile(
    r"[\W_]{0,20}(?:(?:so|thus|therefore|hence|final|the|my|correct|best|answer|is|[A-Z])[\W_]{1,20}){0,20}",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:actually|wait|no|sorry|correction|instead|rather|mistake|reconsider\w*|on\s+second\s+thought|in\s+fact"
    r"|however|but|upon)\b",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(
    r"(?:^|[^\w\s'’)-]\s*|\n\s*|\b(?:that|so|thus|therefore|hence|and|but|since|because|think|believe|say|conclude|options?"
    r"|choices?|answer|statement|means|is|then|now|only|while|if|as|know|sure|confident|feel)\s+)[*_\s]*$",
    re.IGNORECASE,
)
"""What can stand before a bare letter that is a subject of its own."""
_LOOK_ALIKES = str.maketrans("АВСЕНІΑΒΕΗΙ", "ABCEHIABEHI")
"""Cyrillic and Greek capitals that look like Latin ones."""
_OTHER_ALPHABET = re.compile(r"(?<!\w)[БГДЖЗГΓΔΖΘΛ](?!\w)")
"""Options of another alphabet: beside 'Б' the letter 'В' is the third option and not B."""
_STATED_LETTER = re.compile(
    r"(?i:\banswer\s+(?:is|would\s+be|should\s+be|must\s+be)\s*:?\s*[*_\s]{0,4})\((?P<l>[A-Z])\)"
)
"""'The answer is (K)': the letter may be none of the item's."""


class LetterReading(NamedTuple):
    letter: str | None
    """None where two letters have equal support, or where the item has no option of the stated letter."""
    is_rivalry: bool = True
    """Whether the letter is missing because two letters have equal support."""


def with_plain_letters(text: str, letters: str, choices: Sequence[str] = ()) -> str:
    """The text with a small letter, or one that looks like an option's, made the option's own.

    Only where it stands alone after a word that announces the answer, and nothing of the sentence
    follows: 'ANSWER: b', 'The answer is b.'
    """
    # an option whose text is 'e' is no option E
    signs = "".join(sign for sign in letters.lower() if sign not in choices)
    if _OTHER_ALPHABET.search(text) is None:
        signs += "".join(map(chr, _LOOK_ALIKES))
    return _announced_sign(signs).sub(
        lambda match: match[1] + match[2].translate(_LOOK_ALIKES).upper(), text
    )


def statement(text: str, letters: str) -> LetterReading | None:
    """The last statement of the answer in any of its forms; of several in a row, the first.

    A later statement corrects an earlier one only where something is said between them: models
    that run on repeat 'The answer is …' with one letter after the other. A statement that names
    several letters counts for the first of them, as in MMLU-Pro's own reading
    (TIGER-AI-Lab/MMLU-Pro). A verdict counts after a statement where it corrects it. A last statement
    of a letter that the item does not have leaves none.
    """
    item_statements = _in_order(text, _statement_patterns(letters))
    statements = sorted([*item_statements, *_foreign_letters(text, letters)], key=attrgetter("end"))
    if not statements:
        return None
    answer = _first_of_row(text, statements)
    later = [verdict for verdict in _verdicts(text, letters) if verdict.start >= answer.end]
    if later and _CORRECTION.search(text[answer.end : later[-1].start]):
        answer = later[-1]
    is_own = answer.letter in letters
    return LetterReading(answer.letter if is_own else None, is_rivalry=is_own)


def verdict(text: str, letters: str) -> LetterReading | None:
    """The last verdict that an option is the right one, or that it alone is true."""
    verdicts = _verdicts(text, letters)
    return LetterReading(verdicts[-1].letter) if verdicts else None


def _in_order(text: str, patterns: tuple[re.Pattern[str], ...]) -> list[LetterClaim]:
    """Claims that the text does not deny, by their ends."""
    all_claims = [claim for pattern in patterns for claim in claims(pattern, text)]
    affirmed_claims = [claim for claim in all_claims if not is_denied(text, claim)]
    return sorted(affirmed_claims, key=attrgetter("end"))


def _foreign_letters(text: str, letters: str) -> list[LetterClaim]:
    """Statements of a letter that the item does not have."""
    all_claims = (
        LetterClaim(m.group("l"), m.start(), m.end()) for m in _STATED_LETTER.finditer(text)
    )
    return [claim for claim in all_claims if claim.letter not in letters]


def _first_of_row(text: str, statements: list[LetterClaim]) -> LetterClaim:
    answer = statements[-1]
    for earlier in reversed(statements[:-1]):
        if not _FILLERS.fullmatch(text, earlier.end, max(earlier.end, answer.start)):
            break
        answer = earlier
    return answer


def _verdicts(text: str, letters: str) -> list[LetterClaim]:
    """Claims that an option is the right one, or, where there are none, that it alone is true.

    Several options that are true leave the answer open. A bare letter that the text uses as a variable
    makes no claim.
    """
    right = _of_one_option(text, _verdict_patterns(letters, _RIGHT_ONE))
    if right:
        return right
    claims_of_truth = _of_one_option(text, _verdict_patterns(letters, _TRUE)[-1:])
    true = [claim for claim in claims_of_truth if not _is_bare(text, claim)]
    return true if len({claim.letter for claim in true}) == 1 else []


def _of_one_option(text: str, patterns: tuple[re.Pattern[str], ...]) -> list[LetterClaim]:
    """Claims about one option, and not about a variable, a group of options or 'vitamin C'."""
    verdicts = [claim for claim in _in_order(text, patterns) if not is_one_of_several(text, claim)]
    bare = {claim.letter for claim in verdicts if _is_bare(text, claim)}
    variables = {letter for letter in bare if is_variable(text, letter)}
    return [
        claim
        for claim in verdicts
        if not _is_bare(text, claim) or (claim.letter not in variables and _is_subject(text, claim))
    ]


def _is_subject(text: str, claim: LetterClaim) -> bool:
    """Whether the bare letter stands for itself and does not belong to the word before it."""
    return _LEADS_IN.search(text[max(0, claim.start - 30) : claim.start]) is not None


def _is_bare(text: str, claim: LetterClaim) -> bool:
    return re.search(r"[(\[{]|option|choice", text[claim.start : claim.end], re.IGNORECASE) is None


@lru_cache(maxsize=64)
def _announced_sign(signs: str) -> re.Pattern[str]:
    announcement = rf"((?i:(?<!\w){_NOUN}(?!\w)|{_CJK_NOUN})(?i:{_GAP}))"
    end = r"(?:[*_`\"'”)\]}]{0,4}(?:[.!。]?\s*(?:\n|\Z)|[.!]\s)|[\"']\s*[,}])"
    firm = "".join(sign for sign in signs if sign not in "ai")
    # 'the answer is a' may break off before a noun
    word = r"(?:(?<=[:=])|(?<=[:=]\s))[ai]|[ai](?=[*_`\"'”)\]}.!。])"
    return re.compile(rf"{announcement}((?:[{firm}]|{word})(?={end}))")


@lru_cache(maxsize=64)
def _statement_patterns(letters: str) -> tuple[re.Pattern[str], ...]:
    letter = letter_pattern(letters)
    negation = r"(?:not\s+[(\[]?\w[)\]]?,?\s+but\s+(?:rather\s+)?)?"
    bodies = (
        rf"(?i:(?<!\w){_NOUN}(?!\w)|{_CJK_NOUN})(?i:{_GAP}{negation}){letter}",
        rf"(?i:(?<!\w){_NOUN}(?!\w)[^.\n:;,]{{1,120}}?\s(?:is|would\s+be|must\s+be|should\s+be)\s*:?\s*"
        rf"[*_$\\\s]{{0,6}}(?:{OPTION}\s+)?){letter}",
        rf"(?i:(?<!\w){_RIGHT}\s+(?:\w+\s+){{0,3}}?(?:{OPTION}|match|fit)(?!\w){_GAP}{negation}){letter}",
        rf"(?i:(?<!\w){OPTION}\s+(?:correct[aoe]?\s+|correcte\s+|corretta\s+)?(?:is|would\s+be|must\s+be|ist|es|est)(?!\w){_GAP}){letter}",
        rf"(?i:(?<!\w){_CHOOSE}(?!\w){_GAP}|选){letter}",
        rf"(?i:\b(?:correct|right|final|letter)\s?:\s{{0,3}}[*_]{{0,2}}){letter}",
        rf"\\(?:boxed|fbox)\s{{0,3}}\{{\s{{0,3}}(?:\\(?:text|mathrm|mathbf|textbf)\s{{0,3}}\{{\s{{0,3}})?"
        rf"(?:\\[a-z]{{2,8}}\{{)?{letter}",
        rf"(?i:[\"'](?:final[_ ]?|correct[_ ]?|selected[_ ]?)?"
        rf"(?:{_NOUN}|{OPTION}|response|prediction)"
        rf"(?:_\w{{1,12}})?[\"']\s{{0,4}}[:=]\s{{0,4}}[\"']?){letter}",
        rf"(?i:\b(?:choice|answer|option|statement|conclusion)(?!\w)[^.\n:]{{0,120}}?,?\s(?:is|are|be):\s*)"
        rf"\n\s*(?i:{OPTION}\s+)?[*_$\\\s]{{0,6}}{letter}(?![^\n]*\n\s*[*_(]{{0,3}}[A-Z][).])",
    )
    return tuple(re.compile(body) for body in bodies)


@lru_cache(maxsize=64)
def _verdict_patterns(letters: str, quality: str) -> tuple[re.Pattern[str], ...]:
    letter = letter_pattern(letters)
    option = rf"(?i:{OPTION}\s+|(?<![\w'’°(-])(?<!\d\s))[*_]{{0,2}}{letter}[*_]{{0,2}}"
    bodies = (
        rf"(?i:\b(?:it|that)(?:['’]s|\s+is)\s+|\bI\s+meant?\s+){letter}(?=[\s.!*_)]*$)",
        rf"(?i:(?<!\w)(?:corresponds?|match(?:es)?|equals?)\s+(?:to\s+|with\s+)?{OPTION}\s+){letter}",
        rf"(?i:\b(?:making|makes|leaving|leaves)\s+)(?i:{OPTION}\s+)?{letter}"
        rf"(?i:[^.\n]{{0,40}}?\b(?:{quality}|{OPTION}))",
        rf"(?i:\bonly\s+)(?i:{OPTION}\s+)?{letter}(?i:\s+(?:fits|satisf(?:y|ies)|works|remains|applies|matches|meets|qualifies"
        rf"|answers|describes|explains|is\s+(?:consistent|possible|left|correct|right|valid))\b)",
        rf"{option}(?i:\s+(?:best\s+\w+s|(?:fits|suits|works|matches|explains|describes)\s+(?:it\s+|the\s+\w+\s+)?best)\b)",
        rf"{option}(?i:\s+(?:is|would\s+be|seems|appears\s+to\s+be|must\s+be)\s+"
        rf"(?:\w+ly\s+)?(?:indeed\s+|also\s+)?(?:the\s+|most\s+)*{quality}(?!\w))",
    )
    return tuple(re.compile(body) for body in bodies)
