"""What every API does with a call, live or as a row of a batch, and with the batches that it holds."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from servers.batch_jobs import Job, JobError, Result, Row, bring_up_to_date
from servers.bill import Tier
from servers.faults import Fault
from servers.model_server import Call, Chat, Done, question_of
from servers.prefix_cache import Lookup
from servers.routes import Received, Reply, json_reply

Body = Mapping[str, Any]


class ReadCall(Protocol):
    """Reads a request's body as a call, or says why it is refused.

    `about` is what the body lacks: a deployment, a model or the interface's version.
    """

    def __call__(
        self, chat: Chat, body: Body, about: str | None, *, tier: Tier = "live"
    ) -> Call | Reply: ...


class Api(NamedTuple):
    """How an API reads calls and words answers.

    Attributes:
        body_of: of a call, its answer, the answer's name and a fault: the body.
        prefix: of the names of answers.
        penniless: the refusal of whoever cannot pay.
        headers: of an answer, by the number of its call.
        error_of: what a batch's row holds of the body of an error.
    """

    read: ReadCall
    body_of: Callable[[Chat, Call, Done, str, Fault], dict[str, Any]]
    prefix: str
    penniless: Reply
    headers: Callable[[int], Mapping[str, str]] = lambda number: {}  # noqa: ARG005
    error_of: Callable[[Body], Body] = lambda body: body

    async def answer(self, received: Received, about: str | None) -> tuple[Call | None, Reply]:
        """The reply to a live call, and the call where it was answered."""
        chat, number = received.chat, received.seen.number
        call = self.read(chat, received.seen.body, about)
        if isinstance(call, Reply):
            return None, call
        if chat.penniless:
            return None, self.penniless
        done = await chat.run(call, str(number), received.fault.wait_s)
        body = self.body_of(chat, call, done, f"{self.prefix}{number}", received.fault)
        return call, json_reply(body, self.headers(number))

    def run_row(self, chat: Chat, row: Row, about: str | None, unique: str) -> Result:
        """What becomes of a batch's row."""
        fault = chat.take_fault(question_of(row.body), "row")
        if fault is not None and fault.status != 200:
            error = self.error_of(json.loads(fault.body or b"{}"))
            return Result(row.custom_id, fault.status, error)
        call = self.read(chat, row.body, about, tier="batch")
        if isinstance(call, Reply):
            return Result(row.custom_id, call.status, self.error_of(json.loads(call.body)))
        done = chat.finish(call, Lookup(0, 0), unique)
        body = self.body_of(chat, call, done, f"{self.prefix}{unique}", fault or Fault())
        return Result(row.custom_id, 200, body)

    def refresh(
        self,
        chat: Chat,
        job: Job,
        about: str | None,
        refuse: Callable[[Job], JobError | None] = lambda job: None,  # noqa: ARG005
    ) -> None:
        """Let a batch go on to now."""

        def run(row: Row, number: int) -> Result:
            return self.run_row(chat, row, about, f"{job.id}.{number}")

        bring_up_to_date(job, chat.clock.now(), chat.batch, run, refuse)


def without(body: Body, fault: Fault, *foreign: str) -> dict[str, Any]:
    """An answer without what a fault drops, and without `foreign` fields of faults for other APIs."""
    return {key: value for key, value in body.items() if key not in {*fault.drop, *foreign}}


def shown_jobs(chat: Chat, mark: str) -> list[Job]:
    """Batches whose creation left `mark`, newest first, without those that no listing has yet."""
    latest = chat.clock.now() - chat.batch.hidden_s
    return [j for j in reversed(chat.jobs.values()) if mark in j.about and j.created <= latest]


def over_limit(chat: Chat, job: Job) -> JobError | None:
    """What validation finds besides the file's own errors."""
    if chat.batch.failure is not None:
        return JobError(chat.batch.failure, "The batch could not be run.")
    spec = chat.spec(job.model)
    if spec is None or spec.enqueued_tokens is None:
        return None
    if sum(j.tokens for j in jobs_ahead(chat, job)) + job.tokens <= spec.enqueued_tokens:
        return None
    limit = f"Limit: {spec.enqueued_tokens} enqueued tokens."
    message = f"Enqueued token limit reached for {job.model}. {limit} Please try again later."
    return JobError("token_limit_exceeded", message)


def jobs_ahead(chat: Chat, job: Job) -> list[Job]:
    """Earlier batches of its model that had not ended when it was validated."""
    validated, jobs = job.created + chat.batch.validating_s, list(chat.jobs.values())
    return [
        j
        for j in jobs[: jobs.index(job)]
        if j.model == job.model and (j.ended_at is None or j.ended_at > validated)
    ]


def id_page(entries: Sequence[Body], start: int, limit: int) -> dict[str, Any]:
    """A page of a list that names its first and last entry."""
    page = list(entries[start : start + limit])
    return {
        "data": page,
        "has_more": start + limit < len(entries),
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }


def json_lines(entries: Sequence[Body]) -> bytes:
    """A line of JSON for each."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)
