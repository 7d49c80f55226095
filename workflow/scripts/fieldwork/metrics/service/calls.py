"""The calls of an arm: which have an answer, which of these have a time, and what one unit of them is.

A call without an answer is an error: it is counted, and is in no estimate. A call that two conditions
share belongs to both, since each row says what its condition alone takes; what was paid is in `cost.csv`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork import tables
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


class ServiceArm(NamedTuple):
    """A model's calls for a task under one condition."""

    model: str
    task: str
    condition: str


class CallCounts(NamedTuple):
    """How many calls an arm has, and how they were sent.

    Attributes:
        n_errors: calls without an answer.
        unit: what the answers are independent by.
    """

    arm: ServiceArm
    n_calls: int
    n_errors: int
    n_resends: int
    dispatch: str
    unit: Unit


class ArmCalls(NamedTuple):
    """The calls of an arm.

    Attributes:
        answers: a row an answer, numbers as floats; NaN where the response has NULL.
        units: number of the unit of each answer.
    """

    counts: CallCounts
    answers: pd.DataFrame
    units: Indices

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


class FirstTimes(NamedTuple):
    """Seconds to the first text of the calls of an arm that were sent as streams.

    Attributes:
        n_calls: all of them; some came in one piece, or without text.
        units: number of the unit of each time.
    """

    seconds: Floats
    n_calls: int
    unit: Unit
    units: Indices

    def absence_of_times(self) -> str | None:
        """Why calls are left out; None where all have a time."""
        n_whole = self.n_calls - len(self.seconds)
        if not n_whole:
            return None
        return f"{n_whole} of {self.n_calls} streamed calls came in one piece, or without text"


def read_first_times(paths: Sequence[str]) -> dict[ServiceArm, FirstTimes]:
    """The times of tables of streamed calls, by arm."""
    columns = ("model", "task", "condition", "puppet_id", "first_token_s")
    rows = [row for path in paths for row in tables.read_columns(path, FirstToken, columns)]
    calls: dict[ServiceArm, list[tuple[str | None, float | None]]] = {}
    for model, task, condition, puppet, seconds in rows:
        calls.setdefault(ServiceArm(model, task, condition), []).append((puppet, seconds))
    return {arm: _first_times(arm_calls) for arm, arm_calls in calls.items()}


def _first_times(calls: Sequence[tuple[str | None, float | None]]) -> FirstTimes:
    pairs = [(puppet, seconds) for puppet, seconds in calls if seconds is not None]
    puppets = [puppet for puppet, _ in pairs]
    has_users = len({*puppets} - {None}) > 1
    numbers = {puppet: n for n, puppet in enumerate(dict.fromkeys(puppets))}
    units = [numbers[puppet] for puppet in puppets] if has_users else [*range(len(pairs))]
    return FirstTimes(
        seconds=np.array([seconds for _, seconds in pairs], dtype=float),
        n_calls=len(calls),
        unit="puppet" if has_users else "call",
        units=np.array(units, dtype=np.int64),
    )


def read_calls(paths: Sequence[str]) -> Iterator[ArmCalls]:
    """The calls of tables of responses; a table without rows has no arm."""
    for path in paths:
        frame = pd.DataFrame(
            tables.read_columns(path, Response, COLUMNS), columns=list(COLUMNS), dtype=object
        )
        yield from arms_of(frame)


def arms_of(responses: pd.DataFrame) -> Iterator[ArmCalls]:
    """The arms of a frame of responses, in alphabetical order."""
    frame = responses.assign(
        **{name: pd.to_numeric(responses[name]).astype(float) for name in _NUMBERS}
    )
    # a server that counts more than it was sent is not believed
    frame["cached_tokens"] = frame["cached_tokens"].clip(upper=frame["input_tokens"])
    for key, part in frame.groupby(["model", "task", "condition"], sort=True):
        yield _arm_calls(ServiceArm(*map(str, key)), part)


def _arm_calls(arm: ServiceArm, calls: pd.DataFrame) -> ArmCalls:
    answers = calls[calls["outcome"] != "failed"].reset_index(drop=True)
    unit, units = _units_of(answers)
    counts = CallCounts(
        arm=arm,
        n_calls=len(calls),
        n_errors=len(calls) - len(answers),
        n_resends=int((answers["attempts"] - 1).clip(lower=0).sum()),
        dispatch=", ".join(sorted(set(calls["dispatch"]))),
        unit=unit,
    )
    return ArmCalls(counts, answers, units)


def _units_of(answers: pd.DataFrame) -> tuple[Unit, Indices]:
    puppets: Any = answers["puppet_id"]
    # answers of one single puppet differ as those without a user do
    if puppets.nunique() > 1:
        return "puppet", pd.factorize(puppets, sort=True, use_na_sentinel=False)[0].astype(np.int64)
    n = len(answers)
    times = pd.to_datetime(answers["started_at"], utc=True)
    if n < _LEAST_CALLS or times.isna().any():
        return "call", np.arange(n, dtype=np.int64)
    places = np.empty(n, dtype=np.int64)
    places[np.argsort(times.to_numpy(), kind="stable")] = np.arange(n)
    return "stretch", places * N_STRETCHES // n
