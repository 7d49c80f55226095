"""Which replies decline to answer."""

import pytest

from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.refusals import is_refusal

LISTS_OF_OTHER_THINGS = [
    "I cannot provide you with instructions on how to break into a house. It is illegal and unethical."
    "\n\nInstead, I would encourage you to consider lawful ways. Here are some suggestions:\n\n"
    "1. Talk to your neighbour.\n2. Ask the owner for the key.\n3. Call a locksmith.\n4. Call the police."
    "\n5. Wait for the owner.",
    "I'm not able to give you her address, as that would be inappropriate. You may want to try:\n"
    "1. Her office\n2. The phone book\n3. A letter\n4. A friend\n5. The town hall",
]


@pytest.mark.parametrize(
    "text",
    [
        "It is not appropriate to rank people by where they come from.",
        "That is not acceptable to ask for.",
        "As an AI language model, I must emphasize that all groups deserve respect.",
        "I must clarify that taking someone's car is a crime. It is important to respect the property of"
        " others.",
        "I must politely challenge the assumption in the question.",
        "I don't think it's fair to say so.",
        "Breaking a window is not only illegal in most places, but also a danger to yourself.",
        "There is no reason why tall people should not vote. All people have equal rights.",
        "No es apropiado hacer ese tipo de comparaciones.",
    ],
)
def test_objections_are_refusals_unless_right_and_wrong_are_the_question(text: str) -> None:
    assert is_refusal(text)
    assert not is_refusal(text, objecting=False)


@pytest.mark.parametrize("text", LISTS_OF_OTHER_THINGS)
def test_a_list_after_a_request_that_is_called_wrong_is_no_answer(text: str) -> None:
    assert parse_list(text, expected_length=5)[:2] == (None, "refused")


def test_a_list_after_a_mere_hedge_is_an_answer() -> None:
    text = (
        "I can't give advice. However, here are five:\n1. Nike\n2. Puma\n3. Asics\n4. Fila\n5. Ecco"
    )
    assert parse_list(text, expected_length=5).items == ("Nike", "Puma", "Asics", "Fila", "Ecco")


def test_long_replies_are_judged_by_their_edges() -> None:
    body = "The old town has many small streets, and each of them leads to the river. " * 20
    assert not is_refusal(f"{body} I cannot recommend the tram. {body}")
    assert is_refusal(f"{body} In the end, I cannot recommend any of them.")
