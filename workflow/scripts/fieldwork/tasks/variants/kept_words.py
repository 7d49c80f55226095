"""Words that change a question when they change: numbers and negations, in the languages listed here.

A language that is not here has its digits kept, and nothing of its words. Where negation is no word of
its own (Swahili, Zulu, Amharic), a slip of the keyboard can reach it.
"""

import re

_ENGLISH_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds
thousand thousands million millions billion billions trillion trillions dozen dozens half halves third
thirds quarter quarters first second fourth fifth sixth seventh eighth ninth tenth once twice thrice
single double triple quadruple
"""
_OTHER_NUMBERS = """
uno dos tres cuatro cinco seis siete ocho nueve diez cien ciento mil
un deux trois quatre cinq six sept huit neuf dix cent mille
eins zwei drei vier fünf sechs sieben acht neun zehn hundert tausend
um dois três quatro cinco seis sete oito nove dez cem
due tre quattro cinque sei sette otto nove dieci cento
een twee drie vier vyf ses sewe agt nege tien honderd duisend
один одна одно два две три четыре пять шесть семь восемь девять десять сто тысяча
ένα δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα δέκα εκατό
एक दो तीन चार पाँच पांच छह सात आठ नौ दस सौ हज़ार हजार
এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ
واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة مئة مائة ألف
אחד אחת שתיים שניים שלוש ארבע חמש שש שבע שמונה תשע עשר מאה אלף
"""
_ENGLISH_NEGATIONS = """
not no nor never none neither nobody nothing nowhere cannot without except excepting excluding unless
least fewest false untrue incorrect incorrectly wrong lacks lack lacking absent
"""
_OTHER_NEGATIONS = """
ni nunca jamás sin excepto salvo ningún ninguno ninguna nada nadie tampoco
ne pas jamais sans sauf aucun aucune rien personne non
nicht nie niemals ohne außer nichts niemand nirgends weder
não nem sem exceto nenhum nenhuma ninguém
mai senza tranne nessun nessuno nessuna niente
niet nooit geen zonder behalve nie nooit sonder behalwe
не ни нет без кроме никогда никто ничего нельзя
δεν δε μη μην όχι χωρίς εκτός ποτέ
नहीं न मत ना बिना सिवाय छोड़कर कभी
না নয় নেই নি ছাড়া বিনা
لا ليس ليست لم لن غير بدون إلا سوى عدا ما
לא אין בלי ללא מלבד אל אף
değil yok hiç hariç olmayan
안 못
"""
NUMBER_WORDS = frozenset(f"{_ENGLISH_NUMBERS} {_OTHER_NUMBERS}".split())
NEGATIONS = frozenset(f"{_ENGLISH_NEGATIONS} {_OTHER_NEGATIONS}".split())
NEGATION_FORMS = re.compile(
    r"\b[^\W\d_]+n['’]t\b"  # English: don't
    r"|\bn['’](?=\w)"  # French: n'est
    r"|\b(?:kein|nicht)[a-zß]*"
    r"|[\uac00-\ud7a3]*[않없][\uac00-\ud7a3]*|아니[\uac00-\ud7a3]*|아닌"
    r"|ไม่|ມິ|ບໍ່",
    re.IGNORECASE,
)
"""Negations that are parts of words, or of texts without spaces."""
_FUNCTIONS = "sin cos tan sec csc cot log ln exp lim det dim ker arg mod gcd lcm"
_ELEMENTS = """
Li Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Ni Cu Zn Ga Ge Se Br Kr Rb Sr Zr Nb Mo Ag Cd Sn Sb Te Xe Cs Ba Pt
Au Hg Tl Pb Bi Ra Th
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
ELEMENTS = frozenset(_ELEMENTS.split())
"""Symbols of two letters that are no English word: He, In, As, At, Be and No are left out."""
