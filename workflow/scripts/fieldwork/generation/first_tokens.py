"""When the first text of an answer comes: some calls of an arm, sent once more as streams.

Promises that no other call is changed: a streamed call has a key of its own in the ledger, so that it is
never asked for, and never paid for, twice. Calls go one at a time, so that none waits for another.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldwork.generation.ledger import Ledger
from fieldwork.generation.providers.openai_stream import first_text_s
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import Sender
from fieldwork.keyed_order import KeyedPool
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.service import FirstToken
from fieldwork.records.tasks import Item

STREAM = "stream"
"""How a call was sent that was sent once more, to learn when its first text comes."""


def stream_settings(model: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of `models` that asks for streams: at once, one at a time, without warming a cache."""
    return {
        **model,
        "is_streamed": True,
        "dispatch": "live",
        "concurrency": 1,
        "prefix_cache": None,
    }


def sample_requests(requests: Sequence[Request], n: int, arm: GenerationArm) -> list[Request]:
    """So many requests by chance, in their order; a larger sample holds a smaller one.

    Of puppets with equal contexts only the first is taken, as the call of another would depend on
    whether both are in the sample.
    """
    calls: dict[str, Request] = {}
    for request in requests:
        name = json.dumps([request.item_id, request.context_id, request.replicate])
        calls.setdefault(name, request)
    names = {*KeyedPool(calls).draw(n, arm.seed, "first tokens", arm.task, arm.condition)}
    return [request for name, request in calls.items() if name in names]


def first_tokens(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    *,
    sender: Sender,
    arm: GenerationArm,
) -> Iterator[FirstToken]:
    """Have every request answered by a stream, in the order of the requests.

    Raises:
        StudyError: some requests have no answer; those that arrived are in the ledger.
    """
    for response in generate(requests, items, contexts, sender=sender, arm=arm):
        yield _first_token(response, sender.ledger)


def _first_token(response: Response, ledger: Ledger) -> FirstToken:
    keys = [bytes.fromhex(response.ledger_key)] if response.ledger_key else []
    raws = [entry.raw for entry in ledger.entries(keys)]
    return FirstToken(
        model=response.model,
        task=response.task,
        condition=response.condition,
        item_id=response.item_id,
        context_id=response.context_id,
        puppet_id=response.puppet_id,
        replicate=response.replicate,
        ledger_key=response.ledger_key,
        first_token_s=first_text_s(raws[0]) if raws else None,
        latency_s=response.latency_s,
        input_tokens=response.input_tokens,
        cached_tokens=response.cached_tokens,
        output_tokens=response.output_tokens,
        cost_usd=response.cost_usd,
        started_at=response.started_at,
    )
