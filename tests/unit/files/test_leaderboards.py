"""Files of leaderboards are read, ranked and named; broken lines are told."""

from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.records.shared import LeaderboardPlace

ROOT = Path(__file__).resolve().parents[3]


def board_file(folder: Path, *lines: str) -> str:
    path = folder / "my_board.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_models_are_ranked_by_their_scores_to_three_decimals(tmp_path: Path) -> None:
    path = board_file(tmp_path, "model,score", "low,.5", "a,0.8004", "b,0.8001", "top,1")
    board = read_leaderboard(path)
    assert board.places == [
        LeaderboardPlace(1, "top", 1.0),
        LeaderboardPlace(2, "a", 0.8004),
        LeaderboardPlace(2, "b", 0.8001),
        LeaderboardPlace(4, "low", 0.5),
    ]
    assert (board.name, board.source) == ("my board", path)


def test_the_name_of_a_leaderboard_stands_in_its_file(tmp_path: Path) -> None:
    path = board_file(tmp_path, "model,score,leaderboard", 'a,.5,"Trivia, 2026"')
    assert read_leaderboard(path).name == "Trivia, 2026"


@pytest.mark.parametrize("line", ["a", ",0.5", "a,80", "a,-0.1", "a,nan", "a,x", "a,"])
def test_a_broken_line_is_refused(tmp_path: Path, line: str) -> None:
    path = board_file(tmp_path, "model,score", "b,0.5", line)
    with pytest.raises(StudyError, match=r"my_board\.csv: row 3 needs a `model` and a `score`"):
        read_leaderboard(path)


def test_a_model_stands_on_a_leaderboard_once(tmp_path: Path) -> None:
    path = board_file(tmp_path, "model,score", "b,0.5", "b,0.6")
    with pytest.raises(StudyError, match=r"my_board\.csv: row 3 has the model 'b' again"):
        read_leaderboard(path)


def test_a_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = board_file(tmp_path, "name,mmlu", "b,0.5")
    with pytest.raises(StudyError, match=r"no column 'model' \(its columns are name, mmlu\)"):
        read_leaderboard(path)


def test_the_shipped_leaderboard_is_whole() -> None:
    board = read_leaderboard(str(ROOT / "resources" / "helm_lite_mmlu.csv"))
    assert board.name == "HELM Lite v1.13.0, MMLU"
    assert len(board.places) == 91
    ranks = {place.model: place.rank for place in board.places}
    assert ranks["GPT-4o mini 2024-07-18"] == 35
    # the distances that the project cites: places 1 and 2, 1 and 5
    first, second, fifth = (board.places[k].score for k in (0, 1, 4))
    assert (round(first - second, 3), round(first - fifth, 3)) == (0.006, 0.037)
