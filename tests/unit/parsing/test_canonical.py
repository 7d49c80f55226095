"""Merging of written items: rules, things that must and must not merge, and properties."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.parsing.canonical import Merge, canonicalise


def merge(mentions: dict[str, int], **names: dict[str, str]) -> dict[str, Merge]:
    return canonicalise(mentions, **{"aliases": {}, "overrides": {}} | names)


def test_plurals_of_one_word_merge_where_names_are_common_nouns() -> None:
    common = {"Index Fund": 3, "Index Funds": 1, "Tax Credit": 1, "Tax Credits": 2}
    merges = merge({**common, "Stock": 2, "Stocks": 1, "Bond": 1, "Bonds": 1})
    assert merges["Stocks"].canonical == "Stock"
    assert merges["Bonds"].canonical == merges["Bond"].canonical
    films = merge({"Alien": 2, "Aliens": 1, "The Last Samurai": 1, "Heat": 1})
    assert films["Aliens"].canonical == "Aliens"


def test_rules_in_their_order() -> None:
    counts = (("NYC", 2), ("New York City", 5), ("new york city", 1), ("New York Citty", 1))
    merges = merge(
        dict(counts) | {"Big Apple": 1},
        aliases={"nyc": "New York City", "big apple": "New York City"},
        overrides={"Big Apple": "The Big Apple"},
    )
    assert merges["Big Apple"] == Merge("The Big Apple", "override")
    rules = [merges[name] for name, _ in counts]
    assert rules == [Merge("New York City", rule) for rule in ("alias", "exact", "exact", "near")]


def test_alias_target_keeps_its_name_against_a_commoner_spelling() -> None:
    merges = merge({"louis vuitton": 90, "LV": 1}, aliases={"lv": "Louis Vuitton"})
    assert {entry.canonical for entry in merges.values()} == {"Louis Vuitton"}


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


def test_many_names_in_reasonable_time() -> None:
    names = {f"Company {chr(97 + i % 26)}{'xyz'[i % 3]}{i}": 1 + i % 7 for i in range(5_000)}
    assert len(merge(names)) == 5_000


WORDS = st.sampled_from(
    ["Nike", "nike", "Nikes", "Adidas", "Addidas", "The", "Man", "Iron", "2", "3", "Café", "Cafe", "&",
     "and", "Spider", "-", "Spiderman", "Patagonia", "Patagonya", "Patagona", "ß", "北京", "!", "***"]
)  # fmt: skip
NAMES = st.one_of(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.text(max_size=12))
MENTIONS = st.dictionaries(NAMES, st.integers(min_value=0, max_value=9), max_size=14)


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
