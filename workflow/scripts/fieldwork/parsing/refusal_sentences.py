"""Sentences in which a reply declines, disclaims or objects, and words that turn it round.

Owns the words of many languages; `refusals` owns the decision. Every pattern is bounded, so that the
time is linear in the length of the text.
"""

import re


def _compile_all(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Each pattern, compiled without regard to case."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_I_CANNOT = (
    r"(?:can\s?not|can['’]t|could\s?not|am\s+(?:just\s+|currently\s+)?(?:physically\s+)?unable\s+to"
    r"|['’]m\s+(?:just\s+|currently\s+)?unable\s+to|am\s+not\s+(?:\w+ly\s+)?able\s+to"
    r"|['’]m\s+not\s+(?:\w+ly\s+)?able\s+to|will\s+not|won['’]t|must\s+decline\s+to"
    r"|(?:will\s+not|won['’]t|would\s+not|wouldn['’]t)\s+be\s+able\s+to"
    r"|(?:am|['’]m)\s+not\s+(?:allowed|permitted|comfortable|going|in\s+a\s+position|qualified|equipped"
    r"|authori[sz]ed|programmed|designed|capable)\s+(?:to|with|of)"
    r"|(?:am|['’]m)\s+incapable\s+of|would\s+rather\s+not|['’]d\s+rather\s+not"
    r"|(?:do\s+not|don['’]t)\s+(?:currently\s+)?(?:have|possess)\s+the\s+(?:ability|capability|capacity)\s+to"
    r"|(?:have|need|['’]d\s+have)\s+to\s+decline\s+to)"
)
_DO = (
    r"(?:answer|help|assist|provide|recommend|suggest|offer|give|share|fulfil|fulfill|comply|complete"
    r"|continue|discuss|engage|comment|participate|respond|choose|select|pick|make|take|express"
    r"|advise|do\s+(?:that|this|so)|perform|process|support|generate|create|produce|show|proceed"
    r"|endorse|promote|encourage|condone|satisfy|accept|write|prove|justify|describe|browse|search|access"
    r"|look\s+up|send|view|open|tell|say(?!\s+that)|predict|determine|identify|list|name|rank|find|confirm|check|play|plot"
    r"|fully|directly|accurately|personally)\b"
)
_IDIOMS = (
    r"(?!wait\b|believe\b|agree\b|stress\b|emphasi[sz]e\b|thank\b|help\s+(?:but|feeling|thinking)\b|overstate\b"
    r"|complain\b|imagine\b|resist\b|decide\b|lie\b|promise\b|guarantee\b|think\s+of\s+(?:an?|any\w*|one)\s+\w+er\b|say\s+enough\b|recommend\b[^.\n]{0,60}\benough\b)"
)
_AI = (
    r"(?:AI|artificial\s+intelligence|(?:language\s+)?model|assistant|(?:chat\s?)?bot"
    r"|(?:computer\s+)?program)"
)
_SORRY = (
    r"(?:I\s*(?:['’]m|am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid)|sorry|unfortunately|regrettably"
    r"|(?:I\s+)?apologi[sz]e|(?:my\s+)?apologies)"
)

_APOLOGY_AND_INABILITY = (
    rf"^\W*{_SORRY}\W{{1,3}}(?:but\s+|that\s+|to\s+say\s+)?(?:as\s+[^,.\n]{{1,60}},\s+)?(?:I\s+)?"
    r"(?:can\s?not|can['’]t|unable|won['’]t|not\s+able\s+to|(?:that|this)\s+(?:is|goes)\s+(?:against|beyond)"
    r"|(?:that|this)(?:['’]s|\s+is)\s+not\s+something\s+I)",
    rf"^\W*{_SORRY}\b[^.\n]{{0,40}}?\bI\s+(?:\w+\s+)?{_I_CANNOT}\s+{_IDIOMS}[a-z]",
    rf"^\W*{_SORRY}\b[^.\n]{{0,40}}?\bI\s+(?:do\s+not|don['’]t)\s+(?:\w+ly\s+)?(?:have|possess)\b(?!\s+(?:enough|any))",
    rf"^\W*{_SORRY}\b[^.\n]{{0,40}}?\bit(?:['’]s|\s+is)\s+not\s+possible\s+(?:for\s+me\s+)?to\b",
    r"^\W*(?:lo\s+siento|lamentablemente|desafortunadamente|por\s+desgracia|disculp[ae])\b[^.\n]{0,80}?\bno\s+(?:puedo|podemos|tengo)\b",
    r"^\W*(?:désolée?|je\s+suis\s+(?:vraiment\s+)?désolée?|malheureusement|je\s+regrette)\b[^.\n]{0,100}?\bne\s+(?:peux|suis)\s[^.\n]{0,20}pas\b",
    r"^\W*(?:(?:es\s+)?tut\s+mir\s+leid|leider|entschuldigung)\b[^.\n]{0,60}?\b(?:kann|darf|bin)\b[^.\n]{0,60}\b(?:nicht|keine?n?)\b",
    r"^\W*(?:desculpe|infelizmente|lamento|sinto\s+muito)\b[^.\n]{0,80}?\bn[ãa]o\s+(?:posso|consigo)\b",
    r"^\W*(?:mi\s+dispiace|purtroppo|spiacente|scusa)\b[^.\n]{0,80}?\bnon\s+(?:posso|sono\s+in\s+grado)\b",
    r"^\W*(?:het\s+spijt\s+me|helaas|sorry)\b[^.\n]{0,60}?\bkan\b[^.\n]{0,40}\b(?:niet|geen)\b",
    r"^\W*(?:przykro\s+mi|przepraszam|niestety)\b[^.\n]{0,60}?\bnie\s+(?:mogę|jestem\s+w\s+stanie|potrafię)\b",
    r"^\W*(?:beklager|desværre|dessverre|undskyld|tyvärr|förlåt|jag\s+är\s+ledsen)\b[^.\n]{0,60}?\bkan\b[^.\n]{0,40}?\b(?:ikke|inte)\b",
    r"^\W*(?:üzgünüm|maalesef|özür\s+dilerim|kusura\s+bakmayın)\b[^.\n]{0,80}?(?:[ae]mam|[ae]m[ıi]yorum|[ae]mem|mümkün\s+değil)\b",
    r"^\W*(?:rất\s+tiếc|xin\s+lỗi)\b[^.\n]{0,60}?\bkhông\s+thể\b",
    r"^\W*(?:maaf|mohon\s+maaf)\b[^.\n]{0,60}?\b(?:tidak|tak)\s+(?:dapat|bisa|boleh)\b",
    r"^\W*(?:вибачте|перепрошую|на\s+жаль)\b[^.\n]{0,80}?\bне\s+(?:можу|зможу)\b",
    r"^\W*(?:извините|простите|к\s+сожалению|сожалею)\b[^.\n]{0,80}?\bне\s+(?:могу|смогу|можу)\b",
    r"^\W*(?:抱歉|很抱歉|非常抱歉|对不起|對不起|很遗憾|不好意思)[^。\n]{0,30}?(?:无法|不能|無法|没有办法|沒有辦法|不会)",
    r"^\W*(?:大変)?(?:申し訳|すみません|残念ながら|ごめんなさい)[^。\n]{0,60}?(?:できません|できかねます|いたしかねます|出来ません|知りません|[分わ]かりません|お力になれ)",
    r"^\W*(?:죄송|미안)[^.\n]{0,60}?수(?:는|가)?\s*없",
    r"^\W*(?:ขออภัย|ขอโทษ)[^\n]{0,60}?ไม่สามารถ",
    r"^\W*(?:عذر|آسف|أعتذر|المعذرة)[^.\n]{0,60}?لا\s+(?:أستطيع|يمكنني)",
    r"^\W*(?:क्षमा|माफ|मुझे\s+खेद)[^।\n]{0,80}?नहीं\s+(?:कर|दे)\s+सकत",
)
"""An apology and an inability in the first sentence, whatever it is that cannot be done."""
FIRM_REFUSALS = _compile_all(
    rf"\bI\b\s{{0,3}}(?:\w+\s+){{0,2}}?{_I_CANNOT}\s+(?:\w+ly\s+)?(?:be\s+)?{_IDIOMS}{_DO}",
    rf"^\W*(?:as\s+an?\s+[^,.\n]{{1,60}},\s+)?I\s+(?:\w+ly\s+)?{_I_CANNOT}\s+(?:be\s+)?{_IDIOMS}[a-z]+\b[^\n]{{0,300}}$",
    rf"^\W*(?:as\s+an?\s+)?[^.\n]{{0,80}}?\b(?:{_AI}|designed|programmed)\b[^.\n]{{0,80}}?\b(?:and|so)\s+(?:I\s+)?"
    rf"(?:can\s?not|can['’]t|am\s+unable\s+to|am\s+not\s+able\s+to)\s+{_DO}",
    r"\bI(?:\s+must|\s+have\s+to|\s+need\s+to|['’]ll\s+have\s+to)?\s+(?:respectfully\s+|politely\s+)?"
    r"(?:decline|refuse)\b",
    rf"\bI\s+(?:do\s+not|don['’]t)\s+think\s+I\s+(?:can|should)\s+{_DO}",
    r"\bI(?:\s+do\s+not|\s+don['’]t|\s+would\s+not|\s+wouldn['’]t|\s+am\s+not|['’]m\s+not)\s+(?:feel\s+|be\s+)?comfortable\s+"
    r"(?:with\s+|in\s+)?(?:(?:answer|recommend|suggest|discuss|provid|giv|shar|nam|rank|comment|advis|help|assist|choos|pick)ing|to\s+\w+)\b",
    r"\bI\s+(?:should\s+not|shouldn['’]t)\s+(?:answer|discuss|comment|recommend|advise|provide|give\s+\w+\s+advice)\b",
    r"\b(?:not|n['’]t)\s+(?:something|a\s+(?:topic|question|request|subject))\s+(?:that\s+)?I(?:['’]m|\s+am)?\s+(?:can|could|will|able\s+to"
    r"|allowed\s+to|comfortable)\b",
    r"\bmy\s+(?:guidelines|polic(?:y|ies)|programming|instructions|principles|training|developers?|creators?)\s+(?:do\s+not|don['’]t"
    r"|does\s+not|doesn['’]t|will\s+not|won['’]t)\s+(?:allow|permit|let)\b|\bprevents?\s+me\s+from\s+\w+ing\b",
    r"\blet['’]?s\s+(?:talk\s+about|discuss|focus\s+on|change)\s+(?:something\s+else|the\s+(?:topic|subject))\b",
    r"\bI(?:['’]d|\s+would)?\s+prefer\s+not\s+to\s+(?:answer|say|respond|choose)\b",
    r"\b(?:against|violates?)\s+(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|polic(?:y|ies)|programming|principles)\b",
    r"\bnot\s+within\s+my\s+(?:programming|capabilities|abilities|guidelines)\b|\bbeyond\s+my\s+(?:capabilities|abilities)\b",
    r"\b(?:we|I)\s+(?:do\s+not|don['’]t|cannot|can['’]t)\s+(?:endorse|condone|support|promote|encourage)\b",
    r"\bmy\s+purpose\s+is\s[^.\n]{0,80}\bnot\s+to\b",
    # Spanish, Catalan, Portuguese, French, Italian, German, Dutch
    r"\bno\s+puedo\s+(?:\w+\s+){0,2}?(?:ayudar|responder|proporcionar|recomendar|ofrecer|dar|asistir|cumplir|revisar"
    r"|acceder|tener|buscar|hacer|generar|escribir|redactar|decir)",
    r"\bno\s+puc\s+(?:\w+\s+){0,2}?(?:ajudar|respondre|proporcionar|recomanar|oferir|donar)",
    r"\bn[ãa]o\s+posso\s+(?:\w+\s+){0,2}?(?:ajudar|responder|fornecer|recomendar|oferecer|dar|atender|gerar|criar)",
    r"\bje\s+ne\s+(?:peux|suis)\s+(?:malheureusement\s+)?pas\s+(?:non\s+plus\s+)?(?:en\s+mesure\s+de\s+|capable\s+de\s+)?"
    r"(?:vous\s+)?(?:aider|r[ée]pondre|fournir|recommander|donner|proposer|cr[ée]er|g[ée]n[ée]rer)",
    r"\bnon\s+posso\s+(?:\w+\s+){0,2}?(?:aiutar|rispondere|fornir|consigliar|raccomandar|dare|offrir|creare|generare)",
    r"\bich\s+(?:kann|darf|werde)\s+(?:\w+\s+){0,6}?(?:nicht|keine?n?)\s+(?:\w+\s+){0,5}?"
    r"(?:helfen|beantworten|antworten|empfehlen|empfehlungen|geben|abgeben|erteilen|nennen|bereitstellen|unterstützen|erstellen)",
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
    *_APOLOGY_AND_INABILITY,
)
"""The speaker declines."""
DISCLAIMERS = _compile_all(
    rf"\bas\s+an?\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,60}}?"
    r"(?:can\s?not|can['’]t|unable|not\s+able|(?:do|did|have|was|am)\s+not\b|(?:do|did|have|was)n['’]t\b)",
    rf"\bI(?:\s+am|['’]m)\s+(?:just\s+|only\s+)?an?\s+(?:\w+[\s-]){{0,3}}?{_AI}\b"
    r"[^.\n]{0,40}?\b(?:can\s?not|can['’]t|unable|(?:do\s+not|don['’]t)\s+have)\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+(?:\w+ly\s+)?(?:have|hold|possess)\s+(?:\w+\s+){0,3}?"
    r"(?:opinions?|beliefs?|preferences?|feelings?|emotions?|(?:personal|political)\s+views?"
    r"|personal\s+experiences?|(?:visual\s+)?perception|consciousness)\b",
    r"\b(?:can\s?not|can['’]t)\s+be\s+(?:answered|determined|provided)\s+(?:by\s+(?:an?|this)\s+AI|on\s+behalf"
    r"|universally|as\s+(?:it|this)|without\s+(?:personal|further|that)|for\s+you)",
    r"^\W*(?:this|it|that|this\s+(?:question|information))\s+(?:is\s+[^.\n]{0,60}\sand\s+)?"
    r"(?:can\s?not|can['’]t)\s+be\s+(?:answered|provided)\b",
    r"\banswer\s+(?:can\s?not|can['’]t)\s+be\s+(?:given|provided)\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+have\s+(?:\w+\s+){0,2}?access\s+to\s+(?:\w+\s+)?(?:real[-\s]?time|current|live"
    r"|up[-\s]to[-\s]date|the\s+(?:internet|web)|internet|your\s+(?:personal|location))",
    r"\bI\s+have\s+no\s+(?:\w+\s+){0,2}?(?:opinions?|preferences?|beliefs?|emotions?|personal\s+\w+|favou?rites?)\b",
    r"\bI\s+(?:do\s+not|don['’]t)\s+(?:\w+ly\s+)?have\s+(?:an?\s+|any\s+)?(?:\w+\s+)?favou?rites?\b",
    r"(?:作为|作為|身为|身為|我是|我只是)[^。\n]{0,20}(?:AI|人工智能|人工智慧|语言模型|語言模型|模型|助手|机器人|機器人)[^。\n]{0,12}"
    r"(?:没有|沒有|不具备|不具備|不具有|无法|無法|不能)",
    r"(?:AI|人工知能|言語モデル)(?:アシスタント)?(?:として|なので|ですので|であるため)[^。\n]{0,40}(?:ありません|できません|持っていません)",
    r"\bthis\s+AI\s+does\s+not\s+have\b|\bwhich\s+I,\s+as\s+an?\s+AI,\s+do\s+not\s+have\b",
)
"""The speaker says that it is not the one to answer; an answer may follow all the same."""
OBJECTIONS = _compile_all(
    r"\b(?:it(?:['’]s|\s+is)|that\s+is|this\s+is|would\s+be|that(?:['’]s|\s+would\s+be))\s+(?:not\s+|never\s+|in)"
    r"(?:only\s+)?\s?(?:appropriate|ethical|acceptable|okay|ok|right|legal)\b[^.\n]{0,20}?"
    r"\b(?:to|or|for|and|that|create|if)\b",
    r"\bit(?:['’]s|\s+is|\s+would\s+be)\s+(?:incorrect|unfair|inappropriate|unethical|irresponsible|wrong|harmful"
    r"|offensive)\b[^.\n]{0,60}?\bto\b",
    r"\bit(?:['’]s|\s+is)\s+not\s+(?:appropriate|accurate|ethical|fair|okay|ok|right|justifiable|acceptable)\b"
    r"[^.\n]{0,40}?\bto\b",
    rf"\bas\s+an?\s+(?:\w+[\s-]){{0,4}}?{_AI}\b[^.\n]{{0,60}}?\bI\s+(?:must|have\s+to|need\s+to|am\s+(?:committed"
    r"|programmed)|do\s+not\s+(?:endorse|support)|would\s+like\s+to\s+(?:emphasi[sz]e|clarify))\b",
    r"\bno\s+es\s+(?:apropiado|ético|correcto|adecuado)\b|\bnão\s+é\s+(?:apropriado|ético|correto)\b"
    r"|\bil\s+n['’]est\s+pas\s+(?:approprié|éthique|acceptable)\b|\bes\s+ist\s+nicht\s+(?:angemessen|ethisch)\b"
    r"|\bэто\s+(?:не\s*этично|неприемлемо|незаконно)\b|是(?:不道德|不合适|不適當|违法|違法)的",
)
"""The speaker objects to the request instead of meeting it."""
ANNOUNCEMENTS = re.compile(
    r"\b(?:here\s+(?:are|is)|here['’]s|the\s+following|(?:I\s+can|I['’]ll|let\s+me|I\s+will|we\s+can|I\s+could)\s+(?:still\s+|certainly\s+"
    r"|instead\s+)?(?:suggest|recommend|offer|share|give|provide|list|name|tell|outline|write)|you\s+(?:might|could|may)"
    r"\s+(?:like|enjoy|consider|try|want)|(?:some|many|a\s+few|several)\s+(?:of\s+the\s+)?(?:most\s+)?(?:popular|common|examples?"
    r"|options?|well[-\s]known|notable|commonly|widely|frequently)|for\s+example"
    r"|popular\s+(?:choices|options)|aquí\s+(?:tienes|hay|están)|hier\s+sind|voici|ecco|aqui\s+estão|вот)\b"
    r"|以下|这里有|建议|推荐以下",
    re.IGNORECASE,
)
"""The answer comes next."""
REFERRALS = re.compile(
    r"\b(?:factors?|approach(?:es)?|guide\s+you|guidance|how\s+to|tips?|steps|considerations?|resources|criteria"
    r"|questions?|ways\s+to|websites|where\s+to|general\s+(?:advice|information|guidance|principles|overview)"
    r"|things\s+to|help\s+you\s+(?:find|explore|choose|decide|with|create)|alternatives?\s+to|information\s+(?:on|about)"
    r"|reasons|why|inclusiv\w+|respect\w*|you\s+(?:can|could|may|might|should)\s+(?:\w+ly\s+)?(?:find|search|check|visit|consult|look|ask"
    r"|contact|refer))\b",
    re.IGNORECASE,
)
"""Advice on how to find an answer comes next, not the answer."""
CONTRASTS = re.compile(
    r"\b(?:but|however|that\s+said|that\s+being\s+said|nevertheless|nonetheless|still|instead|though|having\s+said)\b"
    r"|\b(?:aber|jedoch|pero|sin\s+embargo|mais|cependant|ma|tuttavia|mas|no\s+entanto|но|однако)\b|但|不过|ただし|しかし",
    re.IGNORECASE,
)
QUALIFICATIONS = re.compile(
    r"\b(?:entire|full|whole|complete|exact|definitive|precise|single"
    r"|just\s+one|only\s+one|certainty|precisely|exactly|in\s+(?:a\s+single|one)\s+(?:response|message|reply)|all\s+of|limit(?:ation)?s)\b",
    re.IGNORECASE,
)
"""The speaker cannot do all of it: 'I cannot give an exact number'."""


QUESTIONS_BACK = re.compile(
    r"\b(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?(?:provide|share|clarify|specify|tell|give|let|send|describe"
    r"|rephrase|elaborate|paste|explain)\b[^?]{0,200}\?|\bplease\s+(?:provide|share|clarify|specify|paste|send|rephrase)\s+(?:more|additional|further|some|the|a)\b"
    r"|\bare\s+you\s+(?:describing|asking|looking|referring)\b[^?]{0,200}\?",
    re.IGNORECASE,
)
"""The speaker needs to know more."""
