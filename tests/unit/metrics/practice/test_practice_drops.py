"""The drop from offline to the harshest way, divided among variants, where the truth is known."""

import numpy as np
import pytest

from fieldwork.metrics.practice.drops import explain_drop
from fieldwork.metrics.practice.ways import WayScores
from fieldwork.records.practice import PracticeDrop
from fieldwork.statistics.shapley import all_combinations

STEPS = {"casual": 0.05, "translated": 0.20, "typos": 0.10}
Scores = dict[frozenset[str], dict[str, WayScores]]


def additive(models: dict[str, float], steps: dict[str, float] = STEPS) -> Scores:
    """Each variant takes its points from each model, whatever else is there."""
    return {
        c: {m: WayScores((start - sum(steps[v] for v in c),)) for m, start in models.items()}
        for c in all_combinations(steps)
    }


def parts_of(scores: Scores, model: str | None = None) -> dict[str, PracticeDrop]:
    return {part.variant: part for part in explain_drop(scores) if part.model == model}


def test_variants_that_add_up_explain_what_they_take() -> None:
    scores = additive({"a": 0.9, "b": 0.6})
    assert {(part.harshest, part.n_models) for part in explain_drop(scores)} == {
        ("casual + translated + typos", 2)
    }
    for model in (None, "a", "b"):
        parts = parts_of(scores, model)
        assert {v: p.drop for v, p in parts.items()} == {
            v: pytest.approx(s) for v, s in STEPS.items()
        }
        assert [p.total_drop for p in parts.values()] == [pytest.approx(0.35)] * 3
        assert sum(p.share or 0 for p in parts.values()) == pytest.approx(1)
    # a model without one combination is left out
    del scores[frozenset({"typos"})]["b"]
    assert {part.model for part in explain_drop(scores)} == {None, "a"}
    assert parts_of(scores)["typos"].n_models == 1


def test_a_variant_that_helps_has_a_share_below_nothing() -> None:
    levels = {(): 0.8, ("a",): 0.3, ("b",): 0.9, ("a", "b"): 0.2}
    scores = {frozenset(c): {"m": WayScores((score,))} for c, score in levels.items()}
    parts = parts_of(scores)
    # b adds 0.1 alone and takes 0.1 after a: nothing; a takes 0.5 alone and 0.7 after b
    assert parts["a"].drop == pytest.approx(0.6)
    assert parts["b"].drop == pytest.approx(0.0)


def test_what_has_no_parts_says_why() -> None:
    parts = parts_of(additive({"a": 0.5}, {"typos": -0.1}))
    assert parts["typos"].reason == "no parts: no way scores lower than offline"
    assert parts["typos"].total_drop == pytest.approx(-0.1)
    assert parts_of(additive({"a": 0.5}, {"typos": 0.0}))["typos"].share is None
    many = additive({"a": 0.9}, {f"v{k}": 0.1 for k in range(7)})
    assert "has 7 variants, at most 6" in (parts_of(many)["v0"].reason or "")
    assert explain_drop({frozenset(): {"a": WayScores((0.5,))}}) == []
    assert explain_drop({}) == []


def test_intervals_need_reruns_that_differ() -> None:
    scores = additive({"a": 0.9}, {"typos": 0.1})
    assert parts_of(scores)["typos"].reason == "no interval: a way was asked once"
    alike = {c: {"a": WayScores((0.5 - 0.1 * len(c),) * 3)} for c in scores}
    assert parts_of(alike)["typos"].reason == "no interval: all reruns of one way score alike"
    people = {
        c: {"a": WayScores((0.5, 0.6), "puppet", ("p", "q")) if c else WayScores((0.7, 0.8))}
        for c in scores
    }
    assert "users, or items" in (parts_of(people)["typos"].reason or "")


@pytest.mark.parametrize("models", [("a",), ("a", "b", "c")])
def test_intervals_of_parts_cover_their_truth(models: tuple[str, ...]) -> None:
    random = np.random.default_rng(len(models))
    held = []
    for _ in range(300):
        scores = {
            c: {
                m: WayScores(tuple(random.normal(0.8 - sum(STEPS[v] for v in c), 0.02, size=5)))
                for m in models
            }
            for c in all_combinations(STEPS)
        }
        for variant, part in parts_of(scores).items():
            held.append((part.ci_low or 9) <= STEPS[variant] <= (part.ci_high or 0))
    assert 0.93 < np.mean(held) < 0.97
