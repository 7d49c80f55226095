"""What stands in the files of the field, read but not yet fit to be kept: answers and groups.

Owns these rows, and what can only be said of all of them together: how often a participant answered a
prompt, who is in which group, and who gave no answer at all. No message names a participant.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError

_LONG = 40
"""Characters of an answer that nobody gets twice."""
_MANY = 20
"""Answers that would not all come again."""


class Prompt(NamedTuple):
    """An item of a task that the study asks."""

    task: str
    item_id: str


class RawAnswer(NamedTuple):
    """An answer as it stands in a file: nothing masked, nobody hidden; never to be written."""

    participant: str
    platform: str | None
    model: str
    prompt: Prompt
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

    `n_left_out` counts rows that `field.models` or `field.skip_prompts` leaves out.
    """

    answers: list[RawAnswer]
    members: list[Membership]
    n_left_out: int


def join(members: dict[tuple[str, str], Membership], found: Membership) -> None:
    """Enter a membership, by participant and variable.

    Raises:
        StudyError: the participant is in another group of the variable already.
    """
    known = members.setdefault((found.participant, found.variable), found)
    if known.group != found.group:
        there = f"row {known.row}" + ("" if known.path == found.path else f" of {known.path}")
        raise StudyError(
            f"{found.path}: row {found.row} puts the participant in another group of "
            f"field.columns.groups.{found.variable} than {there} does; correct one of them"
        )


def refuse_copies(answers: Sequence[RawAnswer]) -> None:
    """Refuse a file whose every answer is in an earlier one too: a second export of the same survey.

    Short answers come again by themselves, so a file of few and only short ones is let through.

    Raises:
        StudyError: naming both files.
    """
    first: dict[tuple[str, str, Prompt, str], Path] = {}
    sources: dict[Path, list[Path]] = {}
    telling: set[Path] = set()
    for answer in answers:
        if answer.text is not None:
            key = (answer.participant, answer.model, answer.prompt, answer.text.strip())
            sources.setdefault(answer.path, []).append(first.setdefault(key, answer.path))
            if len(key[-1]) >= _LONG:
                telling.add(answer.path)
    for path, origins in sources.items():
        is_telling = path in telling or len(origins) >= _MANY
        if is_telling and path not in origins and len(set(origins)) == 1:
            raise StudyError(
                f"{path}: holds the same answers as {origins[0]}; leave one of them out of field.path"
            )


def refuse_silence(
    answers: Sequence[RawAnswer], members: Sequence[Membership], paths: Sequence[Path]
) -> None:
    """Refuse a field without answers, and a group whose members gave none.

    Raises:
        StudyError: naming the file, and the row where the group is first met.
    """
    answered = {answer.participant for answer in answers if answer.text is not None}
    if not answered:
        raise StudyError(
            f"{paths[0]}: no answer in {len(paths)} file(s) of {len(answers)} asked for; check "
            f"field.columns, field.prompts and field.models"
        )
    first: dict[tuple[str, str], Membership] = {}
    heard: set[tuple[str, str]] = set()
    for member in members:
        key = (member.variable, member.group)
        first.setdefault(key, member)
        if member.participant in answered:
            heard.add(key)
    for key, member in first.items():
        if key not in heard:
            raise StudyError(
                f"{member.path}: nobody in the group of row {member.row} gave an answer "
                f"(field.columns.groups.{member.variable}); correct the groups, or leave its rows out"
            )


def numbered(answers: Sequence[RawAnswer]) -> list[RawAnswer]:
    """The answers with their replicates: earlier texts first, then cells without one."""
    counts: dict[tuple[str, str, Prompt], int] = {}
    numbers = [0] * len(answers)
    for has_text in (True, False):
        for at, answer in enumerate(answers):
            if (answer.text is not None) is has_text:
                key = (answer.participant, answer.model, answer.prompt)
                numbers[at] = counts.get(key, 0)
                counts[key] = numbers[at] + 1
    return [a._replace(replicate=n) for a, n in zip(answers, numbers, strict=True)]
