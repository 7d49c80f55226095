"""Draw figure 3: how far a benchmark score moves with its user.

In: <results>/metrics/accuracy_runs, accuracy and ranks, the task's leaderboard.
Out: <results>/figures/fig3 as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from fieldwork import stage, tables
from fieldwork.figures import fig3, fig3_plan, style
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
    style.use_style(Path(style_sheet))
    board = read_leaderboard(leaderboard[0]) if leaderboard else NONE
    options = fig3_plan.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        note=drawing["note"],
        leaderboard_name=board.name,
        leaderboard_note=leaderboard_note if leaderboard else None,
        own_names=names,
        task=task,
    )
    content = fig3_plan.Tables(
        runs=tables.read_frame(accuracy_runs, RunAccuracy),
        spread=tables.read_frame(accuracy, Accuracy),
        ranks=tables.read_frame(ranks, Rank),
        leaderboard=pd.DataFrame(board.places, columns=LeaderboardPlace._fields),
    )
    figure = fig3.draw(content, options=options)
    style.save(figure, [Path(path) for path in outputs])


if __name__ == "__main__":
    stage.run_script(main, snakemake)
