"""How many of those asked are lost before their answers count, by prompt and by group.

Owns the counts of participants and the rows of the test that all groups lose an equal share. A
participant counts once, however often a prompt was answered.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.records.field import Attrition, FieldAnswer, Participant
from fieldwork.statistics.families import holm_by_family
from fieldwork.statistics.fisher import fisher_test_of_groups


class PromptParticipants(NamedTuple):
    """Participants of a model at one prompt: asked, with a text, and with an answer that counts."""

    asked_ids: set[str]
    answered_ids: set[str]
    kept_ids: set[str]


class _PromptName(NamedTuple):
    model: str
    task: str
    item_id: str


def measure_attrition(
    answers: Sequence[FieldAnswer], participants: Sequence[Participant], *, seed: int
) -> list[Attrition]:
    """Rows by model and prompt: everyone, then each variable's groups, with the variable's test.

    A participant was asked all prompts of a model under which a row of the file names them: a file
    does not say more. P-values of one variable are corrected over the prompts of a model. `seed` is
    for the random tables where there are too many to count. Empty without answers.
    """
    groups: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for participant in participants:
        groups[participant.variable][participant.group].add(participant.participant_id)
    rows: list[Attrition] = []
    for model in sorted({answer.model for answer in answers}):
        prompts = _participants([answer for answer in answers if answer.model == model])
        rows += [_row(prompt, None, None, people) for prompt, people in prompts.items()]
        for variable in sorted(groups):
            rows += _variable_rows(variable, groups[variable], prompts, seed)
    return sorted(rows, key=lambda r: (r.model, r.task, r.item_id, r.variable or "", r.group or ""))


def _participants(answers: Sequence[FieldAnswer]) -> dict[_PromptName, PromptParticipants]:
    asked_ids = {answer.participant_id for answer in answers}
    prompts = sorted({_PromptName(a.model, a.task, a.item_id) for a in answers})
    people = {prompt: PromptParticipants(asked_ids, set(), set()) for prompt in prompts}
    for answer in answers:
        participants = people[_PromptName(answer.model, answer.task, answer.item_id)]
        if (answer.text or "").strip():
            participants.answered_ids.add(answer.participant_id)
        if answer.excluded_for is None and answer.text is not None:
            participants.kept_ids.add(answer.participant_id)
    return people


def _row(
    prompt: _PromptName,
    variable: str | None,
    group: str | None,
    people: PromptParticipants,
    members: Collection[str] | None = None,
) -> Attrition:
    n_asked, n_answered, n_kept = (
        len(ids if members is None else ids.intersection(members)) for ids in people
    )
    return Attrition(
        *prompt,
        variable=variable,
        group=group,
        n_participants=n_asked,
        n_answered=n_answered,
        n_kept=n_kept,
        kept_share=n_kept / n_asked if n_asked else None,
        p_value=None,
        p_holm=None,
        reason="everyone: there are no groups to compare" if variable is None else None,
    )


def _variable_rows(
    variable: str,
    groups: Mapping[str, Collection[str]],
    prompts: Mapping[_PromptName, PromptParticipants],
    seed: int,
) -> list[Attrition]:
    families = [
        [_row(prompt, variable, group, people, groups[group]) for group in sorted(groups)]
        for prompt, people in prompts.items()
    ]
    p_values = [_p_value(rows, seed) for rows in families]
    return [
        dataclasses.replace(row, p_value=p_value, p_holm=p_holm, reason=_no_test(rows))
        for rows, p_value, p_holm in zip(families, p_values, holm_by_family(p_values), strict=True)
        for row in rows
    ]


def _p_value(rows: Sequence[Attrition], seed: int) -> float | None:
    if _no_test(rows):
        return None
    groups = [row for row in rows if row.n_participants]
    test = fisher_test_of_groups(
        np.array([row.n_participants - row.n_kept for row in groups]),
        np.array([row.n_participants for row in groups]),
        random=np.random.default_rng([seed, *map(ord, rows[0].item_id)]),
    )
    return test.p_value


def _no_test(rows: Sequence[Attrition]) -> str | None:
    groups = [row for row in rows if row.n_participants]
    if len(groups) < 2:
        return "fewer than two groups were asked"
    if all(row.n_kept == row.n_participants for row in groups):
        return "nobody was lost"
    if not any(row.n_kept for row in groups):
        return "nobody was kept"
    return None
