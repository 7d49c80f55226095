"""The figure of categories: what is drawn of subjects, means and tests, and what is said of NULL."""

import figure_frames as frames
import pytest

from fieldwork.figures import categories
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.metrics import CategoryVariance, SubjectVariance

VALUES = {("STEM", "algebra"): 0.1, ("STEM", "physics"): 0.3, ("other", "virology"): None}


@pytest.mark.parametrize(
    ("p_value", "words"), [(0.04, "p = 0.040"), (0.0004, "p < .001"), (None, "no test")]
)
def test_subjects_are_dots_categories_means_and_the_test_stands_under_the_model(
    p_value: float | None, words: str
) -> None:
    subjects, means = [], []
    for condition in ("history", "profile"):
        keys = {"model": "m", "task": "mmlu", "condition": condition}
        for (category, subject), value in VALUES.items():
            ends = {"var_who": value, "ci_low": 0.1, "ci_high": 0.2} | dict.fromkeys(
                ["reason"] * (value is None), "none"
            )
            subjects.append(keys | {"category": category, "subject": subject} | ends)
        test = {"p_value": p_value, "p_corrected": p_value, "unit": "subject"}
        stem = {"category": "STEM", "var_who": 0.2, "ci_low": 0.1, "ci_high": 0.3, "n_subjects": 2}
        means += [
            keys | test | stem,
            keys | test | {"category": "other", "n_subjects": 0, "reason": "none"},
        ]
    settings = FigureSettings(conditions=["offline", "history", "profile"], task="mmlu")
    tables = frames.table_of(SubjectVariance, subjects), frames.table_of(CategoryVariance, means)
    figure = categories.draw(*tables, settings)
    dots = [sorted(line.get_ydata()) for line in figure.axes[0].lines]
    assert (dots.count([0.1, 0.3]), dots.count([0.2])) == (2, 2)
    assert f"SP-History: {words}" in frames.words(figure)
    assert "STEM\n(2 subjects)" in frames.words(figure)
