"""Studies of one's own: the shipped one, also on a server by one line, and those `make study` writes."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from servers.provider import serve_chat
from workflow.conftest import (
    Checkout,
    answers_only,
    clean_environment,
    copy_project,
    rows_of,
)

pytestmark = pytest.mark.workflow

MINE = "studies/mine.yaml"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """One copy for studies that are written and planned only."""
    return copy_project(tmp_path_factory.mktemp("own") / "project")


def test_the_shipped_study_runs_and_says_whether_it_matters_who_asks(checkout: Checkout) -> None:
    finished = checkout.make("results/mine/findings.md", study=MINE)
    assert "WARNING" not in finished.stderr
    shares = rows_of(
        checkout,
        "SELECT condition, task, n_puppets, share_who IS NOT NULL"
        " FROM 'RESULTS/mine/metrics/variance.parquet' WHERE condition LIKE 'my_%' ORDER BY ALL",
    )
    conditions = ("my_personas", "my_users")
    assert shares == [(c, task, 14, True) for c in conditions for task in ("lists", "questions")]
    findings = (checkout.root / "results/mine/findings.md").read_text()
    who_asks = findings.partition("### Who asks, and in which context")[2].partition("\n### ")[0]
    assert re.search(r"^\|lists +\|Own conversations\|\d", who_asks, flags=re.MULTILINE)
    counts = (checkout.root / "results/mine/puppets.csv").read_text().splitlines()
    assert {"users,1,14", "personas,1,16"} <= {
        ",".join(line.rsplit(",", 3)[1:]) for line in counts[1:]
    }


def answer(request: Mapping[str, Any]) -> str:
    """Whoever is known likes what the letters of their context say."""
    said = str(request["messages"])
    if "single letter" in request["messages"][-1]["content"]:
        return "ABCD"[len(said) % 4]
    return "\n".join(f"{n}. Thing {(len(said) + n) % 9}" for n in range(1, 6))


def test_one_line_asks_a_server_instead(checkout: Checkout) -> None:
    study = checkout.root / MINE
    with serve_chat(answer=answer) as chat:
        text = study.read_text().replace("models: [embedded]", "models: [local]")
        study.write_text(text.replace("http://127.0.0.1:8000/v1", chat.base_url))
        runs = {
            "tasks": {"questions": {"runs": 4}, "lists": {"runs": 4}},
            "study": {"name": "mine"},
        }
        files = (MINE, str(checkout.study("few", runs)))
        checkout.make(*answers_only("mine"), "--configfile", *files)
        asked = [request for request in chat.requests if request.method == "POST"]
    assert len(asked) == 11 * 4 * (2 + 2 * 2)
    assert {request.body["model"] for request in asked} == {"llama-3.1-8b"}
    unread = rows_of(
        checkout,
        "SELECT count(*) FROM 'RESULTS/mine/answers/answers.parquet' WHERE reason IS NOT NULL",
    )
    assert unread == [(0,)]


# ---- make study ----------------------------------------------------------------------------------


def new_study(
    project: Checkout, name: str, **paths: Path | str
) -> subprocess.CompletedProcess[str]:
    """What `make study` runs, in the environment of the tests."""
    options = [part for option, path in paths.items() for part in (f"--{option}", str(path))]
    return subprocess.run(
        [sys.executable, "workflow/new_study.py", "--name", name, *options],
        cwd=project.root,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def plan(project: Checkout, name: str) -> set[str]:
    return project.plan(study=f"studies/{name}.yaml")


def semicolons(path: Path, rows: list[list[str]], encoding: str) -> Path:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=";").writerows(rows)
    return path


def german_files(folder: Path) -> dict[str, Path]:
    """Questions and messages as German Excel saves them, and personas in a workbook."""
    questions = [
        ["Nr", "Frage", "Antwort A", "Antwort B", "Antwort C", "richtige Antwort", "Quelle"],
        ["1", "Welche Stadt liegt an der Elbe?", "Köln", "Dresden", "München", "2", "Atlas"],
        ["2", "Wie heißt die Währung?", "Mark", "Taler", "Euro", "3", ""],
    ]
    messages = [["Gespräch", "Teilnehmer", "Rolle", "Nachricht", "Datum"]]
    for user in range(5):
        for turn in range(3):
            day = f"0{turn + 1}.03.2025 10:00"
            messages.append([f"g{user}", f"T{user}", "Nutzer", f"Frage {turn} von {user}?", day])
            messages.append([f"g{user}", "", "Bot", f"Antwort {turn}.", day])
    pd.DataFrame(
        {"Nr": range(6), "Beschreibung": [f"Eine Försterin mit {n} Hunden." for n in range(6)]}
    ).to_excel(folder / "Personen.xlsx", index=False)
    return {
        "questions": semicolons(folder / "Fragen (Entwurf).csv", questions, "cp1252"),
        "conversations": semicolons(folder / "Gespräche.csv", messages, "utf-16"),
        "personas": folder / "Personen.xlsx",
    }


def test_a_study_is_written_for_files_as_people_have_them(
    project: Checkout, tmp_path: Path
) -> None:
    made = new_study(project, "german", **german_files(tmp_path))
    assert made.returncode == 0, made.stderr
    for said in (
        "2 choice questions",
        "question = Frage",
        "options = Antwort A, Antwort B, Antwort C",
        "right option = richtige Antwort (a number from 1)",
        "Not used: Quelle.",
        "role = Rolle, conversation = Gespräch, text = Nachricht, user = Teilnehmer, time = Datum",
        "5 conversations of 5 users",
        "6 personas (column Beschreibung)",
        "5 simulated users in each condition",
        "make run STUDY=studies/german.yaml",
    ):
        assert said in made.stdout
    assert {"prepare_corpus", "build_profiles", "plot_fig2"} <= plan(project, "german")
    project.make(
        "results/german/tasks/questions.parquet",
        "results/german/contexts/questions/history.parquet",
        "results/german/contexts/questions/profile.parquet",
        study="studies/german.yaml",
    )
    (items, users) = rows_of(
        project,
        "SELECT list(gold ORDER BY item_id)::VARCHAR FROM 'RESULTS/german/tasks/questions.parquet'"
        " UNION ALL SELECT count(*)::VARCHAR FROM 'RESULTS/german/contexts/questions/history.parquet'",
    )
    assert (items, users) == (("[B, C]",), ("5",))


def test_questions_alone_are_enough(project: Checkout, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    rows = [{"question": f"{n}?", "choices": ["x", "y"], "answer": "y"} for n in range(3)]
    questions.write_text("\n".join(map(json.dumps, rows)))
    made = new_study(project, "alone", questions=questions)
    assert made.returncode == 0, made.stderr
    assert "No CONVERSATIONS are given, so the invented ones of the sample are used." in made.stdout
    assert "No PERSONAS are given, so the invented ones of the sample are used" in made.stdout
    assert "plot_fig3" in plan(project, "alone")


def test_lists_are_asked_of_a_server_unless_candidates_are_there(project: Checkout) -> None:
    lists = {"lists": "resources/mine/lists.csv"}
    made = new_study(project, "server", **lists)
    assert "CHECK: list questions without CANDIDATES need a larger model" in made.stdout
    assert "models: [local]" in (project.root / "studies/server.yaml").read_text()
    plan(project, "server")
    made = new_study(project, "chosen", **lists, candidates="resources/mine/candidates.csv")
    assert "CHECK" not in made.stdout
    assert "models: [smollm2]" in (project.root / "studies/chosen.yaml").read_text()
    assert {"plot_fig1", "plot_fig5"} <= plan(project, "chosen")


SURVEY = """id,question,kind,option_a,option_b,option_c,unit,gold
planet,Which planet is largest?,choice,Mars,Jupiter,Venus,,B
learn,New devices are worth learning.,likert,Strongly disagree,Neither,Strongly agree,,
ease,New devices make life easier.,likert,Strongly disagree,Neither,Strongly agree,,
week,How many hours a week should a person work?,number,,,,hours,
hobbies,Recommend five hobbies.,list,,,,,
"""


def answer_survey(request: Mapping[str, Any]) -> str:
    """Whatever the question asks for; who is known writes more."""
    *before, last = (message["content"] for message in request["messages"])
    draw = (len(str(before)) + int(request.get("seed") or 0)) % 3
    if "planet" in last:
        return "ABC"[draw]
    if "devices" in last:
        return str(draw + 1)
    return f"{30 + draw} hours" if "hours" in last else answer(request)


def test_a_questionnaire_of_many_kinds_is_one_study(checkout: Checkout) -> None:
    """Choices, scales, a number and a list in one file; three commands and no line by hand."""
    (checkout.root / "survey.csv").write_text(SURVEY)
    made = new_study(
        checkout, "survey", questions="survey.csv", model="local:tiny", conditions="history memory"
    )
    assert made.returncode == 0, made.stderr
    assert "survey.csv: 2 scale questions." in made.stdout
    text = (checkout.root / "studies/survey.yaml").read_text()
    assert "conditions: [offline, offline_again, history, memory]" in text
    small = {"memory": {"conversations": 2}, "metrics": {"permutations": 99}}
    few = checkout.study("few", {"study": {"name": "survey"}, **small})
    with serve_chat(answer=answer_survey) as chat:
        (checkout.root / "studies/survey.yaml").write_text(
            text.replace("http://127.0.0.1:8000/v1", chat.base_url).replace("runs: 40", "runs: 6")
        )
        files = ("studies/survey.yaml", str(few))
        finished = checkout.snakemake(*answers_only("survey"), "--configfile", *files)
    assert finished.returncode == 0, finished.stderr[-3000:]
    counts = rows_of(
        checkout,
        "SELECT task, kind, count(*), count(reason) FROM 'RESULTS/survey/answers/answers.parquet'"
        " GROUP BY ALL ORDER BY ALL",
    )
    assert counts == [
        ("lists", "list", 36, 0),
        ("numbers", "number", 36, 0),
        ("questions", "choice", 36, 0),
        ("scales", "scale", 72, 0),
    ]


MISTAKES = [
    ("new", "model=gpt", "MODEL=gpt: is not in workflow/registry/models.yaml, which has "),
    ("new", "conditions=memory offline", "CONDITIONS=memory offline: 'offline' is no cond"),
    ("mine", "questions=MINE/questions.csv", "studies/mine.yaml: the file exists already"),
    ("../x", "questions=MINE/questions.csv", "NAME=../x: is not a valid name"),
    ("", "", "NAME=: is not a valid name"),
    ("new", "", "no questions are given; add QUESTIONS=FILE"),
    ("new", "questions=nowhere.csv", "QUESTIONS=nowhere.csv: the file does not exist"),
    (
        "new",
        "questions=README.md",
        "README.md: this kind of file is not read; save it as one of .csv",
    ),
    (
        "new",
        "lists=MINE/lists.csv;candidates=OTHER",
        "OTHER: has no candidates for item 'evenings'",
    ),
    (
        *("new", "questions=MINE/lists.csv;lists=MINE/lists.csv"),
        "MINE/lists.csv: has list questions, as MINE/lists.csv has",
    ),
    (
        *("new", "questions=MINE/questions.csv;conversations=MINE/lists.csv"),
        "MINE/lists.csv: no column has a usual name for",
    ),
]


@pytest.mark.parametrize(("name", "paths", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_and_writes_nothing(
    project: Checkout, name: str, paths: str, sentence: str
) -> None:
    paths, sentence = (
        text.replace("MINE", "resources/mine").replace("OTHER", "resources/tasks/candidates.csv")
        for text in (paths, sentence)
    )
    given = dict(path.split("=") for path in paths.split(";") if path)
    before = sorted(path.name for path in (project.root / "studies").iterdir())
    made = new_study(project, name, **given)
    assert made.returncode == 1
    assert made.stderr.startswith(f"ERROR: {sentence}")
    assert made.stderr.count("\n") == 1
    assert sorted(path.name for path in (project.root / "studies").iterdir()) == before
