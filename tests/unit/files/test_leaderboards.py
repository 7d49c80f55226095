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
