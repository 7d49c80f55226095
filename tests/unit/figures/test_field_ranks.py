"""The slope chart: slots, colours by test, labels that do not overlap, and pages that fit."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import figure_frames as frames
import pytest
from matplotlib.figure import Figure

from fieldwork.figures.field_ranks import FALLS, RISES, STAYS, draw
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import ItemAgreement, RankAgreement

NAMES = [
    *("haircuts", "movies", "restaurants", "companies", "majors"),
    *("books", "cities", "hobbies", "podcasts"),
]
KEYS = {"model": "m", "task": "t", "kind": "list", "predictor": "offline"}
AGREEMENT = KEYS | {
    "over": "items", "measure": "entropy_bits", "rho": 0.65, "tau_b": 2 / 3, "p_corrected": 0.0127,
    "ceiling": 0.9, "n_discordant": 6, "n_pairs": 36,
}  # fmt: skip
Row = dict[str, Any]


def item(name: str, rank: float, other_rank: float, p: float | None = 0.5, **values: Any) -> Row:
    ranks = {"field_rank": rank, "predictor_rank": other_rank, "rank_change": other_rank - rank}
    return KEYS | {"item_id": name, "ranked_by": "entropy_bits", "p_corrected": p} | ranks | values


def board(*order: int, **values: Any) -> list[Row]:
    return [item(NAMES[k], rank, k + 1.0, **values) for rank, k in enumerate(order, start=1)]


def draw_ranks(rows: Sequence[Row], **values: Any) -> Figure:
    settings = FigureSettings(**{"conditions": ["offline", "history", "rag", "profile"]} | values)
    agreement = frames.table_of(RankAgreement, [AGREEMENT])
    figure = draw(frames.table_of(ItemAgreement, rows), agreement, settings)
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
    rows = [item("a", 4.0, 4.0 + change, p=p), item("b", 1, 1), item("c", 9, 9)]
    (axes,) = panels(draw_ranks(rows))
    assert {line.get_color() for line in lines(axes)} == {colour, STAYS}


def test_shared_places_have_slots_of_their_own_and_a_bar() -> None:
    figure = draw_ranks([item("a", 1, 2.0), item("b", 2, 2.0), item("c", 3, 2.0)])
    (axes,) = panels(figure)
    # no order may be read into a shared place
    assert sorted(tuple(line.get_ydata()) for line in lines(axes)) == [(1, 0), (1, 1), (1, 2)]
    assert [t.get_position()[1] for t in axes.texts if t.get_ha() == "right"] == [0, 1, 2]
    assert len(axes.collections) == 1
    assert "shared place" in {t.get_text() for t in figure.legends[0].get_texts()}


def test_labels_do_not_overlap_nor_leave_the_page_and_the_head_tells_the_tests() -> None:
    predictors = ("offline", "history", "rag", "profile")
    rows = [r for one in predictors for r in board(8, 3, 1, 0, 4, 7, 2, 6, 5, predictor=one)]
    # one id that is no word, so that the questions are printed
    texts = {
        name: f"Which {name} would you show a visitor of your town?" for name in (*NAMES, "x1")
    }
    figure = draw_ranks(rows, questions=frames.questions("t", texts))
    labels = [
        text
        for axes in panels(figure)
        for text in (*axes.texts, *axes.get_xticklabels(), axes.title)
    ]
    boxes = [label.get_window_extent() for label in labels]
    for (a, one), (b, other) in combinations(zip(labels, boxes, strict=True), 2):
        apart = not one.shrunk(0.98, 0.9).overlaps(other.shrunk(0.98, 0.9))
        assert apart, (a.get_text(), b.get_text())
    assert all(box.x0 >= figure.bbox.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert panels(figure)[0].get_title().splitlines() == [
        "Offline", "τ = .67, p = .013, 6/36 reversed", "ρ = .65, ceiling .90",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no prompt is answered both in the field"),
        ([item("a", 1, 1) | {"field_rank": None, "reason": "4 answers in the field"}], "4 answers"),
        (board(0, 1, 2, predictor="other"), "none of the conditions to draw"),
    ],
)
def test_nothing_to_draw_says_why(rows: list[Row], reason: str) -> None:
    assert reason in " ".join(draw_ranks(rows).axes[0].texts[0].get_text().split())
