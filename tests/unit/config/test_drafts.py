"""The study file for somebody's files: as large as they allow, and one that the schema takes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.drafts import CorpusDraft, PersonasDraft, StudyDraft, TaskDraft, study_text
from fieldwork.config.figures import figure_tasks
from fieldwork.config.settings import check_config
from fieldwork.config.study_needs import needs_of
from unit.shipped_config import shipped_config

USERS = {1: 60, 2: 40, 3: 25, 4: 19, 5: 2}
QUESTIONS = TaskDraft("questions", "my: data/q.csv", "choice", 9)
LISTS = TaskDraft("lists", "l.csv", "list", 3, candidates="c.csv", dataset="my_lists")
MIXED = replace(QUESTIONS, kind="mixed", candidates="c.csv", dataset="my_lists")
MAPPED = replace(QUESTIONS, columns={"question": "Frage", "options": ["A", "B"]}, gold="from_1")
CORPUS = CorpusDraft("chats.csv", "messages", {"role": "Rolle: #1"}, USERS, frozenset())
PERSONAS = PersonasDraft("p.txt", None, 30)
WHOLE = StudyDraft("trivia", [QUESTIONS, LISTS], CORPUS, PERSONAS)


def config_of(draft: StudyDraft, folder: Path) -> dict[str, Any]:
    (folder / "trivia.yaml").write_text(study_text(draft), encoding="utf-8")
    config = shipped_config(folder / "trivia.yaml")
    check_config(config, "trivia.yaml")
    return config


@pytest.mark.parametrize(
    "draft",
    [
        WHOLE,
        replace(WHOLE, corpus=None),
        replace(WHOLE, personas=None),
        replace(WHOLE, tasks=[replace(LISTS, candidates=None, needs_server=True)]),
        replace(WHOLE, tasks=[MIXED]),
        replace(WHOLE, tasks=[MAPPED]),
    ],
)
def test_every_draft_is_a_study_that_its_files_are_enough_for(
    tmp_path: Path, draft: StudyDraft
) -> None:
    config = config_of(draft, tmp_path)
    assert config["study"]["name"] == "trivia"
    assert figure_tasks(config)["fig4"] in config["study"]["tasks"]
    for need in needs_of(config):
        assert need.n_needed <= {"mine": 25, "my_personas": 30}.get(need.source, 57)


def test_what_the_files_say_is_in_the_study(tmp_path: Path) -> None:
    config = config_of(WHOLE, tmp_path)
    mine = config["corpora"]["mine"]
    assert mine["columns"] == {"role": "Rolle: #1"}
    assert mine["filters"] == {
        **{"min_user_turns": 3, "languages": [], "exclude_toxic": False, "exclude_redacted": False},
        # what the model of the study reads
        "max_tokens": 7000,
    }
    assert config["datasets"]["my_questions"] == {"path": "my: data/q.csv", "license": None}
    assert config["profiles"]["personas"] == {"dataset": "my_personas", "column": None}
    assert [config["conditions"][c]["replicates"] for c in ("history", "profile")] == [2, 2]
    assert config["study"]["tasks"] == ["questions", "lists"]
    assert [config["tasks"][task]["runs"] for task in ("questions", "lists")] == [25, 25]


@pytest.mark.parametrize(
    ("users", "turns"),
    [
        (USERS, 3),
        ({1: 12, 2: 12, 3: 12, 4: 11, 5: 0}, 3),
        ({1: 900, 2: 800, 3: 700, 4: 600, 5: 500}, 5),
        ({1: 1, 2: 0, 3: 0, 4: 0, 5: 0}, 1),
    ],
)
def test_the_strictest_filter_that_leaves_enough_users_is_taken(
    users: dict[int, int], turns: int
) -> None:
    corpus = replace(CORPUS, users=users)
    assert corpus.min_user_turns == turns
    assert replace(WHOLE, corpus=corpus, personas=None).runs == min(users[turns], 40)
