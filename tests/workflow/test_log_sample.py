"""A test set out of a log: `make questions`, from the log to a study that can be planned."""

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from workflow.conftest import Checkout, clean_environment, copy_project

pytestmark = pytest.mark.workflow

ENGLISH = ("lawn", "oven", "fence", "sofa", "roof", "window", "carpet", "kettle", "hedge", "lamp")
GERMAN = ("Rasen", "Backofen", "Zaun", "Teppich", "Dachboden")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return copy_project(tmp_path_factory.mktemp("log") / "project")


def draw(project: Checkout, **options: str | int) -> subprocess.CompletedProcess[str]:
    """What `make questions` runs, in the environment of the tests."""
    words = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return subprocess.run(
        [sys.executable, "workflow/sample_questions.py", *words],
        cwd=project.root,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def write_log(path: Path, texts: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([n, text] for n, text in enumerate(texts))])
    return path


def log_of_two_languages() -> list[str]:
    english = [
        f"How often should I clean the {thing} before the winter comes?" for thing in ENGLISH
    ]
    german = [f"Wie oft soll ich den {thing} im Winter reinigen lassen?" for thing in GERMAN]
    repeats = [text.upper() for text in english]
    mail = "Please write to jane.doe@example.com or call +1 212 555 0123, my order never arrived at all."
    return [*english, *german, *repeats, "  ", "123", mail]


def test_a_test_set_is_drawn_masked_and_can_be_asked(project: Checkout, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", log_of_two_languages())
    drawn = draw(project, log=log, column="text", n=30, out="my/set.csv")
    assert drawn.returncode == 0, drawn.stderr
    with (project.root / "my/set.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [row["question"] for row in rows]
    # the same question in capitals is drawn once, and what is no question not at all
    assert Counter(row["language"] for row in rows) == {"en": 11, "de": 5}
    assert "Please write to [e-mail] or call [telephone]" in " ".join(texts)
    assert not any("jane" in text or "0123" in text for text in texts)
    assert "CHECK: 30 were wished" in drawn.stdout
    assert new_study(project).stderr.count("write them in option_a, option_b") == 1
    with (project.root / "my/set.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "option_a": "Yes", "option_b": "No", "gold": "A"} for row in rows)
    study = new_study(project)
    assert study.returncode == 0, study.stderr
    assert "16 choice questions" in study.stdout


def new_study(project: Checkout) -> subprocess.CompletedProcess[str]:
    """What `make study` runs for the test set."""
    return subprocess.run(
        [sys.executable, "workflow/new_study.py", "--name", "set", "--questions", "my/set.csv"],
        cwd=project.root,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_second_draw_is_the_same_and_replaces_nothing(project: Checkout, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", log_of_two_languages())
    for out in ("my/one.csv", "my/two.csv"):
        assert draw(project, log=log, column="text", n=8, out=out).returncode == 0
    first, second = (
        (project.root / f"my/{name}.csv").read_text("utf-8") for name in ("one", "two")
    )
    assert first.replace("one-", "two-") == second
    refused = draw(project, log=log, column="text", n=8, out="my/one.csv")
    assert refused.returncode == 1
    assert refused.stderr.startswith("ERROR: OUT=my/one.csv: the file exists already")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"log": "gone.csv"}, "LOG=gone.csv: the file does not exist"),
        ({"log": "README.md"}, "README.md"),
        ({"log": "resources/mine/questions.csv"}, "resources/mine/questions.csv: row 2 has the columns"),
        ({"log": "resources/mine/personas.txt", "n": 0}, "N=0: draw at least one question"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(
    project: Checkout, options: dict[str, str | int], sentence: str
) -> None:
    refused = draw(project, **options, out="my/none.csv")
    assert refused.returncode == 1
    assert refused.stderr.startswith("ERROR: ")
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not (project.root / "my/none.csv").exists()
