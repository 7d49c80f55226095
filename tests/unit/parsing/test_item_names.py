"""From a list entry to the name it holds: years, quotes, second titles, clauses."""

import pytest

from fieldwork.parsing.canonical import comparison_key
from fieldwork.parsing.item_names import item_names

TITLES = (
    "The Matrix",
    "2001: A Space Odyssey",
    "1917",
    "Blade Runner 2049",
    "(500) Days of Summer",
    "Se7en",
    "Amélie",
    "Spider-Man: Into the Spider-Verse",
    "Monsters, Inc.",
    "The Good, the Bad and the Ugly",
    "Ocean's Eleven",
    "Oklahoma!",
    "Who Framed Roger Rabbit?",
    "E.T. the Extra-Terrestrial",
    "Kill Bill: Vol. 1",
    "10 Things I Hate About You",
    "Dr. No",
    "Truth or Dare",
)
"""Titles with all that makes a title hard: digits, colons, commas, dots, exclamations, brackets."""


@pytest.mark.parametrize(
    "template",
    [
        "{}",
        '"{}"',
        '"{} (1999)"',
        '"{}" (1999)',
        "“{} (1999)”",
        "“{}” (1999)",
        "«{} (1999)»",
        "'{} (1999)'",
        "‘{}’ (1999)",
        '"{} [1999]" – great.',
        '"{}" [1999]',
        '"{}, 1999"',
        "{}, 1999",
        "{} (1999)",
        "{} [1999]",
        "{} (1999–2003)",
        "{} (USA, 1999)",
        "{} (dir. Jane Doe, 1999)",
        '{} ("Other Title", 1999)',
        '"{}," (1999)',
        "*{}* (1999)",
        "**{} (1999)**",
        "**{}** (1999) - A fine film.",
        '**"{} (1999)"**',
        '"**{}** (1999)"',
        "{} (1999) - A fine film that all should see.",
        "{} (1999): A fine film that all should see.",
        '"{} (1999)": A fine film that all should see.',
        '"{}" – 1999',
        '"{}" directed by Jane Doe (1999)',
        '"{}" (1999, directed by Jane Doe)',
        "{} (1999) | Drama",
        "🎬 **{}** (1999)",
        "[{}](https://example.org/a_(b)) (1999)",
    ],
)
def test_a_title_is_the_same_however_its_year_is_written(template: str) -> None:
    for title in TITLES:
        names = item_names([template.format(title), template.format("Heat")])
        assert [comparison_key(name) for name in names] == [comparison_key(title), "heat"]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        # unbalanced quotes
        ('"The Matrix (1999)', "The Matrix"),
        ('The Matrix (1999)"', "The Matrix"),
        ('The Matrix" (1999)', "The Matrix"),
        ('“The Matrix (1999)"', "The Matrix"),
        ('The "Matrix', "The Matrix"),
        # quotes around a part of a name
        ('"Weird Al" Yankovic', "Weird Al Yankovic"),
        ('"The Matrix" Reloaded', "The Matrix Reloaded"),
        ('12" Vinyl', '12" Vinyl'),
        # second titles
        ("Dr. Strangelove or: How I Learned to Stop Worrying", "Dr. Strangelove"),
        ("Dr. Strangelove, or: How I Learned to Stop Worrying (1964)", "Dr. Strangelove"),
        ('"Dr. Strangelove or: How I Learned to Stop Worrying (1964)"', "Dr. Strangelove"),
        ("Dr. Strangelove or", "Dr. Strangelove"),
        ("Frankenstein; or, The Modern Prometheus", "Frankenstein"),
        ("Birdman or (The Unexpected Virtue of Ignorance) (2014)", "Birdman"),
        # other scripts
        ("《黑客帝国（1999）》：一部科幻电影", "黑客帝国"),
        ("「千と千尋の神隠し（2001年）」", "千と千尋の神隠し"),
        ("故宫，位于北京市中心，是中国明清两代的皇家宫殿", "故宫"),
        ("東京：首都です", "東京"),
        ("วัดพระแก้ว เป็นวัดที่สวยที่สุดแห่งหนึ่งในกรุงเทพมหานครและมีชื่อเสียงมาก", "วัดพระแก้ว"),
        ("Матрица (1999)", "Матрица"),
        # what looks like a year and is none
        ("Class of 1984", "Class of 1984"),
        ("Fahrenheit 451 by Ray Bradbury (1953)", "Fahrenheit 451 by Ray Bradbury"),
        ("401(k) plans", "401(k) plans"),
    ],
)  # fmt: skip
def test_what_is_cut_off_and_what_stays(entry: str, name: str) -> None:
    assert item_names([entry, "Heat"]) == (name, "Heat")


def test_an_entry_without_a_word_holds_no_name() -> None:
    assert item_names(["", "***", '""', "—", "Heat"]) == ("Heat",)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("“Parasite (2019, South Korea)”", "Parasite"),
        ("„Das Boot (1981)“", "Das Boot"),
        ("„Das Boot“ (1981)", "Das Boot"),
        ("« Le Fabuleux Destin d’Amélie Poulain (2001) »", "Le Fabuleux Destin d’Amélie Poulain"),
        ("『七人の侍（1954）』", "七人の侍"),
        ("《霸王别姬》(1993)", "霸王别姬"),
        ("《霸王别姬 (1993)》", "霸王别姬"),
        ('**"The Matrix" (1999)**', "The Matrix"),
        ('"The Matrix (1999)" by the Wachowskis', "The Matrix"),
        ('"The Matrix (1999 film)"', "The Matrix"),
        ('"The Matrix (film, 1999)"', "The Matrix"),
        ('"The Matrix - 1999"', "The Matrix"),
        ("The Matrix / 1999", "The Matrix"),
        ("(1999) The Matrix", "The Matrix"),
        ('"(1999) The Matrix"', "The Matrix"),
        ('"Game of Thrones (2011-2019)"', "Game of Thrones"),
        ('"Stranger Things (2016–present)"', "Stranger Things"),
        ('"Odyssey (8th century BC)"', "Odyssey"),
        ("The Matrix (1999), directed by the Wachowskis", "The Matrix"),
        ("The Matrix (1999), starring Keanu Reeves", "The Matrix"),
        ("The Matrix (1999) ⭐⭐⭐", "The Matrix"),
        ('"Kill Bill: Vol. 1 (2003)" - Quentin Tarantino', "Kill Bill: Vol. 1"),
        # a title that is a year, or ends in one
        ('"1984 (1949)"', "1984"),
        ('"2012 (2009)"', "2012"),
        ('"Blade Runner 2049 (2017)"', "Blade Runner 2049"),
        ('"Wonder Woman 1984"', "Wonder Woman 1984"),
        ("The Matrix 1999", "The Matrix 1999"),
        ("2001: A Space Odyssey (1968)", "2001: A Space Odyssey"),
    ],
)
def test_years_within_and_beside_quotes(entry: str, name: str) -> None:
    names = item_names([entry, "Up"])
    assert [comparison_key(item) for item in names] == [comparison_key(name), "up"]
