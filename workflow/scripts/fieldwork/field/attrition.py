"""Who is lost on the way from the asked to the kept, by prompt and by group.

Owns the counts of participants and the test that groups lose alike many. Promises that a participant
counts once however often a prompt was answered, and that the p-value is exact where the tables can be
counted out and never too small where they are drawn. Holm's correction is handed in.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fieldwork.records.field import Attrition, FieldAnswer, Participant

MAX_TABLES = 200_000
N_DRAWS = 9_999
_TIE = 1e-7
"""Two tables of equal probability come out of logarithms a little apart."""

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Lives(NamedTuple):
    """Participants of a model at one prompt."""

    asked: frozenset[str]
    answered: frozenset[str]
    kept: frozenset[str]


def attrition(
    answers: Sequence[FieldAnswer],
    participants: Sequence[Participant],
    *,
    holm: Callable[[Sequence[float]], Sequence[float]],
    seed: int,
) -> list[Attrition]:
    """Rows by model and prompt: everyone, then each variable's groups, with the variable's test.

    A participant was asked all prompts of a model under which a row of the file names them: a file
    does not say more. `holm` corrects the p-values of one variable over the prompts of a model;
    `seed` is for the permutations of tables that are too many to count out. Empty without answers.
    """
    groups: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for participant in participants:
        groups[participant.variable][participant.group].add(participant.participant_id)
    rows: list[Attrition] = []
    for model in sorted({answer.model for answer in answers}):
        lives = _lives([answer for answer in answers if answer.model == model])
        rows.extend(_row((model, *prompt), None, None, life) for prompt, life in lives.items())
        for variable in sorted(groups):
            rows.extend(_of_variable(model, variable, groups[variable], lives, holm, seed))
    return sorted(rows, key=lambda r: (r.model, r.task, r.item_id, r.variable or "", r.group or ""))


def _lives(answers: Sequence[FieldAnswer]) -> dict[tuple[str, str], _Lives]:
    asked = frozenset(answer.participant_id for answer in answers)
    answered: dict[tuple[str, str], set[str]] = defaultdict(set)
    kept: dict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in answers:
        prompt = (answer.task, answer.item_id)
        if (answer.text or "").strip():
            answered[prompt].add(answer.participant_id)
        if answer.excluded_for is None and answer.text is not None:
            kept[prompt].add(answer.participant_id)
    prompts = sorted({(answer.task, answer.item_id) for answer in answers})
    return {p: _Lives(asked, frozenset(answered[p]), frozenset(kept[p])) for p in prompts}


def _row(
    prompt: tuple[str, str, str],
    variable: str | None,
    group: str | None,
    life: _Lives,
    members: Collection[str] | None = None,
) -> Attrition:
    asked, answered, kept = (
        len(ids if members is None else ids.intersection(members)) for ids in life
    )
    return Attrition(
        *prompt,
        variable=variable,
        group=group,
        n_participants=asked,
        n_answered=answered,
        n_kept=kept,
        kept_share=kept / asked if asked else None,
        p_value=None,
        p_holm=None,
        reason="everyone: there are no groups to compare" if variable is None else None,
    )


def _of_variable(
    model: str,
    variable: str,
    groups: Mapping[str, Collection[str]],
    lives: Mapping[tuple[str, str], _Lives],
    holm: Callable[[Sequence[float]], Sequence[float]],
    seed: int,
) -> list[Attrition]:
    rows: list[list[Attrition]] = []
    tests: list[float | None] = []
    for prompt, life in lives.items():
        of_prompt = [
            _row((model, *prompt), variable, group, life, members)
            for group, members in sorted(groups.items())
        ]
        rows.append(of_prompt)
        tests.append(_p_of(of_prompt, seed))
    tested = [p for p in tests if p is not None]
    corrected = iter(holm(tested) if tested else ())
    done: list[Attrition] = []
    for of_prompt, p_value in zip(rows, tests, strict=True):
        p_holm = None if p_value is None else next(corrected)
        reason = _why_untested(of_prompt) if p_value is None else None
        done.extend(
            dataclasses.replace(row, p_value=p_value, p_holm=p_holm, reason=reason)
            for row in of_prompt
        )
    return done


def _p_of(rows: Sequence[Attrition], seed: int) -> float | None:
    if _why_untested(rows):
        return None
    asked = [row for row in rows if row.n_participants]
    return p_of_loss(
        np.array([row.n_participants - row.n_kept for row in asked]),
        np.array([row.n_participants for row in asked]),
        random=np.random.default_rng([seed, *map(ord, rows[0].item_id)]),
    )


def _why_untested(rows: Sequence[Attrition]) -> str | None:
    asked = [row for row in rows if row.n_participants]
    if len(asked) < 2:
        return "fewer than two groups were asked"
    if all(row.n_kept == row.n_participants for row in asked):
        return "nobody was lost"
    if not any(row.n_kept for row in asked):
        return "nobody was kept"
    return None


def p_of_loss(lost: Counts, sizes: Counts, *, random: np.random.Generator) -> float:
    """Chance of a table as improbable as this one if the groups lose alike: both shape (groups,).

    Fisher's exact test of a table of two rows (Freeman and Halton 1951): the sum of the probabilities
    of all ways to lose as many participants that are no more probable. Counted out where there are at
    most `MAX_TABLES` ways, else (hits + 1) / (draws + 1) of `N_DRAWS` drawn (Phipson and Smyth 2010).
    """
    n_lost = int(lost.sum())
    least = _log_ways(lost[None, :], sizes)[0] + _TIE
    if _count_tables(sizes, n_lost) <= MAX_TABLES:
        log_ways = _log_ways(_all_tables(sizes, n_lost), sizes)
        total = _log_ways(np.array([[n_lost]]), np.array([int(sizes.sum())]))[0]
        return min(1.0, math.fsum(np.exp(log_ways[log_ways <= least] - total)))
    drawn = random.multivariate_hypergeometric(sizes, n_lost, size=N_DRAWS, method="marginals")
    return float((1 + (_log_ways(drawn, sizes) <= least).sum()) / (1 + N_DRAWS))


def _log_ways(tables: Counts, sizes: Counts) -> Floats:
    """Logarithm of the ways to lose each table's participants: proportional to its probability."""
    ways: Floats = (
        gammaln(sizes + 1.0) - gammaln(tables + 1.0) - gammaln(sizes - tables + 1.0)
    ).sum(axis=1)
    return ways


def _count_tables(sizes: Counts, n_lost: int) -> int:
    ways = np.ones(1)
    for size in sizes:
        ways = np.convolve(ways, np.ones(int(size) + 1))[: n_lost + 1]
    return int(min(ways[n_lost], 1e15))


def _all_tables(sizes: Counts, n_lost: int) -> Counts:
    """Every way to lose `n_lost` participants, shape (tables, groups)."""
    tables: Counts = np.zeros((1, 0), dtype=np.int64)
    left = np.array([n_lost])
    for place, size in enumerate(sizes):
        later = int(sizes[place + 1 :].sum())
        ranges = [np.arange(max(n - later, 0), min(n, int(size)) + 1) for n in left]
        lost = np.concatenate(ranges)
        rows = np.repeat(np.arange(len(left)), [len(r) for r in ranges])
        tables = np.column_stack([tables[rows], lost])
        left = left[rows] - lost
    return tables
