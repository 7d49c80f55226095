"""Calibration: known weights found again, how often it claims what is not there, and its interval."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from populations import Floats, Zipf, answer_table, draw_letters, draw_lists
from simulations import Line, Lines, Sets, Simulation, line_of

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.calibration.prompts import find_usable_prompts, read_model_answers
from fieldwork.metrics.calibration.table import (
    Calibrations,
    CalibrationSettings,
    measure_calibration,
)
from fieldwork.metrics.calibration.weights import fit_weights
from fieldwork.sections.metrics import CalibrationSection

ARMS = ("offline", "history", "rag", "profile")
OPTIONS = 60
ARM_ANSWERS = 40
RAREST = 0.125
"""Share of users of the rarest kind: 39 participants, and as many puppets, cover it."""


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


FIRST_TWO, ALL_ALIKE = (0.4, 0.6, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25)
MIXED = Source("field 0.4 offline + 0.6 history", FIRST_TWO)
ODD = Source("field 0.4 offline + 0.6 history, one in eight odd", FIRST_TWO, odd=0.125)
CASES = (
    (MIXED, 40),
    (Source("field is history", (0.0, 1.0, 0.0, 0.0)), 40),
    (Source("field is all arms alike", ALL_ALIKE), 40),
    (Source("field is another source", None), 40),
    (Source("field 0.4 offline + 0.6 history, habits", FIRST_TWO, habits=True), 40),
    (Source("field is all arms alike, habits", ALL_ALIKE, habits=True), 40),
    (ODD, 40),
    (ODD, 100),
    (Source("field is all arms alike, one in eight odd", ALL_ALIKE, odd=0.125), 40),
    (MIXED, 100),
    (MIXED, 20),
    (MIXED, 10),
)
"""Sources, and answers of the field to each prompt."""


class Size(NamedTuple):
    """Prompts, and answers of the field and of each arm to each."""

    prompts: int
    field: int
    arm: int = ARM_ANSWERS

    @property
    def name(self) -> str:
        """As the tables call it."""
        return f"{self.prompts} prompts, n {self.field} in the field, {self.arm} an arm"


def _lists(source: Source, size: Size, sets: Sets) -> Lines:
    yield from _lines([_measure(_list_study(source, size, sets.random)) for _ in range(sets.n)])


def _letters(source: Source, size: Size, sets: Sets) -> Lines:
    yield from _lines([_measure(_letter_study(source, size, sets.random)) for _ in range(sets.n)])


def _puppets(is_nearer: bool, size: Size, sets: Sets) -> Lines:
    """Weights over puppets with tastes of their own that hold for all prompts."""
    studies = (_puppet_study(is_nearer, size, sets.random) for _ in range(sets.n))
    yield from _lines([_measure(answers, over="puppets") for answers in studies])


def _recovered(size: Size, sets: Sets) -> Lines:
    """The fit alone, with as many answers of each arm as of the field."""
    weights = []
    for _ in range(sets.n):
        answers = _list_study(MIXED, size, sets.random)
        model_answers = read_model_answers(answers, tasks=["00000"])["m"]
        usable = find_usable_prompts(model_answers, ARMS, rarest_users=RAREST, seed=1, model="m")
        weights.append(fit_weights([prompt.fit_prompt() for prompt in usable.prompts]).weights)
    for arm, truth, estimates in zip(ARMS, FIRST_TWO, np.transpose(weights).tolist(), strict=True):
        yield Line(f"weight of {arm}", truth, estimates)


def _measure(answers: pd.DataFrame, *, over: str = "conditions") -> Calibrations:
    settings = CalibrationSettings(
        models=["m"],
        tasks=["00000"],
        conditions=[c for c in ARMS if c in set(answers["condition"])],
        section=CalibrationSection(
            over=["puppets" if over == "puppets" else "conditions"], folds=5, repeats=1
        ),
        chance=ChanceSettings(1999, 1, rarest_users=RAREST, rarest_prompts=0.45),
    )
    return measure_calibration(answers, settings=settings)


def _lines(studies: list[Calibrations]) -> Lines:
    rows = [row for study in studies for row in study.summary]
    calibrated = [row for row in rows if row.comparator == "calibrated"]
    verdicts = [row.verdict == "calibrated" for row in calibrated]
    yield Line("verdict is calibrated", claims=verdicts)
    if not (best := [row for row in rows if row.is_best]):
        return
    gains = [row.gain_bits for row in best if row.gain_bits is not None]
    yield line_of(
        "gain over the best, bits (truth: mean)", best, float(np.mean(gains)),
        value="gain_bits", interval="ci", p_value="p_value",
    )  # fmt: skip
    rooms = [row.excess_bits for row in best if row.excess_bits is not None]
    name = "share of the gap closed (truth: ratio of means)"
    ratio = float(np.sum(gains) / np.sum(rooms))
    yield line_of(name, best, ratio, value="gap_closed", interval="closed")
    yield line_of("overfit, bits", calibrated, 0.0, value="overfit_bits")


def _rankings(prompts: int, random: np.random.Generator) -> Floats:
    """Log weights of the options of each prompt."""
    weights = Zipf(OPTIONS, 1.5).log_weights()
    return np.stack([random.permutation(weights) for _ in range(prompts)])


def _list_study(source: Source, size: Size, random: np.random.Generator) -> pd.DataFrame:
    """Arms share a ranking of the options of a prompt, and have tastes of their own besides."""
    n = size.prompts
    shared = _rankings(n, random)
    arms = shared + random.normal(0, 1, size=(len(ARMS), n, OPTIONS))
    frames = []
    for number, arm in enumerate(ARMS):
        weights = np.repeat(arms[number][:, None], size.arm, axis=1)
        if source.habits and arm != "offline":
            weights = weights + _tastes(size.arm, n, random)
        if arm != "offline":
            weights = weights + _oddity(source.odd, size.arm, n, random)
        frames.append(_list_frame(weights, arm, random))
    if source.weights is None:
        other = shared + random.normal(0, 1, size=(n, OPTIONS))
        field = np.repeat(other[:, None], size.field, axis=1)
    else:
        field = arms[_dealt(source, size, random), np.arange(n)[:, None]]
        if source.habits:
            field = field + _tastes(size.field, n, random)
        field = field + _oddity(source.odd, size.field, n, random)
    return pd.concat([*frames, _list_frame(field, "field", random)])


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
    return answer_table(draw_lists(weights[None, :, :, None], random), condition)


def _letter_study(source: Source, size: Size, random: np.random.Generator) -> pd.DataFrame:
    arms = random.dirichlet(np.full(4, 1.0), size=(len(ARMS), size.prompts))
    frames = [
        answer_table(
            draw_letters(np.repeat(shares[None, :, None], size.arm, axis=2), 1, random), arm
        )
        for arm, shares in zip(ARMS, arms, strict=True)
    ]
    field = arms[_dealt(source, size, random), np.arange(size.prompts)[:, None]]
    return pd.concat([*frames, answer_table(draw_letters(field[None], 1, random), "field")])


def _puppet_study(is_nearer: bool, size: Size, random: np.random.Generator) -> pd.DataFrame:
    """Puppets of one arm: all alike, or half of them with the field's taste for all prompts."""
    n = size.prompts
    tastes = _rankings(n, random) + random.normal(0, 1.5, size=(2, n, OPTIONS))
    taste_of = np.arange(size.arm) % 2 * is_nearer
    arm = tastes[taste_of[None, :], np.arange(n)[:, None]]
    # without a nearer puppet the field differs from all of them alike
    field = np.repeat(tastes[0 if is_nearer else 1][:, None], size.field, axis=1)
    return pd.concat([_list_frame(arm, "history", random), _list_frame(field, "field", random)])


def _simulation(make: object, arguments: tuple, source: str, size: Size, *seeds: int) -> Simulation:
    """A data set is a whole study: there are a quarter of those asked for."""
    return Simulation("calibration", make, (*arguments, size), source, size.name, seeds, 4)


SIMULATIONS = (
    *(
        _simulation(_lists, (source,), f"lists, {source.name}", Size(9, n), len(source.name), 9, n)
        for source, n in CASES
    ),
    _simulation(
        _letters, (MIXED,), f"letters, {MIXED.name}", Size(13, 100), len(MIXED.name), 13, 100, 1
    ),
    *(
        _simulation(_puppets, (is_nearer,), f"puppets, {name}", Size(9, 100), len(name), 2)
        for name, is_nearer in (
            ("no puppet is nearer", False),
            ("half the puppets are the field's", True),
        )
    ),
    *(
        _simulation(_recovered, (), f"lists, {MIXED.name}", Size(9, n, n), n, 3)
        for n in (40, 100, 400)
    ),
)
