"""The money a study may spend, kept by all of its jobs together in one SQLite file.

A call's most is reserved before it is sent and settled with its cost afterwards, so that what is spent
and what may yet be asked for never pass `budget_usd` together. A process takes money out of the common
purse in lumps, on disk before any of it is used, about one transaction a second. What a process still
held when it died counts as spent until `reconcile`. Each process spends for one account, which is one
ledger: so a bill can be made of that ledger alone, whatever other studies keep beside it. Sums are
integers of billionths of a dollar, each rounded up.
"""

import fcntl
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

from fieldwork.errors import StudyError

NANOS = 10**9
# of what is left in the purse, a lump takes at most this part: other processes go on
SHARE = 8
# a lump that is used up sooner is doubled the next time, one that lasts longer is cut to fit
LUMP_LASTS_S = 1.0
_NO_LIMIT = 2**62

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
    """No more may be reserved.

    Attributes:
        reserved_usd: set aside for calls under way, of all processes. What they do not use comes
            back as they settle: above zero, it may be worth another try then.
    """

    def __init__(self, message: str, reserved_usd: float) -> None:
        super().__init__(message)
        self.reserved_usd = reserved_usd


class Reservation(NamedTuple):
    """Money set aside for one call, in billionths of a dollar.

    Attributes:
        is_safe: what the call cost is found out even if this process dies.
    """

    number: int
    nanos: int
    is_safe: bool = False

    @property
    def usd(self) -> float:
        """US dollars."""
        return self.nanos / NANOS


class Totals(NamedTuple):
    """The purse of a study, in US dollars; `reserved` is what processes hold, dead ones included."""

    spent_usd: float
    reserved_usd: float


class Budget:
    """This process's part in the purse; made by `open_budget`. Threads may share it."""

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
        self._reserved = 0
        # held, but set aside for no call; and spent, but not yet written as such. With `_reserved`
        # they make up what the file says this process holds
        self._free = self._settled = 0
        # of what was settled, calls that no answer tells the cost of; with the calls under way that
        # are not safe, what a death would leave unknown; and the most of it that the file allows for
        self._lost = self._at_risk = self._foreseen = 0
        self._lump, self._taken, self._taken_at = 0, 0, -math.inf
        self._number = 0
        with self._transaction():
            connection.execute("INSERT OR IGNORE INTO accounts VALUES (?, 0, 0)", (account,))
            cursor = connection.execute(
                "INSERT INTO holders (account, held, at_risk) VALUES (?, 0, 0)", (account,)
            )
            self._id = cursor.lastrowid

    def reserve(self, usd: float, *, is_safe: bool = False) -> Reservation:
        """Set aside the most a call can cost, before it is sent.

        Args:
            is_safe: its answer is found again if this process dies, as a batch's is.

        Raises:
            BudgetReached: that would pass the limit.
            StudyError: the disk refuses.
            ValueError: `usd` is no amount.
        """
        nanos = nanos_of(usd)
        with self._mutex:
            risk = 0 if is_safe else nanos
            if nanos > self._free or self._at_risk + risk > self._foreseen:
                self._exchange(nanos, risk)
            self._number += 1
            self._open[self._number] = nanos
            self._free -= nanos
            self._reserved += nanos
            self._at_risk += risk
            self._taken += nanos
            return Reservation(self._number, nanos, is_safe)

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Put what a call cost in the place of what was set aside for it.

        Args:
            usd: None where it is not known: then all that was set aside counts as spent.

        Raises:
            StudyError: the disk refuses.
            ValueError: `usd` is no amount, or the reservation was settled before.
        """
        nanos = reservation.nanos if usd is None else nanos_of(usd)
        with self._mutex:
            if self._open.pop(reservation.number, None) is None:
                raise ValueError(f"no such reservation is open: {reservation}")
            self._reserved -= reservation.nanos
            self._settled += nanos
            self._free += reservation.nanos - nanos
            if usd is None:
                self._lost += nanos
            # what is lost stays at risk until it is written down
            self._at_risk += (nanos if usd is None else 0) - (
                0 if reservation.is_safe else reservation.nanos
            )
            # what came back is given back once a second: others may be in want of it
            if self._free < 0 or self._age_s() >= LUMP_LASTS_S:
                self._exchange(0)

    def has_leftovers(self) -> bool:
        """Whether others that spent for this account hold something: the dead, or the living.

        Raises:
            StudyError: the disk refuses.
        """
        with self._mutex, _explained(self._path):
            query = "SELECT EXISTS (SELECT 1 FROM holders WHERE account = ? AND id != ?)"
            found = self._connection.execute(query, (self._account, self._id)).fetchone()
            return bool(found[0])

    def reconcile(self, bill_usd: float) -> bool:
        """Take the bill of every answer of this account in place of what dead processes held for it.

        Spent is then the bill, the calls that no answer tells the cost of, and what the dead may have
        had under way; the rest of what they held comes free. Nothing comes free while another process
        has the budget open, or where that sum is less than what was counted: then the bill is not
        whole (a ledger moved away, a price that was lowered), and the larger sum stays.

        Args:
            bill_usd: of all answers in the account's ledger, those of this process and those set
                apart too.

        Returns:
            Whether anything was taken over.

        Raises:
            StudyError: the disk refuses.
            ValueError: `bill_usd` is no amount.
        """
        bill = nanos_of(bill_usd)
        with self._mutex:
            self._exchange(0)
            with self._transaction(), _alone(self._lock_file) as is_alone:
                return is_alone and self._take_over(bill)

    def _take_over(self, bill: int) -> bool:
        dead = (self._account, self._id)
        spent, lost, at_risk = self._connection.execute(
            "SELECT spent, lost, (SELECT coalesce(sum(min(held, at_risk)), 0) FROM holders"
            " WHERE account = name AND id != ?2) FROM accounts WHERE name = ?1",
            dead,
        ).fetchone()
        due = bill + lost + at_risk
        if due < spent:
            return False
        for statement, values in (
            ("DELETE FROM holders WHERE account = ? AND id != ?", dead),
            ("UPDATE purse SET spent = spent + ?", (due - spent,)),
            (
                "UPDATE accounts SET spent = ?, lost = lost + ? WHERE name = ?",
                (due, at_risk, self._account),
            ),
        ):
            self._connection.execute(statement, values)
        return True

    def totals(self) -> Totals:
        """What all processes spent and hold.

        Others write down about once a second what they settled; until then it counts as reserved.

        Raises:
            StudyError: the disk refuses.
        """
        with self._mutex, _explained(self._path):
            spent, held = self._connection.execute(
                "SELECT spent, (SELECT coalesce(sum(held), 0) FROM holders) FROM purse"
            ).fetchone()
            unused = self._free + self._settled
            return Totals((spent + self._settled) / NANOS, (held - unused) / NANOS)

    def _age_s(self) -> float:
        return time.monotonic() - self._taken_at

    def _exchange(self, needed: int, risk: int = 0) -> None:
        """Write down what was settled, give back what is free, and take a new lump."""
        self._lump = self._next_lump(needed)
        at_risk = self._at_risk - self._lost
        # twice what there is: few transactions, and room for answers settled here but not yet stored
        foreseen = max(self._foreseen, 2 * (at_risk + risk))
        with self._transaction():
            self._write_down()
            spent, others = self._connection.execute(
                "SELECT spent, (SELECT coalesce(sum(held), 0) FROM holders WHERE id != ?) FROM purse",
                (self._id,),
            ).fetchone()
            room = max(0, self._limit - spent - others - self._reserved)
            free = max(needed, min(self._lump, room // SHARE)) if needed <= room else 0
            self._connection.execute(
                "UPDATE holders SET held = ?, at_risk = ? WHERE id = ?",
                (self._reserved + free, foreseen, self._id),
            )
        self._settled, self._lost, self._free = 0, 0, free
        self._at_risk, self._foreseen = at_risk, foreseen
        self._taken, self._taken_at = 0, time.monotonic()
        if needed > room:
            self._refuse(needed, spent, others + self._reserved)

    def _next_lump(self, needed: int) -> int:
        age_s = self._age_s()
        if age_s < LUMP_LASTS_S:
            return max(needed, 2 * self._lump if needed else self._lump)
        return max(needed, int(self._taken * LUMP_LASTS_S / age_s))

    def _refuse(self, needed: int, spent: int, reserved: int) -> NoReturn:
        digits = 2 if self._limit >= NANOS else 4
        raise BudgetReached(
            f"budget_usd: of {self._limit / NANOS:.{digits}f} USD, {spent / NANOS:.{digits}f} are"
            f" spent and {reserved / NANOS:.{digits}f} set aside for calls under way, and the next call"
            f" may cost {needed / NANOS:.4f}: every answer that arrived is kept; raise generation:"
            f" budget_usd in the config, or ask less, and run again",
            reserved / NANOS,
        )

    def _close(self) -> None:
        """Give back what is free; what was reserved and never settled stays counted as spent."""
        with self._mutex, self._transaction():
            self._write_down()
            self._connection.execute(
                "UPDATE holders SET held = ?, at_risk = ? WHERE id = ?",
                (self._reserved, self._at_risk - self._lost, self._id),
            )
            self._connection.execute("DELETE FROM holders WHERE held = 0 AND id = ?", (self._id,))
            self._settled = self._lost = self._free = 0

    def _write_down(self) -> None:
        self._connection.execute("UPDATE purse SET spent = spent + ?", (self._settled,))
        self._connection.execute(
            "UPDATE accounts SET spent = spent + ?, lost = lost + ? WHERE name = ?",
            (self._settled, self._lost, self._account),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self._path), self._connection:
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
        StudyError: the limit is no amount, the file is no budget, or the disk refuses.
    """
    limit = None if limit_usd is None else _limit(limit_usd)
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with _explained(path):
            fcntl.flock(lock_file, fcntl.LOCK_SH)
            connection = _connect(path)
        # outside `_explained`: what goes wrong in the caller's block is not the budget's doing
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
def _alone(lock_file: int) -> Iterator[bool]:
    """Whether no other live process has the budget open; none can open it until this ends.

    The kernel lets go of a dead process's lock. To be called within a transaction: two processes that
    try at once would otherwise each find that the other has let go of its own.
    """
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = True
    except BlockingIOError:
        is_alone = False
    try:
        yield is_alone
    finally:
        fcntl.flock(lock_file, fcntl.LOCK_SH)


def _limit(usd: float) -> int:
    if not 0 <= usd < _NO_LIMIT / NANOS:  # NaN fails this too
        raise StudyError(f"budget_usd: {usd} is no amount; give US dollars from 0, or null")
    return math.floor(round(usd * NANOS, 3))


def nanos_of(usd: float) -> int:
    """In billionths of a dollar, rounded up; a thousandth of one is what floats make of a sum."""
    if not 0 <= usd < _NO_LIMIT / NANOS:  # NaN fails this too
        raise ValueError(f"{usd} is no amount of dollars")
    return math.ceil(round(usd * NANOS, 3))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the budget cannot be kept ({error}), so nothing more is asked; every answer that"
            f" arrived is kept: make its folder writable, free disk space, or move the file aside if it"
            f" is damaged, and run again"
        ) from error
