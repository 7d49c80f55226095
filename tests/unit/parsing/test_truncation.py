"""Replies that were cut off: half a name is no item, a whole one is."""

import pytest

from fieldwork.parsing.lists import ParsedList, parse_list
from fieldwork.records.parsing import EMPTY, NO_LIST

HEAD = "1. Alien\n2. Heat\n3. Up\n"
FIRST = ("Alien", "Heat", "Up")


@pytest.mark.parametrize(
    "last",
    [
        "4. Virtual",
        "4. **Virtual",
        "4. *Virtual",
        '4. "Virtual',
        "4. Virtual Insan",
        "4. The",
        "4. ",
        "4.",
        "4",
        "**4. Virt",
        "4. **",
    ],
)
def test_half_a_name_is_dropped(last: str) -> None:
    assert parse_list(HEAD + last, is_truncated=True).items == FIRST


@pytest.mark.parametrize(
    ("last", "name"),
    [
        ("4. **Virtuosity**", "Virtuosity"),
        ('4. "Virtuosity"', "Virtuosity"),
        ("4. “Virtuosity”", "Virtuosity"),
        ("4. 《霸王别姬》", "霸王别姬"),
        ("4. Virtuosity (19", "Virtuosity"),
        ("4. Dr. Strangelove or", "Dr. Strangelove"),
        ("4. Virtuosity (1995)", "Virtuosity"),
        ("4. Virtuosity: a film ab", "Virtuosity"),
        ("4. Virtuosity - a fi", "Virtuosity"),
        ("4. **Virtuosity** is a fi", "Virtuosity"),
        ("4. Virtuosity\n   - a film fr", "Virtuosity"),
        ("4. Virtuosity\n\nThese fi", "Virtuosity"),
        ("4. Virtuosity\n5. Vir", "Virtuosity"),
    ],
)
def test_a_name_that_something_closes_is_kept(last: str, name: str) -> None:
    assert parse_list(HEAD + last, is_truncated=True).items == (*FIRST, name)


@pytest.mark.parametrize("last", ["4. Virtual", "4. **Virtuosity**", "4. Virtuosity: a film ab"])
def test_nothing_is_dropped_from_a_reply_that_is_whole(last: str) -> None:
    items = parse_list(HEAD + last).items
    assert items is not None
    assert len(items) == 4


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("- Alien\n- Heat\n- U", ("Alien", "Heat")),
        ("Alien, Heat, Up, Ja", ("Alien", "Heat", "Up")),
        ("My five: Alien, Heat, Up, and Ja", ("Alien", "Heat", "Up")),
        ("Alien\nHeat\nUp\nJa", ("Alien", "Heat", "Up")),
        ('["Alien", "Heat", "Up", "Ja', ("Alien", "Heat", "Up")),
        ('["Alien", "Heat", "Up",', ("Alien", "Heat", "Up")),
        ('{"films": ["Alien", "Heat", "U', ("Alien", "Heat")),
        ('[{"name": "Alien", "year": 1979}, {"name": "Heat", "year": 1995}, {"na', ("Alien", "Heat")),
        ("### 1. Alien\nText.\n\n### 2. Heat\nText.\n\n### 3. U", ("Alien", "Heat")),
        ("| Film | Year |\n|---|---|\n| Alien | 1979 |\n| Heat | 1995 |\n| U", ("Alien", "Heat")),
        ("1. 故宫\n2. 颐和园\n3. 天", ("故宫", "颐和园")),
        ("1. Alien\n2. Heat\n   - a thief\n   - a det", ("Alien", "Heat")),
    ],
)  # fmt: skip
def test_other_forms_of_a_list(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text, is_truncated=True).items == items


@pytest.mark.parametrize("text", ["1. Al", "- Al", "Here are five films:\n\n1. **Al", "Al"])
def test_nothing_but_half_a_name_is_no_list(text: str) -> None:
    assert parse_list(text, is_truncated=True) == ParsedList(None, NO_LIST)


def test_a_reply_cut_within_its_reasoning_is_empty() -> None:
    assert parse_list("<think>1. Alien\n2. He", is_truncated=True) == ParsedList(None, EMPTY)


def test_a_short_list_that_was_cut_off_is_no_refusal() -> None:
    text = "I'm sorry, I cannot rank films. Still, a few:\n1. Alien\n2. Heat\n3. U"
    assert parse_list(text, is_truncated=True).items == ("Alien", "Heat")


def test_a_lone_first_entry_is_read_plain_or_bold() -> None:
    assert parse_list("1. Alien").items == ("Alien",)
    assert parse_list("1. **Alien**").items == ("Alien",)
    assert parse_list("1. Alien: a crew meets a stranger").items == ("Alien",)
    assert parse_list("My film:\n\n1. Alien", expected_length=1).items == ("Alien",)
    # a second entry, a year or a sentence with a number is no first entry
    assert parse_list("2. Alien").items is None
    assert parse_list("1. is the first number, and so it goes on.").items is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. Alien\n2. Heat\n3. **Alien: Cov", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. **Alien: Cov**", ("Alien", "Heat", "Alien: Cov")),
        ("1. Alien\n2. Heat\n3. “Alien: Cov", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. 「千と千", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. «Ама", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. (500) Days of Su", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. [The Grand Bud", ("Alien", "Heat")),
        ("1. Alien\n2. Heat\n3. Up\n", ("Alien", "Heat", "Up")),
        ("1. Alien\n2. Heat\n3. Up (2009", ("Alien", "Heat", "Up")),
        ("① Alien\n② Heat\n③ U", ("Alien", "Heat")),
        ("a) Alien\nb) Heat\nc) Gra", ("Alien", "Heat")),
        ("<li>Alien</li><li>Heat</li><li>Gra", ("Alien", "Heat")),
        ("Alien; Heat; Up; Jaw", ("Alien", "Heat", "Up")),
        ("My films: 1. Alien 2. Heat 3. Up 4. Jaws 5. Rock", ("Alien", "Heat", "Up", "Jaws")),
        ('Here you are:\n["Alien", "Heat", "U', ("Alien", "Heat")),
        ('Here you are:\n\n{"films": ["Alien", "Heat", "U', ("Alien", "Heat")),
        ("My five:\n\nAlien\nHeat\nUp\nJaws\nRoc", ("Alien", "Heat", "Up", "Jaws")),
    ],
)
def test_half_names_in_other_forms(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text, is_truncated=True).items == items
