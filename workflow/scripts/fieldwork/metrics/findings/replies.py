"""What came back: answers that failed, cannot be read or do not name their model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from fieldwork import tables
from fieldwork.records.generation import Response
from fieldwork.records.parsing import REFUSALS


class ReplyCounts(NamedTuple):
    """What came back under a condition: answers, and how many of them have nothing to count.

    Attributes:
        n_unread: that no reader can make anything of; the empty ones are among them.
        n_refused: by the model, or by a filter of its provider.
        n_truncated: cut off at the longest answer allowed, readable or not.
        n_corrected: that a person read instead of the parser.
        n_questions: questions asked.
        n_users: users who asked them, 0 where there are none.
    """

    model: str
    task: str
    condition: str
    n: int
    n_failed: int
    n_unread: int
    n_refused: int = 0
    n_truncated: int = 0
    n_empty: int = 0
    n_corrected: int = 0
    n_questions: int = 0
    n_users: int = 0

    @property
    def share_lost(self) -> float:
        """Share of the answers that arrived of which nothing is counted: refused, or not to be read."""
        n_arrived = self.n - self.n_failed
        return (self.n_unread + self.n_refused) / n_arrived if n_arrived else 0.0


class UnnamedReplies(NamedTuple):
    """Replies of a model, and how many of them do not say which model answered."""

    model: str
    n: int
    n_unnamed: int


def count_answers(answers: pd.DataFrame) -> list[ReplyCounts]:
    """One row for each model, task and condition, in this order; empty input gives none."""
    if answers.empty:
        return []
    outcome, reason = answers["outcome"], answers["reason"]
    failed_calls = outcome == "failed"
    refusals = reason.isin(REFUSALS) & ~failed_calls
    flags = {
        "failed": failed_calls,
        "unread": reason.notna() & ~failed_calls & ~refusals,
        "refused": refusals,
        "truncated": outcome == "truncated",
        "empty": outcome == "empty",
        "corrected": answers["correction"].notna(),
    }
    arms = answers.assign(**flags).groupby(["model", "task", "condition"], sort=True)
    return [
        ReplyCounts(str(model), str(task), str(condition), int(n), *map(int, counts))
        for (model, task, condition), n, counts in zip(
            arms.size().index,
            arms.size(),
            pd.concat(
                # NULL is no user
                [arms[[*flags]].sum(), arms[["item_id", "puppet_id"]].nunique()],
                axis=1,
            ).itertuples(index=False, name=None),
            strict=True,
        )
    ]


def read_defects(paths: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Model and defects of each response."""
    for path in paths:
        yield from tables.read_columns(path, Response, ("model", "defects"))


def count_unnamed(replies: Iterable[tuple[str, Sequence[str]]]) -> list[UnnamedReplies]:
    """One row for each model of which a reply does not name the model, in alphabetical order.

    Args:
        replies: model and defects of each response.
    """
    n: Counter[str] = Counter()
    n_unnamed: Counter[str] = Counter()
    for model, defects in replies:
        n[model] += 1
        n_unnamed[model] += "model" in defects
    return [
        UnnamedReplies(model, n[model], n_unnamed[model]) for model in sorted(n) if n_unnamed[model]
    ]
