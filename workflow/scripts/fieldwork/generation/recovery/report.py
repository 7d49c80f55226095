"""Whose answers a recovered ledger holds, and what a user reads of it."""

from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import Entry
from fieldwork.generation.providers.base import Provider, TransientError
from fieldwork.generation.recovery.salvage import IsAsked, Recovery


def asked_of(provider: Provider) -> IsAsked:
    """Whether the provider's model, at the provider's endpoint, is known to have given an answer."""

    def is_asked(entry: Entry) -> bool:
        if entry.endpoint != provider.endpoint:
            return False
        try:
            returned = provider.read(entry.raw).returned_model
        except (TransientError, StudyError):
            return False
        return returned is None or provider.is_asked_for(returned)

    return is_asked


def sentence_of(path: Path, recovery: Recovery) -> str:
    """What became of a ledger, and what to do now."""
    if recovery.trouble is None:
        return f"{path}: sound, with {recovery.n_answers:,} answers; nothing was changed"
    kept_as = recovery.kept_as or path
    held = f"of {recovery.n_known:,} answers" if recovery.n_known else "of its answers"
    if recovery.is_lost:
        return (
            f"{path}: damaged ({recovery.trouble}), and none {held} can be recovered: put a backup in "
            f"its place; to give the answers up and pay for them again, delete {path.name} and "
            f"{Inventory(path).path.name}"
        )
    found = (
        f"{recovery.n_answers:,} {held} are" if recovery.n_known else f"{recovery.n_answers:,} are"
    )
    apart = (
        f"; {recovery.n_set_apart:,} of them may be another model's, which the next run looks at"
        if recovery.n_set_apart
        else ""
    )
    return (
        f"{path}: damaged ({recovery.trouble}); {found} recovered{apart}; the damaged file is kept as "
        f"{kept_as.name}; answers that are missing are asked, and paid for, again when you run "
        f"the study on"
    )
