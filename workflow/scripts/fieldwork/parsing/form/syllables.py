"""Syllables of English words, for indices of readability.

Owns the rules of spelling and the exceptions to them. Promises a number for every text, 1 or more, and
time linear in it. How often the number is wrong was measured (docs/methods.md, answer_form).
"""

import re
from functools import lru_cache

_LONGEST_WORD = 60
"""Letters beyond which a token is no word: its rest is not read."""

_EXCEPTIONS = {
    1: """
aisle aisles queue queues heart hearts prayer
""",
    2: """
acre acres agile aged being beings business cafe cafes create creates doing duet euro evening
evenings every frontier frontiers going karate lion lions naive naked naming people peoples quiet
rhythm rhythms rugged sacred lifestyle lifestyles someone soldier soldiers towards toward trying
wicked wednesday hatred hundred hundreds cliche cliches resume client clients giant giants leopard
leopards surgeon genre genres colonel pseudo theirselves fragile cashier cashiers glacier glaciers
maybe lawyer lawyers ocean oceans elsewhere
""",
    3: """
anyone area areas businesses element elements everyone forever idea ideas recipe recipes usa
lifecycle lifecycles whenever wherever however beloved another apostrophe jeopardy api apis ios
poetry theatre theatres parliament saturday holiday vehicle vehicles museum museums finale karaoke
simile whoever sesame adobe coyote caveat caveats moreover nuclear scientist scientists juicier
""",
    4: """
catastrophe catastrophes diabetes elementary etc european europeans reusable
""",
    5: """
creativity hereditary simultaneous
""",
    6: """
simultaneously
""",
}
_SYLLABLES = {word: n for n, words in _EXCEPTIONS.items() for word in words.split()}

_SILENT_END = """
base case cheese cause close code come core date drive edge face fire five frame free game grade
grave guide here hide home hope horse house knowledge life like line live love make more name nine
noise note nurse one pipe place price purse rare safe sale scape scene scope score share shape
side sense smile smoke some sore space spite stage stone store state stake take tape taste theme
there these time tire trade tribe trouble type use voice wake ware waste wave where while white
whole wide wife wine wire wise write bride bone brave cake cave lake plate rose spare stove fore
care grace size
"""
_COMPOUND = re.compile(rf"^(?:every|{'|'.join(_SILENT_END.split())})(?=[b-df-hj-np-tvwxz]+[aeiou])")
"""A word that ends in a silent e before another one: `some-thing`, `home-work`."""
_SILENT_INSIDE = re.compile(
    r"(?<=[aeiouy][^aeiouy])e(?=(?:ly|liness|lier|liest|less|ment|ful|ness|some|ty)[a-z]{0,3}$)"
    r"|(?<=[aeiouy][rnstcdglv][cgstvzdkm])e(?=(?:ly|less|ment|ful|ness|some)[a-z]{0,3}$)"
    r"|(?<=ic)a(?=lly$)|(?<=[gq])ue(?=(?:ly|ness|less)$)"
)
_SILENT_E = re.compile(r"(?<=[^aeiouy])e$")
_SPOKEN_LE = re.compile(r"[^aeiouylrw]l(?:e|es|ed)$|[bct]re$|[bct]res$")
_SILENT_ES = re.compile(r"(?<=[^aeiouycgsxz])(?<![cs]h)es$")
_SILENT_ED = re.compile(r"(?<=[^aeiouytd])ed$")
_SILENT_UE = re.compile(r"(?<=[aeiouy])(?:[gq]u)es?$")
_CONSONANT_Y = re.compile(r"(?:^|(?<=[aeiou]))y(?=[aeiou])")
_GROUP = re.compile(r"[aeiouy]+")
_TWO_SYLLABLES = re.compile(
    # ia: media, but not special, brilliant, marriage
    r"(?<![ctsgx])(?<!sh)(?<!ll)(?<!mil)(?<!cil)ia(?!ge)|(?<=[ct])ia(?=t(?!iv))|(?<=us)ia(?=s)|(?<=ll)ia(?=nce)"
    # io: radio, but not nation, region, million, behaviour
    r"|(?<![tscgx])(?<!sh)(?<!ll)(?<![nrv])io(?!u)|(?<=v)io(?!u|r)|(?<=r)io(?!u)|(?<=[sc])io(?=l)|(?<=[nt])io$"
    r"|(?<![sctgx])io(?=us)|(?<=[nt])io(?=s$)|(?<![sx])iu"
    # ie: science, variety, happier
    r"|(?<![ctgnl])ie(?=n[ct])|(?<=[^n]sc)ie(?=n)|(?<=^sc)ie(?=n)|(?<![fshm])ie(?=t)(?!th)|(?<=[aeiouy][^aeiou])ie(?=rs?$|st$)"
    r"|(?<=[aeiouy][^aeiou]{2})ie(?=rs?$|st$)|(?<=ppl)ie(?=rs?$)|(?<=[^aeiou]h)ie(?=r)"
    # ea, eo, ei
    r"|(?<=cr)ea(?=t[^u])|(?<=^r)ea(?=[cl]t|l[it])|(?<=th)ea(?=t)|(?<=[aeiou][^aeiou])ea(?=s?$|n$|rl?y?$)"
    r"|(?<![gp])eo(?!u)(?!pl)|(?<=^g)eo(?!r)|(?<=n)eo(?=us)|(?<=e)i(?=ng)|(?<=^b)ei(?=ng)|(?<=^r)ei(?=n[fstv])|(?<=^r)eu(?=[sn])|(?<=l)eu(?=m)"
    r"|(?<=[aeiouy][^aeiou])ei(?=ty|ng)"
    # ua, ue, ui, uo
    r"|(?<![qg])(?<!rs)ua(?!r[dy]\b)|(?<![qg])ue(?=n[ct])|(?<=[fr])ue(?=l)|(?<=[td])uou?(?=s)|(?<![qb])uo"
    r"|(?<=[nt])ui(?=t[iy])|(?<=fl)ui(?=d)|(?<=r)ui(?=n)|(?<=n)ui(?=n)|(?<=s)ui(?=ci)|(?<=g)ui(?=t[iy])"
    # oe, oi, oa, oo, ao, ai
    r"|(?<=p)oe(?=[mt])|(?<=r)oe(?=[lc])|(?<=^pr)oa(?=c)|(?<=^c)oe|oi(?=c(?!e)|ng)|(?<=^c)oi(?=n[ct])|(?<=^c)oa(?=l[ei])|oa(?=s[ei])"
    r"|(?<=^c)oo(?=p[^s]|rd)|(?<=^z)oo(?=l)|ao|ai(?=c)|(?<=[^q])u(?=ing)|(?<=[^aeiou])y(?=ing|ers?$)|(?<=i)i"
    r"|[ts]hm(?=s?$)|(?<=[aeiouy])s(?=ms?$)"
)
_SHORT_TEXT = """
ALL AM AN AND ANY ARE AS AT BE BIG BUT BY CAN DAY DID DO FAR FOR GET GO HAD HAS HE HER HIM HIS HOW
IF IN IS IT ITS LET MAY ME MY NEW NO NOT NOW OF OFF OLD ON ONE OR OUR OUT SAY SEE SET SHE SO THE
TO TOO TRY TWO UP USE WAS WAY WE WHO WHY YES YET YOU
"""
_SHORT_WORDS = frozenset(_SHORT_TEXT.split())
"""Words that are words in capitals too; others of two or three letters are spelled out, as `IBM` is."""
_PARTS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def count_syllables(word: str) -> int:
    """Syllables of a word, or of the parts of one with hyphens; 1 or more.

    Letters without any vowel are spelled out, as `html` is; a `w` has three syllables then.
    """
    return max(1, sum(map(_count_part, _PARTS.findall(word[:_LONGEST_WORD]))))


@lru_cache(maxsize=1 << 16)
def _count_part(part: str) -> int:
    if part.isupper() and 1 < len(part) < 4 and part not in _SHORT_WORDS:
        return _spelled_out(part)
    stem = part.lower().replace("’", "'")
    if stem.endswith("n't"):
        return _count_plain(stem[:-3]) + (stem[-4:-3] in "dsv" or stem == "haven't")
    return _count_plain(stem.partition("'")[0])


def _count_plain(word: str) -> int:
    """Syllables of one word of letters alone."""
    if word in _SYLLABLES:
        return _SYLLABLES[word]
    compound = _COMPOUND.match(word)
    if compound:
        return _count_plain(compound[0]) + _count_plain(word[compound.end() :])
    if not _GROUP.search(word):
        return _spelled_out(word)
    spelling = _CONSONANT_Y.sub("j", word)
    n = len(_GROUP.findall(spelling)) + len(_TWO_SYLLABLES.findall(spelling))
    return max(1, n - _silent_vowels(spelling))


def _spelled_out(letters: str) -> int:
    return sum(3 if letter in "wW" else 1 for letter in letters)


def _silent_vowels(word: str) -> int:
    """Vowels at the end, and before endings, that are written and not spoken."""
    n = bool(_SILENT_INSIDE.search(word)) + bool(_SILENT_UE.search(word))
    if _SPOKEN_LE.search(word):
        return n
    return n + any(pattern.search(word) for pattern in (_SILENT_E, _SILENT_ES, _SILENT_ED))
