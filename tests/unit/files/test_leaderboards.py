"""Files of leaderboards are read, ranked and named; broken lines are told."""

from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.records.shared import LeaderboardPlace


def board_file(folder: Path, *lines: str) -> str:
    path = folder / "my_board.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_models_are_ranked_by_their_scores_to_three_decimals(tmp_path: Path) -> None:
    path = board_file(tmp_path, "model,score", "low,.5", "a,0.8004", "b,0.8001", "top,1")
    board = read_leaderboard(path)
    places = (1, "top", 1.0), (2, "a", 0.8004), (2, "b", 0.8001), (4, "low", 0.5)
    assert board.places == [LeaderboardPlace(*place) for place in places]
    assert (board.name, board.source) == ("my board", path)


@pytest.mark.parametrize("line", ["a", ",0.5", "a,80", "a,-0.1", "a,nan", "a,x", "a,", "b,0.6"])
def test_a_broken_line_or_another_column_is_refused(tmp_path: Path, line: str) -> None:
    said = "has the model 'b' again" if line == "b,0.6" else "needs a `model` and a `score`"
    with pytest.raises(StudyError, match=rf"my_board\.csv: row 3 {said}"):
        read_leaderboard(board_file(tmp_path, "model,score", "b,0.5", line))
    with pytest.raises(StudyError, match=r"no column 'model' \(its columns are name, mmlu\)"):
        read_leaderboard(board_file(tmp_path, "name,mmlu", "b,0.5"))
