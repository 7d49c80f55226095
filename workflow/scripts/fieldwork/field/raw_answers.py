"""Answers and groups as the files of the field hold them, with ids and texts that may not be stored.

Owns these rows, and what takes all of them together: how often a participant answered a prompt, who is
in which group, and who gave no answer at all. No message names a participant.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError

_LEAST_DISTINCTIVE_CHARACTERS = 40
"""Characters from which on an answer is hardly given twice."""
_LEAST_DISTINCTIVE_ANSWERS = 20
"""Answers from which on they are hardly all given again."""


class FieldPrompt(NamedTuple):
    """An item of a task that the study asks."""

    task: str
    item_id: str


class RawAnswer(NamedTuple):
    """An answer as it stands in a file: nothing is masked; never to be written."""

    participant: str
    platform: str | None
    model: str
    prompt: FieldPrompt
    replicate: int
    position: int | None
    text: str | None
    path: Path
    row: int


class Membership(NamedTuple):
    """The group a participant is in, and where that was first read."""

    participant: str
    variable: str
    group: str
    path: Path
    row: int


class RawField(NamedTuple):
    """All answers in the order of files and rows, and all memberships.

    `n_left_out` counts rows that `field.rows`, `field.models` or `field.skip_prompts` leaves out, and
    `n_repeats` those that repeat another row whole.
    """

    answers: list[RawAnswer]
    members: list[Membership]
    n_left_out: int
    n_repeats: int = 0


def enter_membership(members: dict[tuple[str, str], Membership], membership: Membership) -> None:
    """Add a membership to those by participant and variable.

    Raises:
        StudyError: the participant is in another group of the variable already.
    """
    earlier = members.setdefault((membership.participant, membership.variable), membership)
    if earlier.group != membership.group:
        earlier_place = f"row {earlier.row}" + (
            "" if earlier.path == membership.path else f" of {earlier.path}"
        )
        raise StudyError(
            f"{membership.path}: row {membership.row} puts the participant in another group of "
            f"field.columns.groups.{membership.variable} than {earlier_place} does; correct one of them"
        )


def refuse_copies(answers: Sequence[RawAnswer]) -> None:
    """Refuse a file whose every answer is in an earlier one too: a second export of the same survey.

    Short answers come again by themselves, so a file of few and only short ones is let through.

    Raises:
        StudyError: naming both files.
    """
    first_path: dict[tuple[str, str, FieldPrompt, str], Path] = {}
    earlier_paths: dict[Path, list[Path]] = {}
    paths_with_long_texts: set[Path] = set()
    for answer in answers:
        if answer.text is not None:
            key = (answer.participant, answer.model, answer.prompt, answer.text.strip())
            earlier_paths.setdefault(answer.path, []).append(
                first_path.setdefault(key, answer.path)
            )
            if len(key[-1]) >= _LEAST_DISTINCTIVE_CHARACTERS:
                paths_with_long_texts.add(answer.path)
    for path, paths in earlier_paths.items():
        is_distinctive = path in paths_with_long_texts or len(paths) >= _LEAST_DISTINCTIVE_ANSWERS
        if is_distinctive and path not in paths and len(set(paths)) == 1:
            raise StudyError(
                f"{path}: holds the same answers as {paths[0]}; remove one of the two from field.path"
            )


def refuse_missing_answers(
    answers: Sequence[RawAnswer], members: Sequence[Membership], paths: Sequence[Path]
) -> None:
    """Refuse a field without answers, and a group whose members gave none.

    Raises:
        StudyError: naming the file, and the row where the group is first met.
    """
    participants_with_answers = {
        answer.participant for answer in answers if answer.text is not None
    }
    if not participants_with_answers:
        raise StudyError(
            f"{paths[0]}: all {len(answers)} answers in {len(paths)} file(s) are empty; check "
            f"field.columns, field.prompts and field.models"
        )
    first_member: dict[tuple[str, str], Membership] = {}
    groups_with_answers: set[tuple[str, str]] = set()
    for member in members:
        key = (member.variable, member.group)
        first_member.setdefault(key, member)
        if member.participant in participants_with_answers:
            groups_with_answers.add(key)
    for key, member in first_member.items():
        if key not in groups_with_answers:
            raise StudyError(
                f"{member.path}: nobody in the group of row {member.row} gave an answer "
                f"(field.columns.groups.{member.variable}); correct the groups, or delete their rows"
            )


def with_replicates(answers: Sequence[RawAnswer]) -> list[RawAnswer]:
    """The answers with their replicates: earlier texts first, then cells without one."""
    counts: dict[tuple[str, str, FieldPrompt], int] = {}
    numbers = [0] * len(answers)
    for has_text in (True, False):
        for index, answer in enumerate(answers):
            if (answer.text is not None) is has_text:
                key = (answer.participant, answer.model, answer.prompt)
                numbers[index] = counts.get(key, 0)
                counts[key] = numbers[index] + 1
    return [a._replace(replicate=n) for a, n in zip(answers, numbers, strict=True)]
