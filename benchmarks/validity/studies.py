"""Whole studies without any effect: what does the page of findings claim, and in how many of them?

A study has the shape of the quickstart: lists of 9 prompts and letters of 4 questions from 40 users or
reruns, letters of 75 scored questions from 10. Other shapes have few users, or fewer reruns of the
baseline. Every condition draws from the same source. Where some users are odd, as many reruns are: then
users do differ, but neither the mean variety of lists nor the mean score does.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    LETTERS,
    Floats,
    Ints,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    list_table,
)
from run_scores import score_estimates

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import questions
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.metrics.claims.families import ClaimRules, PrimaryTests, is_control
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.columns import table_of
from fieldwork.records.tasks import Item

PART = "studies"
PERMUTATIONS = 499
RAREST = 0.125
"""As the quickstart names them."""
USERS = ("history", "rag", "profile")
CONTROL = "again"
CONDITIONS = ("offline", CONTROL, *USERS)
SUBJECTS = {"astronomy": "STEM", "statistics": "STEM", "cooking": "other", "grammar": "humanities",
            "geography": "social sciences"}  # fmt: skip
FAMILIES = ("distance", "option_share", "score_spread", "novelty", "categories")
"""Families of secondary tests that such a study has."""

RULES = ClaimRules(
    primary=[PrimaryTests(measure) for measure in ("share_who", "entropy_bits", "score")],
    users=USERS,
    controls=[CONTROL],
    margins={"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
)


Tables = Mapping[str, Sequence[Any]]


class NullTask(NamedTuple):
    """A task whose answers do not depend on the condition.

    Attributes:
        n_baseline: reruns of the baseline and of the control; None for as many as users.
        odd: share of users, and of reruns, who like what others do not.
    """

    name: str
    n_items: int
    n_units: int
    exponent: float | None
    n_baseline: int | None = None
    odd: float = 0.0

    def answers(self, condition: str, source: Floats, random: np.random.Generator) -> pd.DataFrame:
        """Two answers a user, one a rerun."""
        is_user = condition in USERS
        n_units = self.n_units if is_user else self.n_baseline or self.n_units
        # an odd user is odd under all items, a rerun under each by itself
        shape = (1 if is_user else self.n_items, n_units, 1)
        odd_units = random.random(shape) < self.odd if self.odd else np.zeros(shape, dtype=bool)
        weights = np.where(odd_units, source[:, None, ::-1], source[:, None, :])[None]
        if self.exponent is None:
            letters: Ints = draw_letters(weights, 2 if is_user else 1, random)
            frame = letter_table(letters, condition=condition, puppets=is_user)
        else:
            twice = np.repeat(weights[:, :, :, None, :], 2 if is_user else 1, axis=3)
            lists = draw_lists(twice, random)
            frame = list_table(lists, condition=condition, puppets=is_user)
        replicate = frame["replicate"] + (n_units if condition == CONTROL else 0)
        letter = frame["letter"]
        return frame.assign(task=self.name, replicate=replicate, letter_strict=letter, reason=None)

    def source(self, random: np.random.Generator) -> Floats:
        """Weights of the options of each item, or shares of its letters."""
        if self.exponent is not None:
            log_weights = Zipf(60, self.exponent).log_weights()
            return np.stack([random.permutation(log_weights) for _ in range(self.n_items)])
        likings = np.exp(2 * random.normal(size=(self.n_items, len(LETTERS))))
        shares: Floats = likings / likings.sum(axis=1, keepdims=True)
        return shares


TASKS = (
    NullTask("lists", 9, 40, 1.5),
    NullTask("probe", 4, 40, None),
    NullTask("scored", 75, 10, None),
)


SHAPES = {
    "10 users in all tasks": tuple(task._replace(n_units=10) for task in TASKS),
    "half as many reruns as users": tuple(t._replace(n_baseline=t.n_units // 2) for t in TASKS),
}
ODD = {
    f"{n} users, {share:.0%} of them odd": tuple(
        task._replace(n_units=n, odd=share) for task in TASKS
    )
    for n, share in ((40, 0.125), (40, 0.05))
}


def jobs() -> Iterator[Job]:
    """Studies with the tests of the primary comparisons; a quarter as many with all their tests."""
    yield _primary_claims
    yield _all_claims
    for shape in SHAPES:
        yield partial(_other_shape, shape)
    for shape in ODD:
        yield partial(_odd_users, shape)


def study_items() -> pd.DataFrame:
    """The questions with letters; their right letter is A."""
    subjects = [*SUBJECTS]
    return pd.DataFrame(
        asdict(Item(f"{k:05}", "choice", "", "", [*LETTERS], "A", subjects[k % len(subjects)], ""))
        | {"task": task.name}
        for task in TASKS
        if task.exponent is None
        for k in range(task.n_items)
    )


def _settings(seed: int) -> dict[str, Any]:
    return {"baseline": "offline", "n_permutations": PERMUTATIONS, "seed": seed}


def primary_tables(frame: pd.DataFrame, seed: int, rarest_users: float = RAREST) -> Tables:
    """The metric tables with the primary comparisons of a study, by name."""
    settings = _settings(seed) | {"rarest_users": rarest_users}
    of_estimates = EstimateSettings("offline", seed, USERS, [CONTROL], rarest_users)
    runs = measure_runs(frame, study_items())
    return _by_name(
        measure_variance(frame, **settings),
        [
            *estimate_question(questions()["lists"], frame, of_estimates),
            *score_estimates(runs, **settings, users=USERS, controls=[CONTROL]),
        ],
        measure_score_spreads(runs, **settings),
    )


def secondary_tables(frame: pd.DataFrame, seed: int) -> Tables:
    """The other metric tables that have tests, by name."""
    subjects = measure_subjects(frame, study_items(), SUBJECTS)
    return _by_name(
        measure_comparisons(frame, metrics=["js_bits"], **_settings(seed)),
        measure_shifts(frame, baseline="offline"),
        measure_novelty(frame, control=CONTROL, **_settings(seed)),
        measure_categories(subjects, n_permutations=PERMUTATIONS, seed=seed),
    )


def _by_name(*tables: Sequence[Any]) -> Tables:
    return {table_of(type(table[0])).name: table for table in tables if table}


def _primary_claims(sets: int, seed: int) -> Iterator[Outcome]:
    least = [
        _least_p_values(primary_tables(frame, seed + number))
        for number, frame in enumerate(_null_studies(sets, seed))
    ]
    name = "any claim: primary"
    yield _outcome(name, [p_values[name] for p_values in least])


def _other_shape(shape: str, sets: int, seed: int) -> Iterator[Outcome]:
    name = "any claim: primary"
    least = [
        _least_p_values(primary_tables(frame, seed + number))[name]
        for number, frame in enumerate(_null_studies(max(1, sets // 2), seed, SHAPES[shape]))
    ]
    yield _outcome(name, least, shape)


def _odd_users(shape: str, sets: int, seed: int) -> Iterator[Outcome]:
    """A claim that means differ is false; what has no direction says that answers do, and is not."""
    tasks = ODD[shape]
    is_claimed, is_claimed_by_test = [], []
    for number, frame in enumerate(_null_studies(max(1, sets // 2), seed, tasks)):
        # the rarest users that the study names are its odd ones, where they are not rarer
        tables = primary_tables(frame, seed + number, max(tasks[0].odd, RAREST))
        claims = [
            c for c in measure_claims(tables, RULES) if c.measure in ("entropy_bits", "score")
        ]
        differing = [c for c in claims if c.verdict == "differs" and c.family == "primary"]
        is_claimed.append(float(any(c.direction != "differs" for c in differing)))
        is_claimed_by_test.append(float(bool(differing)))
    source = "means alike"
    for name, flags in (
        ("any claim: mean higher or lower", is_claimed),
        ("any claim: higher, lower or differs", is_claimed_by_test),
    ):
        p_values = [1 - flag for flag in flags]
        yield outcome(PART, name, source, shape, truth=None, p_values=p_values)


def _all_claims(sets: int, seed: int) -> Iterator[Outcome]:
    least: dict[str, list[float]] = defaultdict(list)
    for number, frame in enumerate(_null_studies(max(1, sets // 4), seed + 1)):
        first, second = (make(frame, seed + number) for make in (primary_tables, secondary_tables))
        for name, p_value in _least_p_values({**first, **second}).items():
            least[name].append(p_value)
    del least["any claim: primary"]
    for name, p_values in least.items():
        yield _outcome(name, p_values)


def _null_studies(
    sets: int, seed: int, tasks: Sequence[NullTask] = TASKS
) -> Iterator[pd.DataFrame]:
    """Answers of whole studies whose conditions share one source."""
    random = np.random.default_rng([seed, 14])
    for _ in range(sets):
        sources = [task.source(random) for task in tasks]
        yield pd.concat(
            task.answers(condition, source, random)
            for task, source in zip(tasks, sources, strict=True)
            for condition in CONDITIONS
        )


def _outcome(name: str, p_values: Sequence[float], shape: str = "quickstart's shape") -> Outcome:
    return outcome(PART, name, "nothing differs", shape, truth=None, p_values=p_values)


def _least_p_values(tables: Tables) -> dict[str, float]:
    """The smallest corrected p-value of each family, and of all on the page; 1 without a test."""
    least = dict.fromkeys(["primary", "control", *FAMILIES, "secondary, any"], 1.0)
    for claim in measure_claims(tables, RULES):
        family = "control" if is_control(claim.family) else claim.family
        names = [family, *(["secondary, any"] if family in FAMILIES else [])]
        for name in names:
            least[name] = min(least[name], _or_one(claim.p_corrected))
    return {f"any claim: {name}": p_value for name, p_value in least.items()}


def _or_one(p_value: float | None) -> float:
    return 1.0 if p_value is None else p_value
