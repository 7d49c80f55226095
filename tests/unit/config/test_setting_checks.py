"""Mistakes of settings that follow others: a sentence for each, and none where all is right."""

from typing import Any

import pytest

from fieldwork.config.checks import broken_settings
from fieldwork.config.judging_checks import JUDGING_CHECKS
from fieldwork.config.study_checks import STUDY_CHECKS

UNITS = {"of": "attributes", "scale": "right"}
JUDGING = {"units": {"mine": UNITS}, "learn": ["mine"], "scales": {"right": {"accepted": [1]}}}

FIELD = {"path": "x.csv", "osf": None, "layout": "long"}


def problems(setting: str, config: dict[str, Any]) -> list[str]:
    rows = (*STUDY_CHECKS, *JUDGING_CHECKS)
    return [*broken_settings(config, [row for row in rows if row.setting == setting])]


def select(**rules: Any) -> dict[str, Any]:
    rules = {"n": None, "at_least": None, "scale": None} | rules
    return {"conditions": {"c": {"select": rules}}, "judging": JUDGING}


def judged(**changes: Any) -> dict[str, Any]:
    return {"judging": JUDGING | changes, "memory": {"verify": {"units": "mine"}}}


def stating(model: dict[str, Any]) -> dict[str, Any]:
    study = {"models": ["m"], "conditions": [], "probabilities": "instead"}
    return {"study": study, "models": {"m": model}}


@pytest.mark.parametrize(
    ("setting", "right", "wrong", "sentence"),
    [
        (
            "study.models.*",
            stating({"provider": "openai", "top_logprobs": 5}),
            stating({"provider": "openai", "top_logprobs": 0}),
            "study.probabilities: instead needs answers with the probabilities of options, and m states",
        ),
        (
            "corpora.*.roles",
            {"corpora": {"c": {"roles": {"a": "user"}, "format": "messages"}}},
            {"corpora": {"c": {"roles": {"a": "user"}, "format": "lmsys"}}},
            "corpora.c.roles: files of format lmsys have columns of their own",
        ),
        (
            "models.*.proxy",
            {"models": {"m": {"proxy": "http://proxy:80"}}},
            {"models": {"m": {"proxy": "http://proxy:0"}}},
            "models.m.proxy: not a valid URL",
        ),
        (
            "study.key_file",
            {"study": {"key_file": "resources/key"}},
            {"study": {"key_file": "results/key"}},
            "study.key_file: results/key lies under results, which may be deleted and shared; keep the "
            "key elsewhere, as in resources/study/key",
        ),
        (
            "judging.key_file",
            {"judging": {"key_file": "resources/results"}},
            {"judging": {"key_file": "results/key"}},
            "judging.key_file: results/key lies under results",
        ),
        (
            "judging.units.*.conditions",
            judged(units={"mine": {"of": "answers", "conditions": ["offline"]}}),
            judged(units={"mine": {"of": "answers", "conditions": []}}),
            "judging.units.mine.conditions: answers are answers under a condition or more",
        ),
        (
            "judging.judges",
            judged(judges={"models": ["m"]}),
            judged(judges={"models": ["m"]}, units={}),
            "judging.judges: there is nothing to judge",
        ),
        (
            "judging.learn.*",
            judged(),
            judged(units={"mine": {"of": "answers"}}),
            "judging.learn: 'mine' is no entry of judging.units of attributes, relevance, pairs",
        ),
        (
            "judging.sources.*.units",
            judged(sources={"s": {"units": "given"}}),
            judged(sources={"s": {"units": "given"}}, units={}),
            "judging.sources.s.units: no units are given",
        ),
        (
            "memory.at_least",
            {"memory": {"at_least": 2, "conversations": 2}},
            {"memory": {"at_least": 3, "conversations": 2}},
            "memory.at_least: users need 3 conversations, but only 2 of each are read",
        ),
        (
            "conditions.*.select",
            select(by="bm25", n=3),
            select(by="bm25"),
            "conditions.c.select: bm25 gives every attribute a score",
        ),
        (
            "conditions.*.select",
            select(by="people", scale="right"),
            select(by="people"),
            "conditions.c.select.scale: name the scale of judging.scales",
        ),
        (
            "conditions.*.select.scale",
            select(by="learnt", scale="right"),
            select(by="learnt", scale="right") | {"judging": JUDGING | {"learn": []}},
            "conditions.c.select.scale: nothing is learnt of units on the scale 'right'",
        ),
        (
            "conditions.*.select.scale",
            select(by="people", scale="right"),
            select(by="people", scale="right") | judged(scales={"right": {"accepted": []}}),
            "judging.scales.right.accepted: name the options that say yes",
        ),
        (
            "memory.verify.units",
            judged(),
            judged(units={"mine": UNITS | {"of": "relevance"}}),
            "memory.verify.units: 'mine' is no entry of judging.units of attributes",
        ),
        (
            "memory.verify.units",
            judged(),
            judged(learn=[]),
            "memory.verify.units: nothing is learnt from 'mine'",
        ),
        (
            "memory.verify.units",
            judged(),
            judged(scales={"right": {"accepted": []}}),
            "judging.scales.right.accepted: name the options that say yes",
        ),
        (
            "memory",
            {
                "memory": {"model": None},
                "study": {"models": ["m"], "conditions": ["c"]},
                "models": {"m": {"provider": "openai"}},
                "conditions": {"c": {"context": "memory"}},
            },
            {
                "memory": {"model": None},
                "study": {"models": ["m"], "conditions": ["c"]},
                "models": {"m": {"provider": "recorded"}},
                "conditions": {"c": {"context": "memory"}},
            },
            "memory.model: condition 'c' needs a model that reads conversations",
        ),
        (
            "field.columns.prompt",
            {"field": {"layout": "long", "columns": {"participant": "i", "prompt": "p"}}},
            {"field": {"layout": "wide", "columns": {"participant": "i", "prompt": "p"}}},
            "field.columns.prompt: layout wide has field.prompts instead",
        ),
        (
            "field",
            {"field": {**FIELD, "columns": {"prompt": "p", "answer": "a"}}},
            {"field": {**FIELD, "columns": {"prompt": "p", "answer": None}}},
            "field.columns.answer: layout long needs this column",
        ),
    ],
)
def test_a_mistake_is_told_and_what_is_right_is_not(
    setting: str, right: dict[str, Any], wrong: dict[str, Any], sentence: str
) -> None:
    assert problems(setting, right) == []
    (problem,) = problems(setting, wrong)
    assert problem.startswith(sentence)
