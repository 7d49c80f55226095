"""Fieldwork's warm rerun: rows of a full ledger into the table of responses, nothing asked.

The job's folder keeps the ledger and the job's inputs: the first call fills them, every later one is
a rerun and is measured from open ledger to written table, and with the reading of inputs before it.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fieldwork_tool import history, model_entry, sender_of
from workload import MAX_TOKENS, MODEL, Job, question, read_job, write_result

from fieldwork import tables
from fieldwork.generation.providers import http, openai
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

ITEMS = 1_000
CONTEXT_BYTES = 4_000
# the workflow imports them when a provider is made; starting a tool is not what is measured
PROVIDER_MODULES = (http, openai)


class Inputs(NamedTuple):
    """A job's tables."""

    requests: list[Request]
    items: Mapping[str, Item]
    contexts: Mapping[str, Context]


def write_inputs(folder: Path, n: int) -> None:
    """Every item after every context, `n` requests in all."""
    items = [Item(f"q{i}", "choice", "", question(i), [], None, None, "") for i in range(ITEMS)]
    contexts = [
        history(number, CONTEXT_BYTES, CONTEXT_BYTES // 4) for number in range(-(-n // ITEMS))
    ]
    asked = [Request(i.item_id, c.context_id, c.puppet_id, 0) for c in contexts for i in items][:n]
    tables.write_rows(folder / "items.parquet", items, Item)
    tables.write_rows(folder / "contexts.parquet", contexts, Context)
    tables.write_rows(folder / "requests.parquet", asked, Request)


def read_inputs(folder: Path) -> Inputs:
    """As the workflow's script reads them."""
    return Inputs(
        tables.read_rows(folder / "requests.parquet", Request),
        {item.item_id: item for item in tables.read_rows(folder / "items.parquet", Item)},
        {c.context_id: c for c in tables.read_rows(folder / "contexts.parquet", Context)},
    )


def settle(job: Job, inputs: Inputs) -> str:
    """The responses, asked or found, written; what was spent, in words (empty: nothing was asked)."""
    folder = Path(job.folder)
    with sender_of(job, model_entry(job)) as sender:
        arm = GenerationArm(MODEL, "task", "history", 1.0, MAX_TOKENS, 0)
        rows = generate(inputs.requests, inputs.items, inputs.contexts, sender=sender, arm=arm)
        tables.write_rows(folder / "responses.parquet", rows, Response)
        return sender.account.note()


def main() -> None:
    """Fill, or rerun and measure."""
    job = read_job()
    folder = Path(job.folder)
    is_rerun = (folder / "requests.parquet").exists()
    if not is_rerun:
        write_inputs(folder, job.n)
    begun = time.perf_counter()
    inputs = read_inputs(folder)
    read = time.perf_counter()
    spent = settle(job, inputs)
    ended = time.perf_counter()
    if is_rerun and spent:
        raise SystemExit(f"the rerun asked again: {spent}")
    n_rows = len(tables.read_columns(folder / "responses.parquet", Response, ["ledger_key"]))
    write_result(job.result, answered=n_rows, seconds=ended - read, with_inputs_s=ended - begun)


if __name__ == "__main__":
    main()
