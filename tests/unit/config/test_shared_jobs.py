"""Which tables, questions and arms share a job, and which have one each."""

from collections import Counter

import pytest

from fieldwork.config.arms import is_asked_here, request_arms
from fieldwork.config.estimates import estimate_settings, measured_tables, question_jobs
from fieldwork.config.metric_steps import (
    METRIC_STEPS,
    job_files,
    job_steps,
    job_tables,
    metric_jobs,
    step_settings,
)
from fieldwork.measures import question_names, questions
from unit.shipped_config import study

ANSWERS = "answers.parquet"


@pytest.mark.parametrize("one_job", [True, False])
@pytest.mark.parametrize("files", [(), ("studies/paper.yaml",)])
def test_each_table_and_question_has_one_job(files: tuple[str, ...], one_job: bool) -> None:
    made = study(*files, metrics={"one_job": one_job})
    jobs, asked = metric_jobs(made), question_jobs(made)
    tables = Counter(table for steps in jobs.values() for table in job_tables(steps))
    assert tables == Counter(job_tables(METRIC_STEPS))
    assert sorted(name for names in asked.values() for name in names) == question_names()
    assert not {*jobs} & {*asked}
    is_single = all(len(names) == 1 for names in [*jobs.values(), *asked.values()])
    assert is_single != one_job


def test_a_job_reads_what_its_steps_take_and_is_set_by_what_sets_them() -> None:
    made = study()
    steps = metric_jobs(made)["tables"]
    files = job_files(made, steps, ANSWERS)
    assert {*files} == {"answers", "questions", "subject_categories"}
    assert {name for step in job_steps(made, steps) for name in step["inputs"]} == {*files}
    settings = step_settings(made, steps)
    assert {name for step in job_steps(made, steps) for name in step["settings"]} == {*settings}
    assert step_settings(made, ["shifts"])["baseline"] == "offline"


def test_arms_are_planned_together_where_one_job_asks_them() -> None:
    made = study()
    assert is_asked_here(made)
    assert not is_asked_here(study(study={"models": ["smollm2", "gpt-4o-mini"]}))
    arms = request_arms(made)
    tables = [f"<results>/requests/{arm['task']}/{arm['condition']}.parquet" for arm in arms]
    assert tables == made.request_tables()
    by_condition = {arm["condition"]: arm for arm in arms if arm["task"] == made.tasks[0]}
    runs = made.config["tasks"][made.tasks[0]]["runs"]
    # without contexts a run is a replicate, and a condition that asks again counts on
    counts = {name: (arm["replicates"], arm["first"]) for name, arm in by_condition.items()}
    expected = {"offline": (runs, 0), "offline_again": (runs, runs), "history": (2, 0)}
    assert expected.items() <= counts.items()


def test_questions_of_a_job_have_one_source() -> None:
    made = study()
    for names in question_jobs(made).values():
        assert len({questions()[name].source for name in names}) == 1
        assert measured_tables(made, names, ANSWERS)["source"]


def test_permutations_set_the_questions_of_runs_alone() -> None:
    made = study(metrics={"permutations": 99})
    assert "n_permutations" not in estimate_settings(made, ["lists", "form"])
    assert estimate_settings(made, ["accuracy"])["n_permutations"] == 99
