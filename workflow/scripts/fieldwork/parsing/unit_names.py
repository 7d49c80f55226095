"""Names of units and periods in everyday words and other languages.

Owns the one table that says which unit a word stands for. Promises that a word which names different
units in different places ('Pfund', 'Kronen', '割') is known as a unit and never converted.
"""

import re
from functools import cache

UNCONVERTIBLE = frozenset(
    (
        *("pfund", "livre", "livres", "libra", "libras", "斤", "割", "成", "points", "basis"),
        *("evening", "evenings", "morning", "mornings", "night", "weekday", "weekend"),
    )
)
"""Words that name a unit, but not one that can be converted."""
CURRENCIES = {
    **dict.fromkeys(("$", "usd", "us$", "u.s.$", "dollar", "dollars", "bucks", "buck"), "$"),
    **dict.fromkeys(("us dollar", "us dollars", "u.s. dollars", "american dollars"), "$"),
    **dict.fromkeys(("dólar", "dólares", "долларов", "доллара", "доллар", "美元", "美金"), "$"),
    **dict.fromkeys(("ドル", "달러"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros", "евро", "欧元", "歐元", "ユーロ", "유로"), "€"),
    **dict.fromkeys(("£", "gbp", "quid", "英镑", "ポンド"), "£"),
    **dict.fromkeys(("¥", "jpy", "yen", "円", "日元"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupee", "rupees", "rs", "rs.", "रुपये"), "₹"),
    **dict.fromkeys(("₩", "krw", "won", "원", "韩元"), "₩"),
    **dict.fromkeys(("₽", "rub", "ruble", "rubles", "rouble", "roubles"), "₽"),
    **dict.fromkeys(("рубль", "рубля", "рублей", "руб"), "₽"),
    **dict.fromkeys(("¢", "cent", "cents", "pence", "centavos", "centimes"), "¢"),
    **dict.fromkeys(("cny", "rmb", "yuan", "renminbi", "元", "人民币"), "cny"),
    **dict.fromkeys(("chf", "franken", "francs"), "chf"),
    **dict.fromkeys(("c$", "ca$", "cad", "canadian dollar", "canadian dollars"), "cad"),
    **dict.fromkeys(("a$", "au$", "aud", "australian dollar", "australian dollars"), "aud"),
    **dict.fromkeys(("nz$", "nzd", "zealand dollars"), "nzd"),
    **dict.fromkeys(("hk$", "hkd", "kong dollars"), "hkd"),
    **dict.fromkeys(("s$", "sgd", "singapore dollars"), "sgd"),
    **dict.fromkeys(("nt$", "tw$", "twd", "taiwan dollars"), "twd"),
    **dict.fromkeys(("r$", "brl", "reais"), "brl"),
    **dict.fromkeys(("mx$", "mxn", "peso", "pesos"), "mxn"),
    **dict.fromkeys(("pln", "zł", "zloty", "złoty", "złotych"), "pln"),
    **dict.fromkeys(("₦", "naira"), "₦"),
    **dict.fromkeys(("₺", "lira", "lirasi"), "₺"),
    **dict.fromkeys(("₫", "đồng", "dong"), "₫"),
    **{name: name for name in ("sek", "nok", "dkk", "zar", "rand", "thb", "php", "bitcoin")},
    **dict.fromkeys(("kr", "kronor", "kroner", "kronen", "crowns"), "kr"),
    **{sign: sign for sign in "₪฿₱₴"},
}
"""Names and signs of currencies, with the one sign by which each is known here."""
PERCENT = frozenset(
    (
        *("%", "percent", "per cent", "pct", "prozent", "procent", "pourcent", "процент"),
        *("процента", "процентов", "パーセント", "퍼센트", "بالمئة"),
    )
)
PERIODS = {
    **dict.fromkeys(("hourly", "hr", "hrs", "stunde", "stunden", "std", "heure"), "hour"),
    **dict.fromkeys(("heures", "hora", "horas", "ora", "ore", "uur", "timme", "timmar"), "hour"),
    **dict.fromkeys(("час", "часа", "часов", "小时", "小時", "时间", "時間", "시간"), "hour"),
    **dict.fromkeys(("ساعة", "ساعات", "saat", "godzin", "godziny"), "hour"),
    **dict.fromkeys(("day", "tag", "tage", "tagen", "jour", "jours", "día", "días"), "day"),
    **dict.fromkeys(("dia", "dias", "giorno", "giorni", "dag", "dagen", "день", "дня"), "day"),
    **dict.fromkeys(("дней", "天", "日", "일", "يوم", "اليوم", "gün", "dzień"), "day"),
    **dict.fromkeys(("daily", "täglich", "diarias", "diarios", "diárias", "diários"), "day"),
    **dict.fromkeys(("night", "nights"), "night"),
    **dict.fromkeys(("week", "wk", "wks", "woche", "wochen", "semaine", "semaines"), "week"),
    **dict.fromkeys(("semana", "semanas", "settimana", "settimane", "неделю", "недели"), "week"),
    **dict.fromkeys(
        ("недель", "周", "週", "週間", "星期", "주", "الأسبوع", "vecka", "hafta"), "week"
    ),
    **dict.fromkeys(("weekly", "wöchentlich", "semanales", "semanais", "tydzień"), "week"),
    **dict.fromkeys(("month", "mo", "mth", "monat", "monate", "monaten", "mois", "mes"), "month"),
    **dict.fromkeys(("meses", "mês", "mese", "mesi", "maand", "maanden", "месяц"), "month"),
    **dict.fromkeys(("месяца", "месяцев", "月", "个月", "個月", "ヶ月", "か月", "カ月"), "month"),
    **dict.fromkeys(
        ("개월", "달", "شهر", "monthly", "monatlich", "mensuales", "mensuels"), "month"
    ),
    **dict.fromkeys(("year", "yr", "yrs", "annum", "jahr", "jahre", "jahren", "an", "ans"), "year"),
    **dict.fromkeys(("année", "années", "año", "años", "ano", "anos", "anno", "anni"), "year"),
    **dict.fromkeys(("jaar", "år", "lat", "lata", "rok", "год", "года", "лет"), "year"),
    **dict.fromkeys(("年", "岁", "歲", "歳", "년", "세", "साल", "سنة", "سنوات", "yıl"), "year"),
    **dict.fromkeys(("yearly", "annually", "jährlich", "anuales", "yo"), "year"),
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), "weekday"),
    **dict.fromkeys(("weekend", "weekends"), "weekend"),
}
"""Periods of time; weekdays, weekends and nights are no fixed part of others."""
_UNITS = {
    **dict.fromkeys(("minuten", "minutos", "minuti", "минут", "минуты", "分钟", "分鐘"), "minute"),
    **dict.fromkeys(("분", "دقيقة", "دقائق"), "minute"),
    **dict.fromkeys(("gramm", "grammes", "gramme", "gramos", "grammi", "gramas", "gram"), "gram"),
    **dict.fromkeys(("граммов", "грамма", "грамм", "г", "克", "グラム", "그램"), "gram"),
    **dict.fromkeys(("kilo", "kilos", "kgs", "kilogramm", "kilogrammes", "quilos", "quilo"), "kg"),
    **dict.fromkeys(("chilo", "chilogrammi", "kilogramos", "quilogramas"), "kg"),
    **dict.fromkeys(("кг", "килограммов", "килограмма", "公斤", "千克", "キロ", "킬로"), "kg"),
    **dict.fromkeys(("كيلوغرام", "كغ", "킬로그램", "キログラム"), "kg"),
    **dict.fromkeys(("tonnen", "toneladas", "tonelada", "tonnellate", "tonnellata"), "tonne"),
    **dict.fromkeys(("тонн", "тонны", "тонна", "吨", "公吨", "トン"), "tonne"),
    **dict.fromkeys(("kilometer", "kilometern", "kilómetros", "quilômetros"), "kilometer"),
    **dict.fromkeys(
        ("chilometri", "км", "километров", "公里", "千米", "キロメートル"), "kilometer"
    ),
    **dict.fromkeys(("metern", "metros", "metri", "метров", "метра", "米", "メートル"), "meter"),
    **dict.fromkeys(("zentimeter", "centímetros", "centimetri", "см", "厘米", "センチ"), "cm"),
    **dict.fromkeys(("litros", "litri", "литров", "литра", "升", "リットル"), "liter"),
    **dict.fromkeys(("grad", "degré", "degrés", "grado", "grados", "gradi", "grau"), "degrees"),
    **dict.fromkeys(("graus", "deg", "graden", "градус", "градуса", "градусов"), "degrees"),
    **dict.fromkeys(("度", "도", "摄氏度"), "degrees"),
}
_UNITS_AND_PERIODS = {**_UNITS, **PERIODS}
_SCRIPT_WITHOUT_SPACES = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
_LONGEST_NAME = 6

ADVERBS = (
    "hourly|daily|weekly|monthly|yearly|annually|täglich|wöchentlich|monatlich|jährlich"
    "|diari[ao]s|diári[ao]s|semanales|semanais|mensuales|anuales|quotidien(?:ne)?s"
)
"""Words behind a quantity that say for which period it counts."""


@cache
def plain_name(word: str) -> str:
    """The English name of a unit or a period; the word itself where the table does not have it.

    In scripts without spaces a unit is the longest beginning of the word that names one: '公斤左右'.
    """
    lower = word.casefold()
    names: tuple[str, ...] = (lower,)
    if _SCRIPT_WITHOUT_SPACES.match(lower):
        names = tuple(lower[:n] for n in range(min(len(lower), _LONGEST_NAME), 0, -1))
    for name in names:
        if name in CURRENCIES or name in PERCENT or name in UNCONVERTIBLE:
            return name
        if name in _UNITS_AND_PERIODS:
            return _UNITS_AND_PERIODS[name]
    return word
