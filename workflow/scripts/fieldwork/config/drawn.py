"""The figures of a study, each with the tables that it is drawn from and its title.

What it takes is read by `fieldwork/figures/{module}`, which declares the row types of its tables. Read
while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fieldwork.config.estimates import ESTIMATES_OF
from fieldwork.config.figures import leaderboard_note
from fieldwork.measures import question_names

if TYPE_CHECKING:
    from fieldwork.config.study import Study

CLAIMS = "<results>/metrics/claims.parquet"


class StudyFigure(NamedTuple):
    """How a figure is made.

    Attributes:
        title: its heading on the page.
        tables: names of the tables of `metrics/` that it draws, in the order of the module's `draw`.
        has_claims: whether their p-values are those of `claims`.
        questions: whose words stand in it: those of its task, or of all tasks; None for none.
        module: of `fieldwork/figures`; that of its name where it is None.
        caption: of `workflow/report`, likewise.
    """

    title: str
    tables: tuple[str, ...]
    has_claims: bool = False
    questions: Literal["task", "all"] | None = None
    module: str | None = None
    caption: str | None = None


FIGURES: Mapping[str, StudyFigure] = {
    "fig1": StudyFigure("1: How varied the recommendations are", ("lists",), questions="task"),
    "fig2": StudyFigure(
        "2: Which answers each question gets", ("distributions",), questions="task"
    ),
    "fig3": StudyFigure(
        "3: How many answers are right, and the place that gives",
        ("accuracy_runs", "accuracy", "ranks"),
    ),
    "fig4": StudyFigure(
        "4: Which options a user makes rarer or more common", ("shifts",), True, "task"
    ),
    "fig5": StudyFigure(
        "5: How many different options so many answers name", ("rarefaction",), questions="task"
    ),
    "arms": StudyFigure(
        "How conditions differ from each other", ("arms", "arm_tests"), caption="arms_figure"
    ),
    "categories": StudyFigure(
        "For which subjects it matters who asks",
        ("subjects", "categories"),
        True,
        caption="categories_figure",
    ),
    "values": StudyFigure(
        "Where answers to scales and numbers lie",
        ("values",),
        questions="task",
        caption="values_figure",
    ),
    "who_asks": StudyFigure(
        "How much depends on who asks, and which answers are new", ("variance", "novelty"), True
    ),
    "robustness": StudyFigure(
        "Whether answers hold when questions are put otherwise",
        ("robustness",),
        caption="robustness_figure",
    ),
    "drift": StudyFigure(
        "Whether answers moved since the first wave", ("drift",), caption="drift_figure"
    ),
    "pareto": StudyFigure("How good, how slow and how dear the answers are", ("trade_offs",)),
    "field_ranks": StudyFigure(
        "Whether each condition ranks questions as real users do",
        ("item_agreement", "rank_agreement"),
        True,
        "all",
    ),
    "field_groups": StudyFigure(
        "How varied the answers of groups of real users are",
        ("groups", "group_differences"),
        True,
        "all",
    ),
    "calibration": StudyFigure(
        "How near conditions come to real users, weighted and alone",
        ("calibration",),
        caption="calibration_figure",
    ),
}
"""By name; that of the figure of arms is for each study to say."""


def figure_module(name: str) -> str:
    """The module that draws a figure, of `fieldwork/figures`."""
    return FIGURES[name].module or name


def figure_code(name: str) -> list[str]:
    """The modules that draw a figure, which its script imports by name."""
    claims = ["fieldwork/metrics/claims/lookup"] if FIGURES[name].has_claims else []
    return [f"fieldwork/figures/{figure_module(name)}", *claims]


def figure_inputs(study: "Study", name: str) -> dict[str, Any]:
    """The tables that a figure is drawn from, and what else it reads, by input."""
    figure = FIGURES[name]
    files: dict[str, Any] = {table: _table_file(table) for table in figure.tables}
    if name == "fig3":
        task = study.config["tasks"].get(study.config["figures"]["fig3"], {})
        files["leaderboard"] = study.optional_file(task.get("leaderboard"))
    if figure.has_claims:
        files["claims"] = CLAIMS
    if figure.questions == "all":
        files["questions"] = study.task_tables()
    return files


def figure_drawing(study: "Study", name: str) -> dict[str, Any]:
    """What a figure needs to know of the study; keys are those of its settings in `figures/`.

    Raises:
        StudyError: the study does not draw the figure.
    """
    drawing = study.drawing()
    if name in study.config["figures"]:
        drawing["task"] = study.figure_task(name)
    match name:
        case "fig3":
            drawing["own_names"] = study.leaderboard_names()
            drawing["leaderboard_note"] = leaderboard_note(study.config, drawing["task"])
        case "fig4":
            groups = study.users_and_controls()
            sides = {study.baseline, *groups["users"], *groups["controls"]}
            drawing["users"] = groups["users"]
            drawing["conditions"] = [one for one in drawing["conditions"] if one in sides]
        case "who_asks":
            drawing["users"] = study.users_and_controls()["users"]
        case "robustness":
            drawing["variants"] = study.variants()
        case "drift":
            drawing["waves"] = study.waves()
        case "arms":
            drawing["x"] = (study.config["arms"] or {}).get("x")
    return drawing


def _table_file(table: str) -> str:
    is_question = table in question_names()
    return (
        ESTIMATES_OF.format(question=table) if is_question else f"<results>/metrics/{table}.parquet"
    )
