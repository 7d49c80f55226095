"""A chat model on this machine: a provider without a server.

A body begins with the context and a line break, and has no other line break; calls after one context go
to the process that has read it. The body holds all that can change an answer but the weights and the
code, which the endpoint names.
"""

import asyncio
import json
import logging
import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fieldwork.downloads import hub
from fieldwork.errors import StudyError
from fieldwork.generation.chat.memory import require_memory
from fieldwork.generation.chat.pool import WorkerJob, WorkerPool, pack_in_process
from fieldwork.generation.chat.sources import (
    HUB_FILES,
    OPTIONAL_HUB_FILES,
    ModelSource,
    join_parts,
)
from fieldwork.generation.providers.base import (
    Exchange,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
    Usage,
)
from fieldwork.generation.providers.local import LocalModel
from fieldwork.records.generation import OptionProbability, Outcome
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import LETTER_KINDS, Item

logger = logging.getLogger(__name__)

LIST_LENGTH = 5
# calls that wait for a process each: so the contexts of several groups are there to choose from
CALLS_PER_WORKER = 512
# what a process holds at most beside the weights, which all of them share: torch and a pass (0.4 GB),
# contexts (0.27 GB), and answers under way (0.54 GB)
WORKER_BYTES = 1.2e9

GrammarName = Literal["none", "five_lines", "candidates"]


class ChatSettings(NamedTuple):
    """How a model answers.

    Attributes:
        grammar: the form that a list is held to.
        min_p: tokens below this share of the best one's probability are left out.
        choices: whether a choice is answered by a letter, or by the likelihood of each option's text.
        n_workers: processes; None for as many as there are cores.
    """

    grammar: GrammarName
    min_p: float
    choices: Literal["letter", "likelihood"]
    n_workers: int | None


class LocalChat(LocalModel):
    """The provider `local_chat`.

    Args:
        code: version of the code that answers. It is part of the endpoint, because another version may
            give other answers.
    """

    def __init__(self, source: ModelSource, settings: ChatSettings, code: str) -> None:
        self._source, self._settings = source, settings
        self._pool: asyncio.Task[WorkerPool] | None = None
        self._n_workers = 1 if has_gpu() else settings.n_workers or _cores()
        self._folder = source.packed_folder
        self.concurrency = CALLS_PER_WORKER * self._n_workers
        self.endpoint = f"local_chat:{source.identity}:int8:{code}"

    def prefix(self, context: Sequence[Message]) -> bytes:
        """The context's messages; equal contexts give equal bytes."""
        return super().prefix(context) + b"\n"

    def question(self, item: Item, sampling: Sampling) -> bytes:
        """The rest of the call; raises StudyError for a list item that lacks candidates."""
        call: dict[str, Any] = {"temperature": sampling.temperature, "seed": sampling.seed}
        if item.kind in LETTER_KINDS and self._settings.choices == "likelihood":
            call |= {"form": "likelihood", "prompt": item.question, "options": item.choices}
        else:
            grammar = self._form_of(item)
            call |= {"form": grammar, "prompt": item.prompt, "max_tokens": sampling.max_tokens}
            call |= {"min_p": self._settings.min_p}
            call |= {"length": item.list_length or LIST_LENGTH} if grammar != "none" else {}
            call |= {"options": _candidates(item)} if grammar == "candidates" else {}
            call |= {"letters": len(item.choices)} if item.kind in LETTER_KINDS else {}
        return f", {json.dumps(call)[1:-1]}".encode()

    def _form_of(self, item: Item) -> GrammarName:
        """The form of an answer: that of lists, or of texts that consist of given lines."""
        is_held = item.kind == "list" or (item.kind == "text" and bool(item.choices))
        is_list_form = item.kind == "list" or self._settings.grammar == "candidates"
        return self._settings.grammar if is_held and is_list_form else "none"

    async def send(self, body: bytes) -> Exchange:
        """Have a process answer the call."""
        if self._pool is None:
            self._pool = asyncio.create_task(self._open_pool())
        # one call that is given up must not end what all others wait for
        pool = await asyncio.shield(self._pool)
        head, _, _ = body.partition(b"\n")
        raw = await pool.ask(head, body)
        if raw.startswith(b'{"rejection"'):
            raise RejectedError(json.loads(raw)["rejection"])
        return Exchange(raw)

    def read(self, raw: bytes) -> Reply:
        """Read a reply of a process."""
        try:
            reply = json.loads(raw)
            text, finish_reason = _text(reply["text"]), _text(reply["finish_reason"])
            counts = [_count(reply[name]) for name in ("input", "cache_read", "output")]
            shares = _shares(reply["probabilities"])
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise TransientError(f"not a reply of a local chat model: {error}") from error
        outcome: Outcome = "truncated" if finish_reason == "length" else "ok"
        n_input, n_cached, n_output = counts
        return Reply(
            text=text,
            outcome=outcome if text.strip() else "empty",
            finish_reason=finish_reason,
            usage=Usage(input=n_input, cache_read=n_cached, output=n_output),
            option_probabilities=shares,
        )

    async def close(self) -> None:
        """End the processes. The next call starts them again."""
        opening, self._pool = self._pool, None
        if opening is None:
            return
        opening.cancel()
        (pool,) = await asyncio.gather(opening, return_exceptions=True)
        if isinstance(pool, WorkerPool):
            await pool.close()

    async def _open_pool(self) -> WorkerPool:
        await self._bring_weights()
        n_workers = _affordable_workers(self._source.setting, self._folder, self._n_workers)
        logger.info("%s answers with %d processes", self._source.identity, n_workers)
        pool = WorkerPool(WorkerJob(str(self._folder), self._source.setting), n_workers)
        pool.open()
        return pool

    async def _bring_weights(self) -> None:
        """Download the model or put it together where that is needed, and pack it once."""
        source, folder = self._source, self._folder
        if folder.is_dir():
            return
        if source.repo:
            await asyncio.to_thread(
                hub.download,
                name=source.setting,
                repo=source.repo,
                revision=source.revision,
                patterns=HUB_FILES,
                optional_patterns=OPTIONAL_HUB_FILES,
                folder=source.path,
                repo_type="model",
            )
        logger.info(
            "rounding the weights of %s to eight bits once, into %s; ten seconds for 135 million weights",
            source.path.name,
            folder,
            extra={"is_shown": True},
        )
        folder.parent.mkdir(parents=True, exist_ok=True)
        if source.parts:
            await asyncio.to_thread(join_parts, source)
        await pack_in_process(WorkerJob(str(folder), source.setting, str(source.path)))
        if source.parts:
            # the packages hold it still
            source.path.unlink(missing_ok=True)


def _candidates(item: Item) -> list[str]:
    if not any(choice.strip() for choice in item.choices):
        raise StudyError(
            f"item {item.item_id!r} has no candidate answers, and models.*.decoding.grammar is "
            f"candidates; add some to the task's candidates file, or set grammar to five_lines or none"
        )
    return item.choices


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def has_gpu() -> bool:
    """Whether torch is likely to find a GPU; without importing it, which takes a second."""
    try:
        is_cpu_build = metadata.version("torch").endswith("+cpu")
    except metadata.PackageNotFoundError:
        return False
    return not is_cpu_build and Path("/dev/nvidiactl").exists()


def _affordable_workers(name: str, folder: Path, n_workers: int) -> int:
    """As many of the processes as fit into free memory, where they share the weights.

    Raises:
        StudyError: not even one fits.
    """
    n_common = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    available = require_memory(name, n_common + WORKER_BYTES)
    affordable = int((available - n_common) // WORKER_BYTES)
    if affordable < n_workers:
        logger.warning("%s: memory is enough for %d processes only", name, affordable)
    return min(n_workers, affordable)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is no text")
    # UTF-8 must hold it
    return value.encode().decode()


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError("a count of tokens is no such number")
    return value


def _shares(shares: Mapping[str, Any] | None) -> tuple[OptionProbability, ...] | None:
    if shares is None:
        return None
    return tuple(OptionProbability(option, float(share)) for option, share in shares.items())
