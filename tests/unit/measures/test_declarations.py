"""Declarations that cannot hold are refused with one sentence, and files that declare nothing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fieldwork import measures
from fieldwork.errors import StudyError
from fieldwork.estimates.declaration import Measure, ReaderQuestion, Source
from fieldwork.statistics.entropy import plug_in_bits


def measure(name: str = "bits", **changes: Any) -> Measure:
    settings: dict[str, Any] = {"name": name, "title": "", "meaning": "", "statistic": plug_in_bits}
    return Measure(**settings | changes)


def asks(declarations: Sequence[Measure], source: Source = "answers") -> ReaderQuestion:
    return ReaderQuestion(title="", sentence="", measures=declarations, source=source)


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        (
            {"own": asks([measure(of="wordz")], "answers/forms")},
            "own.py: bits takes the column wordz, and answers/forms has no numbers of that name; take "
            "`options` or one of bare_links, bold_spans, capital_words, ",
        ),
        (
            {"own": asks([measure()], "answers/forms")},
            "own.py: bits takes options, which answers/forms lacks; its source is `answers`",
        ),
        (
            {"own": asks([measure(of="em_strict")], "accuracy_runs")},
            "own.py: bits counts each answer of accuracy_runs; its noun is `run` where ",
        ),
        (
            {"own": asks([measure(of="value", is_by_item=True)])},
            "own.py: bits takes numbers, which have no row a prompt; leave out is_by_item",
        ),
        (
            {"own": replace(asks([measure()]), has_groups=True)},
            "own.py: bits takes options, which have no row a group; leave out has_groups",
        ),
        (
            {"own": asks([measure(margin="far")])},
            "own.py: the margin far of bits is no metrics.margins; take one of near, share, or none",
        ),
        (
            {"own": asks([measure("other"), measure(), measure()])},
            "own.py: there are two measures named bits, one of them in own.py; rename one",
        ),
        (
            {"own": asks([measure(statistic=None)])},
            "own.py: bits takes options and has no statistic; give it one",
        ),
    ],
)
def test_what_cannot_hold_is_one_sentence(
    questions: dict[str, ReaderQuestion], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "questions", lambda: questions)
    with pytest.raises(StudyError) as error:
        measures.require_measures(["near", "share"])
    assert str(error.value).startswith(f"workflow/scripts/fieldwork/measures/{sentence}")
    assert "\n" not in str(error.value)


def test_a_new_file_is_a_new_question_and_one_without_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    declaration = "from fieldwork.measures.lists import QUESTION\n"
    for name, text in (("new_question", declaration), ("no_question", "TITLE = 1\n")):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    assert {"new_question", "no_question"} < {*measures.question_names()}
    assert measures.question("new_question").title == "Heterogeneity"
    with pytest.raises(StudyError, match=r"measures/no_question\.py declares no QUESTION; add one"):
        measures.question("no_question")
