"""Requests answered as batches: submitted once, found again after any crash, settled row by row.

Every step is written to the journal before it is taken, and the batch carries the run's id. If it is not
known whether a run's batch was made, the provider's list is searched, for as long as it may lag, before
the batch is made again: nothing is submitted twice. The jobs of a model share a journal, one after the
other: each settles what earlier ones left. Steps whose failure may pass are tried again here, and nowhere
below.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Call
from fieldwork.generation.batches.files import RequestFile, write_files
from fieldwork.generation.batches.journal import BatchRun, Journal, open_journal
from fieldwork.generation.batches.patience import Clock, Patience, Room
from fieldwork.generation.batches.results import (
    BatchResults,
    ResultsReader,
    download,
    spool_file,
)
from fieldwork.generation.budget import Reservation
from fieldwork.generation.ledger import Entry, Tier
from fieldwork.generation.legibility import Legibility
from fieldwork.generation.providers.base import RejectedError, Reply, TransientError, Usage
from fieldwork.generation.providers.batch_base import BatchStatus
from fieldwork.generation.sending import BatchDispatch, Sender
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

ShowProgress = Callable[[int, str], None]
"""Shows newly stored answers, and a note on the batches."""

SECONDS_BETWEEN_LISTINGS = 5.0


def _show_nothing(n_answers: int, note: str) -> None:
    """For jobs without a line of progress."""


def settle_batches(
    calls: Iterable[Call],
    sender: Sender,
    dispatch: BatchDispatch,
    *,
    legibility: Legibility | None = None,
    show: ShowProgress = _show_nothing,
    clock: Clock | None = None,
) -> Counter[str]:
    """Have every call answered by batches, and wait for them.

    Args:
        calls: those that may have no answer yet; taken one by one, after the batches of earlier runs
            were settled, and looked up once more.
        legibility: reads the answers; where too few are readable, no further batch is made.
        show: gets the number of newly stored answers to `calls`, and a note on the batches.

    Returns:
        Message → count, of calls that have no answer.

    Raises:
        StudyError: no more requests will be answered until the user changes something. Submitted
            batches are in the journal, and the next run continues with them.
    """
    with open_journal(dispatch.journal_path, sender.provider.endpoint) as journal:
        settlement = _Settlement(sender, dispatch, journal, legibility, show, clock or Clock())
        return settlement.run(calls)


def settle_leftovers(
    keys: Set[bytes], sender: Sender, dispatch: BatchDispatch, clock: Clock | None = None
) -> None:
    """Take what batches of earlier runs brought, before a job sends requests in another way.

    Batches of other requests are left alone, and so is everything where no batch holds one of `keys`.

    Args:
        keys: the job's requests.

    Raises:
        StudyError: some of them are in batches under way, and would be paid for twice.
    """
    with open_journal(dispatch.journal_path, sender.provider.endpoint) as journal:
        if keys.isdisjoint(journal.open_keys()):
            return
        # the job's account counts at the price of its own way of dispatch, a batch has another one
        sender = sender._replace(account=Account(sender.price, "batch", 0))
        settlement = _Settlement(sender, dispatch, journal, None, _show_nothing, clock or Clock())
        settlement.take_leftovers(keys, sender.tier)


class _Settlement:
    def __init__(
        self,
        sender: Sender,
        dispatch: BatchDispatch,
        journal: Journal,
        legibility: Legibility | None,
        show: ShowProgress,
        clock: Clock,
    ) -> None:
        self._provider, self._ledger, self._account = sender.provider, sender.ledger, sender.account
        self._client, self._limits, self._poll_s = dispatch.client, dispatch.limits, dispatch.poll_s
        self._path = dispatch.journal_path.with_name(f"{dispatch.journal_path.name}.jsonl")
        self._journal, self._legibility, self._show, self._clock = journal, legibility, show, clock
        self._patience = Patience(sender.provider.endpoint, dispatch.limits.attempts, clock)
        self._room = Room(dispatch.limits, dispatch.poll_s)
        self._own_runs: set[int] = set()
        self._awaited_items: dict[bytes, Item] = {}
        self._reservations: dict[bytes, Reservation | None] = {}
        self._stop_reason: str | None = None
        self._has_answers, self._no_answers_error = False, ""
        self._out_of_budget: StudyError | None = None

    def run(self, calls: Iterable[Call]) -> Counter[str]:
        self._step()
        self._submit(calls)
        while not self._awaited_items.keys().isdisjoint(self._journal.open_keys()):
            self._clock.sleep(self._poll_s)
            self._step()
        if self._out_of_budget is not None:
            raise self._out_of_budget
        return self._failures()

    def _step(self) -> None:
        """Bring journal and provider together, settle batches that ended, submit files that have room."""
        self._reconcile()
        n_done = self._settle_ended()
        if self._stop_reason is not None:
            raise StudyError(self._stop_reason)
        self._submit_uploaded()
        self._show_state(n_done)

    def _show_state(self, n_done: int) -> None:
        runs = self._journal.open_runs()
        n_under_way = sum(run.state == "submitted" for run in runs)
        note = f"{n_under_way} batches under way, {n_done} of their requests done"
        if n_waiting := len(runs) - n_under_way:
            note += f", {n_waiting} batches waiting for room at the provider"
        self._show(0, note)

    # -- what earlier runs left

    def take_leftovers(self, keys: Set[bytes], tier: Tier) -> None:
        """Settle the batches that hold some of `keys`, which are to be sent by `tier` instead."""
        self._reconcile()
        self._settle_ended()
        if self._stop_reason is not None:
            raise StudyError(self._stop_reason)
        for run in self._journal.open_runs():
            if run.state == "uploaded" and not keys.isdisjoint(self._journal.draws(run)):
                self._give_up(run, f"its batch was never made, and dispatch is {tier} now")
        runs = {run.number: run.batch_id for run in self._journal.open_runs()}
        numbers = [number for key, number in self._journal.open_keys().items() if key in keys]
        if numbers:
            batch_ids = ", ".join(str(runs[number]) for number in sorted(set(numbers)))
            raise StudyError(
                f"{self._provider.endpoint}: {len(numbers)} of {len(keys)} requests are in batches under "
                f"way: {batch_ids}. Nothing was sent with models.*.dispatch: {tier}, as these requests "
                f"would be paid for twice. To wait for the batches, set dispatch back to batch and run "
                f"again. To have the answers sooner, cancel these batches at the provider and run again: "
                f"answers that were finished are taken, and only the rest is asked for."
            )

    def _reconcile(self) -> None:
        for run in self._journal.open_runs():
            if run.state == "intended":
                # an earlier process died before the batch could be made
                self._journal.abandon(run, "its batch was never submitted; run again")
            elif run.state == "uploaded" and run.creating_at is not None:
                batch_id = self._look_for(run)
                if batch_id is None:
                    self._journal.cancel_creation(run)
                else:
                    logger.info("batch %s was submitted by an earlier run", batch_id)
                    self._journal.record_submission(run, batch_id)

    def _look_for(self, run: BatchRun, error: TransientError | None = None) -> str | None:
        """The id of a run's batch; None only after the provider's list had the time to show it.

        Args:
            error: why it is not known; None for a run that an earlier process left.
        """
        elapsed_s = max(self._clock.time_s() - (run.creating_at or 0.0), 0.0)
        # at least two listings: a broken one can look like an empty one
        wait_s = max(self._limits.listing_lag_s - elapsed_s, SECONDS_BETWEEN_LISTINGS)
        deadline = self._clock.time_s() + wait_s
        cause = error or "the run that was making it stopped"
        logger.warning(
            "it is not known whether a batch was made (%s); searching the provider's list for %.0f s",
            cause,
            wait_s,
        )
        while True:
            time_s = self._clock.time_s()
            batch_id = self._patience.run(partial(self._client.find, run.run_id), "listing batches")
            if batch_id is not None or time_s >= deadline:
                return batch_id
            self._clock.sleep(min(SECONDS_BETWEEN_LISTINGS, deadline - time_s))

    # -- submitting

    def _submit(self, calls: Iterable[Call]) -> None:
        open_keys = set(self._journal.open_keys())
        for file in write_files(
            self._calls_to_send(calls, open_keys), self._path, self._client.line, self._limits
        ):
            self._upload(file)
            self._submit_uploaded()
        # an earlier run may have left files that wait for their batch
        self._submit_uploaded()
        self._show_state(0)

    def _calls_to_send(self, calls: Iterable[Call], open_keys: set[bytes]) -> Iterator[Call]:
        for call in calls:
            self._awaited_items[call.key] = call.item
            if call.key in open_keys or self._ledger.answered_keys([call.key]):
                continue
            try:
                self._reservations[call.key] = self._account.reserve(call.tokens)
            except StudyError as error:
                # requests within the budget are still submitted and settled
                self._out_of_budget = error
                return
            open_keys.add(call.key)
            yield call

    def _check(self) -> None:
        """Stop before a step that costs money if the answers so far are of no use, or have no place."""
        self._ledger.require_place()
        if self._legibility is not None:
            for _ in self._legibility.look_back():
                pass
            self._legibility.check()
        if self._no_answers_error and not self._has_answers:
            raise StudyError(self._no_answers_error)

    def _upload(self, file: RequestFile) -> None:
        self._check()
        run = self._journal.intend(f"fieldwork-{secrets.token_hex(12)}", file.draws, file.tokens)
        try:
            file_id = self._patience.run(
                partial(self._client.upload, self._path), "uploading requests"
            )
        except RejectedError as error:
            raise StudyError(
                f"{self._provider.endpoint}: the provider refuses the file of requests: {error}. None of "
                f"its requests was submitted. Change what the provider objects to, or set "
                f"models.*.dispatch to live, and run again."
            ) from error
        self._journal.record_upload(run, file_id)

    def _submit_uploaded(self) -> None:
        runs = self._journal.open_runs()
        tokens_under_way = sum(run.tokens for run in runs if run.state == "submitted")
        for run in runs:
            if run.state != "uploaded" or not self._is_awaited(run):
                continue
            if self._room.is_hopeless(tokens_under_way):
                self._give_up(run, self._room.reason)
            elif self._room.accepts(run, tokens_under_way, self._clock.time_s()):
                tokens_under_way += run.tokens if self._create(run) else 0

    def _is_awaited(self, run: BatchRun) -> bool:
        if run.number not in self._own_runs:
            if self._awaited_items.keys().isdisjoint(self._journal.draws(run)):
                return False
            self._own_runs.add(run.number)
        return True

    def _create(self, run: BatchRun) -> bool:
        """Make a run's batch; False where the provider has no room for it, or refuses it."""
        self._check()
        return self._patience.run(partial(self._try_to_create, run), "making a batch")

    def _try_to_create(self, run: BatchRun) -> bool:
        run = self._journal.begin_creation(run, self._clock.time_s())
        try:
            batch_id = self._client.create(run.file_id or "", run.run_id)
        except StudyError:
            self._journal.cancel_creation(run)
            raise
        except RejectedError as error:
            self._give_up(run, f"the provider refuses the batch: {error}")
            return False
        except TransientError as error:
            existing_id = self._look_for(run, error) if error.maybe_billed else None
            if existing_id is None:
                self._journal.cancel_creation(run)
                if error.maybe_billed:
                    raise
                self._room.refuse(str(error), self._clock.time_s())
                return False
            batch_id = existing_id
        self._journal.record_submission(run, batch_id)
        return True

    def _give_up(self, run: BatchRun, cause: str) -> None:
        draws = self._journal.draws(run)
        self._journal.abandon(run, cause)
        for key in draws:
            self._count_usage(key, None)
        self._discard(run)

    # -- settling

    def _settle_ended(self) -> int:
        """Settle batches that ended; how many requests of the others are done."""
        n_done = 0
        for run in self._journal.open_runs():
            if run.state != "submitted":
                continue
            status = self._status(run)
            if status.no_room:
                reason = status.error or status.state
                self._journal.renew(run, f"fieldwork-{secrets.token_hex(12)}", reason)
                self._room.refuse(reason, self._clock.time_s())
            elif status.is_over:
                self._settle(run, status)
                self._room.free()
            else:
                n_done += status.n_done
        return n_done

    def _status(self, run: BatchRun) -> BatchStatus:
        assert run.batch_id is not None
        try:
            return self._patience.run(
                partial(self._client.status, run.batch_id), "asking for a batch"
            )
        except RejectedError as error:
            raise StudyError(
                f"{self._provider.endpoint}: batch {run.batch_id} is in the journal but the provider "
                f"does not show it ({error}). Use the key of the account that submitted it. To give its "
                f"answers up and pay for them again, delete *.batches.sqlite beside the ledger."
            ) from error

    def _settle(self, run: BatchRun, status: BatchStatus) -> None:
        draws = self._journal.draws(run)
        with spool_file(self._path.parent) as spool:
            status = download(self._client, self._patience, status, spool)
            reader = ResultsReader(
                draws, status, self._provider, self._ledger, self._count_usage, self._note_answer
            )
            results = reader.read(self._client, spool)
        self._journal.settle(run, results.causes, status.state)
        self._has_answers |= bool(results.answered_keys)
        if run.number in self._own_runs and results.causes and not results.answered_keys:
            self._no_answers_error = self._without_answers(run, results.causes)
        self._discard(run)
        self._report_results(run, status, results)

    def _without_answers(self, run: BatchRun, causes: Mapping[bytes, str]) -> str:
        cause, n = Counter(causes.values()).most_common(1)[0]
        return (
            f"{self._provider.endpoint}: none of the {run.n_requests} requests of batch {run.batch_id} "
            f"is answered, {n} of them because of: {cause}. No further batch is made. Change what the "
            f"message names, and run again: only missing answers are asked for."
        )

    def _report_results(self, run: BatchRun, status: BatchStatus, results: BatchResults) -> None:
        logger.info(
            "batch %s (%s): %d of %d requests answered",
            run.batch_id,
            status.state,
            len(results.answered_keys),
            run.n_requests,
        )
        if defects := [f"{n} {kind} rows" for kind, n in sorted(results.defects.items()) if n]:
            logger.warning(
                "batch %s: defects of its results: %s; a request without a row counts as billed, with "
                "all that was set aside for it",
                *(run.batch_id, ", ".join(defects)),
            )
        self._stop_reason = self._stop_reason or results.stop_reason
        self._show(len(results.answered_keys & self._awaited_items.keys()), "")

    def _note_answer(self, entry: Entry, reply: Reply) -> None:
        item = self._awaited_items.get(entry.key)
        if self._legibility is not None and item is not None:
            self._legibility.add(entry, reply, item)

    def _count_usage(self, key: bytes, usage: Usage | None) -> None:
        self._account.settle(self._reservations.pop(key, None), usage)

    def _discard(self, run: BatchRun) -> None:
        if run.file_id is None:
            return
        try:
            self._client.discard(run.file_id)
        except (TransientError, RejectedError) as error:
            logger.debug("input file %s stays with the provider: %s", run.file_id, error)

    def _failures(self) -> Counter[str]:
        keys = sorted(self._awaited_items)
        answered_keys = self._ledger.answered_keys(keys)
        missing_keys = [key for key in keys if key not in answered_keys]
        causes = self._journal.causes()
        return Counter(causes.get(key, "it was in no batch; run again") for key in missing_keys)
