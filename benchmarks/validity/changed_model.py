"""Studies in which the model changes after the baseline: users and the control have the same new answers.

All differences from the baseline are the model's, so that any claim about users is false. Lines that are
called *discarded* count what is claimed where users are compared with the baseline alone.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats
from studies import (
    CONDITIONS,
    PERMUTATIONS,
    RAREST,
    RULES,
    TASKS,
    USERS,
    NullTask,
    Tables,
    primary_tables,
    secondary_tables,
    study_items,
)

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.claims.control_tests import ControlTestSettings, measure_control_tests
from fieldwork.metrics.claims.families import is_control
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.records.claims import Claim

PART = "changed"
CHANGES = (0.1, 0.3)
"""Weight of the new answers in what the model answers after the baseline."""
PROMISED = ("distance", "option_share", "score", "score_spread", "entropy_bits")
"""Measures that compare users with the baseline."""


def jobs() -> Iterator[Job]:
    """Each size of change."""
    for change in CHANGES:
        yield partial(_simulate, change)


def _simulate(change: float, sets: int, seed: int) -> Iterator[Outcome]:
    claims, of_baseline = [], []
    for number, frame in enumerate(_studies(change, max(1, sets // 4), seed)):
        tables = {**primary_tables(frame, seed + number), **secondary_tables(frame, seed + number)}
        of_baseline.append(measure_claims(tables, RULES))
        claims.append(measure_claims(_with_controls(tables, frame, seed + number), RULES))
    source = f"{change:.0%} of other answers after the baseline"
    report = partial(outcome, PART, source=source, size="quickstart's shape", truth=None)
    for prefix, studies in (("", claims), ("discarded: ", of_baseline)):
        for kind in ("primary", "other"):
            flags = [any(_credited(study, kind)) for study in studies]
            yield report(f"{prefix}a difference with users, {kind}", p_values=_p_values(flags))
    warned = [any(c.verdict == "differs" and is_control(c.family) for c in s) for s in claims]
    yield report("a warning by the baseline asked again", p_values=_p_values(warned))


def _p_values(flags: list[bool]) -> list[float]:
    return [0.0 if flag else 1.0 for flag in flags]


def _credited(claims: list[Claim], kind: str) -> Iterator[bool]:
    for claim in claims:
        is_primary = claim.family == "primary"
        if (
            claim.condition in USERS
            and claim.measure in PROMISED
            and is_primary == (kind == "primary")
        ):
            yield claim.verdict == "differs"


def _with_controls(tables: Tables, frame: pd.DataFrame, seed: int) -> Tables:
    settings = ControlTestSettings(
        users=USERS,
        controls=RULES.controls,
        permutations=PERMUTATIONS,
        rarest_users=RAREST,
        seed=seed,
    )
    items = study_items()
    runs = measure_runs(frame, items)
    answers = frame.assign(value=np.nan)
    rows = measure_control_tests(answers, items, runs, tables["estimates"], settings)
    return {**tables, "control_tests": rows}


def _studies(change: float, sets: int, seed: int) -> Iterator[pd.DataFrame]:
    random = np.random.default_rng([seed, 41, int(100 * change)])
    for _ in range(sets):
        parts = []
        for task in TASKS:
            before, other = task.source(random), task.source(random)
            after = _mixture(task, before, other, change)
            parts += [
                task.answers(condition, before if condition == "offline" else after, random)
                for condition in CONDITIONS
            ]
        yield pd.concat(parts)


def _mixture(task: NullTask, before: Floats, other: Floats, change: float) -> Floats:
    """Shares of letters, or logarithms of the weights of options, some of them other ones."""
    if task.exponent is None:
        return (1 - change) * before + change * other
    mixed: Floats = np.log((1 - change) * np.exp(before) + change * np.exp(other))
    return mixed
