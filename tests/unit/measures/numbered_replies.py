"""Replies that say a number each, and what a measure of any kind takes of them.

A number stands for the options of a list, for a letter, or for itself: one study serves all measures.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.declaration import EqualSize, Measure, ReaderQuestion
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import ROW_TYPES
from fieldwork.metrics.accuracy import count_runs
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts

Numbers = Sequence[int]
SETTINGS = EstimateSettings("offline", 1, ("rag", "field"), ("again",), 0.4, 0.9)
"""Eleven users and three prompts are enough for intervals."""
RUN_SIZE = 4
"""Questions of a run, which is a reply to the first prompt; others are no runs."""


class Reply(NamedTuple):
    """A reply; None says nothing that a measure takes."""

    number: int | None
    condition: str
    item: str = "a"
    user: str | None = None
    replicate: int = 0
    task: str = "t"
    model: str = "m"
    outcome: str = "ok"


def by_users(numbers: Iterable[int | None], condition: str, **names: Any) -> list[Reply]:
    """Replies of as many users."""
    return [Reply(number, condition, user=f"p{k:02}", **names) for k, number in enumerate(numbers)]


def by_reruns(numbers: Iterable[int | None], condition: str, **names: Any) -> list[Reply]:
    """Replies without users."""
    return [Reply(number, condition, replicate=k, **names) for k, number in enumerate(numbers)]


class Case(NamedTuple):
    """A measure, and the question that it answers."""

    question: ReaderQuestion
    measure: Measure

    @property
    def kind(self) -> str:
        return (self.question.kinds or ("list",))[0]

    @property
    def is_of_runs(self) -> bool:
        return self.measure.noun == "run"

    def rows(
        self,
        replies: Sequence[Reply],
        settings: EstimateSettings = SETTINGS,
        groups: Mapping[str, str] | None = None,
    ) -> list[Estimate]:
        """The rows of this measure alone."""
        alone = dataclasses.replace(self.question, measures=[self.measure])
        columns = ["participant_id", "variable", "group"]
        members = [(user, "variable", group) for user, group in (groups or {}).items()]
        participants = pd.DataFrame(members, columns=columns) if groups else None
        return estimate_question(alone, self.table(replies), settings, participants)

    def table(self, replies: Sequence[Reply]) -> pd.DataFrame:
        """Rows of the question's source, which may not have those that failed."""
        if self.is_of_runs:
            return self._table_of_runs(replies)
        names = [column.name for column in dataclasses.fields(ROW_TYPES[self.question.source])]
        numbers = {measure.of for measure in self.question.measures} - {"options"}
        rows = []
        for reply in replies:
            content: dict[str, Any] = {"is_truncated": False, "kind": self.kind}
            if reply.number is not None:
                options = self.options(reply.number)
                content |= {"letter": options[0], "items": [*options]}
                content |= dict.fromkeys(numbers, self.number(reply.number))
            content |= reply._asdict() | {"item_id": reply.item, "puppet_id": reply.user}
            if reply.outcome != "failed" or "outcome" in names:
                rows.append([content.get(name) for name in names])
        return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(numbers, float))

    def _table_of_runs(self, replies: Sequence[Reply]) -> pd.DataFrame:
        runs = [
            RunAccuracy(
                *(reply.model, reply.task, reply.condition, 0, reply.user, reply.replicate),
                *[self.number(reply.number)] * 3,
                *(RUN_SIZE, 1, False),
                *[self.number(reply.number) if self.measure.is_stated else None] * 3,
                n_stated=RUN_SIZE if self.measure.is_stated else 0,
            )
            for reply in replies
            if reply.number is not None and reply.item == "a" and reply.outcome != "failed"
        ]
        runs.sort(key=lambda run: (run.puppet_id or "", run.replicate))
        return pd.DataFrame(count_runs(runs), columns=[*RunAccuracy.__dataclass_fields__])

    def number(self, number: int) -> float:
        """A number that no binary fraction is, so that sums depend on their order; of a share below 1."""
        return number / (56 if self.measure.bounds else 7)

    def options(self, number: int) -> tuple[str, ...]:
        if self.kind in LETTER_KINDS:
            return ("ABCDEFGHI"[number % 9],)
        return tuple(sorted({f"o{k % 30:02}" for k in (number, 7 * number, number * number)}))

    def value(self, numbers: Numbers, n_equal: int | None = None) -> float:
        """The measure of the replies to one prompt, by its formula."""
        if self.measure.of != "options":
            return fmean(map(self.number, numbers))
        options = [option for number in numbers for option in self.options(number)]
        counts: Counts = np.array([options.count(option) for option in sorted(set(options))])
        if self.measure.exact:
            return self.measure.exact(EqualSize(counts, len(numbers), n_equal or len(numbers)))
        assert self.measure.statistic
        return float(self.measure.statistic(counts[None, :])[0])

    def mean(self, prompts: Mapping[str, Numbers]) -> float:
        """The mean over prompts."""
        return fmean(self.value(prompts[item]) for item in prompts if self.has_prompt(item))

    def has_prompt(self, item: str) -> bool:
        """Whether the measure takes something of replies to it."""
        return item == "a" or not self.is_of_runs
