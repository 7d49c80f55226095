"""Requests answered as batches: submitted once, found again after any crash, settled row by row.

Every step is written to the journal before it is taken, and the batch carries the run's id. A run whose
fate is unknown is looked for in the provider's list, for as long as that list may lag, before its batch
is made again: nothing is submitted twice. Jobs of one model may share a journal: they take turns with
each step, and wait for each other's batches instead of asking again. Steps that fail in passing are tried
again here, and nowhere below.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Call
from fieldwork.generation.batches.downloads import Downloads, spooled
from fieldwork.generation.batches.files import BatchLimits, Packed, packed
from fieldwork.generation.batches.journal import Journal, Run, open_journal
from fieldwork.generation.batches.patience import Clock, Patience, Room
from fieldwork.generation.batches.results import Results, store_results
from fieldwork.generation.budget import Reservation
from fieldwork.generation.ledger import Ledger
from fieldwork.generation.legibility import Legibility
from fieldwork.generation.providers.base import Provider, RejectedError, TransientError, Usage
from fieldwork.generation.providers.batch_base import BatchClient, BatchStatus
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

Shown = Callable[[int, str], None]

SECONDS_BETWEEN_LISTINGS = 5.0
KEYS_PER_LOOKUP = 10_000


def settle_batches(
    calls: Iterable[Call],
    *,
    client: BatchClient,
    provider: Provider,
    ledger: Ledger,
    journal_path: Path,
    limits: BatchLimits,
    account: Account | None = None,
    legibility: Legibility | None = None,
    poll_s: float = 60.0,
    show: Shown | None = None,
    clock: Clock | None = None,
) -> Counter[str]:
    """Have every call answered by batches, and wait for them.

    Args:
        calls: those that may have no answer yet; taken one by one, after what earlier runs left was
            settled, and looked up once more.
        journal_path: one a ledger, used by all jobs of the model.
        poll_s: seconds between looks at batches under way.
        legibility: looks at the answers; where too few can be read, no further batch is made.
        show: told of newly stored answers to `calls`, and a note on the batches.

    Returns:
        Message → count, of calls that have no answer.

    Raises:
        StudyError: nothing more will be answered until the user changes something; what was submitted
            is in the journal, and the next run goes on with it.
    """
    with open_journal(journal_path, provider.endpoint) as journal:
        settlement = _Settlement(
            client=client,
            provider=provider,
            ledger=ledger,
            journal=journal,
            limits=limits,
            account=account,
            legibility=legibility,
            folder=journal_path.parent,
            poll_s=poll_s,
            show=show,
            clock=clock or Clock(),
        )
        return settlement.run(calls, journal_path.with_name(f"{journal_path.name}.jsonl"))


class _Settlement:
    def __init__(
        self,
        *,
        client: BatchClient,
        provider: Provider,
        ledger: Ledger,
        journal: Journal,
        limits: BatchLimits,
        account: Account | None,
        legibility: Legibility | None,
        folder: Path,
        poll_s: float,
        show: Shown | None,
        clock: Clock,
    ) -> None:
        self._client, self._provider, self._ledger = client, provider, ledger
        self._journal, self._limits, self._account = journal, limits, account
        self._legibility = legibility
        self._folder, self._poll_s, self._show, self._clock = folder, poll_s, show, clock
        self._patience = Patience(provider.endpoint, limits.attempts, clock)
        self._downloads = Downloads(client, self._patience)
        self._room = Room(limits, poll_s)
        self._ours: set[int] = set()
        self._awaited: dict[bytes, Item] = {}
        self._reserved: dict[bytes, Reservation | None] = {}
        self._stop: str | None = None
        self._has_answers, self._barren = False, ""
        self._out_of_budget: StudyError | None = None

    def run(self, calls: Iterable[Call], path: Path) -> Counter[str]:
        with self._journal.lock():
            self._step()
            self._submit(calls, path)
        while not self._awaited.keys().isdisjoint(self._journal.open_keys()):
            self._clock.sleep(self._poll_s)
            with self._journal.lock():
                self._step()
        if self._out_of_budget is not None:
            raise self._out_of_budget
        return self._failures()

    def _step(self) -> None:
        """Bring the journal and the provider together, settle what has ended, submit what has room."""
        self._reconcile()
        n_done = self._settle_ended()
        if self._stop is not None:
            raise StudyError(self._stop)
        self._submit_uploaded()
        self._report(n_done)

    def _report(self, n_done: int) -> None:
        if self._show is None:
            return
        runs = self._journal.open_runs()
        n_under_way = sum(run.state == "submitted" for run in runs)
        note = f"{n_under_way} batches under way, {n_done} of their requests done"
        if n_waiting := len(runs) - n_under_way:
            note += f", {n_waiting} batches wait for room"
        self._show(0, note)

    # -- what earlier runs left

    def _reconcile(self) -> None:
        for run in self._journal.open_runs():
            if run.state == "intended":
                # whoever held the lock died before the batch could be made
                self._journal.abandon(run, "it was never submitted; run again")
            elif run.state == "uploaded" and run.creating_at is not None:
                batch_id = self._look_for(run)
                if batch_id is None:
                    self._journal.not_created(run)
                else:
                    logger.info("batch %s was submitted by an earlier run", batch_id)
                    self._journal.submitted(run, batch_id)

    def _look_for(self, run: Run, error: TransientError | None = None) -> str | None:
        """The batch of a run; None only after the listing had the time to show it.

        Args:
            error: why it is not known; None for what an earlier run left.
        """
        passed = max(self._clock.now() - (run.creating_at or 0.0), 0.0)
        # at least two listings: a broken one can look like an empty one
        wait = max(self._limits.listing_lag_s - passed, SECONDS_BETWEEN_LISTINGS)
        until = self._clock.now() + wait
        cause = error or "the run that made it was stopped"
        logger.warning(
            "whether a batch was made is not known (%s); looking for %.0f s", cause, wait
        )
        while True:
            now = self._clock.now()
            found = self._patience.tried(partial(self._client.find, run.run_id), "listing batches")
            if found is not None or now >= until:
                return found
            self._clock.sleep(min(SECONDS_BETWEEN_LISTINGS, until - now))

    # -- submitting

    def _submit(self, calls: Iterable[Call], path: Path) -> None:
        taken = set(self._journal.open_keys())
        for file in packed(self._wanted(calls, taken), path, self._client.line, self._limits):
            self._upload(file, path)
            self._submit_uploaded()
        # an earlier run may have left files that wait for their batch
        self._submit_uploaded()
        self._report(0)

    def _wanted(self, calls: Iterable[Call], taken: set[bytes]) -> Iterator[Call]:
        for call in calls:
            self._awaited[call.key] = call.item
            if call.key in taken or self._ledger.known([call.key]):
                continue
            try:
                if self._account is not None:
                    self._reserved[call.key] = self._account.reserve(call.tokens)
            except StudyError as error:
                # what fits the budget is still submitted and settled
                self._out_of_budget = error
                return
            taken.add(call.key)
            yield call

    def _awaits(self, draws: Mapping[bytes, int]) -> bool:
        return not self._awaited.keys().isdisjoint(draws)

    def _check(self) -> None:
        """Look before each step that leads to a bill whether it is worth its price."""
        if self._legibility is not None:
            for _ in self._legibility.look_back():
                pass
            self._legibility.check()
        if self._barren and not self._has_answers:
            raise StudyError(self._barren)

    def _upload(self, file: Packed, path: Path) -> None:
        self._check()
        run = self._journal.intend(f"fieldwork-{secrets.token_hex(12)}", file.draws, file.tokens)
        try:
            file_id = self._patience.tried(partial(self._client.upload, path), "uploading requests")
        except RejectedError as error:
            raise StudyError(
                f"{self._provider.endpoint}: the file of requests is refused: {error}; set "
                f"models.*.dispatch to live, or change what the provider objects to, and run again"
            ) from error
        self._journal.uploaded(run, file_id)

    def _submit_uploaded(self) -> None:
        runs = self._journal.open_runs()
        under_way = sum(run.tokens for run in runs if run.state == "submitted")
        for run in runs:
            if run.state != "uploaded" or not self._is_awaited(run):
                continue
            if self._room.is_hopeless(under_way):
                self._give_up(run, self._room.said)
            elif self._room.has(run, under_way, self._clock.now()):
                under_way += run.tokens if self._create(run) else 0

    def _is_awaited(self, run: Run) -> bool:
        if run.number not in self._ours and self._awaits(self._journal.draws(run)):
            self._ours.add(run.number)
        return run.number in self._ours

    def _create(self, run: Run) -> bool:
        """Make a run's batch; False where the provider has no room for it, or refuses it."""
        self._check()
        failures = self._patience.failures("making a batch")
        while True:
            run = self._journal.creating(run, self._clock.now())
            try:
                batch_id = self._client.create(run.file_id or "", run.run_id)
            except StudyError:
                self._journal.not_created(run)
                raise
            except RejectedError as error:
                self._give_up(run, f"the batch is refused: {error}")
                return False
            except TransientError as error:
                found = self._look_for(run, error) if error.maybe_billed else None
                if found is None:
                    self._journal.not_created(run)
                    if not error.maybe_billed:
                        self._room.refused(str(error), self._clock.now())
                        return False
                    failures.wait_after(error)
                    continue
                batch_id = found
            self._journal.submitted(run, batch_id)
            return True

    def _give_up(self, run: Run, cause: str) -> None:
        draws = self._journal.draws(run)
        self._journal.abandon(run, cause)
        for key in draws:
            self._paid(key, None)
        self._discard(run)

    # -- settling

    def _settle_ended(self) -> int:
        """Settle what has ended; how many requests of the others are done."""
        n_done = 0
        for run in self._journal.open_runs():
            if run.state != "submitted":
                continue
            status = self._status(run)
            if status.no_room:
                said = status.error or status.state
                self._journal.renew(run, f"fieldwork-{secrets.token_hex(12)}", said)
                self._room.refused(said, self._clock.now())
            elif status.is_over:
                self._settle(run, status)
                self._room.freed()
            else:
                n_done += status.n_done
        return n_done

    def _status(self, run: Run) -> BatchStatus:
        assert run.batch_id is not None
        try:
            return self._patience.tried(
                partial(self._client.status, run.batch_id), "asking for a batch"
            )
        except RejectedError as error:
            raise StudyError(
                f"{self._provider.endpoint}: batch {run.batch_id} is in the journal but the provider "
                f"does not show it ({error}); use the key of the account that submitted it, or remove "
                f"*.batches.sqlite beside the ledger to give its answers up and pay for them again"
            ) from error

    def _settle(self, run: Run, status: BatchStatus) -> None:
        draws = self._journal.draws(run)
        with spooled(self._folder) as spool:
            status = self._downloads.into(spool, status)
            results = store_results(
                spool,
                self._client.row,
                draws,
                status=status,
                provider=self._provider,
                ledger=self._ledger,
                paid=self._paid,
            )
        self._journal.settle(run, results.causes, status.state)
        self._has_answers |= bool(results.answered)
        if run.number in self._ours and results.causes and not results.answered:
            self._barren = self._without_answers(run, results.causes)
        self._discard(run)
        self._tell(run, status, results)

    def _without_answers(self, run: Run, causes: Mapping[bytes, str]) -> str:
        cause, n = Counter(causes.values()).most_common(1)[0]
        return (
            f"{self._provider.endpoint}: none of the {run.n_requests} requests of batch {run.batch_id} "
            f"is answered, {n} of them because of: {cause}; so no further batch is made: change what "
            f"the message names, and run again: only the missing ones are asked"
        )

    def _tell(self, run: Run, status: BatchStatus, results: Results) -> None:
        logger.info(
            "batch %s (%s): %d of %d requests answered",
            run.batch_id,
            status.state,
            len(results.answered),
            run.n_requests,
        )
        if results.odd:
            logger.warning(
                "batch %s: passed over in its results: %s",
                run.batch_id,
                ", ".join(f"{n} {kind} rows" for kind, n in sorted(results.odd.items())),
            )
        self._stop = self._stop or results.stop
        ours = {key: self._awaited[key] for key in results.answered if key in self._awaited}
        if self._legibility is not None:
            self._legibility.review(ours)
        if self._show is not None:
            self._show(len(ours), "")

    def _paid(self, key: bytes, usage: Usage | None) -> None:
        if self._account is not None:
            self._account.settle(self._reserved.pop(key, None), usage)

    def _discard(self, run: Run) -> None:
        if run.file_id is None:
            return
        try:
            self._client.discard(run.file_id)
        except (TransientError, RejectedError) as error:
            logger.debug("input file %s stays with the provider: %s", run.file_id, error)

    def _failures(self) -> Counter[str]:
        awaited = sorted(self._awaited)
        missing: list[bytes] = []
        for start in range(0, len(awaited), KEYS_PER_LOOKUP):
            chunk = awaited[start : start + KEYS_PER_LOOKUP]
            known = self._ledger.known(chunk)
            missing += [key for key in chunk if key not in known]
        causes = self._journal.causes(missing)
        return Counter(causes.get(key, "no batch held it; run again") for key in missing)
