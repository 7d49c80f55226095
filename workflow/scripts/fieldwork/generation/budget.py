"""The money a study may spend, counted by all of its jobs together in one SQLite file.

The most that a call can cost is reserved before it is sent, and settled with its cost afterwards. So what
is spent and what is reserved never exceed `budget_usd` together. A process takes money out of the common
purse in lumps, about one transaction a second; a lump is on disk before any of it is used. What a process
held when it died counts as spent until `reconcile`. Each process spends for one account, which is one
ledger: so a bill can be made of that ledger alone, whatever other studies keep beside it. Sums are
integers of billionths of a dollar (nanos), each rounded up.
"""

import errno
import fcntl
import logging
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from fieldwork.errors import StudyError

NANOS = 10**9
# of what is left in the purse, a lump takes at most this part: other processes go on
SHARE = 8
# a lump that is used up sooner is doubled the next time, one that lasts longer is cut to fit
LUMP_LASTS_S = 1.0
_NO_LIMIT = 2**62
_WITHOUT_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP))

logger = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS purse (id INTEGER PRIMARY KEY CHECK (id = 1), spent INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (
    name TEXT PRIMARY KEY, spent INTEGER NOT NULL, lost INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS holders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL REFERENCES accounts (name),
    held INTEGER NOT NULL,
    at_risk INTEGER NOT NULL
);
INSERT OR IGNORE INTO purse VALUES (1, 0);
"""


class BudgetReached(StudyError):  # noqa: N818 - a limit that was set on purpose, no error
    """No more may be reserved; another try may succeed once calls under way are settled."""


class Reservation(NamedTuple):
    """Money set aside for one call, in billionths of a dollar.

    Attributes:
        is_safe: whether the call's cost becomes known even if this process dies.
    """

    number: int
    nanos: int
    is_safe: bool = False


class BudgetTotals(NamedTuple):
    """What all processes spent and hold, in US dollars; `reserved_usd` includes dead processes."""

    spent_usd: float
    reserved_usd: float


class Budget:
    """This process's part in the budget; made by `open_budget`. Threads may share it.

    Every method raises StudyError where the disk refuses.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        lock_file: int,
        path: Path,
        limit: int | None,
        account: str,
    ) -> None:
        self._connection, self._lock_file, self._path = connection, lock_file, path
        self._account = account
        self._limit = _NO_LIMIT if limit is None else limit
        self._mutex = threading.Lock()
        # number → nanos of the calls under way, and their sum
        self._open: dict[int, int] = {}
        self._reserved_nanos = 0
        # held, but set aside for no call; and spent, but not yet written as such. With
        # `_reserved_nanos` they make up what the file says this process holds
        self._free_nanos = self._unwritten_nanos = 0
        # of what is unwritten, calls whose cost no answer tells
        self._unknown_nanos = 0
        # these and the calls under way that are not safe: what a death would leave unknown; and the
        # most of it that the file allows for
        self._risk_nanos = self._foreseen_risk = 0
        self._lump, self._lump_use, self._lump_time = 0, 0, -math.inf
        self._number = 0
        with self._transaction():
            connection.execute("INSERT OR IGNORE INTO accounts VALUES (?, 0, 0)", (account,))
            cursor = connection.execute(
                "INSERT INTO holders (account, held, at_risk) VALUES (?, 0, 0)", (account,)
            )
            self._id = cursor.lastrowid

    @property
    def has_limit(self) -> bool:
        """Whether spending is limited, and not only counted."""
        return self._limit < _NO_LIMIT

    def reserve(self, usd: float, *, is_safe: bool = False) -> Reservation:
        """Set aside the most a call can cost, before it is sent.

        Args:
            is_safe: its answer is found again if this process dies, as a batch's is.

        Raises:
            BudgetReached: that would exceed the limit.
            ValueError: `usd` is not an amount.
        """
        nanos = nanos_of(usd)
        with self._mutex:
            risk = 0 if is_safe else nanos
            if nanos > self._free_nanos or self._risk_nanos + risk > self._foreseen_risk:
                self._exchange(nanos, risk)
            self._number += 1
            self._open[self._number] = nanos
            self._free_nanos -= nanos
            self._reserved_nanos += nanos
            self._risk_nanos += risk
            self._lump_use += nanos
            return Reservation(self._number, nanos, is_safe)

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Count what a call cost, instead of what was set aside for it.

        Args:
            usd: None where it is not known: then all that was set aside counts as spent.

        Raises:
            ValueError: `usd` is not an amount, or the reservation was settled before.
        """
        nanos = reservation.nanos if usd is None else nanos_of(usd)
        with self._mutex:
            if self._open.pop(reservation.number, None) is None:
                raise ValueError(f"no such reservation is open: {reservation}")
            self._reserved_nanos -= reservation.nanos
            self._unwritten_nanos += nanos
            self._free_nanos += reservation.nanos - nanos
            if usd is None:
                self._unknown_nanos += nanos
            # an unknown cost stays at risk until it is written down
            self._risk_nanos += (nanos if usd is None else 0) - (
                0 if reservation.is_safe else reservation.nanos
            )
            # what came back is given back once a second: other processes may need it
            if self._free_nanos < 0 or self._age_s() >= LUMP_LASTS_S:
                self._exchange(0)

    def has_leftovers(self) -> bool:
        """Whether other processes, dead or alive, hold something for this account."""
        with self._mutex, _as_study_error(self._path):
            query = "SELECT EXISTS (SELECT 1 FROM holders WHERE account = ? AND id != ?)"
            (exists,) = self._connection.execute(query, (self._account, self._id)).fetchone()
            return bool(exists)

    def reconcile(self, bill_usd: float) -> bool:
        """Count the bill of this account's answers, instead of what dead processes held for it.

        Spent is then the bill, the calls whose cost no answer tells, and what dead processes may have
        had under way. The rest of what these held becomes available. Nothing does while another
        process has the budget open. Nor does it where that sum is less than what was counted: then the
        bill is not complete (a ledger moved away, a price that was lowered), and the larger sum stays.

        Args:
            bill_usd: of all answers in the account's ledger, those of this process and quarantined
                ones included.

        Returns:
            Whether the bill counts now.

        Raises:
            ValueError: `bill_usd` is not an amount.
        """
        bill = nanos_of(bill_usd)
        with self._mutex:
            self._exchange(0)
            with self._transaction(), _sole_user(self._lock_file) as is_alone:
                return is_alone and self._take_over(bill)

    def _take_over(self, bill: int) -> bool:
        own_place = (self._account, self._id)
        spent, unknown, at_risk = self._connection.execute(
            "SELECT spent, lost, (SELECT coalesce(sum(min(held, at_risk)), 0) FROM holders"
            " WHERE account = name AND id != ?2) FROM accounts WHERE name = ?1",
            own_place,
        ).fetchone()
        due = bill + unknown + at_risk
        if due < spent:
            return False
        for statement, values in (
            ("DELETE FROM holders WHERE account = ? AND id != ?", own_place),
            ("UPDATE purse SET spent = spent + ?", (due - spent,)),
            (
                "UPDATE accounts SET spent = ?, lost = lost + ? WHERE name = ?",
                (due, at_risk, self._account),
            ),
        ):
            self._connection.execute(statement, values)
        return True

    def totals(self) -> BudgetTotals:
        """What all processes spent and hold.

        Other processes write down about once a second what they settled. Until then it counts as
        reserved.
        """
        with self._mutex, _as_study_error(self._path):
            spent, total_held = self._connection.execute(
                "SELECT spent, (SELECT coalesce(sum(held), 0) FROM holders) FROM purse"
            ).fetchone()
            reserved_nanos = total_held - self._free_nanos - self._unwritten_nanos
            return BudgetTotals((spent + self._unwritten_nanos) / NANOS, reserved_nanos / NANOS)

    def _age_s(self) -> float:
        return time.monotonic() - self._lump_time

    def _exchange(self, need: int, risk: int = 0) -> None:
        """Write down what was settled, give back what is free, and take a new lump.

        Args:
            need: nanos of the call that is to be reserved.
            risk: of these, what becomes unknown if this process dies.

        Raises:
            BudgetReached: the need is more than what is left; all else is done all the same.
        """
        self._lump = self._next_lump(need)
        risk_nanos = self._risk_nanos - self._unknown_nanos
        # twice what there is: few transactions
        foreseen_risk = max(self._foreseen_risk, 2 * (risk_nanos + risk))
        with self._transaction():
            self._write_down()
            spent, other_held = self._connection.execute(
                "SELECT spent, (SELECT coalesce(sum(held), 0) FROM holders WHERE id != ?) FROM purse",
                (self._id,),
            ).fetchone()
            room = max(0, self._limit - spent - other_held - self._reserved_nanos)
            free = max(need, min(self._lump, room // SHARE)) if need <= room else 0
            self._connection.execute(
                "UPDATE holders SET held = ?, at_risk = ? WHERE id = ?",
                (self._reserved_nanos + free, foreseen_risk, self._id),
            )
        self._unwritten_nanos, self._unknown_nanos, self._free_nanos = 0, 0, free
        self._risk_nanos, self._foreseen_risk = risk_nanos, foreseen_risk
        self._lump_use, self._lump_time = 0, time.monotonic()
        if need > room:
            self._refuse(need, spent, other_held + self._reserved_nanos)

    def _next_lump(self, need: int) -> int:
        age_s = self._age_s()
        if age_s < LUMP_LASTS_S:
            return max(need, 2 * self._lump if need else self._lump)
        return max(need, int(self._lump_use * LUMP_LASTS_S / age_s))

    def _refuse(self, need: int, spent: int, reserved_nanos: int) -> NoReturn:
        digits = 2 if self._limit >= NANOS else 4
        raise BudgetReached(
            f"budget_usd: the budget of {self._limit / NANOS:.{digits}f} USD is reached:"
            f" {spent / NANOS:.{digits}f} USD are spent, {reserved_nanos / NANOS:.{digits}f} are set"
            f" aside for calls under way, and the next call may cost {need / NANOS:.4f}. Every answer"
            f" that arrived is safe. Raise generation.budget_usd in the config or make the study smaller,"
            f" and run again."
        )

    def _close(self) -> None:
        """Give back what is free; what was reserved and never settled stays counted as spent."""
        with self._mutex, self._transaction():
            self._write_down()
            self._connection.execute(
                "UPDATE holders SET held = ?, at_risk = ? WHERE id = ?",
                (self._reserved_nanos, self._risk_nanos - self._unknown_nanos, self._id),
            )
            self._connection.execute("DELETE FROM holders WHERE held = 0 AND id = ?", (self._id,))
            self._unwritten_nanos = self._unknown_nanos = self._free_nanos = 0

    def _write_down(self) -> None:
        self._connection.execute("UPDATE purse SET spent = spent + ?", (self._unwritten_nanos,))
        self._connection.execute(
            "UPDATE accounts SET spent = spent + ?, lost = lost + ? WHERE name = ?",
            (self._unwritten_nanos, self._unknown_nanos, self._account),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _as_study_error(self._path), self._connection:
            # before the first read: no one else may write between that and our write
            self._connection.execute("BEGIN IMMEDIATE")
            yield


@contextmanager
def open_budget(path: Path, limit_usd: float | None, account: str = "") -> Iterator[Budget]:
    """Take part in the budget kept at `path`, made when absent.

    Args:
        account: what is spent for: the name of the ledger that the answers go to.
        limit_usd: None counts what is spent and refuses nothing.

    Raises:
        StudyError: the file is not a budget, or the disk refuses.
    """
    limit = None if limit_usd is None else math.floor(round(limit_usd * NANOS, 3))
    with _as_study_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with _as_study_error(path):
            _share(lock_file, path)
            connection = _connect(path)
        # outside `_as_study_error`: an error in the caller's block is not the budget's
        with closing(connection):
            budget = Budget(connection, lock_file, path, limit, account)
            try:
                yield budget
            finally:
                budget._close()
    finally:
        os.close(lock_file)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=120, isolation_level=None, check_same_thread=False)
    try:
        # not WAL: that needs memory shared by all processes, and jobs of a cluster have none
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        # a file of other columns must be refused now, not in the middle of a run
        connection.execute("SELECT account, at_risk FROM holders LIMIT 0")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


@contextmanager
def _sole_user(lock_file: int) -> Iterator[bool]:
    """Whether no other live process has the budget open; none can open it until this ends.

    The kernel releases the lock of a dead process. To be called within a transaction: two processes
    that try at once would otherwise each see that the other has released its own.
    """
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = True
    except OSError:
        # somebody else is there, or may be, as far as a file system without locks can say
        is_alone = False
    try:
        yield is_alone
    finally:
        with suppress(OSError):
            fcntl.flock(lock_file, fcntl.LOCK_SH)


def _share(lock_file: int, path: Path) -> None:
    """Hold the budget open beside others. Without locks all others count as alive."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_SH)
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
        logger.warning(
            "%s: this file system has no locks (%s), so what a stopped job had set aside stays counted "
            "as spent; put the folder of the ledgers on one that has them",
            path,
            error.strerror,
        )


def nanos_of(usd: float) -> int:
    """In billionths of a dollar, rounded up; a thousandth of one is what floats make of a sum."""
    if not 0 <= usd < _NO_LIMIT / NANOS:  # NaN fails this too
        raise ValueError(f"{usd} is not an amount of dollars")
    return math.ceil(round(usd * NANOS, 3))


@contextmanager
def _as_study_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the file that counts spending cannot be used ({error}). No more requests are"
            f" sent, and every answer that arrived is safe. Make its folder writable or free disk space,"
            f" and run again. If the file is damaged, move it away: spending then counts from zero again."
        ) from error
