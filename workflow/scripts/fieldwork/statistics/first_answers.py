"""The first answer of each user, which stands for a user who answers a prompt more than once.

Several answers of one user are correlated; tests and intervals need answers that are not.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Entry = TypeVar("Entry")


def first_answers(answers: Iterable[Entry], user: Callable[[Entry], Hashable]) -> list[Entry]:
    """The first answer of each user, in the order of `answers`.

    Args:
        user: who gave an answer; empty or None without a user. All of these answers count.
    """
    users: set[Hashable] = set()
    firsts: list[Entry] = []
    for answer in answers:
        name = user(answer)
        if not name or name not in users:
            firsts.append(answer)
            users.add(name)
    return firsts
