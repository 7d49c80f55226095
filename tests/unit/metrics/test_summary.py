"""The summary tells numbers with what they come from, in the order of the figures, and no others."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fieldwork.estimates import Novelty
from fieldwork.metrics.summary import summarise
from fieldwork.records import Accuracy, Heterogeneity, ItemShare

CONDITIONS = {"offline_t0": "T0", "offline": "T1", "rag": "RAG", "history": "History"}
DRAWING = {"models": {"m": "Model"}, "conditions": CONDITIONS, "note": None}
FIGURES = {"fig1": "rec", "fig2": "probe", "fig3": "mmlu"}


def entropy(condition: str, value: float | None, item: str = "i", **changes: Any) -> Heterogeneity:
    cell = {"model": "m", "task": "rec", "metric": "entropy_bits", **changes}
    return Heterogeneity(
        **cell,
        condition=condition,
        item_id=item,
        estimate=value,
        ci_low=None,
        ci_high=None,
        n_responses=9,
        n_equal=9,
        n_unread=0,
        unit="response",
        reason=None,
    )


def share(
    condition: str, answer: str, named: int, of: int = 10, item: str = "i", **changes: str
) -> ItemShare:
    cell = {"model": "m", "task": "rec", **changes}
    return ItemShare(
        **cell,
        condition=condition,
        item_id=item,
        answer=answer,
        n_named=named,
        n_responses=of,
        share=named / of,
        ci_low=0,
        ci_high=1,
    )


def score(
    condition: str,
    low: float | None,
    high: float | None,
    mean: float | None = 0.5,
    n_runs: int = 10,
    metric: str = "em_strict",
    **changes: Any,
) -> Accuracy:
    cell = {"model": "m", "task": "mmlu", "n_items": 514, **changes}
    return Accuracy(
        **cell,
        condition=condition,
        metric=metric,
        mean=mean,
        minimum=low,
        maximum=high,
        ci_low=None,
        ci_high=None,
        n_runs=n_runs,
        unit="rerun",
        reason=None,
    )


def novel(condition: str, value: float | None, n_items: int = 514, **changes: str) -> Novelty:
    cell = {"model": "m", "task": "mmlu", **changes}
    return Novelty(
        **cell,
        condition=condition,
        baseline="offline",
        n_items=n_items,
        n_novel=0,
        share=value,
        ci_low=None,
        ci_high=None,
        control=None,
        n_equal=None,
        n_items_equal=None,
        share_equal=None,
        control_share=None,
        excess=None,
        excess_low=None,
        excess_high=None,
        p_value=None,
        p_holm=None,
        n_permutations=None,
        reason=None,
    )


def told(
    *rows: Heterogeneity | ItemShare | Accuracy | Novelty,
    figures: Mapping[str, str] = FIGURES,
    drawing: Mapping[str, Any] = DRAWING,
    baseline: str = "offline",
) -> list[str]:
    return summarise(
        heterogeneity=[r for r in rows if isinstance(r, Heterogeneity)],
        shares=[r for r in rows if isinstance(r, ItemShare)],
        accuracy=[r for r in rows if isinstance(r, Accuracy)],
        novelty=[r for r in rows if isinstance(r, Novelty)],
        baseline=baseline,
        figures=figures,
        drawing=drawing,
    )


NOTHING = ["Model", "  No figure has numbers for it.", ""]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            [
                entropy("history", 3.0),
                entropy("offline", 2.0),
                entropy("offline", 1.0, "j"),
                entropy("history", 4.016, "j"),
            ],
            "Entropy of rec, bits, mean over prompts (2 prompts): T1 1.50, History 3.51",
        ),
        (
            [
                entropy("offline", 2.0),
                entropy("rag", 1.0),
                entropy("rag", None, "j"),
                entropy("offline", 1.0, "j"),
                entropy("history", None),
            ],
            "Entropy of rec, bits, mean over prompts: T1 1.50 (2 prompts), RAG 1.00 (1 prompt)",
        ),
        (
            [
                score("rag", 0.31, 0.4),
                score("offline", 0.3, 0.35, metric="em_flexible"),
                score("offline_t0", 0.44, 0.44),
            ],
            "Score on mmlu, lowest to highest run (10 runs of 514 items): "
            "T0 44.0% to 44.0%, RAG 31.0% to 40.0%",
        ),
        (
            [score("offline", None, None, 0.333, 1), score("rag", 0.3, 0.4)],
            "Score on mmlu, lowest to highest run: T1 33.3% (1 run of 514 items), "
            "RAG 30.0% to 40.0% (10 runs of 514 items)",
        ),
        (
            [novel("history", 0.23), novel("rag", 0.13), novel("offline_t0", None)],
            "Questions of mmlu with an answer never seen in T1 (514 questions): RAG 13%, History 23%",
        ),
        (
            [novel("history", 0.5, 2), novel("rag", 0.0)],
            "Questions of mmlu with an answer never seen in T1: RAG 0% (514 questions), "
            "History 50% (2 questions)",
        ),
    ],
)
def test_a_line_of_each_metric(rows: Sequence[Any], line: str) -> None:
    assert told(*rows) == ["Model", f"  {line}", ""]
    assert told(*reversed(rows)) == told(*rows)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            [share("offline", "Tesla", 9), share("rag", "Tesla", 7), share("history", "Tesla", 3)],
            "Largest shift from T1: Tesla (i) 90% of 10 answers -> 30% of 10 in History",
        ),
        (
            # named by nobody there, and never before
            [share("offline", "Tesla", 4), share("rag", "Rivian", 5, 20)],
            "Largest shift from T1: Tesla (i) 40% of 10 answers -> 0% of 20 in RAG",
        ),
        (
            [share("offline", "Tesla", 1), share("rag", "Tesla", 1), share("rag", "Rivian", 6)],
            "Largest shift from T1: Rivian (i) 0% of 10 answers -> 60% of 10 in RAG",
        ),
        (
            # temperature is no user, and an item not asked under a condition has not moved
            [
                share("offline", "Tesla", 9),
                share("offline_t0", "Ford", 10),
                share("rag", "Tesla", 8),
                share("history", "Ford", 9, item="other"),
            ],
            "Largest shift from T1: Tesla (i) 90% of 10 answers -> 80% of 10 in RAG",
        ),
        (
            # of equal shifts the one told first
            [share("offline", "Tesla", 5), share("history", "Tesla", 9), share("rag", "Tesla", 1)],
            "Largest shift from T1: Tesla (i) 50% of 10 answers -> 10% of 10 in RAG",
        ),
    ],
)
def test_the_largest_shift(rows: Sequence[ItemShare], line: str) -> None:
    assert told(*rows) == ["Model", f"  {line}", ""]
    assert told(*reversed(rows)) == told(*rows)


ALL: list[Any] = [
    entropy("offline", 1.0),
    share("offline", "x", 5),
    share("rag", "x", 6),
    score("offline", 0.1, 0.2),
    novel("rag", 0.5),
]


@pytest.mark.parametrize(
    ("figures", "starts"),
    [
        (FIGURES, ["Entropy of rec", "Largest shift", "Score on mmlu", "Questions of mmlu"]),
        ({"fig1": "rec"}, ["Entropy of rec", "Largest shift"]),
        ({"fig3": "mmlu"}, ["Score on mmlu", "Questions of mmlu"]),
        ({"fig1": "mmlu", "fig3": "rec"}, ["No figure has numbers"]),
        ({"fig2": "rec"}, ["No figure has numbers"]),
        ({}, ["No figure has numbers"]),
    ],
)
def test_only_the_tasks_of_figures_are_told(figures: dict[str, str], starts: list[str]) -> None:
    lines = told(*ALL, figures=figures)
    assert len(lines) == len(starts) + 2
    for line, start in zip(lines[1:-1], starts, strict=True):
        assert line.startswith(f"  {start}")


@pytest.mark.parametrize(
    "row",
    [
        entropy("offline", None),
        entropy("offline", float("nan")),
        entropy("offline", 1.0, metric="unique_items"),
        entropy("unknown", 1.0),
        entropy("offline", 1.0, task="other"),
        entropy("offline", 1.0, model="other"),
        share("offline", "x", 5),
        share("rag", "x", 5),
        share("offline", "x", 5, task="other"),
        score("offline", None, None, None, 0),
        score("offline", 0.1, 0.2, task="probe"),
        novel("rag", None),
        novel("rag", 0.5, task="probe"),
    ],
)
def test_what_has_no_estimate_or_is_not_drawn_is_not_told(row: Any) -> None:
    assert told(row) == NOTHING


def test_models_are_told_in_order_under_the_note() -> None:
    drawing = {**DRAWING, "models": {"z": "Zed", "m": "Model"}, "note": "Not a chat model"}
    lines = told(*ALL, drawing=drawing)
    assert lines[:6] == ["Not a chat model.", "", "Zed", NOTHING[1], "", "Model"]
    assert lines[-1] == ""


def test_a_baseline_that_is_not_drawn_goes_by_its_name() -> None:
    rows = [share("blank", "x", 5), share("rag", "x", 6)]
    (line,) = told(*rows, baseline="blank")[1:-1]
    assert line.startswith("  Largest shift from blank: x (i) 50% of 10")
