"""A server that cut a prompt is known by the tokens that it states, and no other server is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.generation.providers.base import RejectedError, Usage, Wire
from fieldwork.generation.providers.jsontext import dumps
from fieldwork.generation.reply_checks import require_whole_prompt, text_characters

PROSE = "The committee met again on Thursday, and nobody could say what had changed. " * 100


def wire(*texts: str) -> Wire:
    turns = [{"role": "user", "content": text} for text in texts]
    return Wire(b'{"model":"m","messages":[' + dumps(turns)[1:-1], b',"max_tokens":8')


@pytest.mark.parametrize(
    ("text", "tokens", "is_cut"),
    [
        (PROSE, len(PROSE) // 4, False),
        # the longest tokens of a vocabulary of 262,144, in ordinary text
        (PROSE, int(len(PROSE) / 5.5), False),
        (PROSE, len(PROSE) // 8, True),
        (PROSE, 0, True),
        (PROSE[:3000], 10, False),
        # Hindi has three bytes a character, and large vocabularies ten bytes a token
        ("\u0928\u092e\u0938\u094d\u0924\u0947 " * 1000, 2000, False),
        ("\u0928\u092e\u0938\u094d\u0924\u0947 " * 1000, 1000, True),
    ],
)
def test_a_prompt_with_far_fewer_tokens_than_characters_was_cut(
    text: str, tokens: int, is_cut: bool
) -> None:
    if not is_cut:
        require_whole_prompt(wire(text), Usage(input=tokens), 6)
        return
    with pytest.raises(RejectedError, match="read only a part of the prompt"):
        require_whole_prompt(wire(text), Usage(input=tokens), 6)


@pytest.mark.parametrize("ratio", [None, 1000])
def test_the_check_can_be_left_out(ratio: float | None) -> None:
    require_whole_prompt(wire(PROSE), Usage(input=10), ratio)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_only_what_stands_around_a_text_is_left_out(texts: list[str]) -> None:
    body = dumps([{"role": "assistant", "content": text} for text in texts])
    escaped = sum(len(json.dumps(text, ensure_ascii=False)) - 2 for text in texts)
    assert text_characters(body) <= escaped + 2
