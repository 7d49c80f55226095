"""Links from the findings to the answers behind them, on the study's page.

Promises a text that reads well as it stands: addresses are at its end, and a number stands for each.
"""

import re
from collections.abc import Sequence

from fieldwork.addresses import PAGE, address
from fieldwork.records.figures import AnswerBase

LINK = re.compile(rf"\]\(({re.escape(PAGE)}#[^)\s]*)\)")
"""The end of a link to the study's page."""


def answers_link(
    text: str,
    *,
    model: str | None,
    task: str,
    condition: str,
    base: AnswerBase,
    item: str | None = None,
    option: str | None = None,
) -> str:
    """`text`, which is Markdown already, as a link to the answers that it was computed from."""
    target = address(
        "answers",
        {
            "model": model,
            "task": task,
            "item": item,
            "condition": condition,
            "option": option,
            "base": base,
        },
    )
    return f"[{text}]({PAGE}{target})"


def numbered_links(lines: Sequence[str]) -> list[str]:
    """The lines with a number in place of each address, and the addresses in lines at the end."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"][{numbers.setdefault(match[1], len(numbers) + 1)}]"

    numbered_lines = [LINK.sub(number, line) for line in lines]
    definitions = [f"[{number}]: {target}" for target, number in numbers.items()]
    return [*numbered_lines, *(["", *definitions] if definitions else [])]
