"""A batch service on disk, for tests: it outlives the process that uses it, and counts what it ran."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from scripted_provider import ScriptedProvider, reply_bytes
from senders import item_of

from fieldwork.generation.agenda import Call, OpenGroup
from fieldwork.generation.batches.patience import Clock
from fieldwork.generation.ledger import ledger_key
from fieldwork.generation.providers.base import RejectedError, Wire
from fieldwork.generation.providers.batch_base import BatchRow, BatchStatus
from fieldwork.generation.providers.jsontext import load_leniently

Lines = list[dict[str, Any]]


def batch_provider() -> ScriptedProvider:
    """The provider of the batches' calls. A live call is a mistake."""
    return ScriptedProvider(lambda *_: AssertionError("a job of batches sends no live call"))


def make_calls(n: int) -> list[Call]:
    """Calls with distinct questions."""
    made = []
    for number in range(n):
        wire = Wire(b'{"context":"c",', f'"question":{number}'.encode(), b',"delivery":1')
        key = ledger_key(wire.prefix + wire.question, "scripted", 0)
        made.append(Call(key, 0, wire, OpenGroup(len(wire.prefix)), item_of(f"q{number}")))
    return made


class Ticking:
    """A clock that moves when someone sleeps, up to a limit that ends a loop which would never."""

    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += max(seconds, 0.001)
        assert self.time < 1e6, "this waits for ever"

    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)


class Service:
    """The service, as a `BatchClient`.

    Batches run for 100 seconds, and are in no listing for `hidden_s`. `spoil` changes the lines of
    results, `status_of` a batch's status. `faults` are errors that the next calls of a method raise;
    those of `late` methods after they took effect.
    """

    def __init__(self, folder: Path, ticking: Ticking) -> None:
        self._folder, self._ticking = folder, ticking
        folder.mkdir(exist_ok=True)
        self.hidden_s = 0.0
        self.spoil: Callable[[Lines], Lines | bytes] | None = None
        self.status_of: Callable[[str, BatchStatus], BatchStatus] | None = None
        self.faults: dict[str, list[Exception]] = {}
        self.late: set[str] = set()

    def batches(self) -> list[dict[str, Any]]:
        """All batches ever made, in order."""
        found = [json.loads(path.read_text()) for path in self._folder.glob("batch-*.json")]
        return sorted(found, key=lambda batch: batch["id"])

    def lines(self, batch: dict[str, Any]) -> Lines:
        """A batch's requests."""
        raw = (self._folder / batch["file"]).read_bytes()
        return [json.loads(line) for line in raw.splitlines()]

    def ran(self) -> Counter[str]:
        """How often each request was run, by id."""
        made = [batch for batch in self.batches() if not batch.get("refused")]
        return Counter(line["id"] for batch in made for line in self.lines(batch))

    def line(self, custom_id: str, body: bytes) -> bytes:
        return b'{"id":"' + custom_id.encode() + b'","body":' + body + b"}\n"

    def upload(self, path: Path) -> str:
        self._fail("upload", late=False)
        name = f"file-{len(list(self._folder.glob('file-*'))):03d}"
        (self._folder / name).write_bytes(path.read_bytes())
        self._fail("upload", late=True)
        return name

    def create(self, file_id: str, run_id: str) -> str:
        self._fail("create", late=False)
        batch_id = f"batch-{len(self.batches()):03d}"
        batch = {"id": batch_id, "run": run_id, "file": file_id, "at": self._ticking.now()}
        self._write(batch)
        self._fail("create", late=True)
        return batch_id

    def find(self, run_id: str) -> str | None:
        self._fail("find", late=False)
        for batch in self.batches():
            shown = self._ticking.now() >= batch["at"] + self.hidden_s
            if batch["run"] == run_id and shown:
                return str(batch["id"])
        return None

    def status(self, batch_id: str) -> BatchStatus:
        self._fail("status", late=False)
        batch = self._batch(batch_id)
        created = datetime.fromtimestamp(batch["at"], UTC)
        status = BatchStatus("running", is_over=False, created_at=created)
        if self._ticking.now() >= batch["at"] + 100.0:
            status = status._replace(state="done", is_over=True, files=(batch_id,))
        status = self.status_of(batch_id, status) if self.status_of else status
        if status.no_room:
            self._write({**batch, "refused": True})
        return status

    def download(self, file_id: str, into: BinaryIO) -> None:
        self._fail("download", late=False)
        lines = [
            {"id": line["id"], "status": 200, "body": self._answer(line["body"])}
            for line in self.lines(self._batch(file_id))
        ]
        spoiled = self.spoil(lines) if self.spoil else lines
        raw = spoiled if isinstance(spoiled, bytes) else written(spoiled)
        half = len(raw) // 2
        into.write(raw[:half])
        self._fail("download", late=True)
        into.write(raw[half:])

    def row(self, line: bytes) -> BatchRow:
        entry = load_leniently(line).value
        try:
            custom_id, status, body = str(entry["id"]), int(entry["status"]), entry["body"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a row of results: {error}") from error
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return BatchRow(custom_id, status, raw, f"request of {custom_id[:4]}")

    def discard(self, file_id: str) -> None:
        self._fail("discard", late=False)
        assert file_id.startswith("file-")

    def close(self) -> None:
        pass

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        return dict(json.loads(reply_bytes(f"answer to {body['question']}")))

    def _batch(self, batch_id: str) -> dict[str, Any]:
        path = self._folder / f"{batch_id}.json"
        if not path.exists():
            raise RejectedError("HTTP 404: no such batch")
        return dict(json.loads(path.read_text()))

    def _write(self, batch: dict[str, Any]) -> None:
        (self._folder / f"{batch['id']}.json").write_text(json.dumps(batch))

    def _fail(self, method: str, *, late: bool) -> None:
        if (method in self.late) == late and self.faults.get(method):
            raise self.faults[method].pop(0)


def written(lines: Lines) -> bytes:
    """Results as a file."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
