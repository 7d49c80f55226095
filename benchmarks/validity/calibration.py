"""Calibration: known weights found again, how often it claims what is not there, and its interval."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import Floats, Zipf, draw_letters, draw_lists, letter_table, list_table

from fieldwork.metrics.calibration.prompts import find_usable_prompts, read_model_answers
from fieldwork.metrics.calibration.table import (
    Calibrations,
    CalibrationSettings,
    measure_calibration,
)
from fieldwork.metrics.calibration.weights import fit_weights
from fieldwork.records.field import Calibration

PART = "calibration"
ARMS = ("offline", "history", "rag", "profile")
OPTIONS = 60
ARM_ANSWERS = 40
RAREST = 0.125
"""Share of users of the rarest kind: 39 participants, and as many puppets, cover it."""
FEWER = 4
"""A data set is a whole study: this many times fewer of them than asked for."""


class Source(NamedTuple):
    """What the field is: a mixture of the arms by `weights`, or (None) a source of its own.

    Where people have `habits`, a participant answers every prompt from one of the arms, and so does
    every puppet within its own arm: one of two tastes for all prompts. Where some are `odd`, such a
    share of people and of the puppets of all arms but the first names other options, in all prompts.
    """

    name: str
    weights: tuple[float, ...] | None
    habits: bool = False
    odd: float = 0.0


MIXED = Source("field 0.4 offline + 0.6 history", (0.4, 0.6, 0.0, 0.0))
HABITS = Source("field 0.4 offline + 0.6 history, habits", (0.4, 0.6, 0.0, 0.0), habits=True)
ARM = Source("field is history", (0.0, 1.0, 0.0, 0.0))
EQUAL = Source("field is all arms alike", (0.25, 0.25, 0.25, 0.25))
EQUAL_HABITS = Source("field is all arms alike, habits", (0.25, 0.25, 0.25, 0.25), habits=True)
OTHER = Source("field is another source", None)
ODD = Source("field 0.4 offline + 0.6 history, one in eight odd", (0.4, 0.6, 0.0, 0.0), odd=0.125)
EQUAL_ODD = Source("field is all arms alike, one in eight odd", (0.25,) * 4, odd=0.125)


class Size(NamedTuple):
    """Prompts, and answers of the field to each."""

    prompts: int
    field: int

    def name(self) -> str:
        """As the tables call it."""
        return f"{self.prompts} prompts, n {self.field} in the field, {ARM_ANSWERS} an arm"


def jobs() -> Iterator[Job]:
    """Lists from every source; letters; the puppets of a condition; and too few answers."""
    for source, field in (
        (MIXED, 40),
        (ARM, 40),
        (EQUAL, 40),
        (OTHER, 40),
        (HABITS, 40),
        (EQUAL_HABITS, 40),
        (ODD, 40),
        (ODD, 100),
        (EQUAL_ODD, 40),
        (MIXED, 100),
        (MIXED, 20),
    ):
        yield partial(_lists, source, Size(9, field))
    yield partial(_letters, MIXED, Size(13, 100))
    for name in ("no puppet is nearer", "half the puppets are the field's"):
        yield partial(_puppets, name)
    yield partial(_lists, MIXED, Size(9, 10))
    for n in (40, 100, 400):
        yield partial(_recovered, n)


def _lists(source: Source, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, len(source.name), *size])
    found = [_measure(_list_study(source, size, random)) for _ in range(max(1, sets // FEWER))]
    yield from _told(found, f"lists, {source.name}", size)


def _recovered(n: int, sets: int, seed: int) -> Iterator[Outcome]:
    """The fit alone, with as many answers of each arm as of the field."""
    random = np.random.default_rng([seed, n, 3])
    size = Size(9, n)
    found = []
    for _ in range(max(1, sets // FEWER)):
        answers = _list_study(MIXED, size, random, n_arm=n)
        model_answers = read_model_answers(answers, tasks=["00000"])["m"]
        usable = find_usable_prompts(model_answers, ARMS, rarest_users=RAREST, seed=1, model="m")
        found.append(fit_weights([prompt.fit_prompt() for prompt in usable.prompts]).weights)
    for number, truth in enumerate(MIXED.weights or ()):
        yield outcome(
            PART,
            f"weight of {ARMS[number]}",
            f"lists, {MIXED.name}",
            f"9 prompts, n {n} in the field, {n} an arm",
            truth=truth,
            estimates=[float(weights[number]) for weights in found],
        )


def _letters(source: Source, size: Size, sets: int, seed: int) -> Iterator[Outcome]:
    random = np.random.default_rng([seed, len(source.name), *size, 1])
    found = [_measure(_letter_study(source, size, random)) for _ in range(max(1, sets // FEWER))]
    yield from _told(found, f"letters, {source.name}", size)


def _puppets(name: str, sets: int, seed: int) -> Iterator[Outcome]:
    """Weights over puppets with tastes of their own that hold for all prompts."""
    size = Size(9, 100)
    random = np.random.default_rng([seed, len(name), 2])
    found = [
        _measure(_puppet_study(name, size, random), over="puppets")
        for _ in range(max(1, sets // FEWER))
    ]
    yield from _told(found, f"puppets, {name}", size)


def _measure(answers: pd.DataFrame, *, over: str = "conditions") -> Calibrations:
    settings = CalibrationSettings(
        models=["m"],
        tasks=["00000"],
        over=["puppets" if over == "puppets" else "conditions"],
        conditions=[c for c in ARMS if c in set(answers["condition"])],
        folds=5,
        repeats=1,
        rarest_users=RAREST,
        rarest_prompts=0.45,
        n_permutations=1999,
        seed=1,
    )
    return measure_calibration(answers, settings=settings)


def _told(found: list[Calibrations], source: str, size: Size) -> Iterator[Outcome]:
    calibrated = [_row(each, "calibrated") for each in found]
    best = [row for each in found for row in each.summary if row.is_best]
    yield outcome(
        PART,
        "verdict is calibrated",
        source,
        size.name(),
        truth=None,
        p_values=[0.0 if row.verdict == "calibrated" else 1.0 for row in calibrated],
    )
    if not best:
        return
    gains = [row.gain_bits for row in best]
    yield outcome(
        PART,
        "gain over the best, bits (truth: mean)",
        source,
        size.name(),
        truth=float(np.mean([gain for gain in gains if gain is not None])),
        estimates=gains,
        intervals=[(row.ci_low, row.ci_high) for row in best],
        p_values=[row.p_value for row in best],
    )
    rooms = [row.excess_bits for row in best if row.excess_bits is not None]
    yield outcome(
        PART,
        "share of the gap closed (truth: ratio of means)",
        source,
        size.name(),
        truth=float(np.sum([gain for gain in gains if gain is not None]) / np.sum(rooms)),
        estimates=[row.gap_closed for row in best],
        intervals=[(row.closed_low, row.closed_high) for row in best],
    )
    yield outcome(
        PART,
        "overfit, bits",
        source,
        size.name(),
        truth=0.0,
        estimates=[row.overfit_bits for row in calibrated],
    )


def _row(found: Calibrations, comparator: str) -> Calibration:
    return next(row for row in found.summary if row.comparator == comparator)


def _list_study(
    source: Source, size: Size, random: np.random.Generator, *, n_arm: int = ARM_ANSWERS
) -> pd.DataFrame:
    """Arms share a ranking of the options of a prompt, and have tastes of their own besides."""
    n = size.prompts
    shared = np.stack([random.permutation(Zipf(OPTIONS, 1.5).log_weights()) for _ in range(n)])
    arms = shared + random.normal(0, 1, size=(len(ARMS), n, OPTIONS))
    frames = []
    for number, arm in enumerate(ARMS):
        weights = np.repeat(arms[number][:, None], n_arm, axis=1)
        if source.habits and arm != "offline":
            weights = weights + _tastes(n_arm, n, random)
        if arm != "offline":
            weights = weights + _oddity(source.odd, n_arm, n, random)
        frames.append(_list_frame(weights, arm, random))
    if source.weights is None:
        own = shared + random.normal(0, 1, size=(n, OPTIONS))
        field = np.repeat(own[:, None], size.field, axis=1)
    else:
        field = arms[_dealt(source, size, random), np.arange(n)[:, None]]
        if source.habits:
            field = field + _tastes(size.field, n, random)
        field = field + _oddity(source.odd, size.field, n, random)
    frames.append(_list_frame(field, "field", random))
    return pd.concat(frames)


def _dealt(source: Source, size: Size, random: np.random.Generator) -> "np.ndarray":
    """The arm that each answer of the field is from: shape (prompts, participants)."""
    shape = (1 if source.habits else size.prompts, size.field)
    dealt = random.choice(len(ARMS), p=source.weights, size=shape)
    return np.broadcast_to(dealt, (size.prompts, size.field))


def _tastes(people: int, prompts: int, random: np.random.Generator) -> Floats:
    """Half the people like the first options of every prompt better: (prompts, people, options)."""
    likes = np.where(np.arange(OPTIONS) < OPTIONS // 2, 1.0, -1.0)
    kind = np.where(random.random(people) < 0.5, 0.7, -0.7)
    return np.broadcast_to(kind[None, :, None] * likes, (prompts, people, OPTIONS))


def _oddity(share: float, people: int, prompts: int, random: np.random.Generator) -> Floats:
    """The odd like the last options of every prompt much better: (prompts, people, options)."""
    likes = np.where(np.arange(OPTIONS) < OPTIONS - 10, 0.0, 6.0)
    is_odd = random.random(people) < share
    return np.broadcast_to(is_odd[None, :, None] * likes, (prompts, people, OPTIONS))


def _list_frame(weights: Floats, condition: str, random: np.random.Generator) -> pd.DataFrame:
    lists = draw_lists(weights[None, :, :, None], random)
    return list_table(lists, condition=condition, puppets=condition != "offline")


def _letter_study(source: Source, size: Size, random: np.random.Generator) -> pd.DataFrame:
    arms = random.dirichlet(np.full(4, 1.0), size=(len(ARMS), size.prompts))
    frames = []
    for number, arm in enumerate(ARMS):
        shares = np.repeat(arms[number][:, None], ARM_ANSWERS, axis=1)
        frames.append(_letter_frame(shares, arm, random))
    field = arms[_dealt(source, size, random), np.arange(size.prompts)[:, None]]
    frames.append(_letter_frame(field, "field", random))
    return pd.concat(frames)


def _letter_frame(shares: Floats, condition: str, random: np.random.Generator) -> pd.DataFrame:
    letters = draw_letters(shares[None], 1, random)
    return letter_table(letters, condition=condition, puppets=condition != "offline")


def _puppet_study(name: str, size: Size, random: np.random.Generator) -> pd.DataFrame:
    """Puppets of one arm: all alike, or half of them with the field's taste for all prompts."""
    n = size.prompts
    shared = np.stack([random.permutation(Zipf(OPTIONS, 1.5).log_weights()) for _ in range(n)])
    tastes = shared + random.normal(0, 1.5, size=(2, n, OPTIONS))
    odd = np.arange(ARM_ANSWERS) % 2 if name.startswith("half") else np.zeros(ARM_ANSWERS, int)
    arm = tastes[odd[None, :], np.arange(n)[:, None]]
    # without a nearer puppet the field differs from all of them alike
    field = np.repeat(tastes[0 if name.startswith("half") else 1][:, None], size.field, axis=1)
    return pd.concat([_list_frame(arm, "history", random), _list_frame(field, "field", random)])
