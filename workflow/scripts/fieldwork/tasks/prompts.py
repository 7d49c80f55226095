"""The exact wording of multiple-choice prompts.

`helm_prompt` reproduces HELM's `multiple_choice_joint` adapter for MMLU to the byte (stanford-crfm/helm:
`in_context_learning_adapter.py`, `multiple_choice_joint_adapter.py`): the order of the shots included.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle, islice
from string import ascii_uppercase
from typing import NamedTuple

LETTER_INSTRUCTION = "Answer with only a single letter."
NUMBER_INSTRUCTION = "Answer with only a single number."


class ChoiceQuestion(NamedTuple):
    """A multiple-choice question; `gold` is a letter, or None where nobody knows."""

    text: str
    choices: tuple[str, ...]
    gold: str | None


def helm_prompt(
    question: ChoiceQuestion,
    shots: Sequence[ChoiceQuestion],
    subject: str,
    *,
    letter_instruction: bool,
) -> str:
    """HELM's prompt for one MMLU question.

    Args:
        shots: worked examples, already in order (`order_shots`).
        subject: MMLU's name, underscores and all.
        letter_instruction: put HELM's line for instruction-tuned models first.
    """
    about = subject.replace("_", " ")
    blocks = [
        f"The following are multiple choice questions (with answers) about {about}.",
        *(f"{_block(shot)} {shot.gold}" for shot in shots),
        _block(question),
    ]
    if letter_instruction:
        blocks.insert(0, LETTER_INSTRUCTION)
    return "\n\n".join(blocks)


def _block(question: ChoiceQuestion) -> str:
    return f"Question: {question.text}\n{letter_options(question.choices)}\nAnswer:"


def letter_options(choices: Sequence[str]) -> str:
    """`A. …` to `J. …`, one a line."""
    return "\n".join(f"{ascii_uppercase[i]}. {choice}" for i, choice in enumerate(choices))


def plain_prompt(question: ChoiceQuestion) -> str:
    """A question as a person would paste it into a chat, with HELM's request for a letter."""
    return f"{question.text}\n{letter_options(question.choices)}\n\n{LETTER_INSTRUCTION}"


def scale_prompt(question: str, marks: Sequence[str] | None, options: Sequence[str]) -> str:
    """A question with the points of its scale, one a line, and the request for one of them.

    Args:
        marks: numbers of the points; None for letters.
    """
    if marks is None:
        return plain_prompt(ChoiceQuestion(question, tuple(options), None))
    lines = "\n".join(
        mark if mark == option else f"{mark}. {option}"
        for mark, option in zip(marks, options, strict=True)
    )
    return f"{question}\n{lines}\n\n{NUMBER_INSTRUCTION}"


def number_prompt(question: str, unit: str | None) -> str:
    """A question that asks for a number, and for nothing besides."""
    return f"{question}\n\n{NUMBER_INSTRUCTION[:-1]}{f', in {unit}' if unit else ''}."


def order_shots(
    pool: Sequence[ChoiceQuestion], n_shots: int, seed: int = 0
) -> list[ChoiceQuestion]:
    """HELM's choice and order of in-context examples.

    Labels (texts of the correct choices) are shuffled within each frequency, commonest first; one
    example is drawn from each in turn until there are `n_shots`.
    """
    generator = random.Random(seed)
    by_label: dict[str, list[ChoiceQuestion]] = defaultdict(list)
    for question in pool:
        assert question.gold is not None, "a shot needs an answer"
        by_label[question.choices[ascii_uppercase.index(question.gold)]].append(question)
    by_count: dict[int, list[str]] = defaultdict(list)
    for label in sorted(by_label):
        by_count[len(by_label[label])].append(label)
    labels: list[str] = []
    for count in sorted(by_count, reverse=True):
        generator.shuffle(by_count[count])
        labels.extend(by_count[count])
    n_drawn = min(n_shots, len(pool))
    turns = (by_label[label] for label in cycle(labels))
    draws = (questions.pop(generator.randrange(len(questions))) for questions in turns if questions)
    return list(islice(draws, n_drawn)) if n_drawn else []
