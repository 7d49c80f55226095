"""A finished study as one archive, what a second machine makes of it, and its way to OSF.

The corpus of the study counts as one whose texts may not be handed on: so the second machine has neither
its conversations nor the texts of contexts, and no model to ask.
"""

import csv
import json
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from fieldwork import tables
from fieldwork.config.archive import archive_plan
from fieldwork.exports.archive.contents import FILLER
from fieldwork.files.text_search import Mark, Matcher, files_beneath, search
from fieldwork.generation.ledger import open_ledger
from fieldwork.records.puppets import Context, Conversation
from servers.osf import Osf, serve_osf
from unit.generation.test_ledger import entry
from unit.shipped_config import study as study_of
from workflow.conftest import REPOSITORY, Checkout, clean_environment

pytestmark = pytest.mark.workflow

STUDY: dict[str, Any] = {"archive": {"license": "CC-BY-4.0", "texts": {"sample": False}}}
FOREIGN = entry("what another study asked")
LEDGER = "resources/ledger/embedded.sqlite"
NODE = "abc12"


@pytest.fixture(scope="module")
def archived(quickstart: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished study in a folder with its archive; its ledger holds an answer to another study too."""
    made = quickstart.clone(tmp_path_factory.mktemp("archived") / "project")
    with open_ledger(made.root / LEDGER) as ledger:
        ledger.store([FOREIGN])
    made.make("archive", study=made.study("quickstart", STUDY))
    return made


@pytest.fixture(scope="module")
def unpacked(archived: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive on a second machine."""
    folder = tmp_path_factory.mktemp("second")
    with zipfile.ZipFile(archived.results() / "archive/quickstart.zip") as package:
        package.extractall(folder)
    return folder / "quickstart"


def conversations(checkout: Checkout) -> list[Conversation]:
    path = checkout.results() / "corpus/sample/conversations.parquet"
    return tables.read_rows(path, Conversation)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_an_archive_holds_no_text_that_may_not_be_handed_on(
    archived: Checkout, unpacked: Path
) -> None:
    texts = [m.content for c in conversations(archived)[:20] for m in c.messages[:1]]
    matcher = Matcher(Mark(text[:120]) for text in texts if len(text) > 40)
    assert len(matcher.texts) > 10
    found = search(files_beneath(unpacked), matcher)
    assert (found.holders, found.obstacles) == ([], {})
    contents = {
        condition: {
            message.content
            for context in tables.read_rows(
                unpacked / f"results/quickstart/contexts/probe/{condition}.parquet", Context
            )
            for message in context.messages
        }
        for condition in ("history", "profile")
    }
    assert contents["history"] == {FILLER}
    assert FILLER not in contents["profile"]
    assert not (unpacked / "explorer").exists()
    left_out = {row["what"] for row in read_csv(unpacked / "left_out.csv")}
    assert {"texts of corpora.sample", "explorer", "study.duckdb"} <= left_out


def test_an_archive_holds_this_studys_answers_alone(archived: Checkout, unpacked: Path) -> None:
    with open_ledger(archived.root / LEDGER) as whole, open_ledger(unpacked / LEDGER) as own:
        assert set(whole.keys()) - set(own.keys()) == {FOREIGN.key}


def test_a_second_machine_makes_every_table_again_without_a_model(
    archived: Checkout, unpacked: Path
) -> None:
    ledger = (unpacked / LEDGER).read_bytes()
    names = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": ""}
    ran = subprocess.run(
        [sys.executable, "workflow/rebuild_archive", "2"],
        cwd=unpacked / "code",
        env=clean_environment(names),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    remade = json.loads((unpacked / "archive.json").read_text())["remade"]
    assert f"{len(remade)} files were made again and are the same, byte for byte." in ran.stdout
    results = archived.results()
    metrics = {path.name for path in (results / "metrics").rglob("*.*")}
    assert {Path(path).name for path in remade} >= metrics
    assert len(metrics) > 30
    for rule in ("ask_local_model", "build_contexts", "prepare_corpus", "prepare_task"):
        assert f"Rule: {rule}" not in ran.stderr
    assert (unpacked / LEDGER).read_bytes() == ledger


def test_a_study_from_an_archive_asks_no_model(unpacked: Path) -> None:
    """Not even where somebody deletes answers. Those to blank calls are not taken in their place."""
    table = "results/quickstart/responses/embedded/probe/history.parquet"
    (unpacked / table).unlink()
    second = Checkout(unpacked / "code", unpacked)
    ran = second.fail(table, study=unpacked / "study.yaml")
    assert "the ledger of this archive lacks an answer, and a study from an" in ran.stderr
    assert not (unpacked / table).exists()


def planned_again(folder: Path, plan: Mapping[str, Any]) -> set[str]:
    """The rules of the tables that a second machine makes again from those that an archive has."""
    (folder / "study.yaml").write_text(yaml.safe_dump(plan["config"]))
    results = Path("results") / plan["config"]["study"]["name"]
    for path in plan["first_tables"]:
        table = folder / results / path
        table.parent.mkdir(parents=True, exist_ok=True)
        table.touch()
        os.utime(table, (0, 0))
    targets = [str(results / path) for path in plan["remade"]]
    study = ("--configfile", str(folder / "study.yaml"))
    return Checkout(REPOSITORY, folder).plan(*targets, *study)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_second_machine_needs_no_file_of_the_field(tmp_path: Path, is_shared: bool) -> None:
    """Without the answers of real users only the corrected tests are made again."""
    field = {
        "path": str(tmp_path / "raw.csv"),
        "layout": "wide",
        "columns": {"participant": "id"},
        "prompts": {"hobbies": "Q1"},
    }
    (tmp_path / "raw.csv").write_text("id,Q1\n")
    plan = archive_plan(study_of(field=field, archive={"field": is_shared}))
    (tmp_path / "raw.csv").unlink()
    rules = planned_again(tmp_path, plan)
    assert "measure_claims" in rules
    assert ("parse_field" in rules) is is_shared
    assert not rules & {"import_field", "ask_local_model", "build_contexts", "prepare_corpus"}
    assert is_shared or rules == {"measure_claims"}


def test_a_second_machine_takes_the_estimates_of_groups_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no file of groups, and units without them."""
    units = ("attributes", "relevance", "answers")
    names = [
        *("judging/judgements", "judging/units", "memory/attributes", "memory/verifications"),
        *(f"judging/{part}/{name}" for part in ("texts", "models", "learnt") for name in units),
        "judging/models/memory.refined",
    ]
    for name in names:
        table = tmp_path / f"results/personalisation/{name}.parquet"
        table.parent.mkdir(parents=True, exist_ok=True)
        table.touch()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groups.csv").write_text("user_id,group\nu1,patients\n")
    grouped = study_of("studies/personalisation.yaml", judging={"groups": "groups.csv"})
    plan = archive_plan(grouped)
    (tmp_path / "groups.csv").unlink()
    rules = planned_again(tmp_path, plan)
    assert {"measure_interventions", "measure_claims"} <= rules
    assert not rules & {"measure_judgements", "import_judgements", "draw_units", "read_memory"}


def test_an_unfinished_study_is_one_sentence(tmp_path: Path) -> None:
    checkout = Checkout(REPOSITORY, tmp_path)
    study = checkout.study("begun", {})
    ran = checkout.fail("archive", study=study)
    assert "results/begun: the study is not finished, " in ran.stderr
    assert "run `snakemake all` for it first, and an archive asks no model" in ran.stderr
    assert not (tmp_path / "results").exists()


def test_a_study_that_still_runs_is_one_sentence(archived: Checkout) -> None:
    locks, record = (
        archived.root / ".snakemake/locks",
        archived.root / ".snakemake/fieldwork_runs/quickstart.json",
    )
    before = record.read_text()
    locks.mkdir(exist_ok=True)
    lock = locks / "0.output.lock"
    lock.write_text("results/quickstart/findings.md\n")
    own = psutil.Process(os.getpid())
    living = {"host": socket.gethostname(), "pid": own.pid, "created": own.create_time()}
    record.write_text(json.dumps(living))
    try:
        ran = archived.snakemake("archive", "--configfile", "quickstart.yaml")
    finally:
        lock.unlink()
        record.write_text(before)
    assert ran.returncode != 0
    assert "results/quickstart: the study is still running, and an archive of it" in ran.stderr


# ---- OSF -----------------------------------------------------------------------------------------


@pytest.fixture
def osf() -> Iterator[Osf]:
    with serve_osf({NODE: {}}, private=[NODE], revoked=["old-token-4711"]) as server:
        server.token = "right-token-4711"
        yield server


def send(archived: Checkout, osf: Osf, token: str) -> subprocess.CompletedProcess[str]:
    target = {"osf": {"node": NODE, "url": osf.url}}
    study = archived.study("quickstart", {"archive": STUDY["archive"] | target})
    arguments = ("upload_archive", "--configfile", str(study), "--allowed-rules", "upload_archive")
    ran = archived.snakemake(*arguments, env={"OSF_TOKEN": token})
    log = (archived.root / "logs/quickstart/upload_archive.log").read_text()
    assert token not in ran.stdout + ran.stderr + log
    return ran


def test_an_archive_is_sent_to_osf_and_not_twice(archived: Checkout, osf: Osf) -> None:
    ran = send(archived, osf, osf.token)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert set(osf.nodes[NODE]) == {
        f"quickstart/{name}"
        for name in ("quickstart.zip", "README.md", "left_out.csv", "licences.csv", "findings.md")
    }
    package = (archived.results() / "archive/quickstart.zip").read_bytes()
    assert osf.nodes[NODE]["quickstart/quickstart.zip"] == package
    again = send(archived, osf, osf.token)
    assert "0 files are new on OSF, 0 became a new version, and 5 were there" in again.stdout


def test_a_revoked_token_is_one_sentence(archived: Checkout, osf: Osf) -> None:
    ran = send(archived, osf, "old-token-4711")
    assert ran.returncode != 0
    assert "does not take the token in OSF_TOKEN (HTTP 401), which was revoked" in ran.stderr
    assert osf.nodes[NODE] == {}
