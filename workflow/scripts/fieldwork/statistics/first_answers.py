"""The first answer of each user, which stands for a user who answers a prompt more than once.

Several answers of one user are correlated; tests and intervals need answers that are not.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Entry = TypeVar("Entry")


def first_answers(answers: Iterable[Entry], user: Callable[[Entry], str]) -> list[Entry]:
    """The first answer of each user, in the order of `answers`.

    Args:
        user: who gave an answer; empty where the model is asked without a user. All of these count.
    """
    users: set[str] = set()
    firsts: list[Entry] = []
    for answer in answers:
        name = user(answer)
        if not name or name not in users:
            firsts.append(answer)
            users.add(name)
    return firsts
