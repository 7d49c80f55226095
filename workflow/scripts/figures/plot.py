"""Draw a figure of the study, as its module of `fieldwork/figures` declares what it takes.

In: tables of <results>/metrics, the questions. Out: <results>/figures as PDF, SVG and PNG, and its marks.
"""

from importlib import import_module
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.files.leaderboards import read_task_leaderboard
from fieldwork.records.figures import FigureMark


def main(
    inputs: dict[str, Any],
    style_sheet: str,
    drawings: list[str],
    marks: str,
    module: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    figure_module = import_module(f"fieldwork.figures.{module}")
    claims = getattr(figure_module, "CLAIMS", {})
    # imported by name, as few figures need what claims are made of
    lookup = import_module("fieldwork.metrics.claims.lookup") if claims else None
    drawn_tables: list[Any] = [
        lookup.read_corrected(inputs[name], row_type, inputs["claims"], claims[name])
        if lookup and name in claims
        else tables.read_frame(inputs[name], row_type)
        for name, row_type in figure_module.TABLES.items()
    ]
    if "leaderboard" in inputs:
        drawn_tables.append(read_task_leaderboard(inputs["leaderboard"]))
    if "questions" in inputs:
        drawing["questions"] = tables.read_questions(inputs["questions"])
    figure = figure_module.draw(*drawn_tables, FigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
