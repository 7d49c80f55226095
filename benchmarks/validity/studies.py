"""Whole studies: what does the page of findings claim, and in how many of them?

A study has the shape of the quickstart: lists of 9 prompts and letters of 4 questions from 40 users or
reruns, letters of 75 scored questions from 10. Other shapes have few users, or fewer reruns of the
baseline. Three kinds of source:

- Nothing differs: every condition draws from the same source. Where some users are odd, as many reruns
  are: then users do differ, but neither the mean variety of lists nor the mean score does.
- The model changes after the baseline: users and the control have the same new answers. So any claim
  about users is false. Lines called *discarded* count what is claimed beside the baseline alone.
- Under one condition some answers to a prompt of each task, or to every third, come from another source.
  Which correction claims more of these tests: Holm's, or Benjamini and Hochberg's?
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from populations import (
    LETTERS,
    Floats,
    Zipf,
    answer_table,
    by_table,
    draw_letters,
    draw_lists,
    score_estimates,
)
from simulations import Line, Lines, Sets, Simulation, columns_of

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import questions
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.metrics.claims.control_tests import ControlTestSettings, measure_control_tests
from fieldwork.metrics.claims.families import ClaimRules, is_control
from fieldwork.metrics.claims.measures import MEASURES, study_tests
from fieldwork.metrics.claims.study_test import StudyTest
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.tasks import Item
from fieldwork.sections.study import PrimaryEntry
from fieldwork.statistics.families import LEVEL, benjamini_hochberg
from fieldwork.statistics.fisher import holm_of_discrete

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
USUAL_SHAPE = "quickstart's shape"
RULES = ClaimRules(
    primary=[PrimaryEntry(measure=measure) for measure in ("share_who", "entropy_bits", "score")],
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
        n_answers = 2 if is_user else 1
        # an odd user is odd under all items, a rerun under each by itself
        shape = (1 if is_user else self.n_items, n_units, 1)
        odd_units = random.random(shape) < self.odd if self.odd else np.zeros(shape, dtype=bool)
        weights = np.where(odd_units, source[:, None, ::-1], source[:, None, :])[None]
        if self.exponent is None:
            drawn = draw_letters(weights, n_answers, random)
        else:
            drawn = draw_lists(np.repeat(weights[:, :, :, None, :], n_answers, axis=3), random)
        frame = answer_table(drawn, condition, puppets=is_user)
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
    USUAL_SHAPE: TASKS,
    "10 users in all tasks": tuple(task._replace(n_units=10) for task in TASKS),
    "half as many reruns as users": tuple(t._replace(n_baseline=t.n_units // 2) for t in TASKS),
}
ODD = {
    f"{n} users, {share:.0%} of them odd": tuple(
        task._replace(n_units=n, odd=share) for task in TASKS
    )
    for n, share in ((40, 0.125), (40, 0.05))
}


def _items() -> pd.DataFrame:
    """The questions with letters; their right letter is A."""
    subjects = [*SUBJECTS]
    return pd.DataFrame(
        asdict(Item(f"{k:05}", "choice", "", "", [*LETTERS], "A", subjects[k % len(subjects)], ""))
        | {"task": task.name}
        for task in TASKS
        if task.exponent is None
        for k in range(task.n_items)
    )


def _primary_tables(frame: pd.DataFrame, seed: int, rarest_users: float = RAREST) -> Tables:
    """The metric tables with the primary comparisons of a study, by name."""
    settings: dict[str, Any] = {"n_permutations": PERMUTATIONS, "seed": seed}
    settings |= {"baseline": "offline", "rarest_users": rarest_users}
    of_estimates = EstimateSettings("offline", seed, USERS, [CONTROL], rarest_users)
    runs = measure_runs(frame, _items())
    return by_table(
        measure_variance(frame, **settings),
        [
            *estimate_question(questions()["lists"], frame, of_estimates),
            *score_estimates(runs, **settings, users=USERS, controls=[CONTROL]),
        ],
        measure_score_spreads(runs, **settings),
    )


def _secondary_tables(frame: pd.DataFrame, seed: int) -> Tables:
    """The other metric tables that have tests, by name."""
    settings: dict[str, Any] = {"n_permutations": PERMUTATIONS, "seed": seed}
    subjects = measure_subjects(frame, _items(), SUBJECTS)
    return by_table(
        measure_comparisons(frame, metrics=["js_bits"], baseline="offline", **settings),
        measure_shifts(frame, baseline="offline"),
        measure_novelty(frame, control=CONTROL, baseline="offline", **settings),
        measure_categories(subjects, **settings),
    )


# ---- nothing differs -----------------------------------------------------------------------------------


def _null_studies(tasks: Sequence[NullTask], sets: Sets) -> Iterator[tuple[int, pd.DataFrame]]:
    """Answers of whole studies whose conditions share one source, each with a seed of its own."""
    for number in range(sets.n):
        sources = [task.source(sets.random) for task in tasks]
        frames = [
            task.answers(condition, source, sets.random)
            for task, source in zip(tasks, sources, strict=True)
            for condition in CONDITIONS
        ]
        yield sets.seed + number, pd.concat(frames)


def _primary_claims(shape: str, sets: Sets) -> Lines:
    studies = _null_studies(SHAPES[shape], sets)
    least = columns_of(_least_p_values(_primary_tables(frame, seed)) for seed, frame in studies)
    yield Line("any claim: primary", p_values=least["primary"])


def _all_claims(sets: Sets) -> Lines:
    # other studies than those of which the primary claims are counted
    random = np.random.default_rng([sets.seed + 1, 14])
    studies = _null_studies(TASKS, sets._replace(random=random))
    least = columns_of(
        _least_p_values({**_primary_tables(frame, seed), **_secondary_tables(frame, seed)})
        for seed, frame in studies
    )
    del least["primary"]
    for name, p_values in least.items():
        yield Line(f"any claim: {name}", p_values=p_values)


def _least_p_values(tables: Tables) -> dict[str, float]:
    """The smallest corrected p-value of each family, and of all on the page; 1 without a test."""
    least = dict.fromkeys(["primary", "control", *FAMILIES, "secondary, any"], 1.0)
    for claim in measure_claims(tables, RULES):
        family = "control" if is_control(claim.family) else claim.family
        p_value = 1.0 if claim.p_corrected is None else claim.p_corrected
        for name in (family, *(["secondary, any"] if family in FAMILIES else [])):
            least[name] = min(least[name], p_value)
    return least


def _odd_users(shape: str, sets: Sets) -> Lines:
    """A claim that means differ is false; what has no direction says that answers do, and is not."""
    tasks = ODD[shape]
    is_claimed, is_claimed_by_test = [], []
    for seed, frame in _null_studies(tasks, sets):
        # the rarest users that the study names are its odd ones, where they are not rarer
        tables = _primary_tables(frame, seed, max(tasks[0].odd, RAREST))
        differing = [
            claim
            for claim in measure_claims(tables, RULES)
            if claim.measure in ("entropy_bits", "score")
            and (claim.verdict, claim.family) == ("differs", "primary")
        ]
        is_claimed.append(any(claim.direction != "differs" for claim in differing))
        is_claimed_by_test.append(bool(differing))
    yield Line("any claim: mean higher or lower", claims=is_claimed)
    yield Line("any claim: higher, lower or differs", claims=is_claimed_by_test)


# ---- the model changes after the baseline --------------------------------------------------------------

PROMISED = ("distance", "option_share", "score", "score_spread", "entropy_bits")
"""Measures that compare users with the baseline."""


def _changed_model(change: float, sets: Sets) -> Lines:
    """`change` is the weight of the new answers in what the model answers after the baseline."""
    claims, of_baseline = [], []
    for seed in range(sets.seed, sets.seed + sets.n):
        frame = _changed_study(change, sets.random)
        tables = {**_primary_tables(frame, seed), **_secondary_tables(frame, seed)}
        of_baseline.append(measure_claims(tables, RULES))
        claims.append(measure_claims(_with_controls(tables, frame, seed), RULES))
    for prefix, studies in (("", claims), ("discarded: ", of_baseline)):
        for kind in ("primary", "other"):
            flags = [any(_credited(study, kind == "primary")) for study in studies]
            yield Line(f"{prefix}a difference with users, {kind}", claims=flags)
    warnings = [any(c.verdict == "differs" and is_control(c.family) for c in s) for s in claims]
    yield Line("a warning by the baseline asked again", claims=warnings)


def _credited(claims: Sequence[Claim], is_primary: bool) -> Iterator[bool]:
    for claim in claims:
        is_of_kind = is_primary == (claim.family == "primary")
        if claim.condition in USERS and claim.measure in PROMISED and is_of_kind:
            yield claim.verdict == "differs"


def _with_controls(tables: Tables, frame: pd.DataFrame, seed: int) -> Tables:
    settings = ControlTestSettings(
        users=USERS,
        controls=RULES.controls,
        permutations=PERMUTATIONS,
        rarest_users=RAREST,
        seed=seed,
    )
    items, answers = _items(), frame.assign(value=np.nan)
    runs = measure_runs(frame, items)
    rows = measure_control_tests(answers, items, runs, tables["estimates"], settings)
    return {**tables, "control_tests": rows}


def _changed_study(change: float, random: np.random.Generator) -> pd.DataFrame:
    parts = []
    for task in TASKS:
        before, other = task.source(random), task.source(random)
        # shares of letters, or logarithms of the weights of options, some of them other ones
        if task.exponent is None:
            after = (1 - change) * before + change * other
        else:
            after = np.log((1 - change) * np.exp(before) + change * np.exp(other))
        parts += [
            task.answers(condition, before if condition == "offline" else after, random)
            for condition in CONDITIONS
        ]
    return pd.concat(parts)


# ---- corrections ---------------------------------------------------------------------------------------

AFFECTED = "history"
STEPS = {"one prompt of each task": 1000, "every third prompt": 3}


def _corrections(step: int, mixture: float, sets: Sets) -> Lines:
    """Power is the share of the tests with an effect that a correction claims, over a measure's family.

    Args:
        mixture: how much of the other source is in the answers that differ.
    """
    claims: dict[str, list[float]] = {}
    for seed in range(sets.seed, sets.seed + sets.n):
        tables = _secondary_tables(_affected_study(step, mixture, sets.random), seed)
        for family in ("distance", "option_share"):
            rows = tables.get(table_of(MEASURES[family].row_type).name, ())
            tests = [t for t in study_tests(family, rows) if t.key.condition in USERS]
            for correction, flags in _claimed(tests, step).items():
                claims.setdefault(f"{family}, {correction}", []).extend(flags)
    for name, flags in claims.items():
        yield Line(name, claims=flags)


def _affected_study(step: int, mixture: float, random: np.random.Generator) -> pd.DataFrame:
    frames = []
    for task in TASKS:
        usual = task.source(random)
        for condition in CONDITIONS:
            frame = task.answers(condition, usual, random)
            if condition == AFFECTED:
                # some answers to every so many prompts come from the source with its options turned
                other = task.answers(AFFECTED, usual[:, ::-1], random)
                is_affected = frame["item_id"].astype(int).mod(step).eq(0).to_numpy()
                is_other = is_affected & (random.random(len(frame)) < mixture)
                frame = pd.concat([frame[~is_other], other[is_other]])
            frames.append(frame)
    return pd.concat(frames)


def _claimed(tests: Sequence[StudyTest], step: int) -> dict[str, list[float]]:
    """Whether each test with an effect is claimed, by correction; hopeless tests set aside first."""
    possible = [test for test in tests if test.p_value is not None and test.p_least < LEVEL]
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


SIMULATIONS = (
    Simulation("studies", _primary_claims, (USUAL_SHAPE,), "nothing differs", USUAL_SHAPE, (14,)),
    Simulation("studies", _all_claims, (), "nothing differs", USUAL_SHAPE, (14,), 4),
    *(
        Simulation("studies", _primary_claims, (shape,), "nothing differs", shape, (14,), 2)
        for shape in [*SHAPES][1:]
    ),
    *(
        Simulation("studies", _odd_users, (shape,), "means alike", shape, (14,), 2)
        for shape in ODD
    ),
    *(
        Simulation(
            "changed", _changed_model, (change,), f"{change:.0%} of other answers after the baseline",
            USUAL_SHAPE, (41, int(100 * change)), 4,
        )
        for change in (0.1, 0.3)
    ),
    *(
        Simulation(
            "corrections", _corrections, (STEPS[where], mixture), f"{mixture:.0%} of other answers",
            f"{where}, under one condition", (15, STEPS[where], int(100 * mixture)), 4,
        )
        for where, mixture in product(STEPS, (0.5, 1.0))
    ),
)  # fmt: skip
