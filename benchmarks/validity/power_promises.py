"""Does `snakemake power` keep its promises? Whole studies with an effect, with all tests and claims.

Each line sets what power promises beside the share of whole studies that claim the effect. Studies are
simulated here, from sources of this folder: answers of every arm, the metric tables, the claims. Lines
called *discarded* have the promise of the code before: of commit 44eda31, which made tests and
corrections of its own, or of commit 343ca1f3, to which a user's prompts were independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import LETTERS, LISTED, Ints, letter_table, list_table
from power_sources import (
    EXPONENT,
    HALF,
    OPTIONS,
    Source,
    moved_letter,
    moved_option,
    odd_name,
    own_letters,
    own_lists,
    two_letters,
    varied_lists,
)
from run_scores import score_estimates

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import questions
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.claims.families import ClaimRules, PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.power.simulation import simulate_effects
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.columns import table_of
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.tasks import Item

PART = "power"
USERS = ("history", "rag", "profile")
PERMUTATIONS = 499
RAREST = 0.09
"""As the quickstart names them: means of 40 users have intervals, which their tests take into account."""
PROMISED_FROM = 2000
"""Simulated studies behind a promise."""
POINTS = 5
"""Of a scale."""
COMPANION = "probe"
"""A second task of four letters, so that a study has other tests than those of the effect's task."""
N_COMPANION, COMPANION_ITEMS = 20, 4
RULES = ClaimRules(
    [PrimaryTests(measure) for measure in ("share_who", "entropy_bits", "score")],
    USERS,
    [],
    {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
)


class Promise(NamedTuple):
    """A study, the test of the effect, and the promise of the code before, where there was one.

    `answers` are those of a user to a prompt; single options and distances have one in any case.
    """

    measure: str
    source: Source
    n_users: int
    before: float | None
    has_companion: bool = True
    answers: int = 2

    @property
    def n_answers(self) -> int:
        """Answers of a user to a prompt."""
        return 1 if self.measure in ("option_share", "distance") else self.answers


# ---- studies -------------------------------------------------------------------------------------------


def _study(promise: Promise, random: np.random.Generator) -> pd.DataFrame:
    """Answers of a whole study; the effect is in the first condition."""
    frames = []
    for condition in ("offline", *USERS):
        is_user = condition != "offline"
        answers = promise.n_answers if is_user else 1
        size, has_effect = (promise.n_users, answers), condition == USERS[0]
        own = promise.source.draw(has_effect, size, random)[None]
        make = list_table if promise.source.is_list else letter_table
        frames.append(make(own, condition=condition, puppets=is_user).assign(task="main"))
        if promise.has_companion:
            shares = np.full((COMPANION_ITEMS, N_COMPANION), HALF)
            letters = two_letters(shares, answers, random)[None]
            frame = letter_table(letters, condition=condition, puppets=is_user)
            frames.append(frame.assign(task=COMPANION))
    frame = pd.concat(frames)
    return frame.assign(letter_strict=frame["letter"], reason=None)


def _tables(promise: Promise, frame: pd.DataFrame, seed: int) -> dict[str, Sequence[Any]]:
    """The metric tables of the effect's family."""
    settings: dict[str, Any] = {"baseline": "offline", "n_permutations": PERMUTATIONS, "seed": seed}
    if promise.measure == "option_share":
        return by_name(measure_shifts(frame, baseline="offline"))
    if promise.measure == "distance":
        return by_name(measure_comparisons(frame, metrics=["js_bits"], **settings))
    tables: list[Sequence[Any]] = [measure_variance(frame, **settings)]
    estimates: list[Estimate] = []
    if (frame["kind"] == "list").any():
        of_estimates = EstimateSettings("offline", seed, USERS, rarest_users=RAREST)
        estimates += estimate_question(questions()["lists"], frame, of_estimates)
    if (frame["kind"] == "choice").any():
        runs = measure_runs(frame, _items(frame))
        estimates += score_estimates(runs, **settings, rarest_users=RAREST)
        tables.append(measure_score_spreads(runs, **settings, rarest_users=RAREST))
    return by_name(*tables, estimates)


def _items(frame: pd.DataFrame) -> pd.DataFrame:
    """The questions with letters; their right letter is A."""
    names = frame.loc[frame["kind"] == "choice", ["task", "item_id"]].drop_duplicates()
    return pd.DataFrame(
        asdict(Item(item, "choice", "", "", [*LETTERS], "A", "s", "")) for item in names["item_id"]
    ).assign(task=names["task"].to_numpy())


def by_name(*tables: Sequence[Any]) -> dict[str, Sequence[Any]]:
    return {table_of(type(table[0])).name: table for table in tables if table}


def _is_claimed(promise: Promise, tables: Mapping[str, Sequence[Any]]) -> float:
    """1 where the page would say that the effect's test differs."""
    is_list = promise.source.is_list
    for claim in measure_claims(tables, RULES):
        is_place = (claim.measure, claim.task, claim.condition) == (
            promise.measure,
            "main",
            USERS[0],
        )
        is_item = claim.item_id in (None, "00000")
        is_option = promise.measure != "option_share" or claim.detail in ("o0000", "A")
        if is_place and is_item and is_option:
            return float(claim.verdict == "differs")
    raise AssertionError(
        f"no test of {promise.measure} in a study of {'lists' if is_list else 'letters'}"
    )


def _reach(promise: Promise, sets: int, seed: int) -> Iterator[Outcome]:
    source, size = promise.source.name, f"{promise.n_users} users"
    yield from lines_of(promise, claims_of(promise, sets, seed), source, size, promised(promise))


def claims_of(promise: Promise, sets: int, seed: int) -> list[float]:
    """1 for each whole study that claims the effect, 0 for the others."""
    random = np.random.default_rng([seed, 15])
    return [
        _is_claimed(promise, _tables(promise, _study(promise, random), seed + number))
        for number in range(sets)
    ]


def lines_of(
    promise: Promise, claims: Sequence[float], source: str, size: str, power: float
) -> Iterator[Outcome]:
    """The promise as truth, the claims as estimates of it; then the promise of the code before."""
    for name, promised_power in (("", power), ("discarded: before, ", promise.before)):
        if promised_power is not None:
            estimator = f"{name}power of {promise.measure}"
            yield line_of(estimator, claims, source, size, promised_power)


def line_of(
    estimator: str, claims: Sequence[float], source: str, size: str, power: float
) -> Outcome:
    """One promise beside the claims."""
    p_values = [1 - claim for claim in claims]
    return outcome(PART, estimator, source, size, truth=power, estimates=claims, p_values=p_values)


def promised(promise: Promise) -> float:
    """What `snakemake power` says of such a study."""
    source = promise.source
    questions = {"main": _questions(source)}
    runs = {"main": promise.n_users}
    if promise.has_companion:
        questions[COMPANION] = PlannedTask({"choice": COMPANION_ITEMS}, COMPANION_ITEMS)
        runs[COMPANION] = N_COMPANION
    repeated = USERS if promise.n_answers > 1 else ()
    return power_of(promise, shape_of(questions, runs, RULES, repeated=repeated))


def _questions(source: Source) -> PlannedTask:
    if source.is_list:
        return PlannedTask({"list": source.n_items})
    return PlannedTask({"choice": source.n_items}, source.n_items)


def shape_of(
    questions: Mapping[str, PlannedTask],
    runs: Mapping[str, int],
    rules: ClaimRules,
    repeated: Sequence[str] = (),
) -> PlannedStudy:
    primary = [entry._asdict() for entry in rules.primary]
    return PlannedStudy(
        name="s",
        models={"m": "m"},
        conditions={name: name for name in USERS},
        baseline="offline",
        n_comparisons=len(USERS),
        runs=runs,
        score_task="main",
        asked_again=repeated,
        nests={},
        settings={},
        rules=rules._asdict() | {"primary": primary},
        n_permutations=PERMUTATIONS,
        seed=1,
        rarest_users=RAREST,
        tasks=questions,
    )


def power_of(
    promise: Promise, shape: PlannedStudy, place: int = 0, n_permutations: int = PERMUTATIONS
) -> float:
    """The promise of the effect, or of one of several effects of its measure by its place."""
    no_effects: dict[str, list[Any]] = {
        "shares": [], "who": [], "entropy": [], "scores": [], "values": [],
    }  # fmt: skip
    power = {
        "simulations": PROMISED_FROM,
        "sizes": [promise.n_users],
        "replicates": [2],
        "prompts": None,
        "effects": no_effects | dict(promise.source.effects),
        "lists": {"named": LISTED, "options": OPTIONS, "exponent": EXPONENT},
        "answer_share": HALF,
        "scale_points": POINTS,
        "settled_items": 0.0,
        "likeness": 0.0,
        "odd_users": 1.0,
        "sd_users": 0.0,
        "sd_reruns": 0.01,
    }
    power |= promise.source.supposed
    curves = simulate_effects(shape._replace(settings=power, n_permutations=n_permutations))
    powers = [
        curve.estimates[0].power or 0.0
        for curve in curves
        if (curve.scenario.measure, curve.scenario.task) == (promise.measure, "main")
        and ("m", USERS[0]) in curve.arms
    ]
    return powers[place]


# ---- scores --------------------------------------------------------------------------------------------

QUESTIONS, RIGHT = 75, 0.6


class ScoredStudy(NamedTuple):
    """Letters of 75 questions, right with chance 0.6; users' chances differ around a mean that moves."""

    difference: float
    sd_users: float
    odd: float
    n_users: int
    before: float


def _score_study(study: ScoredStudy, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, 16])
    claims: list[float] = []
    settings: dict[str, Any] = {
        "baseline": "offline",
        "n_permutations": PERMUTATIONS,
        "rarest_users": RAREST,
    }
    for number in range(sets):
        runs = [run for name in ("offline", *USERS) for run in _runs(study, name, random)]
        rows = score_estimates(runs, seed=seed + number, **settings)
        claim = next(
            claim
            for claim in measure_claims({"estimates": rows}, RULES)
            if (claim.measure, claim.condition) == ("score", USERS[0])
        )
        claims.append(float(claim.verdict == "differs"))
    promise = _score_promise(study)
    questions = {"main": PlannedTask({"choice": QUESTIONS}, QUESTIONS)}
    shape = shape_of(questions, {"main": study.n_users}, SCORE_RULES)
    size = f"{study.n_users} users"
    yield from lines_of(promise, claims, promise.source.name, size, power_of(promise, shape))


SCORE_RULES = RULES._replace(primary=[PrimaryTests("score")])
"""These studies have scores alone."""


def _score_promise(study: ScoredStudy) -> Promise:
    """Spreads of whole runs, which `power` takes from a pilot."""
    supposed = {
        "odd_users": study.odd,
        "sd_users": study.sd_users,
        "sd_reruns": float(np.sqrt(RIGHT * (1 - RIGHT) / QUESTIONS)),
    }
    name = (
        f"scores, {study.difference:g} higher, sd of users {study.sd_users:g}{odd_name(study.odd)}"
    )
    effects = {"scores": [study.difference]}
    source = Source(name, QUESTIONS, False, no_answers, effects, supposed)
    return Promise("score", source, study.n_users, study.before, has_companion=False)


def no_answers(_: bool, size: tuple[int, int], __: np.random.Generator) -> Ints:
    return np.zeros((0, *size), dtype=np.int64)


def _runs(study: ScoredStudy, condition: str, random: np.random.Generator) -> Iterator[RunAccuracy]:
    """Counted runs; users of every condition differ, those of the first are better, too."""
    n, is_user = study.n_users, condition != "offline"
    chances = np.full(n, RIGHT)
    if is_user:
        chances += study.sd_users * random.normal(size=n)
    if condition == USERS[0]:
        chances += (random.random(n) < study.odd) * study.difference / study.odd
    scores = random.binomial(QUESTIONS, np.clip(chances, 0, 1)) / QUESTIONS
    for run, score in enumerate(scores.tolist()):
        puppet = f"p{run:04}" if is_user else None
        yield RunAccuracy(
            "m", "main", condition, run, puppet, 0 if is_user else run, score, score, 0.0, QUESTIONS,
            1, True,
        )  # fmt: skip


def jobs() -> Iterator[Job]:
    """Every promise, beside what studies reach."""
    for promise in promises():
        yield partial(_reach, promise)
    for study in SCORED:
        yield partial(_score_study, study)


SCORED = (
    ScoredStudy(0.05, 0.05, 1.0, 40, before=0.794),
    ScoredStudy(0.02, 0.0, 0.1, 100, before=0.537),
)


def promises() -> Iterator[Promise]:
    """The studies with their sources. The promises before had no settled prompts and no odd users."""
    single, nine, many = (
        moved_letter(n, settled, 0.93, 0.35) for n, settled in ((1, 0), (9, 0), (150, 0.75))
    )
    lists = moved_option(9, 0.93, 0.35)
    for measure in ("option_share", "distance"):
        yield Promise(measure, single, 40, 1.0, has_companion=False)
        yield Promise(measure, nine, 40, 0.998)
        yield Promise(measure, many, 40, 0.979)
        yield Promise(measure, many, 20, 0.529)
        yield Promise(measure, lists, 40, 0.998)
        yield Promise(measure, lists, 20, 0.836)
    yield Promise("share_who", own_letters(75, 0.75, 0.1, 1.0), 20, 0.984)
    yield Promise("share_who", own_letters(75, 0.0, 0.05, 0.1), 20, 0.575)
    yield Promise("share_who", own_lists(9, 0.5, 1.0), 10, 0.608)
    yield Promise("share_who", own_lists(9, 1.5, 0.1), 20, 0.633)
    yield Promise("entropy_bits", varied_lists(9, 1.4, 1.0), 40, None)
    yield Promise("entropy_bits", varied_lists(9, 0.5, 0.1), 40, None)
