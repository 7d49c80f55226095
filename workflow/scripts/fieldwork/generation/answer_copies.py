"""Answers of one study taken out of a ledger, into a ledger of their own.

A ledger holds the answers to all studies that asked its model. What is copied is what was received, with
its checksum; quarantined and damaged answers stay where they are.
"""

from collections.abc import Collection
from pathlib import Path

from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import open_ledger

_AT_ONCE = 5_000


def copy_answers(ledger: Path, target: Path, keys: Collection[bytes]) -> int:
    """Copy the answers to these keys, in order of the keys; return how many there are.

    Equal answers give an equal file.

    Raises:
        StudyError: a ledger cannot be read or written.
    """
    in_order, n_answers = sorted(set(keys)), 0
    with open_ledger(ledger) as source, open_ledger(target) as copy:
        for start in range(0, len(in_order), _AT_ONCE):
            entries = sorted(source.entries(in_order[start : start + _AT_ONCE]))
            copy.store(entries)
            n_answers += len(entries)
    # it says when it was written, and is written again where it is missing
    Inventory(target).path.unlink(missing_ok=True)
    return n_answers
