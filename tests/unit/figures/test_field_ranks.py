"""The slope chart: slots, colours by test, labels that do not overlap, and pages that fit."""

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.field_ranks import FALLS, RISES, STAYS, draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import ItemAgreement, RankAgreement

NAMES = (
    "haircuts",
    "movies",
    "restaurants",
    "companies",
    "majors",
    "books",
    "cities",
    "hobbies",
    "podcasts",
)


def item(
    name: str, field_rank: float, condition_rank: float, p: float | None = 0.5, **values: Any
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(f.name for f in dataclasses.fields(ItemAgreement))
    return row | {
        "model": "m", "task": "t", "item_id": name, "kind": "list", "predictor": "offline",
        "ranked_by": "entropy_bits", "field_rank": field_rank, "predictor_rank": condition_rank,
        "rank_change": condition_rank - field_rank, "p_corrected": p,
    } | values  # fmt: skip


def board(order: Sequence[int], **values: Any) -> list[dict[str, Any]]:
    return [
        item(NAMES[place], float(rank + 1), float(place + 1), **values)
        for rank, place in enumerate(order)
    ]


def agreement(**values: Any) -> pd.DataFrame:
    row: dict[str, Any] = dict.fromkeys(f.name for f in dataclasses.fields(RankAgreement))
    row |= {
        "model": "m", "task": "t", "kind": "list", "over": "items", "predictor": "offline",
        "measure": "entropy_bits", "rho": 0.65, "tau_b": 2 / 3, "p_corrected": 0.0127, "ceiling": 0.9,
        "n_discordant": 6, "n_pairs": 36,
    }  # fmt: skip
    return pd.DataFrame([row | values])


def draw_ranks(
    rows: list[dict[str, Any]], ranks: pd.DataFrame | None = None, **values: Any
) -> Figure:
    settings = FigureSettings(**({"conditions": ["offline", "history", "rag", "profile"]} | values))
    figure = draw(pd.DataFrame(rows), agreement() if ranks is None else ranks, settings)
    figure.draw_without_rendering()
    return figure


def panels(figure: Figure) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_title()]


def lines(axes: Any) -> list[Any]:
    return [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]


@pytest.mark.parametrize(
    ("p", "change", "colour"),
    [(0.01, 3, RISES), (0.01, -3, FALLS), (0.2, 3, STAYS), (0.01, 0, STAYS), (None, 2, STAYS)],
)
def test_colour_is_that_of_the_test(p: float | None, change: int, colour: str) -> None:
    (axes,) = panels(
        draw_ranks([item("a", 4.0, 4.0 + change, p=p), item("b", 1, 1), item("c", 9, 9)])
    )
    colours = {line.get_color() for line in lines(axes)}
    assert colours == {colour, STAYS}


def test_shared_places_have_slots_of_their_own_and_a_bar() -> None:
    rows = [item("a", 1, 2.0), item("b", 2, 2.0), item("c", 3, 2.0)]
    figure = draw_ranks(rows)
    (axes,) = panels(figure)
    # no order may be read into a shared place
    assert sorted(tuple(line.get_ydata()) for line in lines(axes)) == [(1, 0), (1, 1), (1, 2)]
    assert [t.get_position()[1] for t in axes.texts if t.get_ha() == "right"] == [0, 1, 2]
    assert len(axes.collections) == 1
    assert "shared place" in {t.get_text() for t in figure.legends[0].get_texts()}


def test_labels_do_not_overlap_nor_leave_the_page() -> None:
    rows = [
        row
        for predictor in ("offline", "history", "rag", "profile")
        for row in board((8, 3, 1, 0, 4, 7, 2, 6, 5), predictor=predictor)
    ]
    figure = draw_ranks(
        rows,
        # one id that is no word, so that the questions are printed
        questions=frames.questions(
            "t",
            {
                name: f"Which {name} would you show a visitor of your town?"
                for name in (*NAMES, "x1")
            },
        ),
    )
    texts = [t for axes in panels(figure) for t in axes.texts]
    texts += [t for axes in panels(figure) for t in axes.get_xticklabels()]
    texts += [axes.title for axes in panels(figure)]
    boxes = [text.get_window_extent() for text in texts]
    overlapping = [
        (a.get_text(), b.get_text())
        for (a, one), (b, other) in combinations(zip(texts, boxes, strict=True), 2)
        if one.shrunk(0.98, 0.9).overlaps(other.shrunk(0.98, 0.9))
    ]
    assert overlapping == []
    page = figure.bbox
    assert all(box.x0 >= page.x0 and box.x1 <= page.x1 for box in boxes)


def test_the_head_of_a_panel_tells_the_tests() -> None:
    (axes,) = panels(draw_ranks(board((1, 0, 2))))
    assert axes.get_title().splitlines() == [
        "Offline", "τ = .67, p = .013, 6/36 reversed", "ρ = .65, ceiling .90",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no prompt is answered both in the field"),
        ([item("a", 1, 1) | {"field_rank": None, "reason": "4 answers in the field"}], "4 answers"),
        (board((0, 1, 2), predictor="other"), "none of the conditions to draw"),
    ],
)
def test_nothing_to_draw_says_why(rows: list[dict[str, Any]], reason: str) -> None:
    columns = [f.name for f in dataclasses.fields(ItemAgreement)]
    figure = draw(
        pd.DataFrame(rows, columns=columns),
        agreement(),
        FigureSettings(conditions=["offline"]),
    )
    assert reason in " ".join(figure.axes[0].texts[0].get_text().split())
