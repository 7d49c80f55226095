"""A dated snapshot is its alias; another model is not, however alike its name."""

import pytest
from provider_cases import make_openai


@pytest.mark.parametrize(
    ("asked", "returned", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini", True),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4", "gpt-4-0613", True),
        ("claude-x", "claude-x-20241022", True),
        ("gemini-2.0-flash", "gemini-2.0-flash-001", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini", False),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2025-01-01", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4", "gpt-4-1106-preview", False),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4", "gpt-4-32", False),
        ("llama-3", "llama-3-405", False),
        ("gemini-2.5-flash", "gemini-3.5-flash", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", False),
        ("a", "a-2024-07-18\n", False),
        ("a", "", False),
    ],
)
def test_an_answer_comes_from_the_model_or_from_its_snapshot(
    asked: str, returned: str, same: bool
) -> None:
    assert make_openai(model=asked).is_asked_for(returned) is same
    other = make_openai(model="another", accept_models=(asked,))
    assert other.is_asked_for(returned) is same
