"""The config and its sections agree, and mistakes are told in one line."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.field import field_files
from fieldwork.config.primary import require_items
from fieldwork.config.settings import arms_of, check_config
from fieldwork.errors import StudyError
from unit.shipped_config import (
    FIELD,
    HOME,
    checked_config,
    complaint,
    config_with,
    shipped_config,
)

EMBEDDED = {"provider": "embedded", "label": "E", "encoder": "e"}
OPENAI = {"provider": "openai", "label": "O", "model": "m", "base_url": "http://127.0.0.1/v1"}
GEMINI = {"provider": "gemini", "label": "G", "model": "m"}
BLANK, HISTORY, RAG = ({"context": kind, "label": "x"} for kind in ("none", "history", "rag"))
ALIKE = {"question": "Which?", "options": ["a", "A "]}
COUNTED = {"figure": "a", "x": "conversations"}
LMSYS = {"path": "x", "format": "lmsys"}
PRICE = {"as_of": "2026-11-01", "source": "page", "input": 1, "output": 2}


def columns(**named: Any) -> dict[str, Any]:
    return {"columns": {"participant": "id", **named}}


def test_the_shipped_config_is_filled_once() -> None:
    config = checked_config({})
    again = copy.deepcopy(config)
    check_config(again, "config.yaml")
    assert again == config


@pytest.mark.parametrize("file", sorted((HOME / "studies").glob("*.yaml")), ids=lambda p: p.name)
def test_shipped_studies_are_valid_and_whoever_is_asked_can_be_asked_with_a_memory(
    file: Path,
) -> None:
    check_config(shipped_config(file), file.name)
    if not file.stem.startswith("recorded_"):
        conditions = ["offline", "memory", "memory_relevant"]
        checked_config({"study/conditions": conditions, "metrics/baseline": "offline"}, file)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        # what pydantic finds, in the words of a user; bounds stand in the editors' schema
        ("stdy", 1, "unknown key 'stdy'"),
        ("study/seeed", 1, "study: unknown key 'seeed'; known here: conditions, corpus"),
        ("study/seed", "x", "study.seed: 'x' is not a whole number (Seed of"),
        ("study/seed", 2**31, "study.seed: 2147483648 is greater than"),
        ("study/seed", -1, "study.seed: -1 is less than"),
        ("power/target", 1, "power.target: 1 is greater than or equal to"),
        ("study/models", [], "study.models: the list is empty; name at least one"),
        ("study/models", "smollm2", "study.models: 'smollm2' is not a list [a, b]"),
        ("study/name", "../x", "study.name: '../x' does not fit"),
        ("models/m", OPENAI | {"base_url": "ftp://x"}, "m.base_url: the value does not fit ("),
        ("models/m", {"label": "x"}, "add the line `provider: embedded` there, or one of local_chat"),
        ("models/m", None, "models.m: None is not a mapping (key: value)"),
        ("models/m", OPENAI | {"headers": {"X": "a\nb"}}, "models.m.headers.X: the value does not"),
        ("tasks/t", {"runs": 5, "max_tokens": 5}, "add the line `sources:` there, with a list [a, b]"),
        ("prices/m", PRICE | {"input": math.nan}, "prices.m.input: nan is no finite number"),
        ("prices/m", PRICE | {"input": True}, "prices.m.input: True is not a number"),
        ("prices/m", PRICE | {"as_of": "2026-13-01"}, "prices.m.as_of: '2026-13-01' is not a"),
        ("prices/m", PRICE | {"as_of": "2099-01-01"}, "prices.m.as_of: 2099-01-01 is in the future"),
        ("datasets/d", {"path": 3}, "datasets.d.path: 3 is not a text"),
        ("datasets/d", {"path": False}, "YAML reads this Yes or No as False, which is not a text"),
        ("datasets/d", {"path": ""}, "datasets.d.path: '' should"),
        ("field", "a.parquet", "field: 'a.parquet' is not a mapping (key: value) or null"),
        ("corpora/c", {"format": "wildchat"}, "corpora.c: 'path' is a required property (or repo"),
        # names that lead nowhere
        ("study/models", ["x"], "study.models: 'x' is not in models (there are claude-haiku"),
        ("calibration/weights", "no.parquet", "calibration.weights: no file no.parquet; give the"),
        ("datasets/sample", {"path": "x"}, "'sample' is in corpora too"),
        # what does not go together
        ("field_kit/groups", {"g": ALIKE}, "field_kit.groups.g.options: two of them have the same"),
        ("conditions/c", BLANK | {"after": "profile"}, "c.after: name a condition with context: none"),
        ("conditions/c", BLANK | {"after": "offline_t0"}, "c.after: give both the same temperature"),
        ("conditions/c", HISTORY | {"conversations": 5, "out_of": 4}, "is to bring 5; raise it"),
        ("conditions/c", RAG | {"pool": "corpus", "out_of": 4}, "from the pool corpus is not drawn"),
        ("arms", {"figure": "fig4"}, "arms.figure: fig4 is the name of another figure"),
        ("arms", {"figure": "robustness"}, "arms.figure: robustness is the name of another figure"),
        ("arms", {"figure": "a", "conditions": ["x"]}, "arms.conditions: 'x' is not in study.conditions"),
        ("arms", COUNTED | {"conditions": ["profile"]}, "'profile' has no number of conversations"),
        ("models/m", OPENAI | {"extra_body": {"max_tokens": 5}}, "extra_body.max_tokens: take it out"),
        ("models/m", OPENAI | {"extra_body": {3: 1, "a": 2}}, "models.m.extra_body: cannot be wri"),
        ("models/m", OPENAI | {"extra_body": {"x": math.nan}}, "models.m.extra_body: cannot be written"),
        ("tasks/probe/sources/0/item_ids", ["a", "a"], "item_ids: 'a' stands twice; remove one"),
        ("power/sizes", [40, 40], "power.sizes: 40 stands twice; remove one"),
        ("power/lists", {"named": 6, "options": 6}, "a list of 6 leaves none of 6 options out"),
        ("corpora/c", LMSYS | {"columns": {"user": "u"}}, "files of format lmsys have columns of thei"),
        ("corpora/c", LMSYS | {"roles": {"a": "user"}}, "c.roles: files of format lmsys have columns of"),
        ("models/m", OPENAI | {"proxy": "http://proxy:0"}, "models.m.proxy: not a valid URL; write the"),
        ("study/key_file", "results/key", "study.key_file: results/key lies under results, which may"),
        # real users
        ("field", FIELD | {"path": "nowhere.csv"}, "field.path: nothing at nowhere.csv; correct"),
        ("field", FIELD | {"path": "docs"}, "field.path: docs holds nothing that is read ("),
        ("field", FIELD | {"path": None}, "field: neither is given; give path for files on"),
        ("field", FIELD | {"osf": {"node": "abc12"}}, "field: both are given; give path for files"),
        ("field", FIELD | {"key_file": "results/key"}, "field.key_file: results/key lies under resu"),
        ("field", FIELD | {"prompts": {}}, "field.prompts: layout wide needs the column of each"),
        ("field", FIELD | {"layout": "long"}, "field.columns.prompt: layout long needs this column"),
        ("field", FIELD | columns(answer="a"), "field.columns.answer: layout wide has field.prompts"),
        ("field", FIELD | columns(groups={"s": " id"}), "groups.s: ' id' is field.columns.participant"),
        ("field", FIELD | {"prompts": {"hobbies": "id"}}, "'id' is field.columns.participant"),
        ("field", FIELD | {"skip_prompts": ["x"]}, "layout wide reads no other columns"),
        ("field", FIELD | {"prompts": {"hobbies": "Q1", "books": "Q1"}}, "is given for several items"),
        ("field", FIELD | {"prompts": {"lits/hobbies": "Q1"}}, "'lits/hobbies' names no task of study"),
        ("field", FIELD | {"prompts": {"choices_lite/x": "Q1"}}, "'choices_lite/x' is no item of the"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(setting: str, value: Any, message: str) -> None:
    sentence = complaint(config_with({setting: value}))
    assert sentence.startswith("mine.yaml: ")
    assert message in sentence


def test_a_primary_comparison_is_about_items_that_are_asked() -> None:
    entry = {"measure": "option_share", "tasks": ["choices_lite"], "items": ["cars"]}
    changes = {"tasks/choices_lite/sources/0/item_ids": ["cars", "films"]}
    config = config_with(changes | {"study/primary": [entry, {**entry, "items": ["kars"]}]})
    sentence = "study.primary.1.items: there is no item 'kars' (there are cars, films)"
    assert complaint(config) == f"mine.yaml: {sentence}; correct the name"
    asked = {"study.primary.0.items": {"tasks": ["lists", "more"], "items": ["cars", "films"]}}
    require_items(asked, {"lists": ["cars"], "more": ["films"]})
    with pytest.raises(
        StudyError, match=r"^study\.primary\.0\.items: there is no item 'films' \(there"
    ):
        require_items(asked, {"lists": ["cars"], "more": ["pets"]})


def test_a_field_of_several_models_needs_a_column_that_tells_them_apart() -> None:
    several = {"study/models": ["smollm2", "local"], "field": FIELD}
    assert "field.columns.model: the study asks 2 models" in complaint(config_with(several))
    checked_config(several | {"field/columns/platform": "p"})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("folder", ["folder/a.csv", "folder/b.XLSX", "folder/deep/c.parquet"]),
        ("folder/*", ["folder/a.csv", "folder/b.XLSX"]),
        ("folder/a.csv", ["folder/a.csv"]),
        ("odd[1].csv", ["odd[1].csv"]),
    ],
)
def test_a_field_is_every_file_of_its_path_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, expected: list[str]
) -> None:
    names = ("a.csv", "b.XLSX", "~$b.xlsx", "key", "notes.docx", ".hidden.csv", "deep/c.parquet")
    for name in (*(f"folder/{name}" for name in names), "odd[1].csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert field_files(checked_config({"field": FIELD | {"path": path}})) == expected


def test_a_study_without_draws_needs_the_probabilities_of_options() -> None:
    own = {"study/probabilities": "instead", "study/models": ["m"], "models/m": OPENAI}
    sentence = (
        "study.probabilities: instead needs answers with the probabilities of options, and m states"
    )
    assert sentence in complaint(config_with(own))
    checked_config(own | {"models/m": OPENAI | {"top_logprobs": 5}})


RETRIEVED = {
    **{"temperature": 1, "wave": None, "replicates": 2, "pool": "user", "conversations": 1},
    **{"token_budget": 100_000, "order": "drawn", "out_of": None, "profile": None},
    # without a corpus of its own a condition takes the study's
    **{"corpus": "sample_short", "same_users_as": None},
}


@pytest.mark.parametrize(
    ("setting", "value", "filled"),
    [
        ("models/m", EMBEDDED, {"note": None, "limits": None, "sharpness": 40, "context_weight": 0.3}),
        ("models/m", GEMINI, {"base_url": "https://generativelanguage.googleapis.com"}),
        ("conditions/c", RAG, RETRIEVED),
    ],
)  # fmt: skip
def test_defaults_are_filled_and_those_of_other_kinds_are_not(
    setting: str, value: dict[str, Any], filled: dict[str, Any]
) -> None:
    registry, name = setting.split("/")
    entry = checked_config({setting: value})[registry][name]
    assert {key: entry[key] for key in filled} == filled
    assert name == "m" or {*entry} == {*value, *filled}


def test_a_study_of_more_requests_than_any_can_pay_is_refused() -> None:
    changes = {"tasks/probe/runs": 1_000_000, "study/tasks": ["recommendations", "probe"]}
    config = config_with(changes | {"conditions/rag/replicates": 10})
    # of four items: three blank conditions, two with 2 replicates and one with 10
    assert "mine.yaml: tasks: the study asks 68,000," in complaint(config)
    checked_config(changes | {"conditions/rag/replicates": 2})


COUNTING = ["offline_t0", "offline", "offline_again", "history", "rag"]


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (None, []),
        ({"figure": "a"}, [*COUNTING, "profile"]),
        ({"figure": "a", "conditions": ["rag", "offline"]}, ["rag", "offline"]),
        (COUNTED, COUNTING),
    ],
)
def test_conditions_of_the_figure_of_arms(arms: Any, expected: list[str]) -> None:
    assert arms_of(checked_config({"arms": arms})) == expected
