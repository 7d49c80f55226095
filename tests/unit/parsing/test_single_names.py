"""The one name that a question asks for: the reply, its only entry, or what is set off in it."""

import pytest

from fieldwork.parsing.lists import ParsedList, parse_list
from fieldwork.records.parsing import NO_LIST, REFUSAL

CITY = "Which city do you like most? Answer with its name."


@pytest.mark.parametrize(
    "text",
    [
        "Oslo",
        "Oslo.",
        "**Oslo**",
        '"Oslo"',
        "- Oslo",
        "1. Oslo",
        "# Oslo",
        "City: Oslo",
        "**City:** Oslo",
        "Answer: Oslo",
        "I would choose Oslo.",
        "I'd go with Oslo, because it is near the sea.",
        "I would choose **Oslo** for its parks and museums.",
        "My favourite city is Oslo.",
        "Oslo is my favourite city.",
        "Oslo - near the sea",
        "Oslo: a city near the sea.",
        "Oslo\n\nIt is near the sea, and it has many parks.",
        "Sure! Here is one:\n\nOslo",
        "**Oslo**\n- near the sea\n- many parks",
        "I would choose **Oslo**:\n1. It is near the sea.\n2. It has parks.",
        "<think>Bergen or Rome?</think>Oslo",
    ],
)
def test_one_name(text: str) -> None:
    listing = parse_list(text, expected_length=1, question=CITY)
    assert listing[:2] == (("Oslo",), None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"Blue Train" by John Coltrane.', "Blue Train"),
        ("Blue Train by John Coltrane", "Blue Train"),
        ('I would pick "Blue Train" by John Coltrane, as it never ages.', "Blue Train"),
        ("Song: Blue Train", "Blue Train"),
        ("**Stand by Me**", "Stand by Me"),
        ("Stand by Me", "Stand by Me"),
        ("Do I Wanna Know?", "Do I Wanna Know?"),
        ("《夜曲》", "夜曲"),
        ("千と千尋の神隠し", "千と千尋の神隠し"),
        ("What's Going On", "What's Going On"),
    ],
)
def test_one_title(text: str, name: str) -> None:
    listing = parse_list(text, expected_length=1, question="Name one song.")
    assert listing.items == (name,)


@pytest.mark.parametrize(
    "text", ["1. Oslo\n2. Rome", "- Oslo\n- Rome", "My cities:\n1. Oslo\n2. Rome"]
)
def test_more_than_one_name_is_kept(text: str) -> None:
    assert parse_list(text, expected_length=1, question=CITY).items == ("Oslo", "Rome")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I have no favourite city.", REFUSAL),
        ("I don't have a favorite city.", REFUSAL),
        ('I\'m sorry, but I cannot choose a "best" city.', REFUSAL),
        ("As an AI, I don't have preferences. **Cities** differ a lot.", REFUSAL),
        ("It depends.", NO_LIST),
        ("It depends on what you like, on your budget, and on the time of the year.", NO_LIST),
        ("There are many great cities in the world, and each of them is special.", NO_LIST),
        ("Which one do you like?", NO_LIST),
        ("You're welcome! If you have more questions, ask me.", NO_LIST),
        ("Dear Ann,\n\nthank you for your letter.", NO_LIST),
        ("The total is 3 + 4 = 7", NO_LIST),
        ("Fraud is a crime in which somebody deceives another.", NO_LIST),
    ],
)
def test_no_name(text: str, reason: str) -> None:
    assert parse_list(text, expected_length=1, question=CITY) == ParsedList(None, reason)
