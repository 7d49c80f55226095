"""Fieldwork's order of calls against a simulated prefix cache: what was billed as cached, and the plan.

514 questions after each of ten contexts. MODE in the command line says how they are sent: `ordered`, as
a job of the workflow does; `unordered`, shuffled, without keys and warm-up, as fast as answers come;
`paced`, the same at the rate at which `ordered` may go. SPEED is how fast the server's clock runs.
"""

import json
import random
import sys
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple

from fieldwork_tool import PRICES, history, model_entry, sender_of
from workload import MAX_TOKENS, MODEL, QUESTIONS, Job, context, read_job, write_result

from fieldwork.generation import agenda
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import settle
from fieldwork.generation.planning.loads import NOTHING_OBSERVED, load_of
from fieldwork.generation.planning.rows import PlannedArm, plan_rows
from fieldwork.generation.planning.tables import PlannedRequests, unanswered_groups
from fieldwork.generation.pricing import price_of
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import Sender
from fieldwork.records.generation import PlanRow, Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item
from fieldwork.token_estimate import message_tokens

Mode = Literal["ordered", "unordered", "paced"]

PUPPETS = 10
SUBJECTS = 5
SHOTS_BYTES = 2_000
CONTEXT_BYTES = 16_000
PER_MINUTE = 15
# an answer takes the server two or three tokens of four bytes; the config assumes as much
ANSWER_TOKENS = 2.0


class Study(NamedTuple):
    """The requests, those after one context together."""

    requests: list[Request]
    items: Mapping[str, Item]
    contexts: Mapping[str, Context]


def study() -> Study:
    """Ten puppets; questions of five subjects, each after its subject's worked examples."""
    items = {f"q{number:03d}": _item(number) for number in range(QUESTIONS)}
    # as many tokens as the estimate has of its text and of the word after it
    n_tokens = [
        message_tokens(context(k, CONTEXT_BYTES)) + message_tokens("ok") for k in range(PUPPETS)
    ]
    contexts = {f"c{k}": history(k, CONTEXT_BYTES, n) for k, n in enumerate(n_tokens)}
    asked = [Request(i, c, contexts[c].puppet_id, 0) for c, i in product(contexts, items)]
    return Study(asked, items, contexts)


def _item(number: int) -> Item:
    subject = number * SUBJECTS // QUESTIONS
    shots = context(subject, SHOTS_BYTES)
    prompt = f"{shots}\nQuestion {number}: which of the four is nearest to {number}?\nAnswer:"
    return Item(f"q{number:03d}", "choice", "", prompt, [], None, None, "")


def planned(asked: Study) -> PlanRow:
    """The plan's row for the study, as `snakemake plan` makes it."""
    groups = unanswered_groups(_planned_requests(asked), ())
    arm = PlannedArm(
        MODEL,
        "task",
        "history",
        "tables",
        groups,
        ANSWER_TOKENS,
        MAX_TOKENS,
        len(asked.requests),
        0,
    )
    (row,) = [
        row
        for row in plan_rows(arm, _entry(None), price_of(PRICES, MODEL), NOTHING_OBSERVED, 1.0)
        if row.dispatch == "live"
    ]
    return row


def repeatable(asked: Study) -> int:
    """Tokens of prompts that stood at the beginning of an earlier prompt after the same context."""
    return load_of(unanswered_groups(_planned_requests(asked), ()), None, 1 / 4).repeated_tokens


def _planned_requests(asked: Study) -> PlannedRequests:
    texts = {item.item_id: item.prompt for item in asked.items.values()}
    tokens: dict[str | None, int] = {None: 0}
    tokens |= {name: made.n_tokens for name, made in asked.contexts.items()}
    return PlannedRequests("tables", asked.requests, texts, tokens, (), 0.0)


def _entry(job: Job | None, **other: Any) -> dict[str, Any]:
    known = job or Job("", 0, 0, 200, "", "")
    cache = {"key": True, "breakpoint": False, "min_tokens": 1024, "ttl_s": 300}
    limits = {"requests_per_minute": None, "tokens_per_minute": None, "dispatch": "live"}
    paced = {**cache, "requests_per_minute": PER_MINUTE}
    return {**model_entry(known), **limits, "prefix_cache": paced, **other}


def send_ordered(asked: Study, sender: Sender) -> None:
    """As a job of the workflow."""
    arm = GenerationArm(MODEL, "task", "history", 1.0, MAX_TOKENS, 0)
    deque(generate(asked.requests, asked.items, asked.contexts, sender=sender, arm=arm), maxlen=0)


def send_shuffled(asked: Study, sender: Sender) -> None:
    """Each request a group of its own, without a name for its context."""
    shuffled = random.Random(0).sample(asked.requests, len(asked.requests))
    settled = settle(_alone(asked, shuffled), sender, total=len(shuffled))
    if settled.failures:
        raise SystemExit(f"not answered: {settled.failures}")


def _alone(asked: Study, requests: list[Request]) -> Iterator[ContextGroup]:
    for request in requests:
        said = asked.contexts[request.context_id or ""].messages
        ask = Ask(asked.items[request.item_id], Sampling(1.0, MAX_TOKENS, 0), 0)
        yield ContextGroup(None, said, [ask])


def send(asked: Study, job: Job, mode: Mode, speed: float) -> None:
    """Have everything answered."""
    entry = _entry(job)
    if mode != "ordered":
        entry["prefix_cache"] = None
    if mode == "paced":
        entry["requests_per_minute"] = PER_MINUTE * PUPPETS * speed
    with sender_of(job, entry) as sender:
        (send_ordered if mode == "ordered" else send_shuffled)(asked, sender)


def main() -> None:
    """Send, then compare the server's bill with the plan."""
    job, speed = read_job(), float(sys.argv[3])
    mode: Mode = sys.argv[2]  # type: ignore[assignment]
    asked = study()
    agenda.MINUTE_S = 60 / speed
    send(asked, job, mode, speed)
    address = job.url.removesuffix("/v1") + "/server/bill"
    with urllib.request.urlopen(address) as reply:
        bill = json.load(reply)
    (line,) = bill["lines"]
    row = planned(asked)
    write_result(
        job.result,
        answered=line["requests"],
        cached_share=line["cached"] / repeatable(asked),
        cached_tokens=line["cached"],
        billed_usd=bill["usd"],
        planned_usd=row.cost_expected_usd or 0.0,
        plan_error=(row.cost_expected_usd or 0.0) / bill["usd"] - 1,
    )


if __name__ == "__main__":
    main()
