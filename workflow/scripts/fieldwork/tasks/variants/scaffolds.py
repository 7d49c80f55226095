"""What stands around a choice question: nothing, a request for a letter, or a request for steps.

Worked examples (`shots`) come out of the benchmark's files, so the source is read with them and nothing
is left to do here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fieldwork.records.tasks import Item
from fieldwork.tasks.prompts import ChoiceQuestion, letter_options, plain_prompt

STEPS_INSTRUCTION = 'Think step by step. Then write "The answer is" and the letter of your choice.'


def scaffold(item: Item, form: str | Mapping[str, Any]) -> Item:
    """A choice question in another form; other questions come back as they are.

    Args:
        form: `raw`, `instruction`, `think`, or a mapping with `shots`.
    """
    if item.kind != "choice" or not isinstance(form, str):
        return item
    bare = f"{item.question}\n{letter_options(item.choices)}"
    prompts = {
        "raw": bare,
        "instruction": plain_prompt(ChoiceQuestion(item.question, tuple(item.choices), item.gold)),
        "think": f"{bare}\n\n{STEPS_INSTRUCTION}",
    }
    return replace(item, prompt=prompts[form])
