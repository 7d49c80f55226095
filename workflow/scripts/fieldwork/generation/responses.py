"""From planned requests to responses: the settings of an arm, the calls, and the rows."""

import asyncio
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Ask, Call, Group
from fieldwork.generation.batches.settling import settle_batches
from fieldwork.generation.engine import Sender, Settled, settle
from fieldwork.generation.ledger import Entry
from fieldwork.generation.pricing import cost_usd
from fieldwork.generation.providers.base import Sampling
from fieldwork.progress import Progress
from fieldwork.records import Context, Item, Request, Response

# both providers promise a batch within a day
BATCH_WINDOW_S = 86_400.0
# blank calls share no context; in groups of this size their bodies are not all held at once
BLANK_GROUP = 1_000
# raw replies held while rows are made of them
ROWS_AT_ONCE = 5_000
# made between two searches for garbage; Python's own number is 700
OBJECTS_A_SEARCH = 50_000


class Arm(NamedTuple):
    """One model under one condition on one task, and how it is sampled."""

    model: str
    task: str
    condition: str
    temperature: float
    max_tokens: int
    seed: int


def groups_of(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    arm: Arm,
) -> Iterator[Group]:
    """The requests as `generate` sends them: those after one context together."""
    return _grouped(_drawn(requests), items, contexts, arm)


class _Drawn(NamedTuple):
    """A request, and which draw of the model it is."""

    request: Request
    draw: int


def generate(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    *,
    sender: Sender,
    arm: Arm,
) -> Iterator[Response]:
    """Have every request answered, then read the answers, in the order of the requests.

    An answer whose row turns out to be damaged is asked again, and comes last.

    Args:
        requests: those after one context stand together.
        items: by item id.
        contexts: by context id.

    Raises:
        StudyError: some requests have no answer; those that arrived are in the ledger.
    """
    drawn = _drawn(requests)
    with _spared_by_garbage_collection():
        for _ in range(2):
            damaged: list[_Drawn] = []
            yield from _answered(drawn, damaged, items, contexts, sender, arm)
            if not damaged:
                return
            drawn = damaged
    raise StudyError(
        f"resources/ledger/{arm.model}.sqlite: {len(drawn)} answers were damaged when they were read "
        f"back, and again after they were asked again: check the disk, then run again"
    )


@contextmanager
def _spared_by_garbage_collection() -> Iterator[None]:
    """Look for garbage seldom, and not in what is there by now: that takes a fifth of a job's time.

    What is there stays, and of the many rows and calls that come and go none is part of a cycle.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS_A_SEARCH, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _answered(
    drawn: Sequence[_Drawn],
    damaged: list[_Drawn],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    sender: Sender,
    arm: Arm,
) -> Iterator[Response]:
    """See that all are answered, then read; those whose row is damaged are put into `damaged`."""
    settled = _settle(_grouped(drawn, items, contexts, arm), sender, len(drawn))
    if settled.failures:
        raise StudyError(_failure_sentence(settled, arm))
    for start in range(0, len(drawn), ROWS_AT_ONCE):
        keys = settled.keys[start : start + ROWS_AT_ONCE]
        entries = {entry.key: entry for entry in sender.ledger.entries(keys)}
        for one, key in zip(drawn[start : start + ROWS_AT_ONCE], keys, strict=True):
            if key in entries:
                yield _response(one.request, entries[key], sender, arm)
            else:
                damaged.append(one)


def _settle(groups: Iterator[Group], sender: Sender, total: int) -> Settled:
    if sender.batches is None:
        return settle(groups, sender, total=total)
    desk = sender.batches
    agenda = Agenda(groups, sender.provider, sender.ledger, cache=None)
    with Progress("ask", total, "answers") as progress, closing(desk.client):
        failures = settle_batches(
            _looked_up(agenda.everything(), sender),
            client=desk.client,
            provider=sender.provider,
            ledger=sender.ledger,
            journal_path=desk.journal_path,
            limits=desk.limits,
            account=sender.account,
            poll_s=desk.poll_s,
            show=progress.update,
        )
        progress.update(agenda.n_known)
    return Settled(agenda.keys, len(agenda.keys) - agenda.n_known, failures)


def _looked_up(calls: Iterator[Call], sender: Sender) -> Iterator[Call]:
    """The calls; before the first of them the model is looked up."""
    first = next(calls, None)
    if first is None:
        return
    asyncio.run(_preflight(sender))
    yield first
    yield from calls


async def _preflight(sender: Sender) -> None:
    try:
        if sender.preflight is not None:
            await sender.preflight(BATCH_WINDOW_S)
    finally:
        await sender.provider.close()


def _drawn(requests: Sequence[Request]) -> list[_Drawn]:
    """The requests, each as its replicate, or as the next draw that is not taken.

    It is taken where two puppets bring equal contexts: they must not share an answer, or one draw
    would count as two.
    """
    taken: set[tuple[str, str | None, int]] = set()
    drawn = []
    for request in requests:
        draw = request.replicate
        while (ask := (request.item_id, request.context_id, draw)) in taken:
            draw += 1
        taken.add(ask)
        drawn.append(_Drawn(request, draw))
    return drawn


def _grouped(
    drawn: Sequence[_Drawn],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    arm: Arm,
) -> Iterator[Group]:
    samplings = {draw: _sampling(arm, draw) for draw in {one.draw for one in drawn}}
    asks = (
        (request.context_id, Ask(items[request.item_id], samplings[draw], draw))
        for request, draw in drawn
    )
    for context_id, members in groupby(asks, key=lambda member: member[0]):
        context = contexts[context_id].messages if context_id is not None else []
        while chunk := [ask for _, ask in islice(members, BLANK_GROUP)]:
            yield Group(context_id, context, chunk)


def _sampling(arm: Arm, draw: int) -> Sampling:
    return Sampling(arm.temperature, arm.max_tokens, arm.seed * 1_000_003 + draw)


def _failure_sentence(settled: Settled, arm: Arm) -> str:
    n_failed, n_asked = sum(settled.failures.values()), len(set(settled.keys))
    first, n_first = settled.failures.most_common(1)[0]
    return (
        f"{n_failed} of {n_asked} requests to {arm.model} ({arm.task}, {arm.condition}) "
        f"have no answer, {n_first} of them because of: {first}; the other "
        f"{n_asked - n_failed} are safe in resources/ledger/{arm.model}.sqlite, and "
        f"running again asks only the missing ones"
    )


def _response(request: Request, entry: Entry, sender: Sender, arm: Arm) -> Response:
    reply, price = sender.provider.read(entry.raw), sender.price
    usage = reply.usage
    # in the order of the columns: by name it takes half as long again, and there are many rows
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
        usage.cached,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        cost_usd(usage, price, entry.tier) if price is not None else None,
        entry.latency_s,
        entry.attempts,
        entry.started_at,
        entry.tier,
        reply.service_tier,
        entry.request_id,
        sender.provider.sends_temperature,
        price.as_of.isoformat() if price is not None else None,
        list(reply.defects),
    )
