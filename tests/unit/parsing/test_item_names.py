"""From a list entry to the name it holds: years, quotes, second titles, clauses."""

import pytest

from fieldwork.parsing.canonical import comparison_key
from fieldwork.parsing.item_names import item_names

TITLES = (
    *("The Matrix", "2001: A Space Odyssey", "Blade Runner 2049", "(500) Days of Summer"),
    *("Se7en", "Amélie", "Spider-Man: Into the Spider-Verse", "The Good, the Bad and the Ugly"),
    *("Ocean's Eleven", "Oklahoma!", "Who Framed Roger Rabbit?", "Kill Bill: Vol. 1"),
    "Truth or Dare",
)
"""Titles with all that makes a title hard: digits, colons, commas, dots, exclamations, brackets."""


@pytest.mark.parametrize(
    "template",
    [
        *("{}", '"{} (1999)"', "“{} (1999)”", "«{} (1999)»", "'{} (1999)'"),
        *('"{} [1999]" – great.', '"{}, 1999"', "{} (1999)", "{} (1999–2003)"),
        *("{} (dir. Jane Doe, 1999)", '"{}," (1999)', "**{} (1999)**", '**"{} (1999)"**'),
        "{} (1999) - A fine film that all should see.",
        *('"{} (1999)": A fine film that all should see.', '"{}" directed by Jane Doe (1999)'),
        *("{} (1999) | Drama", "[{}](https://example.org/a_(b)) (1999)"),
    ],
)
def test_a_title_is_the_same_however_its_year_is_written(template: str) -> None:
    for title in TITLES:
        names = item_names([template.format(title), template.format("Heat")])
        assert [comparison_key(name) for name in names] == [comparison_key(title), "heat"]


def test_an_entry_without_a_word_holds_no_name() -> None:
    assert item_names(["", "***", '""', "—", "Heat"]) == ("Heat",)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("“Parasite (2019, South Korea)”", "Parasite"),
        ("« Le Fabuleux Destin d’Amélie Poulain (2001) »", "Le Fabuleux Destin d’Amélie Poulain"),
        ("『七人の侍（1954）』", "七人の侍"),
        ('**"The Matrix" (1999)**', "The Matrix"),
        ('"The Matrix (1999)" by the Wachowskis', "The Matrix"),
        ('"The Matrix - 1999"', "The Matrix"),
        ("(1999) The Matrix", "The Matrix"),
        ('"(1999) The Matrix"', "The Matrix"),
        ('"Stranger Things (2016–present)"', "Stranger Things"),
        ("The Matrix (1999), starring Keanu Reeves", "The Matrix"),
        ("The Matrix (1999) ⭐⭐⭐", "The Matrix"),
        ('"Kill Bill: Vol. 1 (2003)" - Quentin Tarantino', "Kill Bill: Vol. 1"),
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
