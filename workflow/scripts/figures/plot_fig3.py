"""Draw figure 3: how far a benchmark score moves with its user.

In: <results>/metrics/accuracy_runs, accuracy and ranks, the task's leaderboard.
Out: <results>/figures/fig3 as PDF, SVG and PNG.
"""

from typing import Any

import pandas as pd

from fieldwork import stage, tables
from fieldwork.figures import fig3, style
from fieldwork.files.leaderboards import NONE, LeaderboardPlace, read_leaderboard
from fieldwork.records.metrics import Accuracy, Rank, RunAccuracy


def main(
    accuracy_runs: str,
    accuracy: str,
    ranks: str,
    leaderboard: list[str],
    style_sheet: str,
    outputs: list[str],
    task: str,
    leaderboard_note: str | None,
    names: dict[str, str | None],
    drawing: dict[str, Any],
) -> None:
    """Draw and save; `leaderboard` is its file, or empty."""
    style.use_style(style_sheet)
    board = read_leaderboard(leaderboard[0]) if leaderboard else NONE
    settings = fig3.Fig3Settings.of_study(
        drawing,
        leaderboard_name=board.name,
        leaderboard_note=leaderboard_note if leaderboard else None,
        own_names=names,
        task=task,
    )
    figure = fig3.draw(
        tables.read_frame(accuracy_runs, RunAccuracy),
        tables.read_frame(accuracy, Accuracy),
        tables.read_frame(ranks, Rank),
        pd.DataFrame(board.places, columns=LeaderboardPlace._fields),
        settings,
    )
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
