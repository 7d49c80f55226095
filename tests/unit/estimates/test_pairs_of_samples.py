"""What every table of two samples keeps: whose answers count, and what changes no row."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.metrics.values.value_frames import answer, frame, scale_items

from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.values.comparisons import measure_value_comparisons

TESTS: dict[str, Any] = {"baseline": "offline", "n_permutations": 99, "seed": 1}
TABLES: dict[str, Callable[[pd.DataFrame], list[Any]]] = {
    "comparisons": lambda answers: measure_comparisons(answers, **TESTS),
    "shifts": lambda answers: measure_shifts(answers, baseline="offline"),
    "value_comparisons": lambda answers: measure_value_comparisons(
        answers, scale_items("q", "r"), **TESTS
    ),
}
every_table = pytest.mark.parametrize("measure", TABLES.values(), ids=TABLES)

POINTS = {
    (condition, item): np.random.default_rng(seed).integers(1, 6, 8).tolist()
    for seed, (condition, item) in enumerate(
        (condition, item) for condition in ("history", "offline") for item in "qr"
    )
}


def answers_of(*conditions: str, **changes: Any) -> list[dict[str, Any]]:
    """Eight users, or reruns of the baseline, to two scales."""
    return [
        answer(condition, None, point, item_id=item, replicate=n, **changes)
        if condition == "offline"
        else answer(condition, f"u{n}", point, item_id=item, **changes)
        for (condition, item), points in POINTS.items()
        if condition in conditions
        for n, point in enumerate(points)
    ]


BOTH = answers_of("history", "offline")


@every_table
def test_the_order_of_answers_changes_no_row(measure: Callable[..., list[Any]]) -> None:
    rows = measure(frame(BOTH))
    assert len(rows) > 1
    assert measure(frame(BOTH[::-1])) == rows


@every_table
def test_failed_and_later_answers_of_users_change_no_row(measure: Callable[..., list[Any]]) -> None:
    failed = [row | {"value": 5.0, "letter": "E", "outcome": "failed"} for row in BOTH]
    later = [row | {"value": 1.0, "letter": "A"} for row in answers_of("history", replicate=7)]
    earlier = [row | {"replicate": row["replicate"] - 9} for row in failed]
    assert measure(frame([*later, *earlier, *BOTH])) == measure(frame(BOTH))


@every_table
def test_other_models_and_conditions_change_no_row(measure: Callable[..., list[Any]]) -> None:
    elsewhere = answers_of("history", "offline", model="n")
    third = [row | {"condition": "rag"} for row in answers_of("history")]
    rows = measure(frame([*elsewhere, *third, *BOTH]))
    assert [r for r in rows if (r.model, r.condition) == ("m", "history")] == measure(frame(BOTH))
