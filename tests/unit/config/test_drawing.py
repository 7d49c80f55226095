"""Labels that look alike and baselines that nobody asks are refused."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config.settings import check_config
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]
SCHEMA = HOME / "workflow" / "schemas" / "config.schema.yaml"
SHIPPED = yaml.safe_load((HOME / "config.yaml").read_text(encoding="utf-8"))


def config(**sections: Any) -> dict[str, Any]:
    """The shipped config, sections merged into it one level deep."""
    made = copy.deepcopy(SHIPPED)
    for name, section in sections.items():
        made[name] = {**made[name], **copy.deepcopy(section)}
    return made


def complaint(changed: dict[str, Any]) -> str:
    with pytest.raises(StudyError) as caught:
        check_config(changed, SCHEMA, "mine.yaml")
    return str(caught.value)


@pytest.mark.parametrize("label", ["", " ", "\t", "a\nb", "a\x00", "\u200b", "\u202e "])
@pytest.mark.parametrize("entry", ["models/embedded", "conditions/rag", "conditions/offline"])
def test_a_label_says_something_in_one_line(entry: str, label: str) -> None:
    registry, name = entry.split("/")
    changed = config()
    changed[registry][name]["label"] = label
    assert complaint(changed).startswith(f"mine.yaml: {registry}.{name}.label: ")


@pytest.mark.parametrize("label", ["SP-RAG", "sp-rag", " SP-RAG "])
def test_conditions_have_labels_of_their_own(label: str) -> None:
    changed = config()
    changed["conditions"]["history"]["label"] = label
    said = complaint(changed)
    assert "conditions.rag.label: 'SP-RAG' is the label of conditions.history as well" in said


def test_models_have_labels_of_their_own() -> None:
    changed = config(study={"models": ["embedded", "twin"]})
    changed["models"]["twin"] = copy.deepcopy(changed["models"]["embedded"])
    assert "models.twin.label: 'Embedded (MiniLM)' is the label of models.embedded" in complaint(
        changed
    )
    # unselected entries meet in no figure
    check_config(changed | {"study": SHIPPED["study"]}, SCHEMA, "mine.yaml")


def test_no_condition_has_the_label_of_the_field() -> None:
    changed = config()
    changed["conditions"]["rag"]["label"] = "Field"
    check_config(copy.deepcopy(changed), SCHEMA, "mine.yaml")
    changed["field"] = {
        "path": "resources/tasks/aliases.csv",
        "layout": "wide",
        "columns": {"participant": "id"},
        "prompts": {"movies": "Q1"},
    }
    assert "conditions.rag.label: 'Field' is the label of real users' answers" in complaint(changed)


def test_a_baseline_is_asked() -> None:
    changed = config(study={"conditions": ["history", "rag"]})
    said = complaint(changed)
    assert "metrics.baseline: 'offline' is not in study.conditions (history, rag)" in said
    changed["metrics"]["baseline"] = "rag"
    check_config(changed, SCHEMA, "mine.yaml")
    # one condition alone is compared with none
    check_config(config(study={"conditions": ["history"]}), SCHEMA, "mine.yaml")
