"""Telling a refusal from an answer.

Owns two questions: does a reply decline, and does it hand over an answer after all. A reply declines where
its speaker says that it cannot, will not or should not do what was asked, or objects to the request; saying
that the answer depends on the person, or asking back, is no refusal. Promises to be conservative: an apology,
or inability as a topic, does not count.
"""

import re

from fieldwork.parsing.visible import visible_text

_EDGE = 400
"""Characters at either end in which a refusal must stand: in between, inability is a topic."""
_OPENING = 320
"""Characters at the beginning in which an objection to the request must stand."""
_MANY = 5
"""List lines that make an answer of a text, whatever its first sentence says."""
_GOES_ON = 400
"""Characters after a disclaimer that make an answer of a reply that goes on with 'However'."""

_LIST_LINE = re.compile(r"^\s{0,8}(?:[-*•–]|#{0,6}\s?\W{0,3}\d{1,2}[.)、:])\s*\S", re.MULTILINE)
_DEEDS = (
    r"(?:answer|help|assist|provide|recommend|suggest|offer|give|share|fulfil|fulfill|comply|complete"
    r"|continue|discuss|engage|comment|participate|respond|choose|select|pick|make|take|express"
    r"|advise|do\s+(?:that|this|so)|perform|process|support|generate|create|produce|show|proceed"
    r"|endorse|promote|encourage|condone|satisfy|accept|write|prove|justify|describe|browse|search|access"
    r"|look\s+up|send|view|open|tell|say|predict|determine|identify|list|name|rank|find|confirm|check|play|plot"
    r"|fully|directly|accurately|personally)\b"
)
_INABILITY = (
    r"(?:can\s?not|can['’]?t|could\s?not|am\s+(?:just\s+|currently\s+)?(?:physically\s+)?unable\s+to"
    r"|['’]m\s+(?:just\s+|currently\s+)?unable\s+to|am\s+not\s+(?:currently\s+)?able\s+to"
    r"|['’]m\s+not\s+(?:currently\s+)?able\s+to|will\s+not|won['’]t|must\s+decline\s+to"
    r"|(?:will\s+not|won['’]t)\s+be\s+able\s+to|would\s+not\s+be\s+able\s+to|wouldn['’]t\s+be\s+able\s+to"
    r"|(?:am|['’]m)\s+not\s+(?:allowed|permitted|comfortable|going|in\s+a\s+position|qualified|equipped"
    r"|authori[sz]ed|programmed|designed|capable)\s+(?:to|with|of)"
    r"|(?:am|['’]m)\s+incapable\s+of|would\s+rather\s+not|['’]d\s+rather\s+not"
    r"|(?:do\s+not|don['’]t)\s+(?:currently\s+)?(?:have|possess)\s+the\s+(?:ability|capability|capacity)\s+to"
    r"|(?:have|need|['’]d\s+have)\s+to\s+decline\s+to)"
)
_AI = r"(?:AI|artificial\s+intelligence|language\s+model|assistant|chatbot)"
_FIRM = (
    rf"\bI\b\s{{0,3}}(?:\w+\s+){{0,2}}?{_INABILITY}\s+(?:\w+ly\s+)?(?:be\s+)?{_DEEDS}",
    r"\bI(?:\s+must|\s+have\s+to|\s+need\s+to|['’]ll\s+have\s+to)?\s+(?:respectfully\s+|politely\s+)?"
    r"(?:decline|refuse)\b",
    rf"\bI\s+(?:do\s+not|don['’]t)\s+think\s+I\s+(?:can|should)\s+{_DEEDS}",
    r"\blet['’]?s\s+(?:talk\s+about|discuss|focus\s+on|change)\s+(?:something\s+else|the\s+(?:topic|subject))\b",
    r"\bI(?:['’]d|\s+would)?\s+prefer\s+not\s+to\s+(?:answer|say|respond|choose)\b",
    r"^\W*(?:I\s*(?:['’]m|am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid)|sorry|unfortunately"
    r"|I\s+apologi[sz]e|my\s+apologies)\W{1,3}(?:but\s+)?(?:as\s+[^,.\n]{1,60},\s+)?(?:I\s+)?"
    r"(?:can\s?not|can['’]t|unable|won['’]t|not\s+able\s+to|(?:that|this)\s+(?:is|goes)\s+(?:against|beyond)"
    r"|(?:that|this)(?:['’]s|\s+is)\s+not\s+something\s+I)",
    r"\b(?:against|violates?)\s+(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|polic(?:y|ies)|programming|principles)\b",
    r"\bnot\s+within\s+my\s+(?:programming|capabilities|abilities|guidelines)\b|\bbeyond\s+my\s+(?:capabilities|abilities)\b",
    r"\b(?:we|I)\s+(?:do\s+not|don['’]t|cannot|can['’]t)\s+(?:endorse|condone|support|promote|encourage)\b",
    r"\bmy\s+purpose\s+is\s[^.\n]{0,80}\bnot\s+to\b",
    # Spanish, Catalan, Portuguese, French, Italian, German, Dutch
    r"\bno\s+puedo\s+(?:\w+\s+){0,2}?(?:ayudar|responder|proporcionar|recomendar|ofrecer|dar|asistir|cumplir|revisar"
    r"|acceder|tener|buscar|hacer|generar|escribir|decir)",
    r"\bno\s+puc\s+(?:\w+\s+){0,2}?(?:ajudar|respondre|proporcionar|recomanar|oferir|donar)",
    r"\bn[ãa]o\s+posso\s+(?:\w+\s+){0,2}?(?:ajudar|responder|fornecer|recomendar|oferecer|dar|atender|gerar|criar)",
    r"\bje\s+ne\s+(?:peux|suis)\s+(?:malheureusement\s+)?pas\s+(?:en\s+mesure\s+de\s+|capable\s+de\s+)?"
    r"(?:vous\s+)?(?:aider|r[ée]pondre|fournir|recommander|donner|proposer|cr[ée]er|g[ée]n[ée]rer)",
    r"\bnon\s+posso\s+(?:\w+\s+){0,2}?(?:aiutar|rispondere|fornir|consigliar|raccomandar|dare|offrir|creare|generare)",
    r"\bich\s+kann\s+(?:\w+\s+){0,6}?(?:nicht|keine?n?)\s+(?:\w+\s+){0,5}?"
    r"(?:helfen|beantworten|antworten|empfehlen|empfehlungen|geben|bereitstellen|unterstützen|erstellen)",
    r"\bik\s+kan\s+(?:\w+\s+){0,4}?(?:niet|geen)\s+(?:\w+\s+){0,4}?"
    r"(?:helpen|beantwoorden|antwoorden|aanbevelen|geven)",
    # Russian, Ukrainian, Chinese, Japanese, Korean, Thai, Arabic, Hindi
    r"\bя\s+не\s+(?:могу|смогу)\s+(?:\w+\s+){0,2}?(?:помочь|ответить|предоставить|рекомендовать|дать|выполнить)",
    r"\bя\s+не\s+можу\s+(?:\w+\s+){0,2}?(?:допомогти|відповісти|надати|рекомендувати|дати)",
    r"(?:我|本人|作为[^，。\n]{1,12}，)(?:目前|暂时|不太|并)?(?:无法|不能|無法|不会|拒绝)(?:直接|为您|为你|给您)?"
    r"(?:回答|提供|协助|協助|帮助|幫助|满足|滿足|推荐|推薦|给出|給出|联网|访问|生成|完成|讨论|评论)",
    r"(?:お答え|お手伝い|回答|対応|提供|お勧め|おすすめ)(?:すること(?:が|は))?(?:は)?"
    r"(?:でき(?:ません|かねます)|いたしかねます)",
    r"(?:답변|도움|제공|추천)(?:을|를)?\s*(?:드릴|할|해\s*드릴)\s*수\s*(?:가\s*)?없",
    r"(?:ไม่สามารถ)(?:ช่วย|ตอบ|ให้|แนะนำ|ทำ)",
    r"لا\s+(?:أستطيع|يمكنني)\s+(?:الإجابة|المساعدة|مساعدت|تقديم|التوصية)",
    r"मैं\s[^।\n]{0,60}(?:उत्तर|मदद|सहायता|प्रदान)[^।\n]{0,20}नहीं\s+(?:कर|दे)\s+सकत",
)
"""The speaker declines."""
_DISCLAIMERS = (
    rf"\bas\s+an?\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,60}}?"
    r"(?:can\s?not|can['’]t|unable|not\s+able|(?:do|did|have|was|am)\s+not\b|(?:do|did|have|was)n['’]t\b)",
    rf"\bI(?:\s+am|['’]m)\s+(?:just\s+|only\s+)?an?\s+(?:\w+[\s-]){{0,3}}?{_AI}\b"
    r"[^.\n]{0,40}?\b(?:can\s?not|can['’]t|unable|(?:do\s+not|don['’]t)\s+have)\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+(?:have|hold|possess)\s+(?:\w+\s+){0,3}?"
    r"(?:opinions?|beliefs?|preferences?|feelings?|emotions?|(?:personal|political)\s+views?"
    r"|personal\s+experiences?)\b",
    r"\b(?:can\s?not|can['’]t)\s+be\s+(?:answered|determined|provided)\s+(?:by\s+(?:an?|this)\s+AI|on\s+behalf"
    r"|universally|as\s+(?:it|this)|without\s+(?:personal|further|that)|for\s+you)",
    r"^\W*(?:this|it|that|this\s+(?:question|information))\s+(?:is\s+[^.\n]{0,60}\sand\s+)?"
    r"(?:can\s?not|can['’]t)\s+be\s+(?:answered|provided)\b",
    r"\banswer\s+(?:can\s?not|can['’]t)\s+be\s+(?:given|provided)\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+have\s+(?:\w+\s+){0,2}?access\s+to\s+(?:\w+\s+)?(?:real[-\s]?time|current|live"
    r"|up[-\s]to[-\s]date|the\s+(?:internet|web)|internet|your\s+(?:personal|location))",
    r"\bthis\s+AI\s+does\s+not\s+have\b|\bwhich\s+I,\s+as\s+an?\s+AI,\s+do\s+not\s+have\b",
)
"""The speaker says that it is not the one to answer; an answer may follow all the same."""
_OBJECTIONS = (
    r"\b(?:it(?:['’]s|\s+is)|that\s+is|this\s+is|would\s+be|that(?:['’]s|\s+would\s+be))\s+(?:not\s+|never\s+|in)"
    r"(?:only\s+)?\s?(?:appropriate|ethical|acceptable|okay|ok|right|legal)\b[^.\n]{0,20}?"
    r"\b(?:to|or|for|and|that|create|if)\b",
    r"\bit(?:['’]s|\s+is|\s+would\s+be)\s+(?:incorrect|unfair|inappropriate|unethical|irresponsible|wrong|harmful|offensive)\b[^.\n]{0,60}?\bto\b",
    r"\bit(?:['’]s|\s+is)\s+not\s+(?:appropriate|accurate|ethical|fair|okay|ok|right|justifiable|acceptable)\b"
    r"[^.\n]{0,40}?\bto\b",
    rf"\bas\s+an?\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,60}}?\bI\s+(?:must|have\s+to|need\s+to|am\s+(?:committed"
    r"|programmed|designed)|do\s+not\s+(?:endorse|support)|would\s+like\s+to\s+(?:emphasi[sz]e|clarify))\b",
    r"\b(?:is|are)\s+(?:illegal|unethical|never\s+acceptable|never\s+ok(?:ay)?|morally\s+wrong"
    r"|against\s+(?:the\s+law|ethical))",
    r"\b(?:is|are)\s+a\s+(?:serious\s+)?violation\s+of\b",
    r"\bno\s+es\s+(?:apropiado|ético|correcto|adecuado)\b|\bnão\s+é\s+(?:apropriado|ético|correto)\b"
    r"|\bil\s+n['’]est\s+pas\s+(?:approprié|éthique|acceptable)\b|\bes\s+ist\s+nicht\s+(?:angemessen|ethisch)\b"
    r"|\bэто\s+(?:не\s*этично|неприемлемо|незаконно)\b|是(?:不道德|不合适|不適當|违法|違法)的",
)
"""The speaker objects to the request instead of meeting it."""
_ANNOUNCEMENT = re.compile(
    r"\b(?:here\s+(?:are|is)|the\s+following|(?:I\s+can|I['’]ll|let\s+me|I\s+will|we\s+can|I\s+could)\s+(?:still\s+|certainly\s+"
    r"|instead\s+)?(?:suggest|recommend|offer|share|give|provide|list|name|tell|outline)|you\s+(?:might|could|may)"
    r"\s+(?:like|enjoy|consider|try|want)|(?:some|many|a\s+few|several)\s+(?:of\s+the\s+)?(?:most\s+)?(?:popular|common|examples?"
    r"|options?|well[-\s]known|notable|commonly|widely|frequently)|for\s+example"
    r"|popular\s+(?:choices|options)|aquí\s+(?:tienes|hay|están)|hier\s+sind|voici|ecco|aqui\s+estão|вот)\b"
    r"|以下|这里有|建议|推荐以下",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:factors?|approach(?:es)?|guide\s+you|guidance|how\s+to|tips?|steps|considerations?|resources|criteria"
    r"|questions?|ways\s+to|websites|where\s+to|general\s+(?:advice|information|guidance|principles|overview)"
    r"|things\s+to|help\s+you\s+(?:find|explore|choose|decide|with|create)|alternatives?\s+to|information\s+(?:on|about)"
    r"|reasons|why|inclusiv\w+|respect\w*)\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\b(?:but|however|that\s+said|that\s+being\s+said|nevertheless|nonetheless|still|instead|though|having\s+said)\b"
    r"|\b(?:aber|jedoch|pero|sin\s+embargo|mais|cependant|ma|tuttavia|mas|no\s+entanto|но|однако)\b|但|不过|ただし|しかし",
    re.IGNORECASE,
)


_SENTENCE_BREAK = re.compile(r"[.\n:：。]")


def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_FIRM_PATTERNS = _compiled(_FIRM)
_DISCLAIMER_PATTERNS = _compiled(_DISCLAIMERS)
_OBJECTION_PATTERNS = _compiled(_OBJECTIONS)


def is_refusal(text: str | None, *, objecting: bool = True) -> bool:
    """Whether the reply declines to answer.

    `objecting` counts objections to the request too; they are no refusal where right and wrong are what
    the question is about. True where a sentence near the start or the end says that the speaker cannot or will not do what
    was asked, or where the first ones object to it, in English or one of fifteen other languages; false
    for an empty reply, for a question back, for a disclaimer after which the reply goes on to answer, and
    for a reply with five or more list lines.
    """
    shown = visible_text(text).strip()
    if not shown or len(_LIST_LINE.findall(shown[:20_000])) >= _MANY:
        return False
    return declines(shown, objecting=objecting) and not _goes_on(shown)


def declines(shown: str, *, objecting: bool = True) -> bool:
    """Whether the text declines or, if `objecting`, objects, whatever else it holds."""
    if _stands_at_edge(shown, (*_FIRM_PATTERNS, *_DISCLAIMER_PATTERNS)):
        return True
    return objecting and _objects(shown)


def is_firm(shown: str) -> bool:
    """Whether the text says that it will not meet the request, or objects to it: no mere disclaimer."""
    return _stands_at_edge(shown, _FIRM_PATTERNS) or _objects(shown)


def _stands_at_edge(shown: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    edges = (shown,) if len(shown) <= 2 * _EDGE else (shown[:_EDGE], shown[-_EDGE:])
    return any(pattern.search(edge) for edge in edges for pattern in patterns)


def _objects(shown: str) -> bool:
    return any(pattern.search(shown[:_OPENING]) for pattern in _OBJECTION_PATTERNS)


def hands_over(shown: str) -> bool:
    """Whether the text, after declining, announces what was asked for and not how to find it elsewhere."""
    every = (*_FIRM_PATTERNS, *_DISCLAIMER_PATTERNS, *_OBJECTION_PATTERNS)
    start = min((m.end() for p in every if (m := p.search(shown[:_EDGE]))), default=0)
    after = shown[start : start + 3 * _EDGE]
    announced = [match.end() for match in _ANNOUNCEMENT.finditer(after)]
    turns = [match.end() for match in _TURN.finditer(after)]
    elsewhere = (_ELSEWHERE.search(_sentence_after(after, end)) for end in (*announced, *turns))
    return bool(announced) and not any(elsewhere)


def _goes_on(shown: str) -> bool:
    """Whether a mere disclaimer is followed by a turn and much text: a hedge before an answer."""
    turn = _TURN.search(shown)
    if turn is None or len(shown) - turn.end() < _GOES_ON or is_firm(shown):
        return False
    return _ELSEWHERE.search(_sentence_after(shown, turn.end())) is None


def _sentence_after(shown: str, place: int) -> str:
    return _SENTENCE_BREAK.split(shown[place : place + 90], maxsplit=1)[0]
