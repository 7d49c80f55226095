"""From an answer in the ledger to a row of the table of responses."""

from typing import NamedTuple

from fieldwork.generation.ledger import Entry
from fieldwork.generation.pricing import billed_tier, cost_usd
from fieldwork.generation.providers.base import Reply
from fieldwork.generation.providers.letters import at_temperature
from fieldwork.generation.sending import Sender
from fieldwork.masking import MASK_TEXT
from fieldwork.records.generation import OptionProbability, Request, Response


class GenerationArm(NamedTuple):
    """One model under one condition on one task, with its settings of sampling.

    Attributes:
        wave: the span of time in which the arm is asked; None for any time.
        wave_record: the file that says that the study was run in the wave, made when it is asked. A wave
            with a record may be without answers, as all calls of a run may fail.
    """

    model: str
    task: str
    condition: str
    temperature: float
    max_tokens: int
    seed: int
    wave: str | None = None
    wave_record: str | None = None


def response_of(
    request: Request, entry: Entry, reply: Reply, sender: Sender, arm: GenerationArm
) -> Response:
    """The row of a request and its answer.

    Args:
        reply: what the provider reads in `entry.raw`.
    """
    usage, price = reply.usage, sender.price
    tier = billed_tier(entry.tier, reply.service_tier)
    # in the order of the columns: passing them by name takes half as long again, for very many rows
    return Response(
        arm.model,
        arm.task,
        arm.condition,
        request.item_id,
        request.context_id,
        request.puppet_id,
        request.replicate,
        entry.key.hex(),
        reply.text,
        reply.outcome,
        reply.finish_reason,
        reply.returned_model,
        reply.fingerprint,
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        cost_usd(usage, price, tier) if price is not None else None,
        entry.latency_s,
        entry.attempts,
        entry.started_at,
        entry.tier,
        reply.service_tier,
        entry.request_id,
        sender.provider.sends_temperature,
        price.as_of.isoformat() if price is not None else None,
        [*reply.defects, *(["secret"] if MASK_TEXT.encode() in entry.raw else [])],
        _option_probabilities(reply, arm.temperature),
    )


def _option_probabilities(reply: Reply, temperature: float) -> list[OptionProbability] | None:
    if reply.option_probabilities is None:
        return None
    if reply.is_tempered:
        return list(reply.option_probabilities)
    return at_temperature(reply.option_probabilities, temperature)
