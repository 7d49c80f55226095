"""From planned requests to responses: the settings of an arm, the calls, and the rows."""

import asyncio
import gc
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import groupby, islice
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Ask, Call, Group
from fieldwork.generation.batches.patience import shown_clock
from fieldwork.generation.batches.settling import settle_batches
from fieldwork.generation.engine import Settled, settle
from fieldwork.generation.legibility import Legibility, Rules
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.rows import Arm, response_of
from fieldwork.generation.sender import Sender
from fieldwork.progress import Progress
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

# both providers promise a batch within a day
BATCH_WINDOW_S = 86_400.0
# blank calls share no context; in groups of this size their bodies are not all held at once
BLANK_GROUP = 1_000
# raw replies held while rows are made of them
ROWS_AT_ONCE = 5_000
# made between two searches for garbage; Python's own number is 700
OBJECTS_A_SEARCH = 50_000


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


class _Job(NamedTuple):
    """What all requests of an arm share."""

    items: Mapping[str, Item]
    contexts: Mapping[str, Context]
    sender: Sender
    arm: Arm
    rules: Rules | None

    def legibility(self) -> Legibility | None:
        """A new count of the arm's answers, where they are to be looked at."""
        return Legibility(self.rules, self.arm, self.sender) if self.rules is not None else None


def generate(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    *,
    sender: Sender,
    arm: Arm,
    rules: Rules | None = None,
) -> Iterator[Response]:
    """Have every request answered, then read the answers, in the order of the requests.

    An answer whose row turns out to be damaged is asked again, and comes last.

    Args:
        requests: those after one context stand together.
        items: by item id.
        contexts: by context id.
        rules: how many answers may be unreadable; None looks at none.

    Raises:
        StudyError: some requests have no answer, or too few answers can be read; those that arrived
            are in the ledger.
    """
    job = _Job(items, contexts, _announced(sender, arm, len(requests)), arm, rules)
    legibility = job.legibility()
    drawn = _drawn(requests)
    with _spared_by_garbage_collection():
        for _ in range(2):
            damaged: list[_Drawn] = []
            for response in _answered(drawn, damaged, job):
                if legibility is not None:
                    legibility.count(response, items[response.item_id])
                yield response
            if not damaged:
                if legibility is not None:
                    legibility.conclude()
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


def _announced(sender: Sender, arm: Arm, n: int) -> Sender:
    """The sender; before the first call it says what is asked."""

    async def announce(estimate_s: float) -> None:
        what = f"{arm.model} ({arm.task}, {arm.condition})"
        logger.info("asking %s; %d answers in all", what, n, extra={"is_shown": True})
        if sender.preflight is not None:
            await sender.preflight(estimate_s)

    return sender._replace(preflight=announce)


def _answered(drawn: Sequence[_Drawn], damaged: list[_Drawn], job: _Job) -> Iterator[Response]:
    """See that all are answered, then read; those whose row is damaged are put into `damaged`."""
    settled = _settle(drawn, job)
    if settled.failures:
        raise StudyError(_failure_sentence(settled, job.arm))
    for start in range(0, len(drawn), ROWS_AT_ONCE):
        keys = settled.keys[start : start + ROWS_AT_ONCE]
        entries = {entry.key: entry for entry in job.sender.ledger.entries(keys)}
        for one, key in zip(drawn[start : start + ROWS_AT_ONCE], keys, strict=True):
            if key in entries:
                yield response_of(one.request, entries[key], job.sender, job.arm)
            else:
                damaged.append(one)


def _settle(drawn: Sequence[_Drawn], job: _Job) -> Settled:
    sender, legibility = job.sender, job.legibility()
    groups = _grouped(drawn, job.items, job.contexts, job.arm)
    label = f"{job.arm.model}, {job.arm.task}, {job.arm.condition}"
    if sender.batches is None:
        return settle(groups, sender, total=len(drawn), legibility=legibility, label=label)
    desk, recall = sender.batches, None if legibility is None else legibility.recall
    agenda = Agenda(groups, sender.provider, sender.ledger, cache=None, recall=recall)
    with Progress(label, len(drawn), "answers") as progress, closing(desk.client):
        failures = settle_batches(
            _looked_up(agenda.everything(), sender),
            client=desk.client,
            provider=sender.provider,
            ledger=sender.ledger,
            journal_path=desk.journal_path,
            limits=desk.limits,
            account=sender.account,
            legibility=legibility,
            poll_s=desk.poll_s,
            show=partial(_show, progress, job, legibility),
            clock=shown_clock(progress),
        )
        progress.skip(agenda.n_known)
    return Settled(agenda.keys, len(agenda.keys) - agenda.n_known, failures)


def _show(
    progress: Progress, job: _Job, legibility: Legibility | None, n: int, batches: str
) -> None:
    """Show newly stored answers, how the batches stand, and what the answers cost."""
    counts = [legibility.note() if legibility is not None else "", job.sender.account.note()]
    progress.update(n, ", ".join(filter(None, [batches, *counts])) if batches else "")


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
