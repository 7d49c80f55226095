"""The figure of power: a curve an effect, no point where nothing was simulated, prices above."""

from collections.abc import Sequence
from dataclasses import asdict, fields

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import power
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.power import PowerRow

SIZES = (5, 20, 80, 320)
EFFECTS: dict[str, Sequence[str]] = {
    "option_share": ("0.9 -> 0.3", "0.1 -> 0.05"),
    "distance": ("0.9 -> 0.3",),
    "share_who": ("0.05", "0.2"),
    "entropy_bits": ("0.25",),
    "score": ("0.006",),
    "value": ("0.5", "0.5 together"),
}
N_TESTS: dict[str, int] = {
    "option_share": 40,
    "distance": 9,
    "share_who": 4,
    "entropy_bits": 5,
    "score": 1,
    "value": 6,
}


def table(
    *,
    tasks: Sequence[str] = ("lists", "letters"),
    measures: Sequence[str] = tuple(EFFECTS),
    models: Sequence[str] = ("cheap", "dear"),
    usd: float | None = 0.5,
    sizes: Sequence[int] = SIZES,
    n_settled: int = 0,
    odd_users: float = 1.0,
    more_tests: int = 0,
) -> pd.DataFrame:
    rows = [
        PowerRow(
            measure=measure,
            effect=effect,
            source="one answer of two",
            odd_users=odd_users,
            likeness=0.3 if measure in ("share_who", "entropy_bits") else None,
            task=task,
            model=model,
            condition=condition,
            n_users=n,
            replicates=replicates,
            n_items=9,
            n_settled=n_settled,
            family=measure,
            correction="Holm",
            n_tests=None if k > 2 else N_TESTS[measure] + more_tests * k,
            power=None if k > 2 else 0.3 * (k + 1),
            ci_low=None if k > 2 else 0.3 * k,
            ci_high=None if k > 2 else 0.35 * (k + 1),
            n_simulations=0 if k > 2 else 1000,
            n_calls=9 * n * replicates,
            cost_usd=None
            if condition == "field" or usd is None
            else n * usd * (models.index(model) + 1) * (2 if condition == "rag" else 1),
            n_calls_baseline=0 if measure == "share_who" else 9 * n,
            cost_baseline_usd=None if usd is None else 0.0,
            basis="tables",
            reason=None,
        )
        for measure in measures
        for task in (tasks if measure != "score" else tasks[-1:])
        for effect in EFFECTS[measure]
        for replicates in ((2, 5) if measure == "share_who" else (1,))
        for model in models
        for condition in ("history", "rag", "field")
        for k, n in enumerate(sizes)
    ]
    return pd.DataFrame(
        [asdict(row) for row in rows], columns=[field.name for field in fields(PowerRow)]
    )


def draw(frame: pd.DataFrame, **further_settings) -> Figure:
    settings = FigureSettings(
        conditions=["history", "rag"],
        condition_labels={"rag": "SP-RAG"},
        model_labels={"dear": "Dear"},
        **further_settings,
    )
    figure = power.draw(frame, settings)
    figure.draw_without_rendering()
    return figure


def panels(figure: Figure) -> dict[str, list]:
    """Panels by their title."""
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def curves(axes) -> list:
    return [line for line in axes.lines if len(line.get_xdata()) > 2]


def test_points_are_the_powers_and_end_where_nothing_was_simulated() -> None:
    axes = panels(draw(table()))["lists, 40 tests"]
    for line in curves(axes):
        assert list(line.get_xdata()) == [5, 20, 80]
        assert list(line.get_ydata()) == pytest.approx([0.3, 0.6, 0.9])
    (target,) = (line for line in axes.lines if len(line.get_xdata()) == 2)
    assert list(target.get_ydata()) == [0.8, 0.8]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        # the most expensive that is called, not the participants
        (table(), ["dollars for Dear, SP-RAG", "$10", "$640"]),
        (table(usd=0.0005), ["1 ¢", "64 ¢"]),
        (table(usd=0.0), ["calls of a condition", "90", "5.8k"]),
        (table(usd=None), ["calls of a condition"]),
        (table(measures=["share_who"]), ["2 answers each", "5 answers each", "20 %"]),
        (table(), ["90 % → 30 %", "0.6 points", "0.25 bits", "1,000 simulated studies"]),
        (table(), ["Supposed: every user carries the effect."]),
        (table(), ["A user's answers to two prompts correlate by 0.3.", "0.5 sd, together"]),
        (
            table(odd_users=0.1, n_settled=3),
            ["10 % of the users carry the effect", "3 of 9 prompts of"],
        ),
        (table(more_tests=10), ["lists, 40 to 60 tests"]),
    ],
)
def test_the_figure_says(frame: pd.DataFrame, words: list[str]) -> None:
    words = frames.words(draw(frame))
    for word in words:
        assert word in words


def test_the_least_power_of_the_conditions_is_drawn() -> None:
    frame = table(measures=["entropy_bits"], tasks=["lists"])
    is_low, is_field = frame["condition"] == "rag", frame["condition"] == "field"
    frame.loc[is_low, "power"] /= 2
    # the study has no participants
    frame.loc[is_field, "power"] = 0.0
    (line,) = curves(panels(draw(frame))["lists, 5 tests"])
    assert list(line.get_ydata()) == pytest.approx([0.15, 0.3, 0.45])


def test_tasks_stand_in_the_order_of_the_study_and_too_many_are_named() -> None:
    frame = table(tasks=[f"task_{k}" for k in range(6)], measures=["option_share"])
    figure = draw(frame, tasks=["task_5", "task_1"])
    tasks = [title.split(",")[0] for title in panels(figure)]
    assert tasks == ["task_5", "task_1", "task_0", "task_2"]
    assert "The table has 2 more tasks." in frames.words(figure)


@pytest.mark.parametrize(
    "frame",
    [table(), table(measures=["score"], tasks=["one"])],
)
def test_nothing_leaves_the_page(frame: pd.DataFrame) -> None:
    assert frames.texts_cut_off(draw(frame)) == []
