"""A declared measure has power, and a place in the families of tests, without a word about it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from power_plans import POWER, RULES, FakeArms, plan_power, planned_study

from fieldwork import measures
from fieldwork.estimates.declaration import Measure, ReaderQuestion
from fieldwork.metrics.claims.measures import MEASURES
from fieldwork.sections.study import PrimaryEntry

MODELS = {"paid": "Paid", "free": "free"}


def share_of_firsts(counts: np.ndarray) -> np.ndarray:
    return counts.max(axis=1) / counts.sum(axis=1)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Measure]:
    """A measure of lists and one of numbers that no word was written for."""
    kinds: dict[str, Any] = {"meaning": "m", "is_tested": True, "is_claimed": True}
    first = Measure(
        name="firsts",
        title="Firsts",
        statistic=share_of_firsts,
        directions=("more alike", "x"),
        **kinds,
    )
    words = Measure(name="lengths", title="Length", of="words", **kinds)
    questions = {
        **measures.questions(),
        "firsts": ReaderQuestion("Firsts", "Which?", [first], kinds=("list",)),
        "lengths": ReaderQuestion("Lengths", "How long?", [words], source="answers/forms"),
    }
    names = {name: m for one in questions.values() for name, m in one.names.items()}
    monkeypatch.setattr(measures, "questions", lambda: questions)
    monkeypatch.setattr("fieldwork.metrics.power.simulation.measures", lambda: names)
    monkeypatch.setattr("fieldwork.metrics.power.page.measures", lambda: names)
    form = MEASURES["entropy_bits"]
    for name in ("firsts", "lengths"):
        monkeypatch.setitem(MEASURES, name, form)  # type: ignore[arg-type]
    return names


@pytest.mark.usefixtures("declared")
def test_a_declared_measure_has_power_without_a_word_about_it() -> None:
    power_settings = {
        "simulations": 50,
        "sizes": [8, 40],
        "effects": POWER["effects"] | {"entropy": [0.0, 0.15]},
    }
    rules = RULES._replace(primary=[PrimaryEntry(measure=name) for name in ("firsts", "lengths")])
    planned = planned_study(
        {}, power_settings, models=MODELS, runs={"t": 12}, rules=rules, rarest_users=0.3
    )
    power = plan_power(planned, ["t"], FakeArms())
    powers = {
        (row.measure, row.effect, row.n_users): row.power or 0.0
        for row in power.rows
        if (row.model, row.condition) == ("paid", "history")
    }
    # without an effect the level is kept, and with one power rises with the users
    assert powers["firsts", "0", 40] <= 0.15
    assert powers["firsts", "0.15", 8] < powers["firsts", "0.15", 40]
    assert powers["lengths", "0.5", 8] < powers["lengths", "0.5", 40]
    # two models, each with both tests
    primary = [row for row in power.rows if row.family == "primary" and row.power is not None]
    assert {row.n_tests for row in primary} == {4}
    for words in (
        "### Firsts: more alike than the baseline's",
        "- **0.15 bits of entropy**: ",
        "### Length: higher than the baseline's",
        "- **0.5 standard deviations**: ",
    ):
        assert words in power.page
    assert "also names" not in power.page
