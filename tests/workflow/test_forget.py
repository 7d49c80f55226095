"""`snakemake forget` on a study that has run, and a search of the test's own for what is left."""

import csv
import gzip
import json
import os
import socket
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import duckdb
import psutil
import pytest

from field_data.synthetic import SyntheticField, make_field
from workflow.conftest import TINY, Checkout, copy_project, planned_rules, rows_of
from workflow.test_field import field_setting, write_survey

pytestmark = pytest.mark.workflow

STUDY = "volunteers"
TARGETS = (
    f"results/{STUDY}/study.duckdb",
    f"results/{STUDY}/findings.md",
    f"results/{STUDY}/provenance/config.yaml",
    "results/figures/fig1.svg",
)
RECORD = "resources/field/deletions.csv"
IDS = "resources/field/forget.txt"


@pytest.fixture(scope="module")
def synthetic() -> SyntheticField:
    return make_field()


def write_page(folder: Path, participant: str, row: dict[str, str]) -> None:
    """Both files of the survey page, named after the participant; the answers are given again."""
    folder.mkdir()
    with (folder / f"{participant}.csv").open("w", newline="", encoding="utf-8") as handle:
        again = {name: "again" if name.startswith("Q_") else cell for name, cell in row.items()}
        csv.writer(handle).writerows([list(row), list(again.values())])
    saved = {"format": "fieldwork-survey-1", "participant": participant}
    (folder / f"{participant}.json").write_text(json.dumps(saved))


@pytest.fixture(scope="module")
def field_study(synthetic: SyntheticField, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A study with a field, its report, and a file that is named after a participant."""
    made = copy_project(tmp_path_factory.mktemp("forget") / "project")
    folder = made.root / "resources/field"
    write_survey(folder, synthetic.wide)
    first = synthetic.wide[0]["panel_id"]
    write_page(folder / "page", first, synthetic.wide[0])
    blank = {"study": {**TINY["study"], "conditions": ["offline"]}}
    study = made.study(STUDY, TINY | blank | {"field": field_setting(synthetic, "embedded")})
    for arguments in (TARGETS, ("--report", f"results/{STUDY}/report.zip", *TARGETS[:2])):
        made.make(*arguments, study=study)
    return made


@pytest.fixture
def study(field_study: Checkout, tmp_path: Path) -> Checkout:
    """The same in a folder of the test's own."""
    return field_study.clone(tmp_path / "project")


def run(study: Checkout, *arguments: str) -> tuple[int, str]:
    done = study.snakemake(*arguments, "--configfile", str(study.root / f"{STUDY}.yaml"))
    return done.returncode, done.stdout + done.stderr


def forget(study: Checkout, *ids: str) -> tuple[int, str]:
    (study.root / IDS).write_text("\n".join(ids) + "\n")
    return run(study, "forget")


def contents(path: Path, raw: bytes | None = None) -> Iterator[bytes]:
    """All that a file holds, unpacked as its own programs unpack it."""
    content = path.read_bytes() if raw is None else raw
    yield path.name.encode()
    yield content
    if content[:2] == b"PK":
        with zipfile.ZipFile(BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from contents(Path(name), archive.read(name))
    elif content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    elif path.suffix == ".parquet":
        yield repr(duckdb.sql(f"FROM read_parquet('{path}')").fetchall()).encode()
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as database:
            for (table,) in database.sql("SHOW TABLES").fetchall():
                yield repr(database.sql(f'FROM "{table}"').fetchall()).encode()


def holders(study: Checkout, *needles: str) -> set[str]:
    """The files of the folder, the project's own left out, that hold one of some texts."""
    paths: set[str] = set()
    for place in ("results", "logs", ".snakemake", "resources/field", "resources/ledger"):
        for path in (p for p in (study.root / place).rglob("*") if p.is_file()):
            pieces = [piece.lower() for piece in contents(path)]
            if any(needle.encode() in piece for needle in needles for piece in pieces):
                paths.add(path.relative_to(study.root).as_posix())
    return paths


def pseudonyms_of(study: Checkout) -> dict[str, str]:
    """Pseudonyms by the file and row of the answers, `wave_1.csv:4`."""
    rows = rows_of(
        study,
        f"SELECT DISTINCT file, row, participant_id FROM 'RESULTS/{STUDY}/field/answers.parquet'",
    )
    return {f"{file}:{row}": name for file, row, name in rows}


def answers_of(study: Checkout) -> dict[str, set[tuple[object, ...]]]:
    """The answers of each participant and of the model, as read."""
    rows = rows_of(
        study,
        f"""SELECT coalesce(puppet_id, condition), task, item_id, replicate, items, letter, reason
        FROM 'RESULTS/{STUDY}/answers/answers.parquet'""",
    )
    answers: dict[str, set[tuple[object, ...]]] = {}
    for who, *answer in rows:
        answers.setdefault(who, set()).add(tuple(map(repr, answer)))
    return answers


def test_nothing_is_left_and_everybody_else_is_as_before(
    study: Checkout, synthetic: SyntheticField
) -> None:
    first = synthetic.wide[0]["panel_id"]
    name = pseudonyms_of(study)["wave_1.csv:4"]
    before = answers_of(study)
    paths = holders(study, first, name)
    assert paths >= {
        "resources/field/wave_1.csv",
        f"resources/field/page/{first}.json",
        "results/volunteers/report.zip",
        "results/volunteers/study.duckdb",
        "results/volunteers/metrics/accuracy_runs.csv",
    }
    # a file is named after the person, and its name stands in no result, Snakemake's report included
    assert not any(path.startswith("results/") for path in holders(study, first))
    # but in Snakemake's records of the import
    assert any(path.startswith(".snakemake/metadata/") for path in paths)
    assert any(path.startswith(".snakemake/log/") for path in paths)
    status, output = forget(study, first)
    assert status == 0, output[-3000:]
    assert "resources/field/wave_1.csv: 1 row(s) deleted." in output
    assert "None of them holds an id or a pseudonym" in output
    assert first not in output
    assert holders(study, first) == set()
    assert holders(study, name) == {RECORD}
    assert not (study.root / f"results/{STUDY}").exists()
    assert not (study.root / "results/figures").exists()
    assert not (study.root / IDS).exists()
    answers, runs = (
        f"results/{STUDY}/{table}"
        for table in ("answers/answers.parquet", "metrics/accuracy_runs.csv")
    )
    status, output = run(study, answers, runs)
    assert status == 0, output[-3000:]
    assert holders(study, first) == set()
    assert holders(study, name) == {RECORD}
    after = answers_of(study)
    assert set(before) - set(after) == {name}
    assert {who: before[who] for who in after} == after


def test_an_id_of_nobody_stops_without_a_change(study: Checkout) -> None:
    before = {p: p.stat().st_mtime_ns for p in (study.root / "results").rglob("*")}
    status, output = forget(study, "0123456789abcdef01234567")
    assert status != 0
    assert (
        "ERROR: resources/field/forget.txt: no file of the field holds the id of line 1" in output
    )
    assert "0123456789abcdef01234567" not in output
    assert {p: p.stat().st_mtime_ns for p in (study.root / "results").rglob("*")} == before


def test_a_participant_who_comes_back_stops_the_import(
    study: Checkout, synthetic: SyntheticField
) -> None:
    survey = study.root / "resources/field/wave_1.csv"
    backup = survey.read_bytes()
    assert forget(study, synthetic.wide[1]["panel_id"])[0] == 0
    survey.write_bytes(backup)
    status, output = run(study, f"results/{STUDY}/field/answers.parquet")
    assert status != 0
    assert (
        "ERROR: resources/field/wave_1.csv: row 5 belongs to a participant who was deleted"
        in output
    )
    status, output = run(study, "forget")
    assert status == 0, output[-3000:]
    assert run(study, f"results/{STUDY}/field/answers.parquet")[0] == 0


def test_another_run_in_the_folder_is_waited_for(
    study: Checkout, synthetic: SyntheticField
) -> None:
    records = study.root / ".snakemake"
    (records / "locks").mkdir(exist_ok=True)
    (records / "locks" / "0.output.lock").write_text("results/other/findings.md\n")
    own = psutil.Process(os.getpid())
    living = {"host": socket.gethostname(), "pid": own.pid, "created": own.create_time()}
    (records / "fieldwork_runs/other.json").write_text(json.dumps(living))
    status, output = forget(study, synthetic.wide[1]["panel_id"])
    assert status != 0
    assert "another run is using this folder" in output
    assert synthetic.wide[1]["panel_id"] in (study.root / "resources/field/wave_1.csv").read_text()


def test_forgetting_is_no_part_of_a_study(field_study: Checkout) -> None:
    status, output = run(field_study, "all", "-n")
    assert status == 0
    assert "forget" not in planned_rules(output)
    blank = field_study.fail("forget")
    assert (
        "ERROR: field: the study has no field answers, so there is nobody to delete" in blank.stderr
    )
