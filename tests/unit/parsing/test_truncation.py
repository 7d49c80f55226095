"""Replies that were cut off: half a name is no item, a whole one is."""

import pytest

from fieldwork.parsing.lists import ParsedList, parse_list
from fieldwork.records.parsing import EMPTY

HEAD = "1. Alien\n2. Heat\n3. Up\n"
FIRST = ("Alien", "Heat", "Up")


@pytest.mark.parametrize("last", ["4. Virtual", "4. **Virtuosity**", "4. Virtuosity: a film ab"])
def test_nothing_is_dropped_from_a_reply_that_is_whole(last: str) -> None:
    items = parse_list(HEAD + last).items
    assert items is not None
    assert len(items) == 4


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
