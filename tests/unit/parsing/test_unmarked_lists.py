"""Lists without markers: how many lines are a list depends on how many the question asks for."""

import pytest

from fieldwork.parsing.lists import ParsedList, parse_list
from fieldwork.records.parsing import NO_LIST

BRANDS = ("Nike", "Adidas", "Puma", "Asics", "Reebok", "Fila", "Ecco", "Brooks", "Hoka", "Mizuno")


@pytest.mark.parametrize("expected_length", [2, 3, 5, 7, 10])
@pytest.mark.parametrize(
    "frame",
    ["{}", "Here are my picks:\n\n{}\n\nAll of them are fine.", "Sure!\n{}", "{}\nEnjoy!"],
)
def test_as_many_lines_as_asked_for(expected_length: int, frame: str) -> None:
    names = BRANDS[:expected_length]
    text = frame.format("\n".join(names))
    assert parse_list(text, expected_length=expected_length).items == names


@pytest.mark.parametrize(
    "names",
    [
        # quoted, exclaimed, asked, long, with digits and with small words
        ('"Alien"', '"Heat"', '"Up"'),
        ("“One Flew Over the Cuckoo's Nest”", "“Jaws”", "“Sing, Unburied, Sing”"),
        ("Oklahoma!", "Airplane!", "Mamma Mia!"),
        ("The Assassination of Jesse James by the Coward Robert Ford", "Jaws",
         "Birds of Prey and the Fantabulous Emancipation of One Harley Quinn"),
        ("Alien – a crew meets a stranger", "Heat – a thief and a detective", "Up – a house flies"),
        ("Матрица", "Сталкер", "Солярис"),
        ("千と千尋の神隠し", "もののけ姫", "となりのトトロ"),
        ("故宫博物院", "颐和园", "天坛公园"),
    ],
)  # fmt: skip
def test_lines_that_are_titles(names: tuple[str, ...]) -> None:
    listing = parse_list("\n".join(names), expected_length=3)
    assert listing.items is not None, listing.reason
    assert len(listing.items) == 3
    assert all(item in name for item, name in zip(listing.items, names, strict=True))


@pytest.mark.parametrize("n", [3, 4, 6, 9])
def test_short_lines_of_another_number_are_a_list_where_nothing_else_stands(n: int) -> None:
    text = "\n".join(BRANDS[:n])
    assert parse_list(text, expected_length=5).items == BRANDS[:n]
    assert parse_list(f"Here are some brands:\n{text}", expected_length=5).items == BRANDS[:n]
    # among sentences nothing tells such lines from others
    talk = f"Shoes are a matter of taste.\n{text}\nTry them on."
    assert parse_list(talk, expected_length=5).items is None


def test_talk_is_no_list_even_of_the_number_asked_for() -> None:
    talk = "Ann: How are you?\nBob: Fine, thanks.\nAnn: Good to hear.\nBob: And you?"
    assert parse_list(talk, expected_length=4) == ParsedList(None, NO_LIST)


@pytest.mark.parametrize("expected_length", [2, 3, 4, 6, 8, 10])
@pytest.mark.parametrize(
    "form",
    ['"{}"', "**{}**", "*{}*", "{}!", "{},", "{} - a brand", "{}: a brand", "{} (brand)",
     "'{}'", "`{}`", "> {}", "🔥 {}", "{}  "],
)  # fmt: skip
def test_lines_in_any_form_of_the_number_asked_for(expected_length: int, form: str) -> None:
    text = "\n".join(map(form.format, BRANDS[:expected_length]))
    items = parse_list(text, expected_length=expected_length).items
    assert items is not None
    assert [item.rstrip("!") for item in items] == list(BRANDS[:expected_length])


@pytest.mark.parametrize("expected_length", [2, 3, 5, 9])
@pytest.mark.parametrize("heading", ["**Brands**", "### Brands", "Brands:", "My brands are these:"])
def test_a_heading_over_bare_lines_is_no_name(expected_length: int, heading: str) -> None:
    text = "\n".join([heading, *BRANDS[:expected_length]])
    assert parse_list(text, expected_length=expected_length).items == BRANDS[:expected_length]


@pytest.mark.parametrize("text", ["Nike.\nPuma.\nAsics.", "I see.\nThat is all very well.\nGood."])
def test_lines_with_full_stops_are_sentences(text: str) -> None:
    assert parse_list(text, expected_length=3) == ParsedList(None, NO_LIST)
