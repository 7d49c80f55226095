"""The study as one DuckDB file: its tables, and `transcripts` beside them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from fieldwork import tables
from fieldwork.cells import mark_counted
from fieldwork.database import write_database, write_views
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import accuracy, questions
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FieldAnswer
from fieldwork.records.generation import Response
from fieldwork.records.metrics import RunAccuracy, ScoreSpread
from fieldwork.records.parsing import Answer
from fieldwork.records.puppets import Context, Message, Profile
from fieldwork.records.tasks import Item
from fieldwork.views import VIEWS
from unit.measures.numbered_replies import Case, by_reruns, by_users
from unit.table_rows import answer_of, response_of


def write_profile(path: Path, puppet_id: str) -> None:
    tables.write_rows(path, [Profile(puppet_id, "", [], "")], Profile)


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(path, read_only=True) as database:
        rows: list[tuple[Any, ...]] = database.sql(sql).fetchall()
    return rows


def test_the_file_holds_the_rows_and_opens_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("it's", "b"):
        write_profile(Path("results") / f"{name}.parquet", name)
    files = ["results/it's.parquet", "results/b.parquet"]
    write_database("study.duckdb", {"profiles": files})
    for file in files:
        Path(file).unlink()
    moved = tmp_path / "elsewhere" / "mine.duckdb"
    moved.parent.mkdir()
    Path("study.duckdb").rename(moved)
    monkeypatch.chdir("/")
    assert query(moved, "SELECT puppet_id, file FROM profiles") == [
        ("it's", "results/it's.parquet"),
        ("b", "results/b.parquet"),
    ]
    assert sorted(f.name for f in tmp_path.iterdir()) == ["elsewhere", "results"]


def test_what_only_the_place_of_a_file_says_is_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [f"results/corpus/{name}/c.parquet" for name in ("one", "it's")]
    for path in paths:
        write_profile(Path(path), path)
    write_database("study.duckdb", {"conversations": paths, "contexts": paths, "other": paths})
    database = Path("study.duckdb")
    rows = query(database, "SELECT puppet_id, corpus FROM conversations")
    assert rows == list(zip(paths, ["one", "it's"], strict=True))
    rows = query(database, "SELECT DISTINCT task, condition FROM contexts ORDER BY 1")
    assert rows == [("it's", "c"), ("one", "c")]
    assert not {"corpus", "task"} & {name for (name, *_) in query(database, "DESCRIBE other")}


ITEMS = [
    Item("films", "list", "Which films?", "Recommend five films.", [], None, None, "x"),
    Item("sky", "choice", "Colour of the sky?", "Sky? A or B", ["red", "blue"], "B", None, "x"),
]


def response(item: str, puppet: str | None, replicate: int, text: str, **more: Any) -> Response:
    keys = {"task": "t", "condition": "history" if puppet else "offline", "item_id": item}
    keys |= {"context_id": puppet and f"ctx-{puppet}", "puppet_id": puppet, "replicate": replicate}
    return response_of(text, **keys | {"attempts": 1, "temperature_sent": True} | more)


def answer(of: Response, reading: Any, reason: str | None = None) -> Answer:
    names = ("model", "task", "condition", "item_id", "puppet_id", "replicate", "outcome")
    keys = {name: getattr(of, name) for name in names}
    is_list = of.item_id == "films"
    keys |= {"items" if is_list else "letter": reading, "kind": "list" if is_list else "choice"}
    return answer_of(**keys, reason=reason)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Blank calls and one user, who meets a question of her own context and one of another."""
    monkeypatch.chdir(tmp_path)
    blank = [response("sky", None, n, "B", outcome=o) for n, o in enumerate(("ok", "failed"))]
    responses_of_user = [response("films", "u", n, f"film {n}") for n in range(3)]
    tables.write_rows("results/s/responses/m/t/o.parquet", blank + responses_of_user, Response)
    answers = [answer(row, "B" if row.outcome == "ok" else None) for row in blank]
    answers += [
        answer(responses_of_user[0], None, "no list found"),
        answer(responses_of_user[1], ["Alien", "Jaws"]),
    ]
    answers += [answer(responses_of_user[2], ["Heat"])]
    own = Context("ctx-u", "u", None, [], [Message("user", "hi"), Message("assistant", "ho")], 3, 0)
    tables.write_rows("results/s/contexts/t/history.parquet", [own], Context)
    # the same person under another condition must not double a row
    tables.write_rows("results/s/contexts/t/rag.parquet", [own], Context)
    tables.write_rows("results/s/tasks/t.parquet", ITEMS, Item)
    kept = FieldAnswer("ann", None, "m", "t", "sky", 0, None, "B!", 0, "f.csv", 2, [], None)
    left = FieldAnswer("bo", None, "m", "t", "sky", 0, None, "", 0, "f.csv", 3, ["empty"], "empty")
    tables.write_rows("results/s/field.parquet", [kept, left], FieldAnswer)
    answers.append(answer(response("sky", "ann", 0, "", condition="field"), "B"))
    tables.write_rows("results/s/answers.parquet", mark_counted(answers), Answer)
    write_database(
        "study.duckdb",
        {
            "items": ["results/s/tasks/t.parquet"],
            "contexts": [f"results/s/contexts/t/{c}.parquet" for c in ("history", "rag")],
            "responses": ["results/s/responses/m/t/o.parquet"],
            "answers": ["results/s/answers.parquet"],
            "field_answers": ["results/s/field.parquet"],
        },
    )
    return tmp_path / "study.duckdb"


def test_transcripts_show_question_context_prompt_answer_and_reading(study: Path) -> None:
    columns = "question, context, prompt, answer, reading, counts"
    which = "condition = 'history' AND puppet_id = 'u' AND replicate = 1"
    question, prompt, context = "Which films?", "Recommend five films.", "user: hi\nassistant: ho"
    assert query(study, f"SELECT {columns} FROM transcripts WHERE {which}") == [
        (question, context, prompt, "film 1", "Alien; Jaws", True)
    ]


def test_transcripts_say_which_answers_count_and_why_others_do_not(study: Path) -> None:
    rows = query(
        study,
        "SELECT condition, coalesce(puppet_id, ''), replicate, reading, counts, left_out"
        " FROM transcripts ORDER BY 1, 2, 3",
    )
    assert rows == [
        ("field", "ann", 0, "B", True, None),
        ("field", "bo", 0, None, False, "excluded by the check empty"),
        ("history", "u", 0, None, False, "no list found"),
        ("history", "u", 1, "Alien; Jaws", True, None),
        ("history", "u", 2, "Heat", False, "a later answer of the same user"),
        ("offline", "", 0, "B", True, None),
        ("offline", "", 1, None, False, "no answer arrived"),
    ]


REPLIES = [
    reply
    for item in "ab"
    for reply in (
        *by_users([1, 2, 5, 7], "field", item=item),
        *by_users([1, 1, 3], "rag", item=item),
        *by_reruns([4, 4, 6], "offline", item=item),
    )
]
MEMBERS = pd.DataFrame(
    {"participant_id": ["p00", "p01", "p02"], "variable": "v", "group": ["x", "x", "y"]}
)


@pytest.mark.parametrize("has_answers", [True, False])
def test_views_hold_what_tables_of_earlier_versions_held(tmp_path: Path, has_answers: bool) -> None:
    files = []
    settings = EstimateSettings("offline", 1, n_permutations=9)
    for name, question in questions().items():
        frame = Case(question, question.measures[0]).table(REPLIES if has_answers else [])
        rows = estimate_question(question, frame, settings, MEMBERS)
        files.append(str(tmp_path / f"{name}.parquet"))
        tables.write_rows(files[-1], rows, Estimate)
    case = Case(accuracy.QUESTION, accuracy.QUESTION.measures[0])
    table = case.table(REPLIES * has_answers).astype(object)
    rows_of_runs = table.where(table.notna(), None).itertuples(index=False)
    runs = [RunAccuracy(*row) for row in rows_of_runs]
    spreads = measure_score_spreads(runs, baseline="offline", n_permutations=9, seed=1)
    sources = {"estimates": files}
    for name, row_type, content in (
        ("accuracy_runs", RunAccuracy, runs),
        ("score_spreads", ScoreSpread, spreads),
    ):
        sources[name] = [str(tmp_path / f"{name}.parquet")]
        tables.write_rows(sources[name][0], content, row_type)
    write_database(tmp_path / "study.duckdb", sources)
    outputs = {name: str(tmp_path / f"{name}.csv") for name in VIEWS}
    write_views(sources, outputs)
    n_rows = {}
    for name, path in outputs.items():
        rows = query(tmp_path / "study.duckdb", f'FROM "{name}"')
        assert pd.read_csv(path).astype(object).where(pd.notna, None).to_numpy().tolist() == [
            [*row] for row in rows
        ]
        n_rows[name] = len(rows)
    n_form = len(questions()["form"].measures)
    # three conditions with two prompts and four measures; two means; groups x and y; not the field's own
    expected = {"heterogeneity": 24, "prompt_means": 6, "answer_form": 5 * n_form}
    expected |= {"field_heterogeneity": 4, "accuracy": 9, "score_comparisons": 6}
    assert n_rows == expected if has_answers else not any(n_rows.values())


FULL_DISK = """
import resource, sys
from fieldwork.database import write_database
from fieldwork.errors import StudyError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_database("study.duckdb", {f"table_{n}": ["a.parquet"] for n in range(300)})
except StudyError as error:
    sys.exit(str(error))
"""


def test_a_database_that_the_disk_refuses_leaves_nothing(tmp_path: Path) -> None:
    write_profile(tmp_path / "a.parquet", "p")
    command: Any = {"args": [sys.executable, "-c", FULL_DISK], "cwd": tmp_path}
    path = str(Path(tables.__file__).parents[1])
    failed = subprocess.run(
        **command,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith("study.duckdb: cannot be written (")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
