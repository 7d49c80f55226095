"""Templates of web pages, and what a page's policy allows."""

import json

import pytest

from fieldwork.errors import StudyError
from fieldwork.page_templates import fill, hash_source, inline_text, script_json


def test_what_is_put_in_is_not_looked_through_again() -> None:
    assert fill("{{a}}-{{b}}", {"a": "{{b}}", "b": r"\1 $&"}, "page") == r"{{b}}-\1 $&"


def test_an_unknown_placeholder_is_named() -> None:
    with pytest.raises(StudyError, match=r"page: \{\{c\}\} is not a placeholder; choose from a, b"):
        fill("{{c}}", {"a": "", "b": ""}, "page")


def test_a_hash_is_that_of_browsers() -> None:
    assert hash_source("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert inline_text("\n a \n\n") == "a\n"


@pytest.mark.parametrize(
    "value",
    ["</script>", "<!-- &amp; ]]>", "\u2028\u2029", "\ud800", {"ключ": [1, None, 0.5, True]}],
)
def test_json_stays_within_its_element(value: object) -> None:
    text = script_json(value)
    assert text.isascii()
    assert not {"<", ">", "&"} & set(text)
    assert json.loads(text) == value
