"""Bad input ends in one sentence that names the file and the setting, and costs nothing computed."""

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workflow.conftest import TINY, Checkout, clean_environment, copy_project, digests, from_yaml

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """One copy for all cases: each runs in a folder of its own."""
    return copy_project(tmp_path_factory.mktemp("bad") / "project")


@pytest.fixture
def study_folder(project: Checkout, tmp_path: Path) -> Checkout:
    return Checkout(project.root, tmp_path / "study")


def the_sentence(failed: subprocess.CompletedProcess[str]) -> str:
    """What Snakemake or a stage says is wrong: exactly one line, and no traceback."""
    stderr = failed.stdout + failed.stderr  # a dry run says everything on standard output
    assert "Traceback" not in stderr
    said = {
        line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")
    }
    if not said:
        lines = stderr.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("WorkflowError"))
        said = {lines[at + 1].strip()}
    assert len(said) == 1, stderr[-1500:]
    return said.pop()


@pytest.mark.parametrize(
    ("overlay", "words"),
    [
        ({"stduy": {}}, ["bad.yaml", "stduy", "unknown key"]),
        (
            {"models": {"../etc": {"provider": "embedded", "label": "x", "encoder": "y"}}},
            ["../etc"],
        ),
        (
            from_yaml(
                "tasks: {recommendations: {sources: [{format: items, kind: list, "
                "dataset: recommendations, columns: {question: Frage}}]}}"
            ),
            ["recommendations.csv", "no column 'Frage'", "columns.question", "item_id, domain"],
        ),
        (
            {"tasks": {"recommendations": {"runs": 5000}}},
            ["history", "5000 users", "tasks.recommendations.runs", "has 57", "min_user_turns: 5"],
        ),
    ],
)
def test_a_config_mistake_is_told_before_anything_runs(
    study_folder: Checkout, overlay: dict[str, Any], words: list[str]
) -> None:
    bad = study_folder.study("bad", overlay)
    failed = study_folder.fail("-n", "all", study=bad)
    sentence = the_sentence(failed)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("content", "profile", "words"),
    [
        ("study:\n  name: mine\n\tseed: 3\n", (), ["line 3", "tab"]),
        ("__use_yte__: true\na: ?open('ran', 'w')\n", (), ["__use_yte__", "Python"]),
        ("tasks: {}\nstudy: {}\ntasks: {}\n", ("none",), ["line 3", "'tasks' stands on line 1"]),
        ("__use_yte__: true\nstudy: {}\n", ("none",), ["line 1", "__use_yte__ has Snakemake run"]),
    ],
)
def test_a_study_file_is_looked_at_before_snakemake_reads_it(
    study_folder: Checkout, content: str, profile: tuple[str, ...], words: list[str]
) -> None:
    """By the shipped profile, and without one after Snakemake itself."""
    bad = study_folder.study("bad", {})
    bad.write_text(content)
    options = [part for name in profile for part in ("--workflow-profile", name)]
    failed = study_folder.fail("-n", "all", *options, study=bad)
    sentence = the_sentence(failed)
    assert all(word in sentence for word in ["bad.yaml", *words])
    assert not (study_folder.root / "ran").exists()


def garbage(path: Path) -> None:
    path.write_bytes(b"PAR1 and then nothing that makes sense")


def empty_table(path: Path) -> None:
    pq.write_table(pa.table({"conversation_hash": pa.array([], pa.string())}), path)


def nothing_at_all(path: Path) -> None:
    path.touch()


@pytest.mark.parametrize("write", [garbage, empty_table, nothing_at_all])
def test_a_broken_corpus_file_is_named(study_folder: Checkout, write: Any) -> None:
    study_folder.directory.mkdir(parents=True)
    corpus = study_folder.directory / "broken.parquet"
    write(corpus)
    bad = study_folder.study("bad", {"corpora": {"sample": {"path": str(corpus)}}})
    failed = study_folder.fail("results/bad/corpus/sample/conversations.parquet", study=bad)
    assert str(corpus) in the_sentence(failed)


def test_a_stage_that_cannot_go_on_says_why(study_folder: Checkout) -> None:
    bad = study_folder.study("bad", {"filters": {"min_user_turns": 900}})
    table = "results/bad/corpus/sample/conversations.parquet"
    failed = study_folder.fail(table, study=bad)
    assert "min_user_turns" in the_sentence(failed)


def test_too_few_users_in_a_large_corpus_stop_the_study_before_anybody_is_asked(
    study_folder: Checkout,
) -> None:
    talk = [{"role": "user", "content": "x" * 3_000_000} for _ in range(5)]
    study_folder.directory.mkdir(parents=True)
    corpus = study_folder.directory / "large.jsonl"
    corpus.write_text("".join(json.dumps({"user": u, "messages": talk}) + "\n" for u in "ab"))
    overlay = from_yaml(
        """
        study: {name: large, corpus: large, conditions: [offline, rag, history], tasks: [probe]}
        corpora: {large: {path: $path}}
        tasks: {probe: {runs: 3}}
        """,
        path=str(corpus),
    )
    large = study_folder.study("large", overlay)
    study_folder.make("-n", study=large)
    failed = study_folder.fail("--keep-going", study=large)
    sentence = the_sentence(failed)
    assert "conditions.rag needs 3 conversations (tasks.probe.runs)" in sentence
    assert "corpora.large has 2" in sentence
    assert (study_folder.directory / "results/large/corpus/large/funnel.csv").is_file()
    for folder in ("responses", "contexts", "embeddings"):
        assert not list(study_folder.directory.glob(f"results/large/{folder}/**/*.parquet"))
    assert not (study_folder.directory / "resources/ledger").exists()


def test_dry_runs_need_no_keys(study_folder: Checkout) -> None:
    paid = study_folder.study("paid", {"study": {"models": ["gpt-4o-mini", "embedded"]}})
    study_folder.make("-n", "all", study=paid)


def test_a_mistake_loses_nothing_that_was_computed(study_folder: Checkout) -> None:
    small = TINY | {"study": {**TINY["study"], "conditions": ["history"], "tasks": ["probe"]}}
    good = study_folder.study("good", small)
    tables = ("results/good/answers/answers.parquet", "--configfile")
    study_folder.make(*tables, str(good))
    before = digests(study_folder.directory, "results/**/*.parquet")
    # more puppets than the corpus has users: the tables of the good study must survive the failure
    worse = {**small, "study": {**small["study"], "name": "good"}}
    bad = study_folder.study("bad", worse | {"tasks": {"probe": {"runs": 5000}}})
    study_folder.fail(*tables, str(bad))
    study_folder.make(*tables, str(good))
    assert digests(study_folder.directory, "results/**/*.parquet") == before


def test_a_disk_that_refuses_is_named(study_folder: Checkout) -> None:
    study_folder.directory.mkdir(parents=True)
    # no file may grow over 40 KB: what a full disk does to a table, for any user
    failed = subprocess.run(
        study_folder.command("results/quickstart/corpus/sample/conversations.parquet"),
        cwd=study_folder.root,
        env=clean_environment({}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert failed.returncode != 0
    sentence = the_sentence(failed)
    assert "results/quickstart/corpus/sample/conversations.parquet" in sentence
    assert "--directory" in sentence
    assert not list(study_folder.directory.glob("results/quickstart/corpus/sample/.*partial"))
