"""Rows of the field: what real people answered, who they are, and what was left out, and why.

Owns their columns and nothing else. No row of these carries what a participant is called elsewhere:
`participant_id` is a keyed hash, and the texts are masked (docs/field.md).
"""

from dataclasses import dataclass

from fieldwork.records import column


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """An answer as a participant gave it, masked: `field/answers.parquet`."""

    participant_id: str = column("keyed hash of the participant's id")
    platform: str | None = column("what the participant used, as the file says it, NULL if unsaid")
    model: str = column("model name in the config that `field.models` gives for it")
    task: str = column("task of the prompt")
    item_id: str = column("item of the prompt")
    replicate: int = column("how often the participant had answered this prompt before, from 0")
    position: int | None = column("place in the participant's own order of prompts, from 1")
    text: str | None = column(
        "the answer, masked, in Unicode form NFC; NULL where the cell is empty"
    )
    n_masked: int = column("e-mail addresses, telephone numbers, links and names masked in it")
    file: str = column("name of the file it was read from")
    row: int = column("row of that file, as a spreadsheet counts them")
    flags: list[str] = column("checks it failed (docs/field.md), none twice")
    excluded_for: str | None = column("the first of them that the setting excludes; NULL if kept")


@dataclass(frozen=True, slots=True)
class Participant:
    """A group that a participant belongs to: `field/participants.parquet`."""

    participant_id: str = column("keyed hash of the participant's id")
    variable: str = column("what groups are told apart by, a key of `field.columns.groups`")
    group: str = column("the participant's group")


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """What one check found in the answers to one prompt: `field/quality.csv`."""

    model: str = column("model")
    task: str = column("task")
    item_id: str = column("the item")
    check: str = column("the check, `any` for answers that fail one or more")
    is_excluding: bool = column("whether the setting leaves out what fails it")
    n_answers: int = column("answers checked")
    n_flagged: int = column("of these, answers that fail the check")
    n_excluded: int = column("of these, answers left out because of it, each counted once")
    reason: str = column("why it is excluded, or kept")


@dataclass(frozen=True, slots=True)
class Attrition:
    """Participants lost, by prompt and by group: `field/attrition.csv`."""

    model: str = column("model")
    task: str = column("task")
    item_id: str = column("the item")
    variable: str | None = column("what groups are told apart by, NULL for everyone")
    group: str | None = column("the group, NULL for everyone")
    n_participants: int = column("participants who were asked with this model")
    n_answered: int = column("of these, those with a text for this prompt")
    n_kept: int = column("of these, those with an answer that is not excluded")
    kept_share: float | None = column("n_kept / n_participants, NULL where there are none")
    p_value: float | None = column("test that the groups of the variable keep alike many")
    p_holm: float | None = column("`p_value` corrected over the prompts of the model (Holm)")
    reason: str | None = column("why there is no test")
