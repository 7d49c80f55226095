"""Draw figure 3: how far a benchmark score moves with its user.

In: <results>/metrics/accuracy_runs, accuracy and ranks, the task's leaderboard.
Out: <results>/figures/fig3 as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig3, style
from fieldwork.figures.marks import marks_of
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import Accuracy, Rank, RunAccuracy
from fieldwork.records.shared import NO_LEADERBOARD


def main(
    accuracy_runs: str,
    accuracy: str,
    ranks: str,
    leaderboard: list[str],
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save; `leaderboard` is its file, or empty."""
    style.use_style(style_sheet)
    figure = fig3.draw(
        tables.read_frame(accuracy_runs, RunAccuracy),
        tables.read_frame(accuracy, Accuracy),
        tables.read_frame(ranks, Rank),
        read_leaderboard(leaderboard[0]) if leaderboard else NO_LEADERBOARD,
        fig3.Fig3Settings(**drawing),
    )
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
