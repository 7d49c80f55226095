"""A study's own questions are drawn without a setting, and settings that do not suit them are told."""

from pathlib import Path
from typing import Any

import pytest

from workflow.conftest import REPOSITORY, Checkout

pytestmark = pytest.mark.workflow

SOURCES = {
    "trivia": {"format": "items", "dataset": "trivia"},
    "wishes": {"format": "items", "dataset": "wishes", "kind": "list"},
    "both": {"format": "items", "dataset": "both", "kind": "mixed"},
}
FILES = {
    "trivia": "item_id,question,option_a,option_b,gold\ncapital_aus,Which capital?,Sydney,Canberra,B\n",
    "wishes": "item_id,question\nvisit_nyc,Which places would you visit?\n",
    "both": "item_id,kind,question,option_a,option_b\nq1,list,Which?,,\nq2,,Is it?,Yes,No\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Checkout:
    """A study folder with questions of one's own."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return Checkout(REPOSITORY, tmp_path)


def own_study(folder: Checkout, tasks: list[str], **settings: Any) -> str:
    """The path of a study of these tasks."""
    overlay = {
        "study": {"conditions": ["offline", "profile"], "tasks": tasks},
        "datasets": {name: {"path": f"{name}.csv"} for name in FILES},
        "tasks": {
            name: {"sources": [source], "runs": 2, "max_tokens": 50}
            for name, source in SOURCES.items()
        },
        **settings,
    }
    return str(folder.study("own", overlay))


@pytest.mark.parametrize(
    ("tasks", "figures"),
    [
        (["trivia"], {"plot_fig2", "plot_fig3", "plot_fig4"}),
        (["wishes"], {"plot_fig1", "plot_fig4", "plot_fig5"}),
    ],
)
def test_own_questions_are_drawn_as_suits_them(
    folder: Checkout, tasks: list[str], figures: set[str]
) -> None:
    rules = folder.plan("all", study=own_study(folder, tasks))
    assert {rule for rule in rules if rule.startswith("plot_")} == figures | {"plot_who_asks"}


def test_a_file_of_both_kinds_is_read_where_its_source_says_so(folder: Checkout) -> None:
    table = "results/own/tasks/both.parquet"
    folder.make(table, study=own_study(folder, ["both"]))
    source = {"format": "items", "dataset": "both", "kind": "choice"}
    wrong = folder.study(
        "own_too", {"tasks": {"both": {"sources": [source]}}, "study": {"name": "own"}}
    )
    files = [own_study(folder, ["both"]), str(wrong)]
    failed = folder.fail(table, "--configfile", *files)
    assert "item 'q1' is of kind list, but the task's source says kind: choice" in failed.stderr


def test_a_figure_that_no_task_suits_cannot_be_asked_for(folder: Checkout) -> None:
    files = ["--configfile", own_study(folder, ["trivia"])]
    failed = folder.fail("-n", "results/own/figures/fig1.pdf", *files)
    assert "figures.fig1 is null, or no task of study.tasks" in failed.stdout + failed.stderr
