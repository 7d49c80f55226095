"""Gemini's files and batches, as google-genai's `files` and `batches` use them."""

import json
from typing import Any

from servers.batch_jobs import ENDED, Job, JobError, Result, Row
from servers.gemini_api import (
    API,
    VERSION,
    no_model,
    read_call,
    refused,
    timestamp,
    token_page,
)
from servers.model_server import Chat, StoredFile
from servers.routes import Received, Reply, Route, json_reply
from servers.service import Body, json_lines, over_limit, shown_jobs

_RUNNING = dict.fromkeys(("running", "finalizing", "cancelling"), "RUNNING")
STATES = {"validating": "PENDING", **_RUNNING, "completed": "SUCCEEDED"}
"""What Google calls a state, where it has a name of its own."""
NO_FILE = refused(403, "You do not have permission to access the File or it may not exist.")


def routes() -> list[Route]:
    batch, file = f"{VERSION}/batches/(?P<id>[^/:]+)", f"{VERSION}/files/(?P<id>[^/:]+)"
    model = f"{VERSION}/models/(?P<model>[^/:]+)"
    return [
        Route("POST", f"/upload{VERSION}/files", "files.upload", upload_file),
        Route("GET", file, "files.get", get_file),
        Route("GET", f"(?:/download)?{file}:download", "files.content", download_file),
        Route("DELETE", file, "files.delete", delete_file),
        Route("POST", f"{model}:batchGenerateContent", "batches.create", create_batch),
        Route("GET", f"{VERSION}/batches", "batches.list", list_batches),
        Route("GET", batch, "batches.get", get_batch),
    ]


async def upload_file(received: Received) -> Reply:
    """POST upload/files: a first call names the file, the next ones to its own address bring it."""
    upload = received.seen.query.get("upload_id")
    if upload is None:
        asked = received.seen.body.get("file") or {}
        about = asked.get("displayName") or asked.get("display_name") or ""
        started = received.chat.store_file(b"", name=about, purpose="uploading", prefix="upload-")
        url = f"http://{received.seen.headers['host']}{received.seen.path}?upload_id={started.id}"
        return json_reply({}, {"x-goog-upload-url": url, "x-goog-upload-status": "active"})
    part = received.chat.files.get(upload)
    if part is None:
        return refused(404, "no such upload")
    part = part._replace(data=part.data + received.seen.raw)
    received.chat.files[upload] = part
    if "finalize" not in received.seen.headers.get("x-goog-upload-command", ""):
        return json_reply({}, {"x-goog-upload-status": "active"})
    del received.chat.files[upload]
    stored = received.chat.store_file(part.data, name=part.name, purpose="uploaded", prefix="file")
    return json_reply({"file": _file_object(stored)}, {"x-goog-upload-status": "final"})


def _file_object(stored: StoredFile) -> dict[str, Any]:
    made = stored.purpose == "generated"
    found = {
        "name": f"files/{stored.id}",
        "displayName": stored.name,
        "mimeType": "application/jsonl",
        "sizeBytes": str(len(stored.data)),
        "createTime": timestamp(stored.created),
        "updateTime": timestamp(stored.created),
        "uri": f"files/{stored.id}",
        "state": "ACTIVE",
        "source": "GENERATED" if made else "UPLOADED",
    }
    return found | ({"downloadUri": f"files/{stored.id}:download?alt=media"} if made else {})


async def get_file(received: Received) -> Reply:
    stored = received.chat.files.get(received.match["id"])
    return json_reply(_file_object(stored)) if stored else NO_FILE


async def download_file(received: Received) -> Reply:
    """GET files/{id}:download; uploaded files cannot be downloaded."""
    stored = received.chat.files.get(received.match["id"])
    if stored is None or stored.purpose != "generated":
        return NO_FILE
    return Reply(200, stored.data, content_type="application/octet-stream")


async def delete_file(received: Received) -> Reply:
    gone = received.chat.files.pop(received.match["id"], None)
    return NO_FILE if gone is None else json_reply({})


async def create_batch(received: Received) -> Reply:
    model, asked = received.match["model"], received.seen.body.get("batch") or {}
    source = asked.get("inputConfig") or {}
    if received.chat.spec(model) is None:
        return no_model(model)
    stored = received.chat.files.get(str(source.get("fileName", "")).rpartition("/")[2])
    if stored is None:
        return NO_FILE
    about = {"displayName": asked.get("displayName", ""), "service": "gemini"}
    job = Job(received.chat.new_name("b"), model, received.chat.clock.now(), [], about)
    job.rows = _file_rows(received.chat, job, stored.data)
    received.chat.jobs[job.id] = job
    return json_reply(_operation(received.chat, job))


def _row(chat: Chat, job: Job, key: str, body: Body) -> Row:
    call = read_call(chat, body, job.model)
    return Row(key, body, 0 if isinstance(call, Reply) else call.prompt.n_tokens)


def _file_rows(chat: Chat, job: Job, data: bytes) -> list[Row]:
    rows = []
    for number, line in enumerate(filter(bytes.strip, data.split(b"\n")), start=1):
        try:
            entry = json.loads(line)
            rows.append(_row(chat, job, str(entry["key"]), entry["request"]))
        except (ValueError, KeyError, TypeError):
            job.errors.append(JobError("INVALID_ARGUMENT", "this line is no request", number))
    return rows


def _operation(chat: Chat, job: Job) -> dict[str, Any]:
    API.refresh(chat, job, job.model, lambda j: over_limit(chat, j))
    metadata: dict[str, Any] = {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "model": f"models/{job.model}",
        "displayName": job.about["displayName"],
        "state": f"BATCH_STATE_{STATES.get(job.state, job.state.upper())}",
        "createTime": timestamp(job.created),
        "updateTime": timestamp(job.ended_at or job.created),
        "name": f"batches/{job.id}",
        "batchStats": {"requestCount": str(len(job.rows))},
    }
    operation = {"name": f"batches/{job.id}", "metadata": metadata, "done": job.state in ENDED}
    if job.ended_at is not None:
        metadata["endTime"] = timestamp(job.ended_at)
    if job.state == "failed":
        first = job.errors[0]
        operation["error"] = {"code": 8, "message": f"{first.code}: {first.message}"}
    elif job.state in ENDED and any(result.status for result in job.results):
        metadata["output"] = operation["response"] = _output(chat, job)
    return operation


def _output(chat: Chat, job: Job) -> dict[str, Any]:
    if not job.outputs:
        lines = [{"key": result.custom_id} | _outcome(result) for result in job.results]
        stored = chat.store_file(
            json_lines(lines), name=job.id, purpose="generated", prefix="batch-"
        )
        job.outputs = {"file": stored.id}
    return {"responsesFile": f"files/{job.outputs['file']}"}


def _outcome(result: Result) -> dict[str, Any]:
    if result.status == 0:
        return {"error": {"code": 1, "message": "The batch ended before this request was run."}}
    return {"response" if result.status == 200 else "error": result.body}


async def list_batches(received: Received) -> Reply:
    """GET batches, newest first."""
    shown = [_operation(received.chat, job) for job in shown_jobs(received.chat, "service")]
    return token_page("operations", shown, received.seen.query)


async def get_batch(received: Received) -> Reply:
    job = received.chat.jobs.get(received.match["id"])
    return json_reply(_operation(received.chat, job)) if job else refused(404, "no such batch")
