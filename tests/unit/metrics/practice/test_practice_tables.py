"""Tables of practice from the runs of a study: which runs are a way, and what rows say."""

import dataclasses

import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.practice.table import measure_drops, measure_practice, origin_of
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.practice import PracticeOrder
from unit.metrics.metric_frames import runs_of

VARIANTS = {"noisy": "quiz", "noisy_casual": "noisy", "casual": "quiz"}
STEPS = {"noisy": ("typos",), "noisy_casual": ("typos", "casual"), "casual": ("casual",)}
LEVELS = {"a": 0.9, "b": 0.7, "c": 0.5}


def arm(
    task: str, condition: str, levels: dict[str, float], *, user: bool = False
) -> list[RunAccuracy]:
    """Three runs of each model, a point apart."""
    return [
        dataclasses.replace(run, model=model, task=task, is_counted=True)
        for model, level in levels.items()
        for run in runs_of([level, level + 0.01, level + 0.02], condition, replicates=int(user))
    ]


def lower(by: float) -> dict[str, float]:
    return {model: level - by for model, level in LEVELS.items()}


def study() -> list[RunAccuracy]:
    """Typos turn a and b; casual and users only take points."""
    turned = {"a": 0.5, "b": 0.6, "c": 0.3}
    return [
        *arm("quiz", "offline", LEVELS),
        *arm("quiz", "again", LEVELS),
        *arm("quiz", "history", lower(0.1), user=True),
        *arm("noisy", "offline", turned),
        *arm("casual", "offline", lower(0.05)),
        *arm("noisy_casual", "offline", {m: level - 0.05 for m, level in turned.items()}),
        *arm("other", "offline", LEVELS),
    ]


def orders(runs: list[RunAccuracy]) -> dict[tuple[str, str], PracticeOrder]:
    rows = measure_practice(runs, variants=VARIANTS, baseline="offline", n_permutations=9, seed=1)
    return {(r.way_task, r.condition): r for r in rows.orders if r.metric == "em_strict"}


def test_each_way_is_set_beside_its_origin() -> None:
    rows = orders(study())
    ways = {(task, "offline") for task in VARIANTS}
    assert set(rows) == ways | {("quiz", "again"), ("quiz", "history")}
    assert {row.task for row in rows.values()} == {"quiz"}
    assert rows["quiz", "again"].rho == rows["casual", "offline"].rho == 1
    assert rows["noisy", "offline"].rho == pytest.approx(0.5)
    assert rows["quiz", "history"].difference == pytest.approx(-0.1)
    assert rows["noisy", "offline"].p_least == pytest.approx(1 / 3)


def test_turned_pairs_are_counted_and_listed() -> None:
    tables = measure_practice(
        study(), variants=VARIANTS, baseline="offline", n_permutations=9, seed=1
    )
    row = orders(study())["noisy", "offline"]
    assert (row.n_discordant, row.n_judged, row.n_beyond_chance) == (1, 1, 1)
    turns = [t for t in tables.turns if t.metric == "em_strict"]
    assert [(t.way_task, t.model, t.other, t.is_beyond_chance) for t in turns] == [
        ("noisy", "a", "b", True),
        ("noisy_casual", "a", "b", True),
    ]


def test_a_variant_of_a_variant_belongs_to_the_first_task() -> None:
    assert origin_of("noisy_casual", VARIANTS) == "quiz"
    assert origin_of("quiz", VARIANTS) == "quiz"
    with pytest.raises(StudyError, match="a of b of a is a circle"):
        origin_of("a", {"a": "b", "b": "a"})


def test_steps_of_variants_explain_the_drop() -> None:
    runs = [r for r in study() if r.condition != "history"]
    rows = measure_drops(
        runs, variants=VARIANTS, steps=STEPS, controls=["again"], baseline="offline"
    )
    strict = [row for row in rows if row.metric == "em_strict"]
    mean = {row.variant: row for row in strict if row.model is None}
    assert {row.harshest for row in strict} == {"casual + typos"}
    assert mean["casual"].drop == pytest.approx(0.05)
    assert mean["typos"].drop == pytest.approx((0.4 + 0.1 + 0.2) / 3)
    assert {row.model for row in strict} == {None, "a", "b", "c"}
    assert strict[0].model is None
    assert mean["typos"].ci_low is not None
    assert (mean["typos"].n_models, mean["typos"].n_combinations) == (3, 4)


def test_a_condition_is_a_variant_and_a_control_is_none() -> None:
    runs = [*study(), *arm("noisy", "history", {"a": 0.1, "b": 0.2, "c": 0.0}, user=True)]
    rows = measure_drops(
        runs, variants=VARIANTS, steps=STEPS, controls=["again"], baseline="offline"
    )
    assert {row.harshest for row in rows} == {"history + typos"}
    assert {row.reason for row in rows} == {"no interval: users, or items, are behind several ways"}
    with_control = measure_drops(
        [*study(), *arm("quiz", "again", lower(0.8))],
        variants=VARIANTS, steps=STEPS, controls=["again"], baseline="offline",
    )  # fmt: skip
    assert {row.harshest for row in with_control} == {"casual + typos"}
