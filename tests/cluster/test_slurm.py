"""A study through `--profile profiles/slurm` on a real Slurm: same bytes through faults, caps held."""

import itertools
import re
import sqlite3
from pathlib import Path

import pytest

from cluster.conftest import MODELS, ClusterStudy, Ordeal
from cluster.slurm import Cluster, FinishedJob
from workflow.conftest import Checkout, digests

pytestmark = [pytest.mark.workflow, pytest.mark.cluster]

TABLES = ("results/**/*.parquet", "results/**/*.csv")


def submitted(text: str) -> dict[int, str]:
    """Slurm's number of each job that Snakemake submitted, and the folder of its log."""
    found = re.findall(r"submitted with SLURM jobid (\d+) \(log: \S*/logs/slurm/(\S+)/\d+", text)
    return {int(number): folder for number, folder in found}


def runs_that_ask_the_model(ordeal: Ordeal) -> list[FinishedJob]:
    """The runs of jobs that hold the cap of the provider `embedded`."""
    jobs = submitted(ordeal.killed.text) | submitted(ordeal.resumed.text)
    numbers = {n for n, folder in jobs.items() if folder.startswith("rule_ask_local_model/")}
    return [job for job in ordeal.study.cluster.finished_jobs() if job.job_id in numbers]


def test_tables_are_those_of_a_local_run_to_the_byte(ordeal: Ordeal) -> None:
    assert ordeal.resumed.returncode == 0, ordeal.resumed.text[-3000:]
    local = digests(ordeal.local.directory, *TABLES)
    assert len(local) > 10
    assert digests(ordeal.study.checkout.directory, *TABLES) == local


def test_a_killed_job_fails_the_run_and_says_where_its_logs_are(ordeal: Ordeal) -> None:
    text = ordeal.killed.text
    assert ordeal.killed.returncode != 0
    assert "Error in rule ask_local_model" in text
    assert re.search(r"log: logs/\S+/ask_local_model/\w+\.log, \S+/logs/slurm/\S+\.log", text)
    # of two conditions
    assert len(ordeal.results_before_resuming) < 2 * len(MODELS)


def test_going_on_does_only_what_was_not_done(ordeal: Ordeal) -> None:
    again = set(submitted(ordeal.resumed.text).values())
    assert any(folder.startswith("rule_ask_local_model/") for folder in again)
    before = submitted(ordeal.killed.text)
    runs = ordeal.study.cluster.finished_jobs()
    completed = {run.job_id for run in runs if run.state == "COMPLETED"} & set(before)
    # a group's folder does not say which of its jobs were left
    done = {before[number] for number in completed if before[number].startswith("rule_")}
    assert done
    assert not done & again


def test_no_answer_is_asked_for_twice(ordeal: Ordeal) -> None:
    assert ordeal.study.asked() >= ordeal.answers_after_kill
    for model in MODELS:
        keys = []
        for folder in (ordeal.study.checkout.directory, ordeal.local.directory):
            with sqlite3.connect(folder / f"resources/ledger/{model}.sqlite") as ledger:
                keys.append(set(ledger.execute("SELECT key, reply FROM answers")))
        assert keys[0] == keys[1]


def test_slurm_starts_the_job_of_a_dead_node_again_on_another(ordeal: Ordeal) -> None:
    runs = ordeal.study.cluster.finished_jobs()
    lost = [run for run in runs if run.state == "NODE_FAIL"]
    assert {run.node for run in lost} == {ordeal.crashed_node}
    # jobs of seconds may have been on that node too, and may come back to it
    done = {run.job_id: run.node for run in runs if run.state == "COMPLETED"}
    assert {run.job_id for run in lost} <= set(done)
    (asking,) = (run.job_id for run in lost if run in runs_that_ask_the_model(ordeal))
    assert done[asking] != ordeal.crashed_node


def test_no_two_jobs_of_a_provider_run_at_once_on_any_node(ordeal: Ordeal) -> None:
    # in Slurm's records: a second is the finest they tell
    runs = sorted(runs_that_ask_the_model(ordeal), key=lambda run: (run.start, run.end))
    assert len(runs) >= len(MODELS) + 2  # a job killed, a node crashed
    assert len({run.node for run in runs}) == 2
    for before, after in itertools.pairwise(runs):
        assert before.end <= after.start, (before, after)


def test_jobs_of_seconds_share_a_slurm_job(ordeal: Ordeal) -> None:
    jobs = [*submitted(ordeal.killed.text).values(), *submitted(ordeal.resumed.text).values()]
    groups = {name for name in (folder.split("/")[0] for folder in jobs) if "group_" in name}
    assert len(groups) == 3, groups  # inputs, contexts of a condition, answers
    # those, all requests, two models of which one twice, and what a stop cut short
    assert len(jobs) <= 3 + 1 + 3 + 2


def test_a_users_mistake_is_told_once_and_not_tried_again(
    cluster: Cluster, project: Checkout, tmp_path: Path
) -> None:
    folder = Checkout(project.root, tmp_path)
    study = ClusterStudy(cluster, folder)
    # too large to be looked at while the config is read
    (tmp_path / "broken.jsonl").write_text("no conversation\n" * 600_000)
    overlay = {"study": {"corpus": "broken"}, "corpora": {"broken": {"path": "broken.jsonl"}}}
    bad = folder.study("bad", overlay)
    target = "results/bad/corpus/broken/conversations.parquet"
    failed = study.finish(study.start(target, "--configfile", str(bad)))
    assert failed.returncode != 0
    assert len(submitted(failed.text)) == 1
    (log,) = re.findall(
        r"log: (logs/bad/prepare_corpus/broken\.log), (\S+/logs/slurm/\S+\.log)", failed.text
    )
    for path in (tmp_path / log[0], Path(log[1])):
        sentences = [line for line in path.read_text().splitlines() if "ERROR" in line]
        assert len(sentences) == 1
        assert "broken.jsonl" in sentences[0]
    assert "broken.jsonl" in failed.text.split("Error in rule prepare_corpus")[1]
    assert "Traceback" not in failed.text
