"""Merging of written items: rules, things that must and must not merge, and properties."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.parsing.canonical import Merge, canonicalise, comparison_key


def merge(mentions: dict[str, int], **given: dict[str, str]) -> dict[str, Merge]:
    return canonicalise(
        mentions, aliases=given.get("aliases", {}), overrides=given.get("overrides", {})
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Grand Budapest Hotel", "The Grand Budapest Hotel"),
        ("Spider-Man", "Spider Man"),
        ("Spider-Man", "Spiderman"),
        ("Spider‑Man", "Spider-Man"),
        ("E-commerce", "Ecommerce"),
        ("Dolce & Gabbana", "Dolce and Gabbana"),
        ("Pokémon", "Pokemon"),
        ("Beyoncé", "BEYONCÉ"),
        ("Ｎｉｋｅ", "Nike"),
        ("McDonald's", "McDonald’s"),
        ("McDonald's", "McDonalds"),
        ('"Dune"', "Dune"),
        ("**Dune**", "Dune"),
        ("Avengers: Endgame", "Avengers Endgame"),
        ("Louis Vuitton", "Luis Vuitton"),
        ("Patagonia", "Patagonya"),
        ("Patagonia", "Patagonai"),
        ("Gucci", "Guci"),
        ("Tesla", "Telsa"),
        ("Cybersecurity", "Cyber Security"),
        ("Index Fund", "Index Funds"),
        ("Data Scientist", "Data Scientists"),
        ("Holding Company", "Holding Companies"),
        ("Running Shoe", "Running Shoes"),
        ("Nike", "Nike®"),
        ("Lord of the Rings", "The Lord of Rings"),
        ("Достоевский", "Достоевскй"),
        ("WALL-E", "WALL·E"),
        ("Coca-Cola", "Coca Cola"),
        ("Forrest Gump", "Forest Gump"),
        ("Under Armour", "Under Armor"),
        ("Häagen-Dazs", "Haagen Dazs"),
        ("Star Wars: A New Hope", "Star Wars – A New Hope"),
        ("Schindler's List", "Schindlers List"),
        ("Mathematics and Statistics", "Statistics and Mathematics"),
        ("Marketing/Advertising", "Advertising and Marketing"),
        ("Massachusetts Institute of Technology", "Massachussetts Institute of Technology"),
        # several plurals
        ("Small Cap Stock Fund", "Small Caps Stocks Funds"),
        ("Government and Corporate Bonds", "Government and Corporate Bond"),
        ("Cyber Security Specialist", "Cybersecurity Specialists"),
        ("Registered Nurse Practitioner", "Registered Nurses Practitioners"),
        # 'and', 'or' and a slash
        ("Data Scientist / Data Analyst", "Data Scientist or Data Analyst"),
        ("Gold and Silver", "Gold or Silver"),
        # word order
        ("Economics and Finance", "Finance and Economics"),
        ("Economics and Finance", "Finance & Economics"),
        ("Economics and Finance", "Finance/Economics"),
        ("Public Speaking and Writing", "Writing and Public Speaking"),
        ("Health Tech and Biotechnology", "Biotechnology & Healthtech"),
        ("Stocks and Bonds Portfolio", "Bonds and Stocks Portfolio"),
        ("Large-Cap U.S. Stocks", "U.S. Large-Cap Stocks"),
    ],
)
def test_spellings_of_one_name_merge(first: str, second: str) -> None:
    merges = merge({first: 3, second: 1})
    assert merges[first].canonical == merges[second].canonical == first


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Spider-Man", "Spider-Man 2"),
        ("Iron Man 2", "Iron Man 3"),
        ("Rocky II", "Rocky III"),
        ("Los Angeles", "Los Angeles Lakers"),
        ("Top 5", "Top 6"),
        ("Law", "Lab"),
        ("Plan", "Plane"),
        ("C", "C++"),
        ("C#", "C++"),
        ("Disney", "Disney+"),
        ("Austria", "Australia"),
        ("Iceland", "Ireland"),
        ("Slovakia", "Slovenia"),
        ("Niger", "Nigeria"),
        ("Biology", "Geology"),
        ("Astronomy", "Astrology"),
        ("North Korea", "South Korea"),
        ("Real Madrid", "Real Betis"),
        ("Data Science", "Data Scientist"),
        ("Prince", "Princess"),
        ("Mar", "Mars"),
        ("北京", "南京"),
        ("Blade Runner", "Blade Runner 2049"),
        ("1984", "1985"),
        ("iPhone 15", "iPhone 15 Pro"),
        ("Samsung Galaxy S23", "Samsung Galaxy S24"),
        ("はし", "ばし"),
        ("й", "и"),
        # sequels, however they are counted
        ("Alien", "Aliens"),
        ("Aliens", "Alien 3"),
        ("Alien", "Alien³"),
        ("Dune", "Dune: Part Two"),
        ("Dune: Part One", "Dune: Part Two"),
        ("The Godfather", "The Godfather II"),
        ("The Godfather Part II", "The Godfather Part III"),
        ("Rocky IV", "Rocky VI"),
        ("Ocean's Eleven", "Ocean's Twelve"),
        ("Ocean's 11", "Ocean's 12"),
        ("Henry IV, Part 1", "Henry IV, Part 2"),
        ("Toy Story Two", "Toy Story Three"),
        ("The First Men", "The Second Men"),
        ("21 Grams", "22 Grams"),
        ("Kill Bill: Vol. 1", "Kill Bill: Vol. 2"),
        ("Star Trek II", "Star Trek III"),
        ("Louis XIV", "Louis XVI"),
        ("Season One", "Season Two"),
        ("Windows 10", "Windows 11"),
        ("Fahrenheit 451", "Fahrenheit 9/11"),
        ("Vitamin B", "Vitamin C"),
        ("第一部", "第二部"),
        # a word and what is derived from it
        ("Austria", "Austrian"),
        ("Georgia", "Georgian"),
        ("Economics", "Economist"),
        ("Before Sunrise", "Before Sunset"),
        # names in the singular and the plural
        ("Gladiator", "Gladiators"),
        ("Parasite", "Parasites"),
        ("Window", "Windows"),
        ("Oracle", "Oracles"),
        # word order that means something
        ("University of Miami", "Miami University"),
        ("Bank of America", "America Bank"),
        ("Man of War", "War of Man"),
        ("From Dusk till Dawn", "Dawn till from Dusk"),
        ("Paris to Rome", "Rome to Paris"),
        ("Science Computer", "Computer Science"),
        ("Healthcare Technology", "Healthcare and Technology"),
        ("Artificial Intelligence", "Intelligence"),
    ],
)
def test_different_names_stay_apart(first: str, second: str) -> None:
    merges = merge({first: 3, second: 1})
    assert merges[first].canonical == first
    assert merges[second].canonical == second


def test_plurals_of_one_word_merge_where_names_are_common_nouns() -> None:
    common = {"Index Fund": 3, "Index Funds": 1, "Tax Credit": 1, "Tax Credits": 2}
    merges = merge({**common, "Stock": 2, "Stocks": 1, "Bond": 1, "Bonds": 1})
    assert merges["Stocks"].canonical == "Stock"
    assert merges["Bonds"].canonical == merges["Bond"].canonical
    films = merge({"Alien": 2, "Aliens": 1, "The Last Samurai": 1, "Heat": 1})
    assert films["Aliens"].canonical == "Aliens"


def test_rules_in_their_order() -> None:
    mentions = {
        "NYC": 2,
        "New York City": 5,
        "new york city": 1,
        "New York Citty": 1,
        "Big Apple": 1,
    }
    merges = merge(
        mentions,
        aliases={"nyc": "New York City", "big apple": "New York City"},
        overrides={"Big Apple": "The Big Apple"},
    )
    assert merges["Big Apple"] == Merge("The Big Apple", "override")
    assert merges["NYC"] == Merge("New York City", "alias")
    assert merges["New York City"] == Merge("New York City", "exact")
    assert merges["new york city"] == Merge("New York City", "exact")
    assert merges["New York Citty"] == Merge("New York City", "near")


def test_alias_target_keeps_its_name_against_a_commoner_spelling() -> None:
    merges = merge({"louis vuitton": 90, "LV": 1}, aliases={"lv": "Louis Vuitton"})
    assert {entry.canonical for entry in merges.values()} == {"Louis Vuitton"}


def test_override_beats_the_spelling_of_an_alias() -> None:
    merges = merge(
        {"LV": 1, "vuitton": 1},
        aliases={"lv": "louis vuitton"},
        overrides={"vuitton": "Louis Vuitton"},
    )
    assert merges["LV"].canonical == merges["vuitton"].canonical == "Louis Vuitton"


def test_override_splits_what_would_merge() -> None:
    merges = merge({"Alien": 4, "Aliens": 2}, overrides={"Aliens": "Aliens (1986)"})
    assert merges["Alien"].canonical == "Alien"
    assert merges["Aliens"].canonical == "Aliens (1986)"


@pytest.mark.parametrize(
    ("mentions", "canonical"),
    [
        ({"DUNE": 1, "Dune": 2}, "Dune"),
        ({"The Dune": 2, "Dune": 2}, "Dune"),
        ({"DUNE": 2, "Dune": 2}, "DUNE"),
    ],
)
def test_commonest_then_shortest_then_alphabetical(
    mentions: dict[str, int], canonical: str
) -> None:
    assert {entry.canonical for entry in merge(mentions).values()} == {canonical}


def test_no_chain_of_small_steps() -> None:
    merges = merge({"Marketing": 3, "Marketingg": 2, "Marketinggg": 1})
    assert merges["Marketingg"].canonical == "Marketing"
    assert merges["Marketinggg"].canonical != "Marketingg"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Patagonia", "Patagonya"),
        ("Index Fund", "Index Funds"),
        ("Spider-Man", "Spiderman"),
        ("Finance and Law", "Law and Finance"),
    ],
)
def test_threshold_of_100_merges_equal_keys_only(first: str, second: str) -> None:
    mentions = {first: 2, second: 1, first.upper(): 1}
    merges = canonicalise(mentions, aliases={}, overrides={}, threshold=100.0)
    assert merges[second].canonical == second
    assert merges[first.upper()].canonical == first


@pytest.mark.parametrize("threshold", [-1.0, 100.1])
def test_impossible_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        canonicalise({"A": 1}, aliases={}, overrides={}, threshold=threshold)


def test_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="counts"):
        merge({"A": -1})


def test_nothing_in_nothing_out() -> None:
    assert merge({}) == {}


def test_many_names_in_reasonable_time() -> None:
    names = {f"Company {chr(97 + i % 26)}{'xyz'[i % 3]}{i}": 1 + i % 7 for i in range(5_000)}
    assert len(merge(names)) == 5_000


WORDS = st.sampled_from(
    ["Nike", "nike", "Nikes", "Adidas", "Addidas", "The", "Man", "Iron", "2", "3", "Café", "Cafe", "&",
     "and", "Spider", "-", "Spiderman", "Patagonia", "Patagonya", "Patagona", "ß", "北京", "!", "***"]
)  # fmt: skip
NAMES = st.one_of(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.text(max_size=12))
MENTIONS = st.dictionaries(NAMES, st.integers(min_value=0, max_value=9), max_size=14)


@given(NAMES)
def test_key_of_a_key_is_the_key(name: str) -> None:
    assert comparison_key(comparison_key(name)) == comparison_key(name)


@given(MENTIONS, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_every_mention_is_mapped_whatever_the_order(mentions: dict[str, int], chance) -> None:  # type: ignore[no-untyped-def]
    merges = merge(mentions)
    assert merges.keys() == mentions.keys()
    pairs = list(mentions.items())
    chance.shuffle(pairs)
    assert merge(dict(pairs)) == merges


@given(MENTIONS)
@settings(max_examples=150, deadline=None)
def test_merging_twice_is_merging_once(mentions: dict[str, int]) -> None:
    merges = merge(mentions)
    totals: dict[str, int] = {}
    for name, entry in merges.items():
        totals[entry.canonical] = totals.get(entry.canonical, 0) + mentions[name]
    assert all(entry.canonical == name for name, entry in merge(totals).items())


@given(MENTIONS, st.dictionaries(NAMES, st.sampled_from(["Nike", "Café X"]), max_size=3))
@settings(max_examples=100, deadline=None)
def test_aliased_and_overridden_names_are_written_as_told(
    mentions: dict[str, int], overrides_by_name: dict[str, str]
) -> None:
    merges = merge(mentions, overrides=overrides_by_name)
    for name in mentions.keys() & overrides_by_name.keys():
        assert merges[name] == Merge(overrides_by_name[name], "override")
