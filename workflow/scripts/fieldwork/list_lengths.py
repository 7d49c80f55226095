"""How many options a prompt asks for.

Promises a number only where the prompt names one with what it counts ('five films', 'top 3',
'五部电影'); none for a range, and none where two requests differ.
"""

import re

_WORDS = {
    2: "two dos duas dois deux due zwei twee dwa två два две дві 二 两 兩",
    3: "three tres três trois tre drei drie trzy tre три 三",
    4: "four cuatro quatro quatre quattro vier cztery fyra чотири четыре 四",
    5: "five cinco cinq cinque fünf vijf pięć fem пять п'ять 五",
    6: "six seis sei sechs zes sześć sex шесть шість 六",
    7: "seven siete sete sept sette sieben zeven siedem sju семь сім 七",
    8: "eight ocho oito huit otto acht osiem åtta восемь вісім 八",
    9: "nine nueve nove neuf neun negen dziewięć nio девять дев'ять 九",
    10: "ten diez dez dix dieci zehn tien dziesięć tio десять 十",
    12: "twelve doce douze dodici zwölf twaalf двенадцать",
    15: "fifteen quince quinze quindici fünfzehn vijftien пятнадцать",
    20: "twenty veinte vinte vingt venti zwanzig twintig двадцать",
}
_VALUES = {word: value for value, words in _WORDS.items() for word in words.split()}
_LONGEST = 100

_NUMERAL = r"\d{1,3}|" + "|".join(sorted(map(re.escape, _VALUES), key=len, reverse=True))
_NUMBER = rf"(?P<n>{_NUMERAL})"
_RANGE_WORDS = ("to", "or", "bis", "oder", "à", "ou", "a", "o", "до", "или")
_NO_RANGE = rf"(?!\s?(?:[-–—]|{'|'.join(_RANGE_WORDS)}|至|到)\s?(?:{_NUMERAL})(?!\w))"
_NO_RANGE_END = "".join(rf"(?<!\b{word}\s)" for word in _RANGE_WORDS)
_VERB = (
    r"(?:list|name|give|recommend|suggest|provide|tell|show|write|generate|pick|choose|share|offer|propose|state"
    r"|identify|mention|rank|select|what\s+are|which\s+are|welche|was\s+sind|quels?\s+sont|cuáles\s+son"
    r"|nenne|nennen|gib|empfiehl|empfehlen|liste|schlage|nomme|donne[zr]?|recommande[zr]?"
    r"|cite[zr]?|propose[zr]?|recomienda|recomiéndame|nombra|dame|dime|enumera|sugiere|menciona|recomende|sugira|dê"
    r"|diga|elenca|consiglia|consigliami|suggerisci|dimmi|dammi|noem|geef|raad|wymień|podaj|poleć|nämn|ge"
    r"|перечисли(?:те)?|назови(?:те)?|порекомендуй(?:те)?|посоветуй(?:те)?|дай(?:те)?|предложи(?:те)?|назвіть|порекомендуйте)"
)
_OF_TIME = (
    r"(?!\s*(?:%|percent|words?\b|sentences?\b|paragraphs?\b|lines?\b|characters?\b|letters?\b|minutes?\b|hours?\b|days?\b"
    r"|weeks?\b|months?\b|years?\b|pages?\b|people\b|dollars?\b|euros?\b|[-\s]?(?:star|year|day|hour|minute)\b"
    r"|wörter|sätze|palabras|frases|mots|phrases|parole|слов))"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bexactly\s+{_NUMBER}\b{_NO_RANGE}{_OF_TIME}",
        rf"\b{_VERB}\b(?:[-\s]+[^\W\d_]+){{0,4}}?\s+{_NO_RANGE_END}{_NUMBER}(?!\w){_NO_RANGE}{_OF_TIME}",
        rf"\b(?:what|which|welche|quels|quelles|qué|cuáles|quali|quais|какие)\s+{_NUMBER}\s+(?=[^\W\d_]){_OF_TIME}",
        rf"\b(?:top|best|these|the)\s+{_NUMBER}(?!\w){_NO_RANGE}{_OF_TIME}",
        rf"\b{_NUMBER}\s+(?:\w+\s+){{0,2}}?(?:options?|items?|names?|titles?|recommendations?|suggestions?|examples?"
        r"|answers?|ideas?|choices?|picks)\b",
        r"(?P<n>\d{1,2}|[二两兩三四五六七八九十])\s?(?:个|個|部|家|本|种|種|项|項|款|所|位|条|條|道|首|名|座|间|間|つ|件|選|冊|社|軒"
        r"|か所|カ所|가지|개|편|곳|권|명)",
        r"(?P<n>\d{1,2})\s?(?:รายการ|เรื่อง|แห่ง|อย่าง|ข้อ)",
    )
)


def list_length(prompt: str) -> int | None:
    """The number of options that the prompt asks for, None where it names none or is not clear.

    The strongest form of request decides: 'exactly five', then a verb and a number, then 'top 5', then
    a number before 'options' and the like, then numbers with a counter in Chinese, Japanese, Korean and
    Thai.
    """
    for pattern in _PATTERNS:
        numerals = [match["n"] for match in pattern.finditer(prompt)]
        numbers = {int(n) if n.isdigit() else _VALUES[n.casefold()] for n in numerals}
        lengths = {number for number in numbers if 1 < number <= _LONGEST}
        if lengths:
            return lengths.pop() if len(lengths) == 1 else None
    return None
