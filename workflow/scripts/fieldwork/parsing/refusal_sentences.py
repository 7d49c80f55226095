"""Sentences in which a reply declines, disclaims or objects, and words that turn it round.

Owns the words of many languages; `refusals` owns the decision. Every pattern is bounded, so that the
time is linear in the length of the text.
"""

import re


def _compile_all(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Each pattern, compiled without regard to case."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_CANNOT = (
    r"(?:can\s?not|can['’]t|could\s?not|won['’]t|will\s+not|(?:would\s+not"
    r"|wouldn['’]t)\s+be\s+able\s+to"
    r"|(?:should\s+not|shouldn['’]t)(?=\s+(?:answer|discuss|comment|recommend|provide))"
    r"|(?:am|['’]m)\s+(?:\w+\s+){0,2}?(?:unable|incapable|not\s+(?:\w+ly\s+)?(?:able|allowed"
    r"|permitted|comfortable"
    r"|going|in\s+a\s+position|qualified|equipped|authori[sz]ed|programmed|designed"
    r"|capable))\s+(?:to|of|with|in)"
    r"|(?:do\s+not|don['’]t)\s+(?:\w+ly\s+)?(?:have"
    r"|possess)\s+(?:[\w-]+\s+){0,5}?the\s+(?:ability|capability|capacity)\s+to"
    r"|(?:do\s+not|don['’]t)\s+(?:feel\s+comfortable|think\s+I\s+(?:can|should))"
    r"|['’]d\s+rather\s+not|prefer\s+not\s+to)"
)
_DO = (
    r"(?:because\b|answer|help|assist|provid|recommend|suggest|offer|giv|shar|fulfil|comply|complete"
    r"|continue|discuss|engage|comment|participat|respond|choos|select|pick|express|make"
    r"|advis|do\s+(?:that|this|so)|perform|process|support|generat|creat|produc|show|proceed|tak"
    r"|endors|promot|encourag|condon|satisfy|accept|write|prov|justify|describ|brows|search|access"
    r"|look\s+up|send|view|open|tell|say|predict|determine|identify|list"
    r"|name|rank|find|confirm|check|play|plot|form"
    r"|fully|directly|accurately|personally)"
)
_IDIOMS = (
    r"(?!help\s+(?:but|feeling|thinking)\b|recommend\b[^.\n]{0,60}\benough\b|think\s+of\b|say\s+(?:that|enough)\b"
    r"|(?:wait|believe|agree|stress|emphasi[sz]e|thank|overstate|complain|imagine|resist|decide|lie|promise"
    r"|guarantee|make\s+it|come|attend|join)\b)"
)
_AI = (
    r"(?:AI|artificial\s+intelligence|(?:language\s+)?model|assistant|(?:chat\s?)?bot"
    r"|(?:computer\s+)?program)"
)
_SORRY = (
    r"(?:(?:I\s*(?:['’]m|am)\s+)?(?:\w+\s+)?(?:sorry|afraid)|unfortunately|regrettably|(?:I\s+"
    r"|my\s+)?apolog\w+)"
)

_FOREIGN_APOLOGY = (
    r"(?:lo\s+siento|lamentablemente|desafortunadamente|por\s+desgracia|disculp[ae]|désolée?"
    r"|je\s+suis\s+(?:vraiment\s+)?désolée?"
    r"|malheureusement|je\s+regrette|(?:es\s+)?tut\s+mir\s+leid|leider|entschuldigung|desculpe"
    r"|infelizmente|lamento|sinto\s+muito"
    r"|mi\s+dispiace|purtroppo|spiacente|scusa|het\s+spijt\s+me|helaas|sorry|przykro\s+mi"
    r"|przepraszam|niestety|beklager|desværre"
    r"|dessverre|undskyld|tyvärr|förlåt|jag\s+är\s+ledsen|üzgünüm|maalesef|özür\s+dilerim"
    r"|rất\s+tiếc|xin\s+lỗi|maaf|mohon\s+maaf"
    r"|вибачте|перепрошую|на\s+жаль|извините|простите|к\s+сожалению|сожалею|(?:很|非常)?抱歉|对不起|對不起"
    r"|很遗憾|不好意思"
    r"|(?:大変)?申し訳|すみません|残念ながら|ごめんなさい|죄송|미안|ขออภัย|ขอโทษ|عذر|آسف|أعتذر|المعذرة|क्षमा|माफ|मुझे\s+खेद)"
)
_FOREIGN_CANNOT = (
    r"(?:no\s+(?:puedo|podemos|puc)|n[ãa]o\s+(?:posso|consigo)|ne\s+(?:peux"
    r"|suis)\s[^.\n]{0,20}pas|non\s+(?:posso|sono\s+in\s+grado)"
    r"|(?:kann|darf|werde|kan)\s[^.\n]{0,60}(?:nicht|keine?n?|niet|geen|ikke|inte)\b"
    r"|nie\s+(?:mogę|jestem\s+w\s+stanie|potrafię)"
    r"|[ae]mam\b|[ae]m[ıi]yorum|mümkün\s+değil|không\s+thể|(?:tidak|tak)\s+(?:dapat|bisa|boleh)"
    r"|не\s+(?:могу|смогу|можу|зможу)"
    r"|无法|不能|無法|没有办法|沒有辦法|不会|ません|できかねます|いたしかねます|수(?:는|가)?\s*없|ไม่สามารถ|لا\s+(?:أستطيع|يمكنني)"
    r"|नहीं\s+(?:कर|दे)\s+सकत)"
)
_FOREIGN_DO = (
    r"(?:ayudar|responder|proporcionar|recomendar|ofrecer|dar|asistir|cumplir|ajudar|respondre"
    r"|fornecer|oferecer|atender|aider|r[ée]pondre"
    r"|fournir|recommander|donner|proposer|aiutar|rispondere|fornir|consigliar|raccomandar|dare"
    r"|offrir|helfen|beantworten|antworten|empfehl\w+"
    r"|geben|nennen|bereitstellen|unterstützen|helpen|aanbevelen|geven|помочь|ответить"
    r"|предоставить|рекомендовать|дать|выполнить|допомогти"
    r"|відповісти|надати|回答|提供|协助|協助|帮助|幫助|满足|滿足|推荐|推薦|给出|給出|联网|访问|讨论|评论|ช่วย|ตอบ|ให้|แนะนำ"
    r"|الإجابة|المساعدة|مساعدت|تقديم|التوصية)"
)
FIRM_REFUSALS = _compile_all(
    rf"\bI\b(?:\s{{0,3}}(?:\w+\s+){{0,2}}?"
    rf"|[^.\n]{{0,120}}?\band\s+){_CANNOT}\s+(?:\w+ly\s+)?(?:be\s+)?{_IDIOMS}{_DO}",
    rf"^\W*{_SORRY}\b(?:[^.\n]{{0,40}}?\bI\s+(?:\w+\s+)?|\W{{1,3}}(?:but\s+)?)(?:{_CANNOT}"
    rf"|unable\s+to)\s+{_IDIOMS}[a-z]"
    rf"|^\W*{_SORRY}\b[^.\n]{{0,40}}?\bit(?:['’]s|\s+is)\s+not\s+possible\s+(?:for\s+me\s+)?to\b",
    r"\b(?:I|we)\b[^.\n]{0,60}?\b(?:(?:do\s+not|don['’]t|cannot"
    r"|can['’]t)\s+(?:\w+\s+){0,2}?(?:endorse|condone|support|promote|encourage|tolerate)"
    r"|(?:must|have\s+to|need\s+to|respectfully|politely)\s+(?:\w+ly\s+)?(?:decline|refuse)|condemn)\b",
    r"\b(?:not|n['’]t)\s+(?:something|a\s+(?:topic|question|request|subject))\s+(?:that\s+)?I\b"
    r"|\bmy\s+(?:guidelines|polic(?:y|ies)|programming|instructions|principles|training)\s+(?:do"
    r"|does|will)(?:\s+not|n['’]t)\s+(?:allow|permit|let)\b"
    r"|\b(?:against|violates?)\s+(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|polic(?:y|ies)"
    r"|programming|principles)\b"
    r"|\bmy\s+purpose\s+is\s[^.\n]{0,80}\bnot\s+to\b|\blet['’]?s\s+(?:talk\s+about|discuss"
    r"|change)\s+(?:something\s+else|the\s+(?:topic|subject))\b",
    rf"^\W*{_FOREIGN_APOLOGY}[^.。\n]{{0,100}}?(?:{_FOREIGN_CANNOT}|no\s+tengo)",
    rf"{_FOREIGN_CANNOT}[^.,。，\n]{{0,40}}?{_FOREIGN_DO}",
)
"""The speaker declines."""
DISCLAIMERS = _compile_all(
    rf"\b(?:as\s+an?|I\s+am|I['’]m)\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,80}}?"
    r"(?:can\s?not|can['’]t|unable|not\s+able|\b(?:do|did|have|was|am)(?:\s+not\b|n['’]t\b))",
    r"\bI\s+(?:(?:do\s+not|don['’]t)\s+(?:\w+ly\s+)?(?:have|hold|possess)"
    r"|have\s+no)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:opinions?|favou?rites?|beliefs?|preferences?|feelings?|emotions?|(?:personal|political)\s+(?:views?"
    r"|experiences?)|perception|consciousness"
    r"|(?:real[-\s]?time|current|live|up[-\s]to[-\s]date)\s+\w+"
    r"|access\s+to\s+(?:\w+\s+)?(?:real[-\s]?time|current|live|the\s+(?:internet|web)|internet"
    r"|your))\b",
    r"\b(?:can\s?not|can['’]t)\s+be\s+(?:(?:answered|given|provided)\b|determined\s+(?:by|on"
    r"|universally|without|as|for))",
)
"""The speaker says that it is not the one to answer; an answer may follow all the same."""
_WRONG = (
    r"(?:incorrect|unfair|inappropriate|unethical|immoral|irresponsible|wrong|harmful|offensive)"
)
_RIGHT = (
    r"(?:appropriate|accurate|ethical|fair|okay|ok|right|justifi\w+|acceptable|legal|respectful)"
)
_AGAINST = (
    rf"(?:{_WRONG}|illegal|a\s+(?:serious\s+)?crime|(?:not"
    rf"|never)\s+(?:an?\s+)?(?:\w+\s+or\s+)?{_RIGHT})"
)
_VALUES = (
    r"(?:diversity|inclusi\w+|discriminat\w+|(?:fundamental|human|equal|basic)\s+(?:rights?"
    r"|opportunit\w+)|fairness|dignity"
    r"|regardless\s+of|prejudice|harmful|unethical|stereotypes?)"
)
OBJECTIONS = _compile_all(
    rf"\b(?:(?:it|that)(?:['’]s|\s+is|\s+would\s+be)|this\s+is)\s+(?:{_WRONG}[^.\n]{{0,60}}?\bto\b"
    rf"|(?:not|never)\s+(?:only\s+)?(?:\w+\s+or\s+)?{_RIGHT}\b[^.\n]{{0,40}}?\b(?:to|or|for|and"
    rf"|that|if)\b)"
    r"|\bnot\s+only\s+illegal\b|\bviolence\s+is\s+never\b",
    rf"\bas\s+an?\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,60}}?\bI\s+(?:must|have\s+to|need\s+to"
    rf"|am\s+(?:committed"
    r"|programmed)|would\s+like\s+to\s+(?:emphasi[sz]e|clarify))\b",
    rf"\bI\s+(?:do\s+not|don['’]t)\s+(?:think|believe)\s+(?:that\s+)?it(?:['’]s"
    rf"|\s+is)\s+(?:\w+\s+)?{_RIGHT}",
    r"^[^\n]{0,110}?\b(?:it(?:['’]s|\s+is)\s+(?:\w+\s+)?(?:important|crucial"
    r"|essential)\s+to\s+(?:note|remember|understand)|I\s+must\s+(?:\w+ly\s+)?(?:clarify"
    rf"|point\s+out|inform|emphasi[sz]e|remind|stress))\b[^.\n]{{0,120}}?\b(?:is"
    rf"|are)\s+{_AGAINST}\b|\bI\s+must\s+(?:\w+ly\s+)?challenge\b",
    r"^\W*(?:\w+\W+){0,8}it(?:['’]s|\s+is)\s+important\s+to\s+(?:treat|respect|promote|avoid"
    r"|prioriti[sz]e)\b",
    rf"^\W*there\s+(?:is|are|was|were)\s+no\s+(?:\w+\s+)?(?:reasons?|justifications?"
    rf"|benefits?)\b[^\n]{{0,300}}?\b{_VALUES}",
    r"\bno\s+es\s+(?:apropiado|ético|correcto|adecuado)\b|\bnão\s+é\s+(?:apropriado|ético|correto)\b"
    r"|\bil\s+n['’]est\s+pas\s+(?:approprié|éthique|acceptable)\b"
    r"|\bes\s+ist\s+nicht\s+(?:angemessen|ethisch)\b"
    r"|\bэто\s+(?:не\s*этично|неприемлемо|незаконно)\b|是(?:不道德|不合适|不適當|违法|違法)的",
)
"""The speaker objects to the request instead of meeting it."""
FICTION = re.compile(
    r"\b(?:is|was|are|like|of|for|and|as)\s+(?:\w+\s+){0,3}?fictional\b", re.IGNORECASE
)
"""What is asked for does not exist, so that nobody could give it: 'Lara is a fictional character'."""
HARM = re.compile(
    r"\b(?:illegal|unlawful|unethical|immoral|harmful|violen(?:t|ce)|inappropriate|dangerous"
    r"|offensive|hateful|discriminat\w+|privacy"
    rf"|(?:not|never)\s+(?:an?\s+)?(?:\w+\s+or\s+)?{_RIGHT})\b",
    re.IGNORECASE,
)
"""The speaker calls the request wrong."""
ANNOUNCEMENTS = re.compile(
    r"\b(?:here\s+(?:are|is)|here['’]s|the\s+following|(?:I\s+can|I['’]ll|let\s+me|I\s+will"
    r"|we\s+can|I\s+could)\s+(?:still\s+|certainly\s+"
    r"|instead\s+)?(?:suggest|recommend|offer|share|give|provide|list|name|tell|outline|write)"
    r"|(?:some|many|a\s+few|several)\s+(?:of\s+the\s+)?(?:most\s+)?(?:popular|common|examples?"
    r"|options?|well[-\s]known|notable|commonly|widely|frequently)|for\s+example"
    r"|popular\s+(?:choices|options)|aquí\s+(?:tienes|hay|están)|hier\s+sind|voici|ecco"
    r"|aqui\s+estão|вот)\b"
    r"|以下|这里有|建议|推荐以下",
    re.IGNORECASE,
)
"""The answer comes next."""
REFERRALS = re.compile(
    r"\b(?:factors?|approach(?:es)?|guide\s+you|guidance|how\s+to|tips?|steps|considerations?"
    r"|resources|criteria"
    r"|important|vary|ways\s+to|websites|where\s+to|general\s+(?:advice|information|guidance"
    r"|principles|overview)"
    r"|things\s+to|help\s+you\s+(?:find|explore|choose|decide|with|create)|alternatives?\s+to"
    r"|information\s+(?:on|about)"
    r"|reasons|why|inclusiv\w+|respect\w*|you\s+(?:can|could|may|might"
    r"|should)\s+(?:\w+ly\s+)?(?:find|search|check|visit|consult|look|ask"
    r"|contact|refer))\b",
    re.IGNORECASE,
)
"""Advice on how to find an answer comes next, not the answer."""
CONTRASTS = re.compile(
    r"\b(?:but|however|that\s+said|that\s+being\s+said|nevertheless|nonetheless|still|instead"
    r"|though|having\s+said)\b"
    r"|\b(?:aber|jedoch|pero|sin\s+embargo|mais|cependant|ma|tuttavia|mas|no\s+entanto|но"
    r"|однако)\b|但|不过|ただし|しかし",
    re.IGNORECASE,
)
QUALIFICATIONS = re.compile(
    r"\b(?:entire|full|whole|complete|exact|definitive|precise|single"
    r"|just\s+one|only\s+one|certainty|precisely|exactly|in\s+(?:a\s+single|one)\s+(?:response"
    r"|message|reply)|all\s+of|limit(?:ation)?s)\b",
    re.IGNORECASE,
)
"""The speaker cannot do all of it: 'I cannot give an exact number'."""


QUESTIONS_BACK = re.compile(
    r"\b(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?(?:provide|share|clarify"
    r"|specify|tell|give|let|send|describe"
    r"|rephrase|elaborate|paste|explain)\b[^?]{0,200}\?|\bplease\s+(?:provide|share|clarify"
    r"|specify|paste|send|rephrase)\s+(?:more|additional|further|some|the|a)\b"
    r"|\bare\s+you\s+(?:describing|asking|looking|referring)\b[^?]{0,200}\?"
    r"|\bhow\s+(?:can|may)\s+I\s+(?:help|assist)\b|\bthank(?:s|\s+you)\s+for\s+asking\b"
    r"|\bI\s+am\s+here\s+to\s+(?:help|assist)\b",
    re.IGNORECASE,
)
"""The speaker needs to know more, or makes small talk."""
