from urllib.parse import parse_qs, urlsplit

import pytest

from fieldwork.addresses import address


def test_an_address_names_a_view_and_its_filters_in_their_order() -> None:
    assert address(
        "compare", {"task": "t", "item": "i", "condition": "rag", "other": "offline"}
    ) == ("#/compare?task=t&item=i&condition=rag&other=offline")


def test_filters_without_a_value_are_left_out() -> None:
    assert (
        address("answers", {"model": None, "task": "", "replicate": 0}) == "#/answers?replicate=0"
    )
    assert address("study", {}) == "#/study"


@pytest.mark.parametrize("name", ["A/S & Co", "50 %", "a=b", "Zoë", "(x)", "#1", "قهوة", "a+b"])
def test_any_name_comes_back_out_of_an_address(name: str) -> None:
    fragment = address("answers", {"option": name, "base": "first"})
    query = urlsplit(fragment.removeprefix("#")).query
    assert parse_qs(query) == {"option": [name], "base": ["first"]}
    assert not set(fragment) & set('()<>" ')
