import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import figure_frames as frames
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.errors import StudyError
from fieldwork.figures import fig3
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.shared import Leaderboard


class Fig3Tables(NamedTuple):
    """The tables in the order in which `draw` takes them."""

    runs: pd.DataFrame
    accuracy: pd.DataFrame
    ranks: pd.DataFrame
    leaderboard: Leaderboard


CLOSE_SCORES = {"alpha": 0.72, "beta": 0.66}
FAR = {"embedded": 0.31}
FIVE = frames.CONDITIONS[:5]


def tables(
    runs: pd.DataFrame,
    *,
    nulls: Collection[tuple[str, str]] = (),
    board: pd.DataFrame | None = None,
    unit: str = "puppet",
) -> Fig3Tables:
    spread = frames.spreads(runs, nulls).assign(unit=unit)
    lines = frames.leaderboard() if board is None else board
    return Fig3Tables(runs, spread, frames.ranks(spread), frames.board(lines))


def draw(
    centres: Mapping[str, float] = CLOSE_SCORES,
    *,
    conditions: Sequence[str] = FIVE,
    nulls: Collection[tuple[str, str]] = (),
    board: pd.DataFrame | None = None,
    **further_settings: object,
) -> Figure:
    score_tables = tables(frames.run_scores(dict(centres), conditions), nulls=nulls, board=board)
    return fig3.draw(*score_tables, FigureSettings(conditions=conditions, **further_settings))  # type: ignore[arg-type]


def dots(figure: Figure, label: str) -> list[list[float]]:
    """Scores of the runs of a condition, a list a panel."""
    lines = [line for axes in figure.axes for line in axes.lines if line.get_label() == label]
    return [list(line.get_xdata()) for line in lines]


@pytest.mark.parametrize("conditions", [FIVE, frames.EXTRA])
def test_every_run_is_a_dot_by_both_readings_and_every_condition_a_row(
    conditions: Sequence[str],
) -> None:
    figure = draw(conditions=conditions)
    rows = [t.get_text() for t in figure.axes[2].get_yticklabels()]
    assert len(rows) == len(conditions)
    assert all(name.endswith("\n10 users") for name in rows)
    for name in rows:
        label = name.partition("\n")[0]
        assert [len(xs) for xs in dots(figure, label)] == [10, 10]
        assert [len(xs) for xs in dots(figure, f"{label}, flexible")] == [10, 10]


def test_runs_that_do_not_count_are_not_drawn() -> None:
    runs = frames.run_scores({"alpha": 0.7})
    second_runs = runs.assign(replicate=1, is_counted=False, em_strict=0.1)
    figure = fig3.draw(*tables(pd.concat([runs, second_runs])), FigureSettings(conditions=FIVE))
    assert min(dots(figure, "SP-Profile")[0]) > 0.5


def test_a_bar_reaches_from_the_lowest_to_the_highest_run() -> None:
    figure = draw({"alpha": 0.7})
    bar = figure.axes[2].patches[-2]
    xs = dots(figure, "SP-Profile")[0]
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((min(xs), max(xs)))


def test_the_flexible_reading_stands_below_the_strict_one() -> None:
    figure = draw({"alpha": 0.7})
    strict, flexible = dots(figure, "Offline")[0], dots(figure, "Offline, flexible")[0]
    gaps = [b - a for a, b in zip(strict, flexible, strict=True)]
    assert gaps == pytest.approx([0.01] * 10)


def test_readings_that_agree_in_every_run_are_drawn_once() -> None:
    runs = frames.run_scores({"alpha": 0.7})
    agreeing = runs.assign(em_flexible=runs["em_strict"])
    figure = fig3.draw(*tables(agreeing), FigureSettings(conditions=FIVE))
    assert len(dots(figure, "Offline")[0]) == 10
    assert not dots(figure, "Offline, flexible")
    words = frames.words(figure)
    assert "one run (strict and flexible reading agree)" in words
    assert "hollow" not in words
    one = runs["condition"] == "offline"
    mixed = runs.assign(em_flexible=runs["em_flexible"].where(~one, runs["em_strict"]))
    figure = fig3.draw(*tables(mixed), FigureSettings(conditions=FIVE))
    assert not dots(figure, "Offline, flexible")
    assert dots(figure, "SP-Profile, flexible")
    assert "one run, strict reading, or both where they agree" in frames.words(figure)


def test_all_of_the_leaderboard_is_in_the_strip(root: Path) -> None:
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    strip = draw(board=board).axes[0]
    assert sorted(line.get_xdata()[0] for line in strip.lines) == sorted(board["score"])
    assert "All 91 models" in strip.get_title(loc="left")


def test_the_lines_are_named_with_score_and_distance() -> None:
    words = " ".join(frames.words(draw()).split())
    assert "#1 a model of a rather long name 0 80.9 %" in words
    assert "80.3 %: 0.6 points below #1" in words
    assert "77.2 %: 3.7 points below #1" in words
    assert "#1 to #2: 0.6 points" in words
    assert "#3 a model" not in words


def test_panels_share_one_scale() -> None:
    runs = pd.concat(
        [frames.run_scores({"alpha": 0.7}), frames.run_scores({"beta": 0.3}, n_runs=3)]
    )
    runs.loc[(runs["model"] == "beta") & (runs["run"] == 0), "em_strict"] = 0.2
    figure = fig3.draw(*tables(runs), FigureSettings(conditions=FIVE))
    spans = [axes.get_xlim()[1] - axes.get_xlim()[0] for axes in figure.axes[2::2]]
    assert spans == pytest.approx([spans[0]] * 2)
    assert figure.axes[4].get_xlim()[0] < 0.2


def test_places_and_chances_stand_beside_the_bars() -> None:
    places_axes = draw({"alpha": 0.7}).axes[3]
    words = [t.get_text() for t in places_axes.texts]
    assert words.count("3–6 (4.5)") == 2 * len(FIVE)
    assert words.count("80 %") == words.count("40 %") == 2 * len(FIVE)


def test_reruns_have_no_other_user() -> None:
    runs = frames.run_scores({"alpha": 0.7})
    figure = fig3.draw(*tables(runs, unit="rerun"), FigureSettings(conditions=FIVE))
    words = [t.get_text() for t in figure.axes[3].texts]
    assert "80 %" not in words
    assert words.count("–") == 2 * len(FIVE)
    assert "Offline\n10 reruns" in [t.get_text() for t in figure.axes[2].get_yticklabels()]


def test_null_is_said() -> None:
    figure = draw({"alpha": 0.7}, nulls=[("alpha", "rag")])
    assert frames.words(figure).count("n/a: no complete run") == 2
    assert [t.get_text() for t in figure.axes[3].texts].count("n/a") == 2


def test_what_has_no_interval_says_so() -> None:
    runs = frames.run_scores({"alpha": 0.7})
    score_tables = tables(runs)
    with_intervals = score_tables.accuracy.assign(
        ci_low=lambda t: t["value"] - 0.01, ci_high=lambda t: t["value"] + 0.01
    )
    words_without = frames.words(fig3.draw(*score_tables, FigureSettings(conditions=FIVE)))
    words_with = frames.words(
        fig3.draw(*score_tables._replace(accuracy=with_intervals), FigureSettings(conditions=FIVE))
    )
    assert words_without.count("no interval") == 2 * len(FIVE)
    assert "no interval" not in words_with


def test_a_condition_that_was_not_run_is_said() -> None:
    runs = frames.run_scores(CLOSE_SCORES)
    runs = runs[(runs["model"] != "beta") | (runs["condition"] != "rag")]
    figure = fig3.draw(*tables(runs), FigureSettings(conditions=frames.CONDITIONS))
    assert frames.words(figure).count("SP-RAG\nnot run") == 1


def test_the_models_own_line_is_dashed() -> None:
    board = frames.leaderboard().assign(score=[0.72, 0.71, 0.70, 0.69, 0.68, 0.67])
    name = str(board["model"][0])
    panel = draw({"alpha": 0.72}, board=board, own_names={"alpha": name}).axes[2]
    (own_line,) = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert own_line.get_xdata()[0] == 0.72


@pytest.mark.parametrize(
    ("centres", "conditions"),
    [
        (CLOSE_SCORES, frames.CONDITIONS[:4]),
        (FAR, frames.CONDITIONS[1:3]),
        (CLOSE_SCORES | FAR, frames.CONDITIONS),
        (CLOSE_SCORES | FAR | {"gamma": 0.8}, frames.CONDITIONS + frames.EXTRA),
    ],
)
def test_everything_is_on_the_page_and_apart(
    centres: dict[str, float], conditions: Sequence[str], root: Path
) -> None:
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    figure = draw(
        centres,
        conditions=conditions,
        board=board,
        note="A note.",
        leaderboard_note="For scale only.",
    )
    frames.assert_readable(figure)
    for places_axes in figure.axes[3::2]:
        boxes = [t.get_window_extent() for t in places_axes.texts if t.get_text() != "–"]
        hits = [
            (a, b)
            for k, a in enumerate(boxes)
            for b in boxes[k + 1 :]
            if a.x0 < b.x1 - 1 and b.x0 < a.x1 - 1 and a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1
        ]
        assert hits == []
    assert "A note.\nFor scale only." in frames.words(figure)


def test_three_models_and_six_conditions_fit_a_page() -> None:
    figure = draw(CLOSE_SCORES | FAR, conditions=frames.CONDITIONS, note="A note.")
    assert figure.get_figheight() <= 9.2


def test_no_leaderboard_no_places() -> None:
    figure = draw({"alpha": 0.3}, board=frames.leaderboard().iloc[:0])
    (panel,) = figure.axes
    assert panel.get_position().width > 0.7
    assert panel.get_xlabel() == "Exact match, macro mean over subjects"
    assert "#" not in frames.words(figure)
    assert "places" not in frames.words(figure)


def test_a_leaderboard_of_other_questions_only_gives_scale() -> None:
    board = frames.leaderboard().assign(score=[0.72, 0.71, 0.70, 0.69, 0.68, 0.67])
    name = str(board["model"][0])
    figure = draw(
        {"alpha": 0.7}, board=board, leaderboard_note="Sample.", own_names={"alpha": name}
    )
    strip, _, panel = figure.axes
    assert strip.get_title(loc="left") == "All 6 models of the leaderboard, for scale"
    words = frames.words(figure)
    assert "#1 to #2: 1.0 points" in words
    assert not [w for w in ("places", "chance", "the model's own", "a model of the") if w in words]
    # no line of the leaderboard stands among the scores
    assert not [line for line in panel.lines if line.get_xdata()[0] == line.get_xdata()[-1] == 0.72]
    assert panel.get_position().width > 0.7


def test_scores_of_one_subject_are_no_mean_over_subjects() -> None:
    runs = frames.run_scores({"alpha": 0.7}).assign(n_subjects=1)
    figure = fig3.draw(*tables(runs), FigureSettings(conditions=FIVE))
    assert figure.axes[2].get_xlabel() == "Exact match"


def test_scores_at_the_ends_stay_in_sight() -> None:
    for centre in (0.0, 1.0):
        runs = frames.run_scores({"alpha": centre}, n_runs=1)
        figure = fig3.draw(*tables(runs), FigureSettings(conditions=FIVE))
        left, right = figure.axes[2].get_xlim()
        assert left <= centre <= right
        assert math.isclose(right - left, 0.05)


def test_several_tasks_need_a_choice() -> None:
    score_tables = tables(frames.run_scores({"alpha": 0.7}))
    two_tasks = score_tables._replace(
        accuracy=pd.concat([score_tables.accuracy, score_tables.accuracy.assign(task="another")])
    )
    with pytest.raises(StudyError, match=r"another, mmlu_helm..*figures\.fig3"):
        fig3.draw(*two_tasks, FigureSettings(conditions=frames.CONDITIONS))
    settings = FigureSettings(conditions=frames.CONDITIONS, task="mmlu_helm")
    assert dots(fig3.draw(*two_tasks, settings), "Offline")


@pytest.mark.parametrize(
    ("rows", "settings", "reason"),
    [
        (0, {}, "there is no score: no question has a correct option"),
        (None, {"conditions": ("absent",)}, "(absent)"),
        (None, {"task": "absent"}, "task absent has no score"),
    ],
)
def test_nothing_to_draw_is_said(rows, settings, reason) -> None:
    score_tables = tables(frames.run_scores({"alpha": 0.7}))
    score_tables = score_tables._replace(accuracy=score_tables.accuracy.iloc[:rows])
    figure = fig3.draw(
        *score_tables, FigureSettings(**({"conditions": frames.CONDITIONS} | settings))
    )
    words = frames.words(figure).replace("\n", " ")
    assert "no data" in words
    assert reason in words


def test_the_shipped_leaderboard_is_whole(root: Path) -> None:
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv")
    assert list(board.columns[:4]) == ["rank", "model", "score", "leaderboard"]
    assert len(board) == 91
    assert board["rank"].is_monotonic_increasing
    assert board["score"].is_monotonic_decreasing
    assert set(board["leaderboard"]) == {"HELM Lite v1.13.0, MMLU"}
    assert dict(zip(board["model"], board["rank"], strict=True))["GPT-4o mini 2024-07-18"] == 35


@pytest.mark.real_data
def test_the_shipped_leaderboard_agrees_with_the_extract(root: Path) -> None:
    extract = root.parent / "shared" / "data" / "helm" / "helm_lite_scores.csv.gz"
    if not extract.exists():
        pytest.skip(f"{extract} is not on this machine")
    scores = pd.read_csv(extract)
    scores = scores[scores["evaluation_name"] == "MMLU"].set_index("model_name")["score"]
    board = pd.read_csv(root / "resources" / "helm_lite_mmlu.csv").set_index("model")["score"]
    pd.testing.assert_series_equal(
        board.sort_index(), scores.sort_index(), check_names=False, check_index_type=False
    )


def test_a_stretch_without_room_beside_it_is_named_at_its_left() -> None:
    runs = frames.run_scores({"alpha": 0.5}).assign(
        em_strict=lambda t: t["run"] * 0.08, em_flexible=lambda t: t["run"] * 0.08
    )
    label = "A model of a rather long name"
    figure = fig3.draw(
        *tables(runs), FigureSettings(conditions=FIVE, model_labels={"alpha": label})
    )
    strip = figure.axes[0]
    assert [text.get_text() for text in strip.get_yticklabels()] == [label]
    assert frames.texts_cut_off(figure) == []
    # where there is room the name stands beside the bar
    strip = draw({"alpha": 0.72}, model_labels={"alpha": label}).axes[0]
    assert f"runs of {label}" in [text.get_text() for text in strip.texts]
    assert not strip.get_yticklabels()
