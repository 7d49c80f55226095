"""What a schema cannot say of judgements: one sentence for each mistake."""

import copy
from typing import Any

import pytest

from fieldwork.config.checks import broken_settings
from fieldwork.config.judging import judgement_files, named_scales, pair_sides
from fieldwork.config.judging_checks import JUDGING_CHECKS
from fieldwork.config.references import REFERENCES, broken_references
from fieldwork.errors import StudyError
from fieldwork.sections.judging import Scale

SCALE: dict[str, Any] = {
    "level": "nominal",
    "options": [0, 1],
    "readings": {},
    "accepted": [1],
    "prefers_a": [],
    "prefers_b": [],
    "penalty": 0.2,
    "labels": {},
}
SOURCE: dict[str, Any] = {
    "path": "nowhere.csv",
    "scale": "right",
    "rater_kind": "person",
    "kinds": {},
    "rows": {},
    "units": "described",
    "sides": "fixed",
    "columns": {"unit": "unit", "rater": "who", "value": "answer"},
}
JUDGING: dict[str, Any] = {
    "key_file": "resources/judging/key",
    "scales": {"right": SCALE},
    "sources": {"mine": SOURCE},
    "units": {},
    "groups": None,
    "judges": None,
    "learn": [],
    "kit": {},
}


def problems_of(config: dict[str, Any]) -> list[str]:
    """References first, as all else takes it that they are right."""
    references = [row for row in REFERENCES if row.setting.startswith("judging.")]
    checks = [row for row in JUDGING_CHECKS if row.setting.startswith("judging.")]
    return [*broken_references(config, references)] or [*broken_settings(config, checks)]


def problems(**changes: Any) -> list[str]:
    judging = copy.deepcopy(JUDGING)
    for path, value in changes.items():
        *places, last = path.split("__")
        entry = judging
        for place in places:
            entry = entry[place]
        entry[last] = value
    return problems_of({"judging": judging})


def test_a_study_without_judgements_and_a_good_one_have_no_problem() -> None:
    assert problems_of({"judging": None}) == []
    assert problems() == []
    assert named_scales({"judging": None}) == {}
    assert judgement_files({"judging": None}, str) == []


def test_options_are_texts_whatever_yaml_makes_of_them() -> None:
    scale = Scale(**named_scales({"judging": JUDGING})["right"])
    assert (scale.name, scale.options, scale.accepted) == ("right", ["0", "1"], ["1"])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"scales__right__accepted": ["2"]},
            "judging.scales.right.accepted: '2' is not in judging.scales.right",
        ),
        ({"scales__right__options": [1, "1"]}, "two options are alike as texts (1, 1)"),
        (
            {"scales__right__readings": {"yes": "2"}},
            "readings.yes: '2' is not in judging.scales.right.options (there are 0, 1); cor",
        ),
        ({"scales__right__prefers_a": [0]}, "give both prefers_a and prefers_b, or neither"),
        (
            {"scales__right__prefers_a": [0], "scales__right__prefers_b": [0]},
            "'0' prefers both answers",
        ),
        (
            {"sources__mine__scale": None},
            "neither is given of scale and columns.scale; give one of them",
        ),
        (
            {"sources__mine__columns": {**SOURCE["columns"], "rater_kind": "kind"}},
            "both are given of rater_kind and columns.rater_kind",
        ),
        (
            {
                "sources__mine__sides": "shown",
                "sources__mine__columns": {**SOURCE["columns"], "first_side": "first"},
            },
            "judging.sources.mine.sides: no option of the scale right prefers a side",
        ),
    ],
)
def test_a_mistake_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    found = problems(**changes)
    assert any(sentence in problem for problem in found), found


PAIR_SCALE: dict[str, Any] = {**SCALE, "options": [1, 2, 3], "accepted": [], "prefers_a": [1]}
UNITS: dict[str, Any] = {
    "of": "pairs",
    "scale": "better",
    "why": None,
    "question": None,
    "n": None,
    "group": None,
    "model": None,
    "conditions": ["offline", "memory"],
    "tasks": None,
}
JUDGES: dict[str, Any] = {"models": ["gpt"], "units": None, "prompts": {}}


def study(**changes: Any) -> dict[str, Any]:
    """A study in which two answers are judged, with changes of its judging."""
    judging: dict[str, Any] = {
        "key_file": "resources/judging/key",
        "scales": {"better": {**PAIR_SCALE, "prefers_b": [3]}, "right": SCALE},
        "sources": {},
        "units": {"mine": {**UNITS, **changes.pop("units", {})}},
        "judges": {**JUDGES, **changes.pop("judges", {})},
        "learn": [],
        "kit": {},
    }
    return {
        "study": {
            "models": ["gpt"],
            "conditions": ["offline", "memory"],
            "tasks": ["lists"],
            "seed": 1,
        },
        "models": {"gpt": {"provider": "openai"}, "old": {"provider": "recorded"}},
        "conditions": {"offline": {"context": "none"}, "memory": {"context": "memory"}},
        "judging": judging | changes,
    }


def test_a_study_that_gives_pairs_to_judges_has_no_problem() -> None:
    assert problems_of(study()) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"units": {"scale": "mood"}}, "judging.units.mine.scale: 'mood' is not in judging.scales"),
        (
            {"units": {"conditions": ["offline"]}},
            "pairs are answers under two conditions; name them",
        ),
        ({"units": {"conditions": ["offline", "rag"]}}, "'rag' is not in study.conditions"),
        ({"units": {"scale": "right"}}, "prefers_b must be the mirror of prefers_a"),
        ({"units": {"tasks": ["letters"]}}, "'letters' is not in study.tasks (there are lists)"),
        ({"units": {"model": "old"}}, "judging.units.mine.model: 'old' is not in study.models"),
        (
            {"units": {"why": {"scale": "right", "after": [9]}}},
            "judging.units.mine.why.after: '9' is no option of the scale better",
        ),
        ({"judges": {"models": ["gem"]}}, "judging.judges.models: 'gem' is not in models"),
        ({"judges": {"models": ["old"]}}, "are recorded, so it cannot be asked"),
        ({"judges": {"units": ["yours"]}}, "judging.judges.units: 'yours' is not in judging.units"),
        ({"judges": {"prompts": {"yours": "x"}}}, "judging.judges.prompts: 'yours' is not in"),
        (
            {"sources": {"page": {**SOURCE, "sides": "shown"}}},
            "judging.sources.page.sides: it takes columns.first_side",
        ),
    ],
)
def test_a_mistake_in_what_is_given_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert any(sentence in problem for problem in problems_of(study(**changes)))


def test_units_of_memory_need_a_memory() -> None:
    config = study(units={"of": "attributes", "scale": "right", "conditions": []})
    assert problems_of(config) == []
    config["study"]["conditions"] = ["offline"]
    (problem,) = problems_of(config)
    assert (
        "attributes are made from what is known of users, and the study remembers nobody" in problem
    )


def test_the_sides_of_pairs_are_known_where_the_scale_judges_nothing_else() -> None:
    pairs = {"of": "pairs", "scale": "better", "conditions": ["offline", "memory"]}
    judging = {
        **JUDGING,
        "units": {"answers": pairs, "facts": {"of": "attributes", "scale": "right"}},
    }
    assert pair_sides({"judging": judging}) == {"better": ["offline", "memory"]}
    # answers of the kit to the same units
    judging["sources"] = {"kit": {**SOURCE, "scale": "better", "units": "given"}}
    assert pair_sides({"judging": judging}) == {"better": ["offline", "memory"]}
    judging["units"]["named"] = {"of": "mentions", "scale": "better", "conditions": ["memory"]}
    assert pair_sides({"judging": judging}) == {}
    assert pair_sides({"judging": None}) == {}


def test_a_path_without_files_is_named() -> None:
    with pytest.raises(StudyError, match=r"judging\.sources\.mine\.path: nothing at nowhere\.csv"):
        judgement_files({"judging": JUDGING}, str)
