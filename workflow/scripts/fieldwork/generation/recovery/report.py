"""Whose answers a recovered ledger holds, and what a user reads of it."""

from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import Entry
from fieldwork.generation.providers.base import Provider, TransientError
from fieldwork.generation.recovery.salvage import ModelCheck, Recovery


def model_check(provider: Provider) -> ModelCheck:
    """A check whether an answer came from the provider's model, at the provider's endpoint."""

    def is_from_model(entry: Entry) -> bool:
        if entry.endpoint != provider.endpoint:
            return False
        try:
            returned_model = provider.read(entry.raw).returned_model
        except (TransientError, StudyError):
            return False
        return returned_model is None or provider.is_asked_for(returned_model)

    return is_from_model


def sentence_of(path: Path, recovery: Recovery) -> str:
    """What became of a ledger, and what to do now."""
    n_answers = f"{recovery.n_answers:,}"
    if recovery.trouble is None:
        return f"{path}: not damaged; it holds {n_answers} answers, and nothing was changed."
    total = f"{recovery.n_counted:,} answers" if recovery.n_counted else "its answers"
    if recovery.is_lost:
        return (
            f"{path}: damaged ({recovery.trouble}), and none of {total} can be recovered. Put a backup "
            f"in its place. To give the answers up and pay for them again, delete {path.name} and "
            f"{Inventory(path).path.name}."
        )
    count = f"{n_answers} of {total}" if recovery.n_counted else f"{n_answers} answers"
    quarantine = (
        f" {recovery.n_quarantined:,} of them may be from another model; the next run decides whether "
        f"they count."
        if recovery.n_quarantined
        else ""
    )
    return (
        f"{path}: damaged ({recovery.trouble}); {count} are recovered.{quarantine} The damaged file is "
        f"kept as {(recovery.damaged_path or path).name}. Missing answers are asked and paid for again "
        f"when you run the study."
    )
