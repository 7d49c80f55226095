"""Whatever a reply holds, every reader ends soon and says either what it read or why it read nothing.

A pattern that tries every way takes minutes on such texts. The processor's time is counted and not the
clock's, as a machine may be busy with other things.
"""

import signal
from collections.abc import Iterator

import pytest

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.form.readings import read_text_form
from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.numbers import parse_number
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.scales import parse_scale

OPTIONS = ("Paris", "Rome", "Berlin", "Madrid", "12", "-17")
NUMBERS = ["1", "2", "3", "4", "5"]
LABELS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]


def list_is_read(text: str, is_truncated: bool = False) -> bool:
    listing = parse_list(text, is_truncated=is_truncated)
    return (listing.items is None) == (listing.reason is not None)


def choice_is_read(text: str) -> bool:
    choice = parse_choice(text, letters="ABCDEFGHIJ", choices=OPTIONS)
    return (choice.letter is None) == (choice.reason is not None)


def point_is_read(text: str) -> bool:
    parsed = parse_scale(text, marks=NUMBERS, choices=LABELS)
    return bool(parsed.reason) == (len(parsed.letters) != 1)


def number_is_read(text: str) -> bool:
    parsed = parse_number(text, unit="kg")
    return (parsed.value is None) != (parsed.reason is None)


READERS = {
    "list": (list_is_read, 30_000, 6),
    "list cut off": (lambda text: list_is_read(text, True), 30_000, 6),
    "letter": (choice_is_read, 30_000, 6),
    "point": (point_is_read, 20_000, 6),
    "number": (number_is_read, 10_000, 3),
    "refusal": (lambda text: is_refusal(text) in (True, False), 100_000, 2),
    "form": (lambda text: read_text_form(f"x{text}x") is not None, 60_000, 2),
}
"""How many characters each reads here, and seconds that a step over all pairs of them would exceed."""

# fmt: off
OF_LISTS = [
    "a", "*", "1. ", "(", '{"a":', "- \n", "1. \n", "<think>", "a, ", "| a ", "**a ", "“a ", "1. a (",
    "I cannot ", "1. **a\n", "Tips:\n- a\n", "A:\n1. a\n2. b\n", "我，", '"a\n', "1-a\n2-b\n", "Sure!\n",
    "a or: ", "漢字。", '["a",', "(1999): ", "## \n", "- **a**\n  - b\n", "1. x 2. y 3. z ",
]
PARTS = {
    "list": OF_LISTS,
    "list cut off": OF_LISTS[::3],
    "letter": [
        "a ", "answer is ", "(", "A ", "A. x\n", "\\boxed{", "not ", "\n", "<think>", "option A is ",
        "**", "I choose ", '"answer": ', "{", "B or ", "(A), ", "A is correct. ", "none of (A), ",
        "ABCDEFGHIJ", "(a) x (b) y ",
        "\\frac{1}{2}", "choice is:\n", "rule out (A), (B) ", "A is tempting but ",
        "Ответ: В ", '"A": true, ',
    ],
    "point": ["1 ", "4-", "agree ", "(", "answer ", "1 = a, ", "I'd say 4, not ", "非常不同意4"],
    "number": [
        "1 ", "1-", "$", "1.1", "1+", "answer is ", "1 hour ", "(4", "4(", "1,)", "**4** ", "\\boxed{4} ",
        "1 kg 2 g ", "4 or 5 ", "=4",
    ],
    "refusal": ["as an AI I ", "here are ", "however, ", "I cannot ", "could you "],
    "form": [
        "The fox jumps. ", "*", "[a](", "<img ", "|-", "\n", "- a\n", "_", ".", "你好。", "http://",
        "\U0001f1e6", "> ", "a|b\n|-|\n", "`", "1. ", "<a", "A", "(", "**a ", "Dr. ",
    ],
}
# fmt: on
WITH_ENDS = {
    "list": [(" ", "x"), ("\n", "1")],
    "list cut off": [(" ", "x"), ("\n", "1")],
    "letter": [(" ", "B"), ("(ABCDEFGHIJ", "")],
}
"""Parts that something else follows, which a pattern may look for from each of them."""


@pytest.fixture(autouse=True)
def _ends_soon(reader: str) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise AssertionError("seconds of work on one short text: some pattern backtracks")

    handler_before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, READERS[reader][2])
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, handler_before)


@pytest.mark.parametrize(
    ("reader", "part", "end"),
    [
        *((reader, part, "") for reader, parts in PARTS.items() for part in parts),
        *((reader, *part) for reader, parts in WITH_ENDS.items() for part in parts),
    ],
)
def test_any_reply_is_read_in_time(reader: str, part: str, end: str) -> None:
    is_read, size, _ = READERS[reader]
    assert is_read(part * (size // len(part)) + end)
