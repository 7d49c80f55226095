import itertools
from dataclasses import replace

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from test_style import lab

from fieldwork.figures import fig2
from fieldwork.figures.settings import FigureSettings


def draw(
    table: pd.DataFrame, conditions: tuple[str, ...] = frames.CONDITIONS, **further_settings
) -> Figure:
    return fig2.draw(table, FigureSettings(conditions=conditions, **further_settings))


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


def test_a_probability_is_drawn_though_nobody_drew_the_letter() -> None:
    table = frames.distributions(["alpha"]).assign(n_answers=0, is_stated=True)
    figure = draw(table)
    for axes, letters in zip(figure.axes, ("ABCD", "AB"), strict=True):
        assert len(segments(axes)) == len(letters) * len(frames.CONDITIONS)
    assert figure.get_supxlabel() == "probability, mean of all responses"


def test_the_correct_letter_comes_first_with_its_interval() -> None:
    table = frames.distributions(["alpha"])
    for axes, gold in zip(draw(table).axes, ("C", "A"), strict=True):
        assert {p.get_x() for p in segments(axes) if p.get_hatch()} == {0.0}
        rows = table[(table["answer"] == gold) & table["is_correct"]]
        ends = [(100 * r.ci_low, 100 * r.ci_high) for r in rows.itertuples()]
        lines = sorted(tuple(line.get_xdata()) for line in axes.lines)
        assert len(lines) == len(ends) > 0
        for line, expected in zip(lines, sorted(ends), strict=True):
            assert line == pytest.approx(expected)


def test_letters_part_in_greyscale() -> None:
    fills = [fig2.ink_of(letter).fill for letter in "ABCD"]
    lightness = sorted(lab(fill)[0] for fill in fills)
    assert min(b - a for a, b in itertools.pairwise(lightness)) > 15
    ten = [lab(fig2.ink_of(letter).fill)[0] for letter in "ABCDEFGHIJ"]
    assert min(abs(b - a) for a, b in itertools.pairwise(ten)) > 15


@pytest.mark.parametrize(
    ("n", "n_units", "text"),
    [(80, 40, "n = 40 × 2"), (40, 40, "n = 40"), (79, 40, "n = 79, 40 users"), (3, 1, "n = 1 × 3")],
)
def test_users_are_counted_beside_their_answers(n: int, n_units: int, text: str) -> None:
    table = frames.distributions(["alpha"], ["rag"]).assign(n_responses=n, n_units=n_units)
    assert text in frames.words(draw(table))


@pytest.mark.parametrize(
    ("table", "settings", "reason"),
    [
        (pd.DataFrame(), {}, "no rows"),
        (frames.distributions(), {"conditions": ("absent",)}, "(absent)"),
    ],
)
def test_nothing_to_draw_is_said(table, settings, reason) -> None:
    words = frames.words(draw(table, **settings)).replace("\n", " ")
    assert "no data" in words
    assert reason in words


def test_items_are_chosen_and_left_out_ones_said() -> None:
    table = frames.distributions()
    assert "first 1 of 2 items" in frames.words(draw(table, max_items=1))
    figure = draw(table[table["item_id"] == "justice_1"])
    assert figure.axes[0].get_title(loc="left") == "ethics_pair: justice_1"
    assert len(figure.axes) == 2


TEXTS = {"medicine_1": "Which organ is it?", "justice_1": "Is that just?"}
QUESTIONS = {
    **frames.questions(
        "mmlu_pair", {"medicine_1": TEXTS["medicine_1"]}, ["Liver", "$1\n", "$2", "d"], "C"
    ),
    **frames.questions("ethics_pair", {"justice_1": TEXTS["justice_1"]}, ["Yes", "No"], "A"),
}


def options_of(axes) -> dict[str, bool]:
    """The options beside a question, and whether each is hatched."""
    legend = axes.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    hatches = [bool(patch.get_hatch()) for patch in legend.get_patches()]
    return dict(zip(texts, hatches, strict=True))


def test_a_question_stands_above_its_own_options() -> None:
    figure = draw(frames.distributions(), questions=QUESTIONS)
    first, other, last, _ = figure.axes
    assert first.get_title(loc="left") == "Which organ is it? (medicine_1)"
    assert options_of(first) == {"A  Liver": False, "B  $1": False, "C  $2": True, "D  d": False}
    assert options_of(last) == {"A  Yes": True, "B  No": False}
    # a second model's bars have the same question and options
    assert other.get_title(loc="left") == ""
    assert other.get_legend() is None
    head = [text.get_text() for text in figure.legends[0].get_texts()]
    assert head == [
        "correct option, first",
        "its 95 % interval",
        "gap to 100 %: no readable answer",
    ]


def test_points_of_a_scale_have_their_marks_and_go_from_dark_to_light() -> None:
    (key, item), *_ = frames.questions(
        "mmlu_pair", {"medicine_1": "How ill?"}, ["Well", "2", "Very ill", "Don't know"]
    ).items()
    scale = replace(item, kind="scale", marks=["1", "2", "3", "4"], points=[1.0, 2.0, 3.0])
    table = frames.distributions(["alpha"]).assign(is_correct=False)
    table = table[table["item_id"] == "medicine_1"]
    (axes, *_) = draw(table, questions={key: scale}).axes
    assert [*options_of(axes)] == ["1  Well", "2", "3  Very ill", "4  Don't know"]
    swatches = [patch.get_facecolor() for patch in axes.get_legend().get_patches()]
    lightness = [lab(to_hex(colour))[0] for colour in swatches]
    assert lightness[:3] == sorted(lightness[:3])
    assert to_hex(swatches[3]) == "#c8c8c8"
    assert {text.get_text() for text in axes.texts} >= {"1", "3"}


def many(n_items: int, n_options: int, models: list[str], conditions) -> pd.DataFrame:
    """Distributions of alike items with so many options."""
    letters = "ABCDEFGHIJ"[:n_options]
    table = frames.distributions(models, conditions)
    one = table[(table["item_id"] == "justice_1") & (table["answer"] == "A")]
    rows = [
        one.assign(task="t", item_id=f"q{k:03d}", answer=letter, is_correct=letter == "B")
        for k in range(n_items)
        for letter in letters
    ]
    return pd.concat(rows).assign(share=1 / n_options)


LONG = "an answer of many words that says at length what could be said in a few, and then goes on, "
LONG_QUESTION = (
    "Which of these statements, if any, is what a reader of long questions would say first? "
)


@pytest.mark.parametrize(
    ("words", "n_options", "n_items", "models", "conditions"),
    [
        (1, 10, 6, ["alpha"], frames.CONDITIONS),
        (40, 10, 3, ["alpha", "beta"], frames.CONDITIONS + frames.EXTRA),
    ],
)
def test_questions_and_options_of_any_length_are_whole_and_apart(
    words: int, n_options: int, n_items: int, models: list[str], conditions
) -> None:
    table = many(n_items, n_options, models, conditions)
    settings = [" ".join(f"{k} {LONG}".split()[: words + 1]) for k in range(n_options)]
    texts = {f"q{k:03d}": f"{k} {LONG_QUESTION * (words // 5 + 1)}" for k in range(n_items)}
    questions = frames.questions("t", texts, settings, "B")
    figure = draw(table, conditions, questions=questions, note="A note.")
    frames.assert_readable(figure, inches=9.8)
    columns = [axes for axes in figure.axes if axes.get_legend()]
    assert len(columns) in range(min(n_items, 2), 7)
    for axes, below in itertools.pairwise([*columns, None]):
        title = axes._left_title.get_window_extent()
        legend = axes.get_legend().get_window_extent()
        bars = axes.get_window_extent()
        assert title.y0 >= legend.y1 - 1
        assert legend.y0 >= bars.y1
        if below is not None:
            assert below._left_title.get_window_extent().y1 <= bars.y0
    assert all(text[3].isdigit() for axes in columns for text in options_of(axes))
    if len(columns) < min(n_items, 6):
        assert f"the first {len(columns)} of {n_items} items" in frames.words(figure)
