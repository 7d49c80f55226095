"""OpenAI's files and batches."""

import json
import re
from typing import Any

from servers.batch_jobs import ENDED, Job, JobError, Row
from servers.model_server import Chat, ChatRequest, StoredFile
from servers.openai_api import API, read_call, refused
from servers.routes import Received, Reply, Route, json_reply
from servers.service import Body, id_page, jobs_ahead, json_lines, over_limit, shown_jobs

ENDPOINT = "/v1/chat/completions"
STATES = {"running": "in_progress"}
PREFIX = "(?:/v1|/openai|/openai/v1)"


def routes() -> list[Route]:
    file, batch = f"{PREFIX}/files/(?P<id>[^/]+)", f"{PREFIX}/batches/(?P<id>[^/]+)"
    return [
        Route("POST", f"{PREFIX}/files", "files.upload", upload_file),
        Route("GET", file, "files.get", get_file),
        Route("DELETE", file, "files.delete", delete_file),
        Route("GET", f"{file}/content", "files.content", get_content),
        Route("POST", f"{PREFIX}/batches", "batches.create", create_batch),
        Route("GET", f"{PREFIX}/batches", "batches.list", list_batches),
        Route("GET", batch, "batches.get", get_batch),
    ]


async def upload_file(received: Received) -> Reply:
    fields = _form(received.seen)
    name, data = fields.get("file", ("", b""))
    purpose = fields.get("purpose", ("", b""))[1].decode()
    if "file" not in fields or not purpose:
        return refused(400, "'file' and 'purpose' are required")
    if purpose == "batch" and len(data) > received.chat.batch.max_bytes:
        return refused(
            413, f"File is over the {received.chat.batch.max_bytes} bytes a batch may have"
        )
    stored = received.chat.store_file(data, name=name, purpose=purpose, prefix="file-")
    return json_reply(_file_object(stored))


def _form(seen: ChatRequest) -> dict[str, tuple[str, bytes]]:
    """Fields of multipart/form-data: name → file name and content."""
    boundary = re.search(r'boundary="?([^";]+)', seen.headers.get("content-type", ""))
    if not boundary:
        return {}
    found = {}
    for piece in seen.raw.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, content = piece.partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="([^"]*)"', head)
        file_name = re.search(rb'filename="([^"]*)"', head)
        if name:
            shown = file_name[1].decode("utf-8", "replace") if file_name else ""
            found[name[1].decode()] = (shown, content.removesuffix(b"\r\n"))
    return found


def _file_object(stored: StoredFile) -> dict[str, Any]:
    return {
        "id": stored.id,
        "object": "file",
        "bytes": len(stored.data),
        "created_at": int(stored.created),
        "filename": stored.name,
        "purpose": stored.purpose,
        "status": "processed",
    }


async def get_file(received: Received) -> Reply:
    stored = received.chat.files.get(received.match["id"])
    return json_reply(_file_object(stored)) if stored else _no_such("File", received.match["id"])


async def delete_file(received: Received) -> Reply:
    if received.chat.files.pop(received.match["id"], None) is None:
        return _no_such("File", received.match["id"])
    return json_reply({"id": received.match["id"], "object": "file", "deleted": True})


async def get_content(received: Received) -> Reply:
    stored = received.chat.files.get(received.match["id"])
    if stored is None:
        return _no_such("File", received.match["id"])
    return Reply(200, stored.data, content_type="application/octet-stream")


def _no_such(kind: str, name: str) -> Reply:
    return refused(404, f"No such {kind} object: {name}", "not_found")


async def create_batch(received: Received) -> Reply:
    asked = received.seen.body
    stored = received.chat.files.get(str(asked.get("input_file_id")))
    if stored is None:
        return refused(400, "Invalid input_file_id: no such file", "invalid_input_file")
    if asked.get("endpoint") != ENDPOINT or asked.get("completion_window") != "24h":
        return refused(400, f"endpoint must be {ENDPOINT} and completion_window 24h")
    metadata = asked.get("metadata") or {}
    if len(metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in metadata.items()):
        return refused(400, "metadata: at most 16 pairs, keys of 64 and values of 512 characters")
    about = {"input_file_id": stored.id, "metadata": asked.get("metadata")}
    job = Job(received.chat.new_name("batch_"), "", received.chat.clock.now(), [], about)
    _read_rows(received.chat, job, stored.data)
    received.chat.jobs[job.id] = job
    return json_reply(_batch_object(received.chat, job))


def _read_rows(chat: Chat, job: Job, data: bytes) -> None:
    rows: dict[str, Row] = {}
    models = set()
    lines = [line for line in data.split(b"\n") if line.strip()]
    if not lines:
        job.errors.append(JobError("empty_file", "The input file is empty."))
    if len(lines) > chat.batch.max_requests:
        most = f"The batch has more than {chat.batch.max_requests} requests."
        job.errors.append(JobError("too_many_requests", most))
        return
    for number, line in enumerate(lines, start=1):
        row = _read_row(chat, job, line, number)
        if row is None:
            continue
        if row.custom_id in rows:
            job.errors.append(JobError("duplicate_custom_id", "custom_id comes twice", number))
        rows[row.custom_id] = row
        models.add(str(row.body.get("model")))
    if len(models) > 1:
        job.errors.append(JobError("mismatched_model", "All requests must have one model."))
    job.rows, job.model = list(rows.values()), min(models, default="")


def _read_row(chat: Chat, job: Job, line: bytes, number: int) -> Row | None:
    try:
        asked = json.loads(line)
        custom_id, url, body = asked["custom_id"], asked["url"], asked["body"]
    except (ValueError, KeyError, TypeError):
        job.errors.append(JobError("invalid_json_line", "This line is no request.", number))
        return None
    if url != ENDPOINT or asked.get("method") != "POST":
        job.errors.append(JobError("invalid_url", f"url must be {ENDPOINT}, by POST.", number))
        return None
    call = read_call(chat, body)
    tokens = 0 if isinstance(call, Reply) else call.prompt.n_tokens
    return Row(str(custom_id), body, tokens)


def _refresh(chat: Chat, job: Job) -> None:
    API.refresh(chat, job, None, lambda j: over_limit(chat, j))
    if job.state in ENDED and job.state != "failed" and not job.outputs:
        job.outputs = _write_files(chat, job)


def _write_files(chat: Chat, job: Job) -> dict[str, str]:
    lines: dict[str, list[Body]] = {"output_file_id": [], "error_file_id": []}
    message = "This request could not be executed before the batch ended."
    unrun = {"code": f"batch_{job.state}", "message": message}
    for number, result in enumerate(job.results, start=1):
        name = f"{job.id}_{number}"
        body = {"status_code": result.status, "request_id": f"req_{name}", "body": result.body}
        line = {
            "id": f"batch_req_{name}",
            "custom_id": result.custom_id,
            "response": body if result.status else None,
            "error": None if result.status else unrun,
        }
        lines["output_file_id" if result.status == 200 else "error_file_id"].append(line)
    about = {"purpose": "batch_output", "prefix": "file-"}
    return {
        field: chat.store_file(json_lines(rows), name=f"{job.id}_{field}.jsonl", **about).id
        for field, rows in lines.items()
        if rows
    } or {"output_file_id": ""}


def _batch_object(chat: Chat, job: Job) -> dict[str, Any]:
    for earlier in [*jobs_ahead(chat, job), job]:
        _refresh(chat, earlier)
    done = [r for r in job.results if r.status]
    errors = [error._asdict() for error in job.errors]
    found: dict[str, Any] = {
        "id": job.id,
        "object": "batch",
        "endpoint": ENDPOINT,
        "completion_window": "24h",
        "model": job.model or None,
        "errors": {"object": "list", "data": errors} if job.state == "failed" else None,
        "status": STATES.get(job.state, job.state),
        "output_file_id": job.outputs.get("output_file_id") or None,
        "error_file_id": job.outputs.get("error_file_id"),
        "created_at": int(job.created),
        "expires_at": int(job.created + chat.batch.window_s),
        "cancelling_at": job.cancelled_at and int(job.cancelled_at),
        "request_counts": {
            "total": len(job.rows) if job.validated else 0,
            "completed": sum(r.status == 200 for r in done),
            "failed": sum(r.status != 200 for r in done),
        },
        **job.about,
    }
    if job.ended_at is not None:
        found[f"{job.state}_at"] = int(job.ended_at)
    return found


async def list_batches(received: Received) -> Reply:
    """GET /v1/batches, newest first."""
    chat, query = received.chat, received.seen.query
    entries = [_batch_object(chat, job) for job in shown_jobs(chat, "input_file_id")]
    ids, after = [entry["id"] for entry in entries], query.get("after")
    start = ids.index(after) + 1 if after in ids else 0
    return json_reply({"object": "list", **id_page(entries, start, int(query.get("limit", 20)))})


async def get_batch(received: Received) -> Reply:
    chat, name = received.chat, received.match["id"]
    job = chat.jobs.get(name)
    return json_reply(_batch_object(chat, job)) if job else _no_such("Batch", name)
