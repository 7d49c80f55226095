"""From planned requests to the rows of responses of one arm."""

import asyncio
import gc
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Ask, Call, ContextGroup
from fieldwork.generation.batches.patience import shown_clock
from fieldwork.generation.batches.settling import settle_batches, settle_leftovers
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.legibility import Legibility, LegibilityOfTasks, LegibilityRules
from fieldwork.generation.providers.base import Sampling
from fieldwork.generation.providers.jsontext import plain_numbers
from fieldwork.generation.rows import GenerationArm, response_of
from fieldwork.generation.sending import Sender
from fieldwork.progress import Progress
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item
from fieldwork.waves import Wave, present, read_wave

logger = logging.getLogger(__name__)

# both providers promise to finish a batch within a day
BATCH_WINDOW_S = 86_400.0
# blank calls have no context; in groups of this size their bodies are not all in memory at once
BLANK_GROUP = 1_000
# raw replies in memory while rows are made of them
ROWS_AT_ONCE = 5_000
# objects made between two runs of the garbage collector; Python's default is 700
OBJECTS_PER_COLLECTION = 50_000


def groups_of(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    arm: GenerationArm,
) -> Iterator[ContextGroup]:
    """The requests as `generate` sends them: those after one context together."""
    return _groups(_number_draws(requests, arm), items, contexts, arm)


class ArmRequests(NamedTuple):
    """What is asked of a model in one arm.

    Attributes:
        requests: those after one context stand together.
        items: by item id.
        contexts: by context id.
    """

    arm: GenerationArm
    requests: Sequence[Request]
    items: Mapping[str, Item]
    contexts: Mapping[str, Context]


class _NumberedRequest(NamedTuple):
    """A request, and which draw of the model it asks for."""

    request: Request
    draw: int


class _GenerationJob(NamedTuple):
    """What all requests of an arm share."""

    items: Mapping[str, Item]
    contexts: Mapping[str, Context]
    sender: Sender
    arm: GenerationArm
    rules: LegibilityRules | None

    def limit_to(self, wave: Wave) -> "_GenerationJob":
        """The job, which sends nothing after a wave."""
        require_time = partial(_require_time, wave, self.arm)
        return self._replace(sender=self.sender._replace(require_time=require_time))

    def legibility(self) -> Legibility | None:
        """A new count of the arm's unreadable answers; None where nobody counts them."""
        return Legibility(self.rules, self.arm, self.sender) if self.rules is not None else None


def generate(
    requests: Sequence[Request],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    *,
    sender: Sender,
    arm: GenerationArm,
    rules: LegibilityRules | None = None,
) -> Iterator[Response]:
    """Have every request answered, then read the answers, in the order of the requests.

    Rows are made from the ledger alone, so those of today's answers and of earlier ones are equal. A
    request whose answer is damaged in the ledger is sent again, and its row comes last.

    Args:
        requests: those after one context stand together.
        items: by item id.
        contexts: by context id.
        rules: how many answers may be unreadable; None counts none.

    Of a wave that is over only what was answered in its time is taken, and nothing is asked.

    Raises:
        StudyError: some requests have no answer, or too few answers can be read. The answers that
            arrived are in the ledger. Or a wave ended before all was asked, or without any answer.
    """
    job = _GenerationJob(
        items, contexts, _announcing_sender(sender, arm, len(requests)), arm, rules
    )
    legibility = job.legibility()
    numbered_requests = _number_draws(requests, arm)
    if arm.wave is not None:
        wave = read_wave(arm.wave)
        if wave.is_over(present()):
            yield from _answers_of_its_time(numbered_requests, wave, job)
            return
        job = job.limit_to(wave)
    with _wave_record(numbered_requests, job), _rare_garbage_collection():
        for _ in range(2):
            damaged_requests: list[_NumberedRequest] = []
            for response in _responses(numbered_requests, damaged_requests, job):
                if legibility is not None:
                    legibility.count(response, items[response.item_id])
                yield response
            if not damaged_requests:
                if legibility is not None:
                    legibility.conclude()
                return
            numbered_requests = damaged_requests
    raise StudyError(
        f"resources/ledger/{arm.model}.sqlite: {len(numbered_requests)} answers were damaged when "
        f"they were read back, and damaged again after the requests were repeated; check the disk, then "
        f"run again"
    )


def ask_together(
    parts: Sequence[ArmRequests], sender: Sender, rules: LegibilityRules | None = None
) -> None:
    """Have the requests of several arms of one model answered, those after one context together.

    A model on this machine is loaded once for all of them, and reads a context once for all its
    questions. `generate` then has every answer in the ledger. Arms of a wave are left to it, which minds
    the time.

    Raises:
        StudyError: some requests have no answer, or too few answers of a task can be read. The answers
            that arrived are in the ledger.
    """
    parts = [part for part in parts if part.arm.wave is None]
    total = sum(len(part.requests) for part in parts)
    if not total:
        return
    groups = [
        group
        for part in parts
        for group in groups_of(part.requests, part.items, part.contexts, part.arm)
    ]
    # equal contexts of several arms have equal ids
    groups.sort(key=lambda group: group.context_id or "")
    arm = _joint_arm(part.arm for part in parts)
    with _rare_garbage_collection():
        tally = settle(
            groups,
            _announcing_sender(sender, arm, total),
            total=total,
            legibility=None if rules is None else _legibility_by_task(parts, sender, rules),
            label=arm.model,
        )
    if tally.failures:
        raise StudyError(_failure_message(tally, arm))


def _joint_arm(arms: Iterable[GenerationArm]) -> GenerationArm:
    """What messages call several arms; only its names count."""
    all_arms = list(arms)
    tasks = dict.fromkeys(arm.task for arm in all_arms)
    conditions = dict.fromkeys(arm.condition for arm in all_arms)
    return all_arms[0]._replace(task=", ".join(tasks), condition=", ".join(conditions))


def _legibility_by_task(
    parts: Sequence[ArmRequests], sender: Sender, rules: LegibilityRules
) -> LegibilityOfTasks:
    """A count for each task: whether answers can be read is a matter of its questions."""
    counts = []
    for task in dict.fromkeys(part.arm.task for part in parts):
        own_parts = [part for part in parts if part.arm.task == task]
        arm = _joint_arm(part.arm for part in own_parts)
        items = [item for part in own_parts for item in part.items.values()]
        counts.append((Legibility(rules, arm, sender), items))
    return LegibilityOfTasks(counts)


def _require_time(wave: Wave, arm: GenerationArm) -> None:
    if wave.is_over(present()):
        raise StudyError(
            f"conditions.{arm.condition}.wave: {wave.name} ended while {arm.model} ({arm.task}) was "
            f"asked; what was answered in its time is kept: run again, and it is taken as it is"
        )


@contextmanager
def _wave_record(
    numbered_requests: Sequence[_NumberedRequest], job: _GenerationJob
) -> Iterator[None]:
    """Note that the wave is asked, so that the next run of the study knows of it.

    At once, since a run may be killed; a run that fails without any answer takes its note back.
    """
    if job.arm.wave_record is None:
        yield
        return
    record = Path(job.arm.wave_record)
    is_new = not record.exists()
    record.parent.mkdir(parents=True, exist_ok=True)
    record.touch()
    try:
        yield
    except StudyError:
        if is_new and not job.sender.ledger.answered_keys(_keys_of(numbered_requests, job)):
            record.unlink(missing_ok=True)
        raise
    # another arm that failed may have taken it back
    record.touch()


def _answers_of_its_time(
    numbered_requests: Sequence[_NumberedRequest], wave: Wave, job: _GenerationJob
) -> Iterator[Response]:
    """The rows of what was answered while a wave lasted; nothing is sent."""
    arm = job.arm
    missing_requests: list[_NumberedRequest] = []
    yield from _rows(numbered_requests, _keys_of(numbered_requests, job), missing_requests, job)
    n_answers = len(numbered_requests) - len(missing_requests)
    name = f"{arm.model} ({arm.task}, {arm.condition})"
    if not n_answers and numbered_requests and arm.wave_record is None:
        raise StudyError(
            f"conditions.{arm.condition}.wave: {wave.name} ended on {wave.end} (UTC), and {name} has no "
            f"answer of that time; the model may have changed since, so it is not asked now: remove the "
            f"wave, or begin with the present one"
        )
    if missing_requests:
        logger.warning(
            "%s: %d of %d questions were answered in %s, which is over; nothing is asked now",
            *(name, n_answers, len(numbered_requests), wave.name),
            extra={"is_shown": True},
        )


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Collect garbage seldom: searching for it takes a fifth of a job's time.

    The objects that exist now stay until the end, so they are not searched at all. Rows and calls come
    and go in great numbers, but form no cycles.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _announcing_sender(sender: Sender, arm: GenerationArm, n: int) -> Sender:
    """The sender, which logs the arm before its first call."""

    async def announce(estimate_s: float) -> None:
        name = f"{arm.model} ({arm.task}, {arm.condition})"
        logger.info("asking %s for %d answers in all", name, n, extra={"is_shown": True})
        if sender.preflight is not None:
            await sender.preflight(estimate_s)

    return sender._replace(preflight=announce)


def _responses(
    numbered_requests: Sequence[_NumberedRequest],
    damaged_requests: list[_NumberedRequest],
    job: _GenerationJob,
) -> Iterator[Response]:
    """Have all requests answered, then read; requests with a damaged answer go to `damaged_requests`."""
    tally = _settle(numbered_requests, job)
    if tally.failures:
        raise StudyError(_failure_message(tally, job.arm))
    yield from _rows(numbered_requests, tally.keys, damaged_requests, job)


def _rows(
    numbered_requests: Sequence[_NumberedRequest],
    keys: Sequence[bytes],
    missing_requests: list[_NumberedRequest],
    job: _GenerationJob,
) -> Iterator[Response]:
    """The rows of requests from the ledger; those without a whole answer go to `missing_requests`."""
    for start in range(0, len(numbered_requests), ROWS_AT_ONCE):
        some_keys = keys[start : start + ROWS_AT_ONCE]
        entries = {entry.key: entry for entry in job.sender.ledger.entries(some_keys)}
        some_requests = numbered_requests[start : start + ROWS_AT_ONCE]
        for one, key in zip(some_requests, some_keys, strict=True):
            if key in entries:
                entry = entries[key]
                reply = job.sender.provider.read(entry.raw)
                yield response_of(one.request, entry, reply, job.sender, job.arm)
            else:
                missing_requests.append(one)


def _keys_of(numbered_requests: Sequence[_NumberedRequest], job: _GenerationJob) -> Sequence[bytes]:
    """The ledger key of each request; nothing is sent."""
    groups = _groups(numbered_requests, job.items, job.contexts, job.arm)
    agenda = Agenda(groups, job.sender.provider, job.sender.ledger, cache=None)
    for _ in agenda.all_calls():
        pass
    return agenda.keys


def _settle(numbered_requests: Sequence[_NumberedRequest], job: _GenerationJob) -> AnswerTally:
    sender, legibility = job.sender, job.legibility()
    groups = _groups(numbered_requests, job.items, job.contexts, job.arm)
    label = f"{job.arm.model}, {job.arm.task}, {job.arm.condition}"
    if sender.leftovers is not None:
        settle_leftovers(set(_keys_of(numbered_requests, job)), sender, sender.leftovers)
    if sender.batches is None:
        return settle(
            groups, sender, total=len(numbered_requests), legibility=legibility, label=label
        )
    dispatch, recall = sender.batches, None if legibility is None else legibility.recall
    agenda = Agenda(groups, sender.provider, sender.ledger, cache=None, recall=recall)
    with Progress(label, len(numbered_requests), "answers") as progress:
        failures = settle_batches(
            _after_preflight(agenda.all_calls(), sender),
            sender,
            dispatch,
            legibility=legibility,
            show=partial(_show, progress, job, legibility),
            clock=shown_clock(progress),
        )
        progress.skip(agenda.n_known)
    return AnswerTally(agenda.keys, len(agenda.keys) - agenda.n_known, failures)


def _show(
    progress: Progress, job: _GenerationJob, legibility: Legibility | None, n: int, batches: str
) -> None:
    """Show the number of new answers, how the batches stand, and what the answers cost."""
    progress.spend(job.sender.account.usd)
    counts = [legibility.note() if legibility is not None else "", job.sender.account.note()]
    progress.update(n, ", ".join(filter(None, [batches, *counts])) if batches else "")


def _after_preflight(calls: Iterator[Call], sender: Sender) -> Iterator[Call]:
    """The calls; the model is checked before the first of them."""
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


def _number_draws(requests: Sequence[Request], arm: GenerationArm) -> list[_NumberedRequest]:
    """The requests, each numbered as its replicate, or with the next free number.

    A number is taken where two puppets have equal contexts. They must not share an answer, or one draw
    would count twice. A wave has numbers of its own, so that it takes no answer of another time.
    """
    first_draw = read_wave(arm.wave).first_draw if arm.wave is not None else 0
    taken_draws: set[tuple[str, str | None, int]] = set()
    numbered_requests = []
    for request in requests:
        draw = first_draw + request.replicate
        while (ask := (request.item_id, request.context_id, draw)) in taken_draws:
            draw += 1
        taken_draws.add(ask)
        numbered_requests.append(_NumberedRequest(request, draw))
    return numbered_requests


def _groups(
    numbered_requests: Sequence[_NumberedRequest],
    items: Mapping[str, Item],
    contexts: Mapping[str, Context],
    arm: GenerationArm,
) -> Iterator[ContextGroup]:
    draws = {one.draw for one in numbered_requests}
    plain_arm = _in_plain_numbers(arm)
    samplings = {draw: _sampling(plain_arm, draw) for draw in draws}
    # 1 and 1.0 are equal, and differ as text
    is_plain = repr(plain_arm) == repr(arm)
    former_samplings = {} if is_plain else {draw: _sampling(arm, draw) for draw in draws}
    asks = (
        (
            request.context_id,
            Ask(items[request.item_id], samplings[draw], draw, former_samplings.get(draw)),
        )
        for request, draw in numbered_requests
    )
    for context_id, members in groupby(asks, key=lambda member: member[0]):
        context = contexts[context_id].messages if context_id is not None else []
        while chunk := [ask for _, ask in islice(members, BLANK_GROUP)]:
            yield ContextGroup(context_id, context, chunk)


def _in_plain_numbers(arm: GenerationArm) -> GenerationArm:
    """The arm as it is asked: however the config writes a number, the call is the same."""
    return arm._replace(
        temperature=plain_numbers(arm.temperature),
        max_tokens=plain_numbers(arm.max_tokens),
        seed=plain_numbers(arm.seed),
    )


def _sampling(arm: GenerationArm, draw: int) -> Sampling:
    return Sampling(arm.temperature, arm.max_tokens, arm.seed * 1_000_003 + draw)


def _failure_message(tally: AnswerTally, arm: GenerationArm) -> str:
    n_failed, n_asked = sum(tally.failures.values()), len(set(tally.keys))
    cause, n_of_cause = tally.failures.most_common(1)[0]
    return (
        f"{n_failed} of {n_asked} requests to {arm.model} ({arm.task}, {arm.condition}) have no "
        f"answer, {n_of_cause} of them because of: {cause}; the other {n_asked - n_failed} answers are "
        f"safe in resources/ledger/{arm.model}.sqlite: run again, and only the missing answers are "
        f"asked for"
    )
