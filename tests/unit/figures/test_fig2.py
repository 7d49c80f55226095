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


def draw(table: pd.DataFrame, conditions=frames.CONDITIONS, **further_settings) -> Figure:
    return fig2.draw(table, FigureSettings(conditions=conditions, **further_settings))


def segments(axes) -> list[Rectangle]:
    """The letters' bars of a panel."""
    return [p for p in axes.patches if p.get_label() in list("ABCD")]


def test_every_condition_has_a_bar_with_the_correct_letter_first_and_its_interval() -> None:
    table = frames.distributions()
    for axes, (_, _, letters, gold) in zip(
        draw(table).axes, 2 * [frames.ITEMS[0]] + 2 * [frames.ITEMS[1]], strict=True
    ):
        bars = segments(axes)
        assert len(bars) == len(letters) * len(frames.CONDITIONS)
        of_gold = [(p.get_x(), p.get_width()) for p in bars if p.get_hatch()]
        assert of_gold == [(0.0, 50.0)] * len(frames.CONDITIONS)
        rows = table[(table["answer"] == gold) & table["is_correct"] & (table["model"] == "alpha")]
        ends = sorted((100 * row.ci_low, 100 * row.ci_high) for row in rows.itertuples())
        assert sorted(tuple(line.get_xdata()) for line in axes.lines) == [
            pytest.approx(e) for e in ends
        ]


def test_a_probability_is_drawn_though_nobody_drew_the_letter() -> None:
    figure = draw(frames.distributions(["alpha"]).assign(n_answers=0, is_stated=True))
    counts = [len(segments(axes)) for axes in figure.axes]
    assert counts == [4 * len(frames.CONDITIONS), 2 * len(frames.CONDITIONS)]
    assert figure.get_supxlabel() == "probability, mean of all responses"


def test_letters_part_in_greyscale() -> None:
    four, ten = ([lab(fig2.ink_of(k).fill)[0] for k in "ABCDEFGHIJ"[:n]] for n in (4, 10))
    assert min(b - a for a, b in itertools.pairwise(sorted(four))) > 15
    assert min(abs(b - a) for a, b in itertools.pairwise(ten)) > 15


@pytest.mark.parametrize(
    ("n", "n_units", "text"),
    [(80, 40, "n = 40 × 2"), (40, 40, "n = 40"), (79, 40, "n = 79, 40 users"), (3, 1, "n = 1 × 3")],
)
def test_users_are_counted_beside_their_answers(n: int, n_units: int, text: str) -> None:
    table = frames.distributions(["alpha"], ["rag"]).assign(n_responses=n, n_units=n_units)
    assert text in frames.words(draw(table))


def test_items_are_chosen_and_left_out_ones_said() -> None:
    table = frames.distributions()
    assert "(absent)" in frames.words(draw(table, conditions=("absent",)))
    assert "first 1 of 2 items" in frames.words(draw(table, max_items=1))
    figure = draw(table[table["item_id"] == "justice_1"])
    assert figure.axes[0].get_title(loc="left") == "ethics_pair: justice_1"
    assert len(figure.axes) == 2


ORGANS = {"medicine_1": "Which organ is it?"}
QUESTIONS = {
    **frames.questions("mmlu_pair", ORGANS, ["Liver", "$1\n", "$2", "d"], "C"),
    **frames.questions("ethics_pair", {"justice_1": "Is that just?"}, ["Yes", "No"], "A"),
}


def options_of(axes) -> dict[str, bool]:
    """The options beside a question, and whether each is hatched."""
    legend = axes.get_legend()
    pairs = zip(legend.get_texts(), legend.get_patches(), strict=True)
    return {text.get_text(): bool(patch.get_hatch()) for text, patch in pairs}


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
    assert [text.split()[0] for text in head] == ["correct", "its", "gap"]


def test_points_of_a_scale_have_their_marks_and_go_from_dark_to_light() -> None:
    choices = ["Well", "2", "Very ill", "Don't know"]
    ((key, item),) = frames.questions("mmlu_pair", ORGANS, choices).items()
    scale = replace(item, kind="scale", marks=["1", "2", "3", "4"], points=[1.0, 2.0, 3.0])
    table = frames.distributions(["alpha"]).assign(is_correct=False)
    axes = draw(table[table["item_id"] == "medicine_1"], questions={key: scale}).axes[0]
    assert [*options_of(axes)] == ["1  Well", "2", "3  Very ill", "4  Don't know"]
    swatches = [to_hex(patch.get_facecolor()) for patch in axes.get_legend().get_patches()]
    lightness = [lab(colour)[0] for colour in swatches[:3]]
    assert lightness == sorted(lightness)
    assert swatches[3] == "#c8c8c8"
    assert {text.get_text() for text in axes.texts} >= {"1", "3"}


LONG = "an answer of many words that says at length what could be said in a few, and then goes on, "
QUESTION = "Which of these statements, if any, is what a reader of long questions would say first? "


@pytest.mark.parametrize(
    ("words", "n_items", "models", "conditions"),
    [
        (1, 6, ["alpha"], frames.CONDITIONS),
        (40, 3, ["alpha", "beta"], frames.CONDITIONS + frames.EXTRA),
    ],
)
def test_questions_and_options_of_any_length_are_whole_and_apart(
    words: int, n_items: int, models: list[str], conditions
) -> None:
    texts = {f"q{k:03d}": f"{k} {QUESTION * (words // 5 + 1)}" for k in range(n_items)}
    one = frames.distributions(models, conditions).query("item_id == 'justice_1' and answer == 'A'")
    rows = [
        one.assign(task="t", item_id=item, answer=letter, is_correct=letter == "B", share=0.1)
        for item in texts
        for letter in "ABCDEFGHIJ"
    ]
    choices = [" ".join(f"{k} {LONG}".split()[: words + 1]) for k in range(10)]
    questions = frames.questions("t", texts, choices, "B")
    figure = draw(pd.concat(rows), conditions, questions=questions, note="A note.")
    frames.assert_readable(figure, inches=9.8)
    columns = [axes for axes in figure.axes if axes.get_legend()]
    assert len(columns) in range(min(n_items, 2), 7)
    boxes = [
        part.get_window_extent()
        for axes in columns
        for part in (axes._left_title, axes.get_legend(), axes)
    ]
    assert all(below.y1 <= above.y0 + 1 for above, below in itertools.pairwise(boxes))
    assert all(text[3].isdigit() for axes in columns for text in options_of(axes))
    if len(columns) < min(n_items, 6):
        assert f"the first {len(columns)} of {n_items} items" in frames.words(figure)
