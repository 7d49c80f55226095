"""The calls of an arm: which have an answer, which of these have a time, and what one unit of them is.

A call without an answer is an error: it is counted, and is in no estimate. A call that two conditions
share belongs to both, since each row says what its condition alone takes; what was paid is in `cost.csv`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork import tables
from fieldwork.estimates.answer_sets import Arm
from fieldwork.records.columns import RowType
from fieldwork.records.generation import Response
from fieldwork.records.service import FirstToken
from fieldwork.statistics.arrays import Flags, Floats, Indices

Unit = Literal["puppet", "stretch", "call"]

COLUMNS = (
    *("model", "task", "condition", "puppet_id", "outcome", "dispatch", "started_at"),
    *("latency_s", "attempts", "input_tokens", "cached_tokens", "output_tokens", "cost_usd"),
)
"""The columns of a response that say what it took."""
_NUMBERS = COLUMNS[-6:]

N_STRETCHES = 10
"""Stretches of calls without a user: as a server is busy for minutes, calls near in time are alike."""
_LEAST_CALLS = 4 * N_STRETCHES

_AT_ONCE = ("live", "recorded")
_NO_TIME = {
    "batch": "came in batches, which have no time of their own",
    "flex": "are of the flex tier, which waits for free machines",
    "recorded": "were recorded without a time",
}
_NO_TIME_HERE = "have no time, as none is kept of a model on this machine"


class ArmCalls(NamedTuple):
    """The calls of an arm.

    Attributes:
        n_calls: all of them; those without an answer are errors.
        dispatch: how they were sent.
        answers: a row an answer, numbers as floats; NaN where the response has NULL.
        unit, units: what the answers are independent by, and its number for each.
    """

    arm: Arm
    n_calls: int
    dispatch: str
    answers: pd.DataFrame
    unit: Unit
    units: Indices

    @property
    def n_resends(self) -> int:
        """Sends that had to be repeated until there was an answer."""
        return int((self.answers["attempts"] - 1).clip(lower=0).sum())

    @property
    def is_timed(self) -> Flags:
        """Answers whose time is one that a user waits: sent at once, or recorded."""
        times, is_live = self.numbers("latency_s"), self.answers["dispatch"].isin(_AT_ONCE)
        return is_live.to_numpy(dtype=bool) & (times > 0) & np.isfinite(times)

    def numbers(self, column: str) -> Floats:
        """A column of the answers."""
        return self.answers[column].to_numpy(dtype=float)

    def absence_of_times(self) -> str | None:
        """Why answers are left out of times; None where all have one."""
        dispatches = self.answers.loc[~self.is_timed, "dispatch"].value_counts(sort=False)
        counts = sorted((str(dispatch), int(n)) for dispatch, n in dispatches.items())
        notes = [
            f"{n} of {len(self.answers)} answers {_NO_TIME.get(dispatch, _NO_TIME_HERE)}"
            for dispatch, n in counts
        ]
        return "; ".join(notes) or None


def _read_frames(
    paths: Sequence[str], row_type: type[RowType], columns: Sequence[str]
) -> Iterator[pd.DataFrame]:
    for path in paths:
        rows = tables.read_columns(path, row_type, columns)
        yield pd.DataFrame(rows, columns=list(columns), dtype=object)


def read_first_times(paths: Sequence[str]) -> dict[Arm, pd.DataFrame]:
    """The calls of tables of streamed calls, by arm: columns `puppet_id` and `first_token_s`."""
    columns = ("model", "task", "condition", "puppet_id", "first_token_s")
    frames = [*_read_frames(paths, FirstToken, columns)]
    if not frames:
        return {}
    calls = pd.concat(frames, ignore_index=True)
    return {Arm.of(*map(str, key)): part for key, part in calls.groupby(list(columns[:3]))}


def read_calls(paths: Sequence[str]) -> Iterator[ArmCalls]:
    """The calls of tables of responses; a table without rows has no arm."""
    for frame in _read_frames(paths, Response, COLUMNS):
        yield from arms_of(frame)


def arms_of(responses: pd.DataFrame) -> Iterator[ArmCalls]:
    """The arms of a frame of responses, in alphabetical order."""
    frame = responses.assign(
        **{name: pd.to_numeric(responses[name]).astype(float) for name in _NUMBERS}
    )
    # a server that counts more than it was sent is not believed
    frame["cached_tokens"] = frame["cached_tokens"].clip(upper=frame["input_tokens"])
    for key, calls in frame.groupby(["model", "task", "condition"], sort=True):
        answers = calls[calls["outcome"] != "failed"].reset_index(drop=True)
        dispatch = ", ".join(sorted(set(calls["dispatch"])))
        unit, units = units_of(answers["puppet_id"], answers["started_at"])
        yield ArmCalls(Arm.of(*map(str, key)), len(calls), dispatch, answers, unit, units)


def units_of(puppets: Any, started_at: pd.Series | None = None) -> tuple[Unit, Indices]:
    """What calls are independent by, and its number for each.

    Args:
        started_at: when they were sent; without it calls of nobody are independent.
    """
    # answers of one single puppet differ as those without a user do
    if puppets.nunique() > 1:
        return "puppet", pd.factorize(puppets, sort=True, use_na_sentinel=False)[0].astype(np.int64)
    n = len(puppets)
    times = None if started_at is None else pd.to_datetime(started_at, utc=True)
    if times is None or n < _LEAST_CALLS or times.isna().any():
        return "call", np.arange(n, dtype=np.int64)
    places = np.empty(n, dtype=np.int64)
    places[np.argsort(times.to_numpy(), kind="stable")] = np.arange(n)
    return "stretch", places * N_STRETCHES // n
