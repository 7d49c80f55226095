"""The figure of categories: what is drawn of subjects, means and tests, and what is said of NULL."""

from dataclasses import asdict

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fieldwork.figures import categories
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.metrics import CategoryVariance, SubjectVariance

SETTINGS = FigureSettings(conditions=["offline", "history", "profile"], task="mmlu")
VALUES = {("STEM", "algebra"): 0.1, ("STEM", "physics"): 0.3, ("other", "virology"): None}


def subjects() -> pd.DataFrame:
    rows = [
        SubjectVariance("m", "mmlu", c, s, k, v, 0.1, 0.2, 0.5, 10, 5, None if v else "none")
        for c in ("history", "profile")
        for (k, s), v in VALUES.items()
    ]
    return pd.DataFrame([asdict(row) for row in rows])


def means(p_value: float | None = 0.04) -> pd.DataFrame:
    rows = [
        row
        for c in ("history", "profile")
        for row in (
            CategoryVariance(
                "m", "mmlu", c, "STEM", 0.2, 0.1, 0.3, p_value, 2, 20, "subject", None
            ),
            CategoryVariance(
                "m", "mmlu", c, "other", None, None, None, p_value, 0, 0, "subject", "none"
            ),
        )
    ]
    return pd.DataFrame([asdict(row) for row in rows]).assign(p_corrected=p_value)


def texts(figure: Figure) -> str:
    texts_found = [t.get_text() for axes in figure.axes for t in (*axes.texts, axes.title)]
    labels = [t.get_text() for axes in figure.axes for t in axes.get_xticklabels()]
    return "\n".join([*texts_found, *labels, *(t.get_text() for t in figure.texts)])


def test_each_subject_is_a_dot_and_each_category_a_mean() -> None:
    (axes,) = categories.draw(subjects(), means(), SETTINGS).axes
    dots = [sorted(line.get_ydata()) for line in axes.lines]
    assert dots.count([0.1, 0.3]) == 2
    assert dots.count([0.2]) == 2


@pytest.mark.parametrize(
    ("p_value", "words"), [(0.04, "p = 0.040"), (0.0004, "p < .001"), (None, "no test")]
)
def test_the_test_stands_under_the_models_name(p_value: float | None, words: str) -> None:
    texts_found = texts(categories.draw(subjects(), means(p_value), SETTINGS))
    assert f"SP-History: {words}" in texts_found
    assert "STEM\n(2 subjects)" in texts_found
