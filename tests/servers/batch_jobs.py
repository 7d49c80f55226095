"""A batch's life on the server's clock, whichever API it came by.

Nothing runs in the background: a job is brought up to date when someone looks at it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

State = Literal[
    "validating",
    "failed",
    "running",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
]

ENDED: frozenset[str] = frozenset({"failed", "completed", "expired", "cancelled"})


@dataclass
class BatchRules:
    """How batches go, and what goes wrong with those that end from now on. Times by the server's clock.

    Attributes:
        validating_s, running_s, finalizing_s: what the steps take.
        window_s: after it an unfinished batch expires.
        max_requests, max_bytes: of a file.
        done_share: below 1, the batch never finishes and expires with this share of its rows.
        duplicate, missing, unknown: so many rows come twice, never, or under an id nobody gave.
        hidden_s: seconds after its creation in which a batch is in no listing.
        failure: error code with which batches fail once they are validated.
        seed: of the order of results and the choice of rows.
    """

    validating_s: float = 5.0
    running_s: float = 60.0
    finalizing_s: float = 5.0
    window_s: float = 86_400.0
    max_requests: int = 50_000
    max_bytes: int = 200_000_000
    done_share: float = 1.0
    duplicate: int = 0
    missing: int = 0
    unknown: int = 0
    hidden_s: float = 0.0
    failure: str | None = None
    seed: int = 0


class Row(NamedTuple):
    """A request of a batch."""

    custom_id: str
    body: Mapping[str, Any]
    tokens: int


class Result(NamedTuple):
    """What became of a row; `status` is 0 where it was not reached."""

    custom_id: str
    status: int
    body: Mapping[str, Any]


class JobError(NamedTuple):
    """Why a batch failed; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None


Answerer = Callable[[Row, int], Result]


@dataclass
class Job:
    """A batch.

    Attributes:
        about: what its API says of it: display name, metadata, endpoint, input file.
        errors: of its file; the job fails of them when it has been validated.
        ended_at: when it got into its last state.
    """

    id: str
    model: str
    created: float
    rows: Sequence[Row]
    about: dict[str, Any]
    errors: list[JobError] = field(default_factory=list)
    cancelled_at: float | None = None
    validated: bool = False
    state: State = "validating"
    ended_at: float | None = None
    results: list[Result] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Of all its prompts."""
        return sum(row.tokens for row in self.rows)


def bring_up_to_date(
    job: Job,
    now: float,
    rules: BatchRules,
    answer: Answerer,
    refuse: Callable[[Job], JobError | None],
) -> None:
    """Let a job go on to `now`; `refuse` names what validation finds besides the file's errors."""
    if job.state in ENDED:
        return
    started = job.created + rules.validating_s
    if not job.validated and now >= started:
        job.validated = True
        late = refuse(job)
        job.errors += [late] if late else []
        if job.errors:
            job.state, job.ended_at = "failed", started
            return
        job.state = "running"
    done = started + rules.running_s
    expiry = job.created + rules.window_s
    if job.cancelled_at is not None:
        _cancel(job, now, rules, answer)
    elif (rules.done_share < 1 or done > expiry) and now >= expiry:
        _end(
            job, "expired", expiry, rules, answer, min(rules.done_share, _share(job, expiry, rules))
        )
    elif rules.done_share >= 1 and now >= done + rules.finalizing_s:
        _end(job, "completed", done + rules.finalizing_s, rules, answer, 1.0)
    elif rules.done_share >= 1 and now >= done:
        job.state = "finalizing"


def _cancel(job: Job, now: float, rules: BatchRules, answer: Answerer) -> None:
    job.state = "cancelling"
    asked = job.cancelled_at or 0.0
    if now >= asked + rules.finalizing_s:
        share = min(rules.done_share, _share(job, asked, rules))
        _end(job, "cancelled", asked + rules.finalizing_s, rules, answer, share)


def _share(job: Job, at: float, rules: BatchRules) -> float:
    if rules.running_s <= 0:
        return 1.0
    return min(max((at - job.created - rules.validating_s) / rules.running_s, 0.0), 1.0)


def _end(
    job: Job, state: State, at: float, rules: BatchRules, answer: Answerer, share: float
) -> None:
    job.state, job.ended_at = state, at
    n_done = int(len(job.rows) * share)
    done = [answer(row, n) for n, row in enumerate(job.rows[:n_done], start=1)]
    left = [Result(row.custom_id, 0, {}) for row in job.rows[n_done:]]
    job.results = _disturbed(done, rules, f"{rules.seed}:{job.id}") + left


def _disturbed(results: list[Result], rules: BatchRules, seed: str) -> list[Result]:
    chance = random.Random(f"batch:{seed}")
    kept = list(results)
    chance.shuffle(kept)
    kept = kept[rules.missing :]
    twice = chance.sample(kept, min(rules.duplicate, len(kept)))
    strange = [
        result._replace(custom_id=f"unknown-{n}")
        for n, result in enumerate(chance.choices(kept, k=rules.unknown) if kept else [])
    ]
    mixed = kept + twice + strange
    if twice or strange:
        chance.shuffle(mixed)
    return mixed
