"""The study file for somebody's files: as large as they allow, and one that the schema takes."""

from dataclasses import replace
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import shipped_config

from fieldwork.config.drafts import CorpusDraft, PersonasDraft, StudyDraft, TaskDraft, study_text
from fieldwork.config.figures import figure_tasks
from fieldwork.config.settings import check_config
from fieldwork.config.study_needs import needs_of

USERS = {1: 60, 2: 40, 3: 25, 4: 19, 5: 2}
QUESTIONS = TaskDraft("questions", "my: data/q.csv", "choice", 9)
LISTS = TaskDraft("lists", "l.csv", "list", 3, candidates="c.csv", dataset="my_lists")
CORPUS = CorpusDraft("chats.csv", "messages", {"role": "Rolle: #1"}, USERS, frozenset())
PERSONAS = PersonasDraft("p.txt", None, 30)
WHOLE = StudyDraft("trivia", [QUESTIONS, LISTS], CORPUS, PERSONAS)


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """As Snakemake merges a study file over the config."""
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        base[key] = merged(base[key], value) if both else value
    return base


def config_of(draft: StudyDraft) -> dict[str, Any]:
    base = shipped_config()
    config = merged(base, yaml.safe_load(study_text(draft)))
    check_config(config, "trivia.yaml")
    return config


@pytest.mark.parametrize(
    "draft",
    [
        WHOLE,
        replace(WHOLE, corpus=None),
        replace(WHOLE, personas=None),
        replace(WHOLE, tasks=[replace(LISTS, candidates=None, needs_server=True)]),
        replace(
            WHOLE, tasks=[replace(QUESTIONS, kind="mixed", candidates="c.csv", dataset="my_lists")]
        ),
        replace(
            WHOLE,
            tasks=[
                replace(
                    QUESTIONS, columns={"question": "Frage", "options": ["A", "B"]}, gold="from_1"
                )
            ],
        ),
    ],
)
def test_every_draft_is_a_study_that_its_files_are_enough_for(draft: StudyDraft) -> None:
    config = config_of(draft)
    assert config["study"]["name"] == "trivia"
    assert figure_tasks(config)["fig4"] in config["study"]["tasks"]
    for need in needs_of(config):
        there = {"mine": 25, "my_personas": 30}.get(need.source, 57)
        assert need.n_needed <= there


def test_what_the_files_say_is_in_the_study() -> None:
    config = config_of(WHOLE)
    mine = config["corpora"]["mine"]
    assert mine["columns"] == {"role": "Rolle: #1"}
    assert mine["filters"] == {
        "min_user_turns": 3,
        "languages": [],
        "exclude_toxic": False,
        "exclude_redacted": False,
        # what the model of the study reads
        "max_tokens": 7000,
    }
    assert config["datasets"]["my_questions"] == {"path": "my: data/q.csv", "license": None}
    assert config["profiles"]["personas"] == {"dataset": "my_personas", "column": None}
    assert {c: config["conditions"][c]["replicates"] for c in ("history", "profile")} == {
        "history": 2,
        "profile": 2,
    }
    assert {task: config["tasks"][task]["runs"] for task in config["study"]["tasks"]} == {
        "questions": 25,
        "lists": 25,
    }


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
