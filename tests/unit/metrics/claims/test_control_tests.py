"""Users against the baseline asked again: which tests are made, and what a changed model shows."""

import dataclasses

import numpy as np
import pandas as pd

from fieldwork.metrics.claims.control_tests import ControlTestSettings, measure_control_tests
from fieldwork.records.metrics import ControlTest
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import COVERED_BY_72, answer_frame, list_estimates, listed

SETTINGS = ControlTestSettings(["rag", "field"], ["again"], 199, COVERED_BY_72, 1)
NO_ITEMS = pd.DataFrame({"item_id": [], "kind": [], "task": [], "points": []})


def lists(condition: str, options: str, n: int = 80) -> list[Answer]:
    """Lists of three of these options; users are named, reruns are not."""
    random = np.random.default_rng([len(condition), len(options)])
    drawn = [random.choice([*options], 3, replace=False).tolist() for _ in range(n)]
    rows = listed(*drawn, condition=condition)
    if condition in ("offline", "again"):
        return rows
    return [dataclasses.replace(r, puppet_id=f"p{r.replicate}", replicate=0) for r in rows]


def measure(answers: list[Answer], *controls: str) -> list[ControlTest]:
    frame = answer_frame(answers).assign(value=np.nan)
    settings = SETTINGS._replace(controls=controls)
    estimates = list_estimates(
        frame, users=settings.users, controls=controls, rarest_users=COVERED_BY_72
    )
    return measure_control_tests(frame, NO_ITEMS, [], estimates, settings)


def test_users_who_answer_as_the_changed_model_differ_from_the_baseline_alone() -> None:
    answers = [*lists("offline", "abcd"), *lists("again", "cdefgh"), *lists("rag", "cdefgh")]
    rows = measure(answers, "again")
    assert {row.measure for row in rows} == {"distance", "option_share", "entropy_bits"}
    assert {(row.condition, row.control) for row in rows} == {("rag", "again")}
    assert min(row.p_value or 0.0 for row in rows if row.measure != "option_share") > 0.05
    away = {row.measure: row.p_value for row in measure(answers, "offline")}
    assert max(away["distance"] or 1.0, away["entropy_bits"] or 1.0) < 0.01


def test_without_a_control_there_is_no_test() -> None:
    assert measure(lists("rag", "abcd")) == []
