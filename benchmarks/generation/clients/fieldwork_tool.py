"""Fieldwork: the engine as a job of the workflow runs it, ledger included."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workload import MAX_TOKENS, MODEL, TEMPERATURE, Job, Stopwatch, blocks, question, read_job

from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import settle
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.responses import BLANK_GROUP
from fieldwork.generation.sending import open_sender
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item


def model_entry(job: Job) -> dict[str, Any]:
    """An entry of `models` as a user would write it for a server of their own."""
    return {
        "provider": "openai",
        "model": MODEL,
        "base_url": job.url,
        "api_key_env": None,
        "token_limit_field": "max_tokens",
        "send_temperature": True,
        "send_seed": False,
        "timeout_s": 120.0,
        "concurrency": job.concurrency,
        "prefix_cache": {"min_tokens": 1024, "requests_per_minute": None},
    }


def groups(job: Job) -> Iterator[ContextGroup]:
    """The job's requests; blank ones in the pieces that the workflow makes of them."""
    for number, (text, numbers) in enumerate(blocks(job)):
        if text is not None:
            said = [Message("user", text), Message("assistant", "ok")]
            yield ContextGroup(str(number), said, [_ask(n) for n in numbers])
            continue
        for first in range(0, len(numbers), BLANK_GROUP):
            yield ContextGroup(None, [], [_ask(n) for n in numbers[first : first + BLANK_GROUP]])


def _ask(number: int) -> Ask:
    asked = Item(f"q{number}", "choice", "", question(number), [], None, None, "")
    return Ask(asked, Sampling(TEMPERATURE, MAX_TOKENS, 0), 0)


def main() -> None:
    """Do the job."""
    job = read_job()
    watch = Stopwatch()
    with open_sender(
        MODEL,
        model_entry(job),
        {"attempts": 3, "budget_usd": None},
        {},
        max_tokens=MAX_TOKENS,
        folder=Path(job.folder),
        vector_store=Path(job.folder) / "unused",
    ) as sender:
        settled = settle(groups(job), sender, total=job.n)
    watch.report(job, settled.n_asked)


if __name__ == "__main__":
    main()
