"""How columns are declared: a text says whose words it is."""

import pytest

from fieldwork.records.columns import Name, column, columns_that_hold, row, table


@row
class Turn:
    """A part of a row."""

    text: str = column("what was said")


@row
class Place:
    """A part of a row without words."""

    user_id: Name = column("the user")


class Said:
    """A row that says what it holds."""

    user_id: Name | None = column("the user")
    places: list[Place] = column("where")
    turns: list[Turn] = column("what was said", holds="words of users")
    n: int | None = column("how many", default=None)


def test_a_column_of_words_says_whose_they_are() -> None:
    declared = table("notes/said.parquet")(Said)
    assert columns_that_hold([declared], "words of users", "words of raters") == ("turns",)
    assert columns_that_hold([declared], "groups of users") == ()


@pytest.mark.parametrize("hint", [str, str | None, list[str], list[Turn] | None, dict[Name, str]])
def test_a_text_without_a_declaration_is_refused(hint: object) -> None:
    with pytest.raises(TypeError, match=r"notes/heard.csv: the column words of Heard is text, and"):
        table("notes/heard.csv")(heard(hint))
    # a table of estimates counts, and quotes nobody
    table("metrics/heard.parquet")(heard(hint))


def heard(hint: object) -> type:
    return type("Heard", (), {"__annotations__": {"words": hint}, "words": column("heard")})
