"""The order in which a reply names its options."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.parsing.rankings import missing_names, rank_names

NAMES = ["JAKOB SCHMIDT", "Jennifer Pham", "Ann Lee"]


def test_the_earliest_place_counts_whatever_the_case() -> None:
    reply = "1. jennifer pham\n2. Ann Lee\n3. Jakob Schmidt\n\nJakob Schmidt comes last."
    assert rank_names(reply, NAMES) == [3, 1, 2]


def test_prose_before_the_list_counts_as_the_list_does() -> None:
    assert rank_names("Ann Lee is best.\n1. Jennifer Pham\n2. Ann Lee", NAMES) == [None, 2, 1]


def test_missing_names_have_no_place_and_are_told() -> None:
    places = rank_names("1. Jennifer Pham", NAMES)
    assert places == [None, 1, None]
    assert missing_names(places, NAMES) == ["JAKOB SCHMIDT", "Ann Lee"]


@pytest.mark.parametrize("reply", ["", "I cannot rank people.", "Schmidt, then Pham", "1. Annlee"])
def test_a_reply_without_names_ranks_nobody(reply: str) -> None:
    assert rank_names(reply, NAMES) == [None, None, None]


def test_a_name_within_another_is_not_that_name() -> None:
    assert rank_names("1. Joann Lee\n2. Jennifer Pham", ["Ann Lee", "Joann Lee"]) == [None, 1]
    assert rank_names("**Ann Lee**, Ann Leeds", ["Ann Leeds", "Ann Lee"]) == [2, 1]


def test_spaces_and_signs_of_names_are_plain_text() -> None:
    assert rank_names("1. Ann\n Lee 2. J. O'Neil (b)", ["J. O'Neil (b)", "Ann  Lee"]) == [2, 1]


@pytest.mark.parametrize("names", [["Ann Lee", "ann  lee"], ["Ann Lee", " "]])
def test_options_that_cannot_be_told_apart_are_refused(names: list[str]) -> None:
    with pytest.raises(StudyError, match="names to rank"):
        rank_names("1. Ann Lee", names)


@given(st.permutations(["Ana Ruiz", "Bo Chen", "Čeněk Ďuriš", "Đorđe Ilić", "Ewa Żak"]))
def test_any_order_is_read_back(order: list[str]) -> None:
    reply = "\n".join(f"{k}. {name.upper()}" for k, name in enumerate(order, start=1))
    assert rank_names(reply, order) == [1, 2, 3, 4, 5]
