import itertools

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from test_style import lab

from fieldwork.figures import fig2


def draw(table: pd.DataFrame, conditions: tuple[str, ...] = frames.CONDITIONS, **more) -> Figure:
    return fig2.draw(table, options=fig2.Options(conditions=conditions, **more))


def segments(axes) -> list[Rectangle]:
    """The letters' bars of a panel."""
    return [p for p in axes.patches if p.get_label() in list("ABCD")]


def test_every_condition_has_a_bar_of_its_shares() -> None:
    figure = draw(frames.distributions())
    for axes, letters in zip(figure.axes, ("ABCD", "ABCD", "AB", "AB"), strict=True):
        bars = segments(axes)
        assert len(bars) == len(letters) * len(frames.CONDITIONS)
        gold = [p.get_width() for p in bars if p.get_hatch()]
        assert gold == pytest.approx([50.0] * len(frames.CONDITIONS))


def test_unknown_is_the_gap_to_the_full_bar() -> None:
    figure = draw(frames.distributions())
    for axes in figure.axes:
        ends = [p.get_x() + p.get_width() for p in segments(axes)]
        assert max(ends) == pytest.approx(90.0, abs=2.6)
        assert axes.get_xlim() == (0, 100)


def test_only_the_gold_letter_is_hatched() -> None:
    figure = draw(frames.distributions(["alpha"]))
    hatched = [{p.get_label() for p in segments(a) if p.get_hatch()} for a in figure.axes]
    assert hatched == [{"C"}, {"A"}]


def test_the_correct_letter_comes_first_with_its_interval() -> None:
    table = frames.distributions(["alpha"])
    for axes, gold in zip(draw(table).axes, ("C", "A"), strict=True):
        assert {p.get_x() for p in segments(axes) if p.get_hatch()} == {0.0}
        rows = table[(table["answer"] == gold) & table["is_correct"]]
        ends = [(100 * r.ci_low, 100 * r.ci_high) for r in rows.itertuples()]
        drawn = sorted(tuple(line.get_xdata()) for line in axes.lines)
        assert len(drawn) == len(ends) > 0
        for found, expected in zip(drawn, sorted(ends), strict=True):
            assert found == pytest.approx(expected)


def test_an_item_without_gold_has_no_hatch() -> None:
    table = frames.distributions(["alpha"]).assign(is_correct=False)
    assert not [p for a in draw(table).axes for p in segments(a) if p.get_hatch()]


def test_letters_part_in_greyscale() -> None:
    fills = [fig2.ink_of(letter, "ABCD").fill for letter in "ABCD"]
    lightness = sorted(lab(fill)[0] for fill in fills)
    assert min(b - a for a, b in itertools.pairwise(lightness)) > 15
    ten = [lab(fig2.ink_of(letter, "ABCDEFGHIJ").fill)[0] for letter in "ABCDEFGHIJ"]
    assert min(abs(b - a) for a, b in itertools.pairwise(ten)) > 15


def test_field_is_last_and_apart() -> None:
    figure = draw(frames.distributions(), ("field", "offline", "profile"))
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["Offline", "SP-Profile", "Field"]
    low, middle, last = axes.get_yticks()
    assert last - middle > middle - low
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first condition is at the top


def test_n_stands_at_the_bar_and_nothing_is_not_zero() -> None:
    table = frames.distributions(["alpha"])
    table = table[(table["condition"] != "rag") | (table["item_id"] != "justice_1")]
    said = frames.words(draw(table))
    assert said.count("n = 40") == 11
    assert said.count("n/a: no responses") == 1


def test_zero_responses_are_said() -> None:
    table = frames.distributions(["alpha"], ["offline"]).assign(n_responses=0, n_answers=0, share=0)
    assert frames.words(draw(table)).count("n/a") == 2


@pytest.mark.parametrize(
    ("n_models", "conditions"),
    [(1, frames.CONDITIONS[:2]), (2, frames.CONDITIONS), (4, frames.CONDITIONS + frames.EXTRA)],
)
def test_everything_is_on_the_page_and_large_enough(n_models: int, conditions) -> None:
    models = [f"model-{i}" for i in range(n_models)]
    figure = draw(frames.distributions(models, conditions), conditions, note="A note.")
    assert frames.clipped(figure) == []
    assert frames.small(figure) == []
    assert not frames.head_overlaps(figure)


@pytest.mark.parametrize(
    ("table", "options", "why"),
    [
        (pd.DataFrame(), {}, "no rows"),
        (frames.distributions(), {"conditions": ("absent",)}, "(absent)"),
        (frames.distributions(), {"items": ["absent"]}, "none of the items"),
    ],
)
def test_nothing_to_draw_is_said(table, options, why) -> None:
    said = frames.words(draw(table, **options)).replace("\n", " ")
    assert "no data" in said
    assert why in said


def test_items_are_chosen_and_left_out_ones_said() -> None:
    table = frames.distributions()
    assert "first 1 of 2 items" in frames.words(draw(table, max_items=1))
    figure = draw(table, items=["justice_1"], item_labels={"justice_1": "Justice"})
    assert figure.axes[0].get_title(loc="left") == "Justice"
    assert len(figure.axes) == 2
