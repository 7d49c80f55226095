from urllib.parse import parse_qs, urlsplit

import pytest

from fieldwork.addresses import address


def test_an_address_names_a_view_and_its_filters_in_their_order_but_for_those_without_a_value() -> (
    None
):
    filters = {"task": "t", "item": "i", "condition": "rag", "other": "offline"}
    expected = "#/compare?task=t&item=i&condition=rag&other=offline"
    assert address("compare", filters) == expected
    without = {"model": None, "task": "", "replicate": 0}
    assert address("answers", without) == "#/answers?replicate=0"
    assert address("study", {}) == "#/study"


@pytest.mark.parametrize("name", ["A/S & Co", "50 %", "a=b", "Zoë", "(x)", "#1", "قهوة", "a+b"])
def test_any_name_comes_back_out_of_an_address(name: str) -> None:
    fragment = address("answers", {"option": name, "base": "first"})
    query = urlsplit(fragment.removeprefix("#")).query
    assert parse_qs(query) == {"option": [name], "base": ["first"]}
    assert not set(fragment) & set('()<>" ')
