"""Which correction finds more of what differs: Holm's, or Benjamini and Hochberg's?

Whole studies in the quickstart's shape. Under one condition some answers to a prompt of each task, or to
every third, come from another source; tests of other conditions and prompts have no effect. Power is
the share of the tests with an effect that a correction claims, over the family of all users' tests of a
measure.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats
from studies import CONDITIONS, TASKS, USERS, NullTask, secondary_tables

from fieldwork.metrics.claims.measures import MEASURES, study_tests
from fieldwork.metrics.claims.study_test import StudyTest
from fieldwork.records.columns import table_of
from fieldwork.statistics.families import LEVEL, benjamini_hochberg
from fieldwork.statistics.fisher import holm_of_discrete

PART = "corrections"
AFFECTED = "history"
FAMILIES = ("distance", "option_share")
MIXTURES = (0.5, 1.0)
"""How much of the other source is in the answers that differ."""
STEPS = {"one prompt of each task": 1000, "every third prompt": 3}


def jobs() -> Iterator[Job]:
    """Effects of every strength, on few and on many prompts."""
    for where in STEPS:
        for mixture in MIXTURES:
            yield partial(_power, where, mixture)


def _power(where: str, mixture: float, sets: int, seed: int) -> Iterator[Outcome]:
    step = STEPS[where]
    random = np.random.default_rng([seed, 15, step, int(100 * mixture)])
    flags: dict[tuple[str, str], list[float]] = {}
    for number in range(max(1, sets // 4)):
        tables = secondary_tables(_study(step, mixture, random), seed + number)
        for family in FAMILIES:
            rows = tables.get(table_of(MEASURES[family].row_type).name, ())
            tests = [t for t in study_tests(family, rows) if t.key.condition in USERS]
            for correction, claimed in _claimed(tests, step).items():
                flags.setdefault((family, correction), []).extend(claimed)
    for (family, correction), claimed in flags.items():
        # a claim counts as a p-value of 0, so that the page prints the share of claims
        yield outcome(
            PART, f"{family}, {correction}", f"{mixture:.0%} of other answers",
            f"{where}, under one condition", truth=None,
            p_values=[1 - flag for flag in claimed],
        )  # fmt: skip


def _study(step: int, mixture: float, random: np.random.Generator) -> pd.DataFrame:
    frames = []
    for task in TASKS:
        usual = task.source(random)
        for condition in CONDITIONS:
            frames.append(task.answers(condition, usual, random))
            if condition == AFFECTED:
                frames[-1] = _mixed(task, frames[-1], usual, step, mixture, random)
    return pd.concat(frames)


def _mixed(
    task: NullTask,
    frame: pd.DataFrame,
    usual: Floats,
    step: int,
    mixture: float,
    random: np.random.Generator,
) -> pd.DataFrame:
    """Some of the answers to every so many prompts come from the source with its options turned."""
    other = task.answers(AFFECTED, usual[:, ::-1], random)
    is_affected = frame["item_id"].astype(int).mod(step).eq(0).to_numpy()
    is_other = is_affected & (random.random(len(frame)) < mixture)
    return pd.concat([frame[~is_other], other[is_other]])


def _claimed(tests: Sequence[StudyTest], step: int) -> dict[str, list[float]]:
    """Whether each test with an effect is claimed, by correction; hopeless tests set aside first."""
    is_possible = [test.p_value is not None and test.p_least < LEVEL for test in tests]
    possible = [test for test, flag in zip(tests, is_possible, strict=True) if flag]
    p_values = [test.p_value or 0.0 for test in possible]
    corrected = {
        "Holm": holm_of_discrete(p_values, [test.support for test in possible]),
        "Benjamini-Hochberg": benjamini_hochberg(p_values),
    }
    return {
        name: [
            float(p < LEVEL)
            for test, p in zip(possible, adjusted, strict=True)
            if test.key.condition == AFFECTED
            and (test.key.item_id is None or int(test.key.item_id) % step == 0)
        ]
        for name, adjusted in corrected.items()
    }
