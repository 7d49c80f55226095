"""The config and its sections agree, and mistakes are told in one line."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import FIELD, complaint, shipped_config

from fieldwork.config.field import field_files
from fieldwork.config.primary import require_items
from fieldwork.config.settings import arms_of, check_config
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]
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


def config_with(setting: str, value: Any) -> dict[str, Any]:
    config = shipped_config()
    *way, last = setting.split("/")
    place: Any = config
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
    place[last] = copy.deepcopy(value)
    return config


def test_the_shipped_config_is_filled_once() -> None:
    config = shipped_config()
    check_config(config, "config.yaml")
    again = copy.deepcopy(config)
    check_config(again, "config.yaml")
    assert again == config


@pytest.mark.parametrize("study", sorted((HOME / "studies").glob("*.yaml")), ids=lambda p: p.name)
def test_shipped_studies_are_valid(study: Path) -> None:
    def merge(base: Any, over: Any) -> Any:
        if not (isinstance(base, dict) and isinstance(over, dict)):
            return over
        return {**base, **{key: merge(base.get(key), value) for key, value in over.items()}}

    over = yaml.safe_load(study.read_text(encoding="utf-8"))
    merged = merge(shipped_config(), over)
    check_config(merged, study.name)
    assert merged["study"]["name"] == over["study"]["name"]
    # whoever is asked can be asked with a memory
    if not study.stem.startswith("recorded_"):
        conditions = ["offline", "memory", "memory_relevant"]
        remembering = {"study": {"conditions": conditions}, "metrics": {"baseline": "offline"}}
        check_config(merge(merged, remembering), study.name)


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
        ("study/corpus", "x", "study.corpus: 'x' is not in corpora"),
        ("metrics/baseline", "ofline", "metrics.baseline: 'ofline' is not in conditions"),
        ("calibration/tasks", ["x"], "calibration.tasks: 'x' is not in study.tasks (there are recommend"),
        ("calibration/weights", "no.parquet", "calibration.weights: no file no.parquet; give the"),
        ("field_kit/tasks", ["x"], "field_kit.tasks: 'x' is not in tasks"),
        ("field_kit/platforms", {"x": "ChatGPT"}, "field_kit.platforms: 'x' is not in models"),
        ("profiles/personas/dataset", "x", "profiles.personas.dataset: 'x' is not in datasets"),
        ("datasets/sample", {"path": "x"}, "'sample' is in corpora too"),
        # what does not go together
        ("field_kit/groups", {"g": ALIKE}, "field_kit.groups.g.options: two of them have the same"),
        ("conditions/c", BLANK | {"after": "ofline"}, "c.after: 'ofline' is not in conditions"),
        ("conditions/c", BLANK | {"after": "profile"}, "c.after: name a condition with context: none"),
        ("conditions/c", BLANK | {"after": "offline_t0"}, "c.after: give both the same temperature"),
        ("conditions/c", HISTORY | {"conversations": 5, "out_of": 4}, "is to bring 5; raise it"),
        ("conditions/c", RAG | {"pool": "corpus", "out_of": 4}, "from the pool corpus is not drawn"),
        ("arms", {"figure": "fig4"}, "arms.figure: fig4 is the name of another figure"),
        ("arms", {"figure": "a", "conditions": ["x"]}, "arms.conditions: 'x' is not in study.conditions"),
        ("arms", COUNTED | {"conditions": ["profile"]}, "'profile' has no number of conversations"),
        ("models/m", OPENAI | {"extra_body": {"max_tokens": 5}}, "extra_body.max_tokens: take it out"),
        ("models/m", OPENAI | {"extra_body": {3: 1, "a": 2}}, "models.m.extra_body: cannot be wri"),
        ("models/m", OPENAI | {"extra_body": {"x": math.nan}}, "models.m.extra_body: cannot be written"),
        ("tasks/probe/sources/0/item_ids", ["a", "a"], "item_ids: 'a' stands twice; remove one"),
        ("power/sizes", [40, 40], "power.sizes: 40 stands twice; remove one"),
        ("power/lists", {"named": 6, "options": 6}, "a list of 6 leaves none of 6 options out"),
        ("corpora/c", LMSYS | {"columns": {"user": "u"}}, "files of format lmsys have columns of thei"),
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
        ("field", FIELD | {"models": {"GPT": "other"}}, "'other' is not in study.models"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(setting: str, value: Any, message: str) -> None:
    told = complaint(config_with(setting, value))
    assert told.startswith("mine.yaml: ")
    assert message in told
    assert "\n" not in told


def test_a_primary_comparison_is_about_items_that_are_asked() -> None:
    config = shipped_config()
    task = config["study"]["tasks"][0]
    config["tasks"][task]["sources"] = [
        {**source, "item_ids": ["cars", "films"]} for source in config["tasks"][task]["sources"]
    ]
    entry = {"measure": "option_share", "tasks": [task], "items": ["cars"]}
    config["study"]["primary"] = [entry, {**entry, "items": ["kars"]}]
    sentence = "study.primary.1.items: there is no item 'kars' (there are cars, films)"
    assert complaint(config) == f"mine.yaml: {sentence}; correct the name"


def test_a_field_of_several_models_needs_a_column_that_tells_them_apart() -> None:
    config = config_with("field", FIELD)
    config["study"]["models"] = ["smollm2", "local"]
    assert "field.columns.model: the study asks 2 models" in complaint(config)
    config = config_with("field", FIELD | {"columns": {"participant": "id", "platform": "p"}})
    config["study"]["models"] = ["smollm2", "local"]
    check_config(config, "config.yaml")


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
    config = config_with("field", FIELD | {"path": path})
    check_config(config, "config.yaml")
    assert field_files(config) == expected


@pytest.mark.parametrize(
    ("setting", "value", "filled"),
    [
        (
            "models/m",
            EMBEDDED,
            {"note": None, "limits": None, "sharpness": 40, "context_weight": 0.3},
        ),
        (
            "models/m",
            GEMINI,
            {
                "base_url": "https://generativelanguage.googleapis.com",
                "prefix_cache": {"min_tokens": 1024, "requests_per_minute": None, "ttl_s": 300},
            },
        ),
        (
            "conditions/c",
            {"context": "rag", "label": "x"},
            {"temperature": 1, "wave": None, "replicates": 2, "pool": "user", "conversations": 1}
            | {"token_budget": 100_000, "order": "drawn"}
            # without a corpus of its own a condition takes the study's
            | {"corpus": "sample_short", "out_of": None, "profile": None, "same_users_as": None},
        ),
    ],
)
def test_defaults_are_filled_and_those_of_other_kinds_are_not(
    setting: str, value: dict[str, Any], filled: dict[str, Any]
) -> None:
    config = config_with(setting, value)
    check_config(config, "config.yaml")
    found: Any = config
    for step in setting.split("/"):
        found = found[step]
    assert {key: found[key] for key in filled} == filled
    if setting == "conditions/c":
        assert set(found) == {*value, *filled}


def test_a_study_of_more_requests_than_any_can_pay_is_refused() -> None:
    config = config_with("tasks/probe/runs", 1_000_000)
    config["study"]["tasks"] = ["recommendations", "probe"]
    config["conditions"]["rag"]["replicates"] = 10
    # of four items: three blank conditions, two with 2 replicates and one with 10
    assert "mine.yaml: tasks: the study asks 68,000," in complaint(config)
    config["conditions"]["rag"]["replicates"] = 2
    check_config(config, "config.yaml")


# ---- overlays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (None, []),
        ({"figure": "a"}, ["offline_t0", "offline", "offline_again", "history", "rag", "profile"]),
        ({"figure": "a", "conditions": ["rag", "offline"]}, ["rag", "offline"]),
        (
            {"figure": "a", "x": "conversations"},
            ["offline_t0", "offline", "offline_again", "history", "rag"],
        ),
    ],
)
def test_conditions_of_the_figure_of_arms(arms: Any, expected: list[str]) -> None:
    config = config_with("arms", arms)
    check_config(config, "config.yaml")
    assert arms_of(config) == expected


def test_a_study_is_about_items_that_it_asks() -> None:
    entry = {"tasks": ["lists", "more"], "items": ["cars", "films"]}
    require_items({"study.primary.0.items": entry}, {"lists": ["cars"], "more": ["films"]})
    with pytest.raises(StudyError) as caught:
        require_items({"study.primary.0.items": entry}, {"lists": ["cars"], "more": ["pets"]})
    assert str(caught.value) == (
        "study.primary.0.items: there is no item 'films' (there are cars, pets); correct the name"
    )
