"""Anthropic's message batches: one call with all requests, and no name of its sender's."""

import re
from collections.abc import Mapping
from typing import Any

from servers.anthropic_api import API, page_of, refused, timestamp
from servers.batch_jobs import ENDED, Job, Result, Row
from servers.faults import anthropic_error
from servers.model_server import Chat
from servers.routes import Received, Reply, Route, json_reply
from servers.service import json_lines, shown_jobs

BATCHES = "/v1/messages/batches"
NO_BATCH = refused(404, "Batch not found")
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def routes() -> list[Route]:
    one = f"{BATCHES}/(?P<id>[^/]+)"
    return [
        Route("POST", BATCHES, "batches.create", create_batch),
        Route("GET", BATCHES, "batches.list", list_batches),
        Route("GET", one, "batches.get", get_batch),
        Route("GET", f"{one}/results", "files.content", get_results),
    ]


async def create_batch(received: Received) -> Reply:
    """POST /v1/messages/batches. What a request says is checked only when it is run."""
    chat, body = received.chat, received.seen.body
    if len(received.seen.raw) > chat.batch.max_bytes:
        return refused(413, "Request exceeds the maximum size")
    asked = body.get("requests")
    if body.keys() != {"requests"} or not isinstance(asked, list) or not asked:
        return refused(400, "requests: Field required, and nothing else is known")
    if len(asked) > chat.batch.max_requests:
        return refused(400, f"requests: at most {chat.batch.max_requests} are possible")
    rows: dict[str, Row] = {}
    for place, request in enumerate(asked):
        if not isinstance(request, dict) or request.keys() != {"custom_id", "params"}:
            return refused(400, f"requests.{place}: custom_id and params are required")
        if not _CUSTOM_ID.fullmatch(str(request["custom_id"])):
            return refused(400, f"requests.{place}.custom_id: String should match the pattern")
        if request["custom_id"] in rows:
            return refused(400, f"requests.{place}.custom_id: is not unique")
        rows[request["custom_id"]] = Row(request["custom_id"], request["params"], 0)
    about = {"version": received.seen.headers["anthropic-version"]}
    name = chat.new_name("msgbatch_")
    job = Job(name, "", chat.clock.now(), list(rows.values()), about)
    chat.jobs[name] = job
    return json_reply(_batch_object(chat, job))


def _refresh(chat: Chat, job: Job) -> None:
    failure = chat.batch.failure
    # a batch cannot fail; each of its rows can
    api = API if failure is None else API._replace(read=lambda *_, **__: _failed(str(failure)))
    api.refresh(chat, job, job.about["version"])


def _failed(failure: str) -> Reply:
    return Reply(500, anthropic_error(failure, "api_error"))


def _batch_object(chat: Chat, job: Job) -> dict[str, Any]:
    _refresh(chat, job)
    has_ended = job.state in ENDED
    counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
    for result in job.results if has_ended else ():
        counts[_kind(job, result)] += 1
    processing = 0 if has_ended else len(job.rows)
    status = "canceling" if job.state == "cancelling" else "in_progress"
    url = f"{chat.anthropic_url}{BATCHES}/{job.id}/results"
    return {
        "id": job.id,
        "type": "message_batch",
        "processing_status": "ended" if has_ended else status,
        "request_counts": {"processing": processing, **counts},
        "created_at": timestamp(job.created),
        "expires_at": timestamp(job.created + chat.batch.window_s),
        "ended_at": timestamp(job.ended_at) if job.ended_at is not None else None,
        "cancel_initiated_at": timestamp(job.cancelled_at) if job.cancelled_at else None,
        "archived_at": None,
        "results_url": url if has_ended else None,
    }


def _kind(job: Job, result: Result) -> str:
    if result.status == 0:
        return "canceled" if job.state == "cancelled" else "expired"
    return "succeeded" if result.status == 200 else "errored"


async def list_batches(received: Received) -> Reply:
    """GET /v1/messages/batches, newest first."""
    shown = [_batch_object(received.chat, job) for job in shown_jobs(received.chat, "version")]
    return page_of(shown, received.seen.query)


async def get_batch(received: Received) -> Reply:
    job = received.chat.jobs.get(received.match["id"])
    return json_reply(_batch_object(received.chat, job)) if job else NO_BATCH


async def get_results(received: Received) -> Reply:
    job = received.chat.jobs.get(received.match["id"])
    if job is None:
        return NO_BATCH
    _refresh(received.chat, job)
    if job.state not in ENDED:
        return refused(404, "The batch has no available results")
    lines = [{"custom_id": r.custom_id, "result": _result(job, r)} for r in job.results]
    return Reply(200, json_lines(lines), content_type="application/x-jsonl")


def _result(job: Job, result: Result) -> Mapping[str, Any]:
    kind = _kind(job, result)
    if kind == "succeeded":
        return {"type": kind, "message": result.body}
    return {"type": kind, **({"error": result.body} if kind == "errored" else {})}
