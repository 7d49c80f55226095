"""Fieldwork: the engine as a job of the workflow runs it, ledger included."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workload import (
    MAX_TOKENS,
    MODEL,
    TEMPERATURE,
    Job,
    Stopwatch,
    blocks,
    context,
    question,
    read_job,
)

from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import settle
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.responses import BLANK_GROUP
from fieldwork.generation.sending import Sender, open_sender
from fieldwork.records.puppets import Context, Message
from fieldwork.records.tasks import Item

PRICES: dict[str, Any] = {
    MODEL: {
        "as_of": "2026-11-20",
        "source": "made up",
        "input": 0.15,
        "cached": 0.075,
        "output": 0.6,
    }
}


def model_entry(job: Job) -> dict[str, Any]:
    """An entry of `models` as a user would write it for a server of their own."""
    return {
        "provider": "openai",
        "label": MODEL,
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


def sender_of(
    job: Job, entry: Mapping[str, Any], prices: Mapping[str, Any] = PRICES
) -> AbstractContextManager[Sender]:
    """What sends a job's calls, its ledger in the job's folder."""
    folder = Path(job.folder)
    return open_sender(
        MODEL,
        entry,
        {"attempts": 3, "budget_usd": None},
        prices,
        max_tokens=MAX_TOKENS,
        folder=folder,
        vector_store=folder / "unused",
    )


def history(number: int, n_bytes: int, n_tokens: int) -> Context:
    """A puppet's conversation, told from others by its number."""
    said = [Message("user", context(number, n_bytes)), Message("assistant", "ok")]
    return Context(f"c{number}", f"p{number}", None, [], said, n_tokens, 0)


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
    with sender_of(job, model_entry(job), {}) as sender:
        settled = settle(groups(job), sender, total=job.n)
    watch.report(job, settled.n_asked)


if __name__ == "__main__":
    main()
