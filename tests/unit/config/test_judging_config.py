"""What a schema cannot say of judgements: one sentence for each mistake."""

import copy
from typing import Any

import pytest

from fieldwork.config.judging import broken_judging, judgement_files, scale_settings
from fieldwork.errors import StudyError

SCALE: dict[str, Any] = {
    "level": "nominal",
    "options": [0, 1],
    "readings": {},
    "accepted": [1],
    "prefers_a": [],
    "prefers_b": [],
    "penalty": 0.2,
}
SOURCE: dict[str, Any] = {
    "path": "nowhere.csv",
    "scale": "right",
    "rater_kind": "person",
    "kinds": {},
    "rows": {},
    "columns": {"unit": "unit", "rater": "who", "value": "answer"},
}
JUDGING: dict[str, Any] = {
    "key_file": "resources/judging/key",
    "scales": {"right": SCALE},
    "sources": {"mine": SOURCE},
}


def problems(**changes: Any) -> list[str]:
    judging = copy.deepcopy(JUDGING)
    for path, value in changes.items():
        *places, last = path.split("__")
        entry = judging
        for place in places:
            entry = entry[place]
        entry[last] = value
    return [*broken_judging({"judging": judging})]


def test_a_study_without_judgements_and_a_good_one_have_no_problem() -> None:
    assert [*broken_judging({"judging": None})] == []
    assert problems() == []
    assert scale_settings({"judging": None}) == []
    assert judgement_files({"judging": None}, str) == {}


def test_options_are_texts_whatever_yaml_makes_of_them() -> None:
    (settings,) = scale_settings({"judging": JUDGING})
    assert (settings["name"], settings["options"], settings["accepted"]) == (
        "right",
        ["0", "1"],
        ["1"],
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"key_file": "results/key"}, "judging.key_file: results/key lies under results"),
        ({"scales__right__accepted": ["2"]}, "judging.scales.right.accepted: '2' is no option"),
        ({"scales__right__options": [1, "1"]}, "two options are alike as texts (1, 1)"),
        (
            {"scales__right__readings": {"yes": "2"}},
            "judging.scales.right.readings.yes: '2' is no option of the scale (0, 1)",
        ),
        ({"scales__right__prefers_a": [0]}, "give both prefers_a and prefers_b, or neither"),
        (
            {"scales__right__prefers_a": [0], "scales__right__prefers_b": [0]},
            "'0' prefers both answers",
        ),
        ({"sources__mine__scale": "mood"}, "'mood' is not in judging.scales (right)"),
        (
            {"sources__mine__scale": None},
            "neither is given of scale and columns.scale; give one of them",
        ),
        (
            {"sources__mine__columns": {**SOURCE["columns"], "rater_kind": "kind"}},
            "both are given of rater_kind and columns.rater_kind",
        ),
    ],
)
def test_a_mistake_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    found = problems(**changes)
    assert any(sentence in problem for problem in found), found


def test_a_path_without_files_is_named() -> None:
    with pytest.raises(StudyError, match=r"judging\.sources\.mine\.path: nothing at nowhere\.csv"):
        judgement_files({"judging": JUDGING}, str)
