"""What a schema cannot say of judgements and of memory that uses them: one sentence for each mistake."""

from typing import Any

import pytest

from fieldwork.config.checks import broken_settings
from fieldwork.config.judging import judgement_files, named_scales, pair_sides
from fieldwork.config.judging_checks import JUDGING_CHECKS
from fieldwork.errors import StudyError
from fieldwork.sections.judging import Scale
from unit.shipped_config import HOME, checked_config, complaint, config_with

STUDY = HOME / "studies/personalisation.yaml"
COLUMNS = {"unit": "unit", "rater": "who", "value": "answer"}
SOURCE: dict[str, Any] = {
    "path": "nowhere.csv",
    "scale": "right",
    "rater_kind": "person",
    "columns": COLUMNS,
}
ATTRIBUTES, UNITS = {"of": "attributes", "scale": "right"}, "judging/units/"
ANSWERS = {"of": "answers", "scale": "better", "conditions": ["offline"]}
BY_PEOPLE = {"by": "people", "scale": "right"}
SELECT = "conditions/memory_relevant/select"


def source(**changes: Any) -> dict[str, Any]:
    return {"judging/sources": {"s": SOURCE | changes}}


@pytest.mark.parametrize(
    "changes",
    [
        source(),
        source(scale=None, columns={**COLUMNS, "scale": "of"}),
        source(scale="better", sides="shown", columns={**COLUMNS, "first_side": "first"}),
        source(units="given"),
        {"judging/units/more": ANSWERS | {"scale": "why"}},
        {SELECT: {"by": "bm25", "at_least": 0.5}},
        {SELECT: BY_PEOPLE},
        {SELECT: {"by": "learnt", "scale": "matters"}},
        {"memory/at_least": 2},
        {"judging/scales/why": {"options": [0, 1], "prefers_a": [0], "prefers_b": [1]}},
    ],
)
def test_what_fits_is_taken(changes: dict[str, Any]) -> None:
    checked_config(changes, STUDY)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"judging/scales/right/accepted": ["2"]}, "right.accepted: '2' is not in judging.scales.right"),
        ({"judging/scales/why/options": [1, "1"]}, "two options are alike as texts (1, 1)"),
        (
            {"judging/scales/right/readings": {"yes": "2"}},
            "readings.yes: '2' is not in judging.scales.right.options (there are accept, unsure, rej",
        ),
        ({"judging/scales/why/prefers_a": ["other"]}, "give both prefers_a and prefers_b, or neither"),
        ({"judging/scales/better/prefers_b": [1]}, "'1' prefers both answers"),
        (source(scale=None), "s: neither is given of scale and columns.scale; give one of them"),
        (source(columns={**COLUMNS, "rater_kind": "k"}), "both are given of rater_kind and column"),
        (
            source(sides="shown", columns={**COLUMNS, "first_side": "first"}),
            "judging.sources.s.sides: no option of the scale right prefers a side",
        ),
        (source(scale="better", sides="shown"), "judging.sources.s.sides: it takes columns.first_side"),
        (
            source(units="given") | {"judging/units": {}, "judging/learn": [], "judging/judges": None,
                                     "memory/verify": None},
            "judging.sources.s.units: no units are given",
        ),
        ({UNITS + "answers/scale": "mood"}, "units.answers.scale: 'mood' is not in judging.sc"),
        ({UNITS + "answers/scale": "right"}, "judging.units.answers.scale: 'attributes' has this"),
        ({UNITS + "answers/scale": "why"}, "prefers_b must be the mirror of prefers_a"),
        ({UNITS + "answers/conditions": ["offline"]}, "answers under two conditions; name them"),
        ({UNITS + "answers/conditions": ["offline", "rag"]}, "'rag' is not in study.conditions"),
        ({UNITS + "answers": ANSWERS | {"conditions": []}}, "answers under a condition or more"),
        ({UNITS + "answers": ANSWERS}, "judging.learn: 'answers' is no entry of judging.units of"),
        ({UNITS + "answers/tasks": ["x"]}, "'x' is not in study.tasks (there are recommendations_"),
        ({UNITS + "answers/model": "old"}, "judging.units.answers.model: 'old' is not in study."),
        (
            {UNITS + "attributes/why/after": [9]},
            "judging.units.attributes.why.after: '9' is no option of the scale right",
        ),
        (
            {"study/conditions": ["offline", "rag"], UNITS + "answers/conditions": ["offline", "rag"]},
            "attributes are made from what is known of users, and the study remembers nobody",
        ),
        ({"judging/judges/models": ["gem"]}, "judging.judges.models: 'gem' is not in models"),
        ({"judging/judges/units": ["yours"]}, "judging.judges.units: 'yours' is not in judging.units"),
        ({"judging/judges/prompts": {"yours": "x"}}, "judging.judges.prompts: 'yours' is not in"),
        ({"judging/units": {}, "judging/learn": [], "memory/verify": None}, "there is nothing to judge"),
        ({"judging/key_file": "results/key"}, "judging.key_file: results/key lies under results"),
        ({"memory/at_least": 3}, "memory.at_least: users need 3 conversations, but only 2 of each are"),
        ({SELECT: {"by": "bm25"}}, "memory_relevant.select: bm25 gives every attribute a score"),
        ({SELECT: {"by": "people"}}, "memory_relevant.select.scale: name the scale of judging.scales"),
        ({SELECT: {"by": "learnt", "scale": "why"}}, "nothing is learnt of units on the scale 'why'"),
        ({SELECT: {"by": "people", "scale": "why"}}, "scales.why.accepted: name the options that say y"),
        ({"memory/verify/units": "relevance"}, "'relevance' is no entry of judging.units of attributes"),
        ({"judging/learn": []}, "memory.verify.units: nothing is learnt from 'attributes'"),
        ({"judging/scales/right/accepted": []}, "judging.scales.right.accepted: name the options that"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in complaint(config_with(changes, STUDY))


def test_a_judge_and_a_reader_can_be_asked() -> None:
    old = {"format": "table", "path": "old.csv", "columns": {"item": "q", "answer": "said"}}
    recorded = {
        "recordings/old": old,
        "models/gpt": {"provider": "recorded", "label": "GPT", "recording": "old"},
    }
    changes = recorded | {"judging/judges/models": ["gpt"]}
    assert "are recorded, so it cannot be asked" in complaint(config_with(changes, STUDY))
    config = checked_config(recorded, STUDY)
    config["study"]["models"] = ["gpt"]
    (sentence,) = broken_settings(
        config, [row for row in JUDGING_CHECKS if row.setting == "memory"]
    )
    assert sentence.startswith("memory.model: condition 'memory_relevant' needs a model that reads")


def test_options_are_texts_whatever_yaml_makes_of_them() -> None:
    scale = Scale(**named_scales(checked_config({}, STUDY))["better"])
    assert (scale.name, scale.options) == ("better", ["1", "2", "3", "4", "5"])
    assert (scale.prefers_a, scale.prefers_b) == (["1", "2"], ["4", "5"])
    assert named_scales({"judging": None}) == {}


def test_the_sides_of_pairs_are_known_where_the_scale_judges_nothing_else() -> None:
    judging = checked_config(source(scale="better", units="given"), STUDY)["judging"]
    assert pair_sides({"judging": judging}) == {"better": ["offline", "memory_relevant"]}
    judging["units"]["mentions"] = {"of": "mentions", "scale": "better", "conditions": ["memory"]}
    assert pair_sides({"judging": judging}) == {}
    assert pair_sides({"judging": None}) == {}


def test_a_path_without_files_is_named() -> None:
    with pytest.raises(StudyError, match=r"judging\.sources\.s\.path: nothing at nowhere\.csv"):
        judgement_files(checked_config(source(), STUDY), str)
    assert judgement_files({"judging": None}, str) == []
