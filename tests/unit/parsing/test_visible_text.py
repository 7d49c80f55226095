"""What of a reply is the answer."""

import pytest

from fieldwork.parsing.visible_text import has_later_turns, visible_text


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        (None, ""),
        ("<think>x</think>a", "a"),
        ("<THINK>x</THINK>a", "a"),
        ("<thinking>x</thinking>a<thinking>y</thinking>b", "ab"),
        ("[THINK]x[/THINK]a", "a"),
        ("x</think>a", "a"),
        ("a<think>x", "a"),
        ("<think>x", ""),
        ("<think>x<think>y</think>a", "a"),
        (
            "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>a",
            "a",
        ),
        ("```text\na\n```", "a"),
        ("\u200ba\u00a0b\ufeff", "a b"),
        ("<b>a</b> <strong>b</strong>", "a b"),
        ("  a\n  b", "  a\n  b"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_visible_text(text: str | None, visible: str) -> None:
    assert visible_text(text) == visible


@pytest.mark.parametrize(
    "thoughts",
    [
        *("<seed:think>A? No.</seed:think>", "◁think▷A? No.◁/think▷"),
        "<|begin_of_thought|>A? No.<|end_of_thought|>\n<|begin_of_solution|>",
        "<|START_THINKING|>A? No.<|END_THINKING|><|START_RESPONSE|>",
        "<|channel>thought\nA? No.<channel|>",
        "<|channel|>analysis<|message|>A? No.<|end|><|start|>assistant<|channel|>final<|message|>",
        *("analysisA? No.assistantfinal", "<plan>A? No.</plan>\n"),
    ],
)
def test_thoughts_of_any_mark_are_hidden(thoughts: str) -> None:
    assert visible_text(f"{thoughts}C").strip() == "C"


@pytest.mark.parametrize(
    "text",
    [
        "<seed:think>A? No.",
        "<|channel|>analysis<|message|>A? No.",
        "<|begin_of_thought|>A? No.",
    ],
)
def test_thoughts_that_never_end_leave_nothing(text: str) -> None:
    assert visible_text(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        *("<answer>C</answer>\nas it is the largest", "analysis of the options leads to C"),
        *("[reason: size] C", "Write to <john.thinker@example.org> about C"),
        *("<table><tr><td>C</td></tr></table>\nC", "<s>A</s> C"),
        "Assistant: Hello.\nUser: Hi.\nAssistant: C",
    ],
)
def test_what_is_no_thought_stays(text: str) -> None:
    assert "C" in visible_text(text)


@pytest.mark.parametrize(
    "rest",
    [
        "<|im_end|>\n<|im_start|>user\nAnd?\n<|im_start|>assistant\nA",
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\nAnd?",
        *("<｜end▁of▁sentence｜><｜User｜>And?<｜Assistant｜>A", "</s> [INST] And? [/INST] A"),
        *("<|endoftext|>A", "\n\nHuman: And?\n\nAssistant: A"),
        "\n\n### Instruction:\nAnd?\n\n### Response:\nA",
    ],
)
def test_what_follows_the_end_of_the_turn_is_not_read(rest: str) -> None:
    assert visible_text(f"C{rest}") == "C"
    assert has_later_turns(f"C{rest}")
    start = "<|im_start|>assistant\n"
    assert visible_text(f"{start}<think>A?</think>C{rest}") == "C"


@pytest.mark.parametrize(
    "text", ["C", "C</s>", "C<|im_end|>", "<|im_start|>assistant\nC<|im_end|>\n", None]
)
def test_a_mark_at_the_end_is_no_later_turn(text: str | None) -> None:
    assert visible_text(text) == ("C" if text else "")
    assert not has_later_turns(text)
